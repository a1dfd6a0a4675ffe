"""Subscriptions: async generators whose values become events until somebody closes them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any

from agtools_nb.context import copied
from agtools_nb.context.database import Database
from agtools_nb.errors import StoreError, ToolError
from agtools_nb.events.ending import Unkept, stopped
from agtools_nb.events.event import Event, SubscriptionEvent, as_content
from agtools_nb.events.inbox import Inbox
from agtools_nb.events.records import Records, Subscription, SubscriptionStatus
from agtools_nb.events.tasks import unknown
from agtools_nb.run.words import error_text
from agtools_nb.run.work import Work

MOST_WAITING = 256
"""Events of one subscription that wait to be handled; then its generator waits too."""

_log = logging.getLogger("agtools_nb")


class Subscriptions:
    """Runs the async generators of a session.

    Args:
        database: Where they are kept.
        inbox: Where their events go.
        changed: Called after each change.
    """

    def __init__(self, database: Database, inbox: Inbox, changed: Callable[[], None]) -> None:
        self._database = database
        self._inbox = inbox
        self._changed = changed
        self._records = Records(database, Subscription)
        self._running: dict[str, asyncio.Task[None]] = {}
        self._unkept = Unkept()
        for record in self._records.all:
            if record.is_open:
                # What it had sent is counted where it lies: the count is written at the end.
                sent = replace(record, events=inbox.count_of(record.id))
                self._end(sent.interrupted(), is_told=False)

    @property
    def all(self) -> tuple[Subscription, ...]:
        """The subscriptions, oldest first."""
        return self._records.all

    def get(self, subscription_id: str) -> Subscription | None:
        """The one of that id."""
        found: Subscription | None = self._records.get(subscription_id)
        return found

    async def start(self, work: Work, subscription_id: str) -> Any:
        """Start one, and return its first value; ``None`` if it ends without any.

        Raises:
            Exception: What its function raised before the first value.
        """
        self._end_lost()
        record = self._record(work, subscription_id)
        self._records.put(record)
        first: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        task = asyncio.get_running_loop().create_task(
            self._pump(record, work, first), name=f"subscription {record.id}"
        )
        self._running[record.id] = task
        task.add_done_callback(lambda _: self._running.pop(record.id, None))
        self._changed()
        try:
            outcome = await asyncio.shield(first)
        except asyncio.CancelledError:
            await stopped(task)
            raise
        if isinstance(outcome, _Failed):
            raise outcome.error
        return outcome

    def _record(self, work: Work, subscription_id: str) -> Subscription:
        return Subscription(
            subscription_id,
            work.call.id or subscription_id,
            work.group_id,
            work.tool.name,
            arguments=copied(work.arguments),
            associative=work.tool.associative,
        )

    async def _pump(self, record: Subscription, work: Work, first: asyncio.Future[Any]) -> None:
        status: SubscriptionStatus = "ended"
        failure: BaseException | None = None
        is_told = False
        try:
            is_told = await self._deliver_all(record, work, first)
        except asyncio.CancelledError:
            status = "cancelled"
        except BaseException as error:  # whatever a generator raises is its own end, no other's
            status, failure = "failed", error
        current = self.get(record.id) or record
        if not current.is_open:
            status = current.status
        elif failure is not None:
            current = replace(current, error=error_text(failure))
        # What failed before its first value is told by the call's own error.
        is_told = is_told or (status != "ended" and not first.done())
        if current.is_open:
            self._end(replace(current, status=status), is_told=is_told)
        if not first.done():
            first.set_result(self._without_value(status, failure))

    @staticmethod
    def _without_value(status: SubscriptionStatus, failure: BaseException | None) -> Any:
        """What a call gets whose subscription never sent a value."""
        if failure is not None:
            return _Failed(failure)
        if status == "ended":
            return None
        return _Failed(ToolError("closed", "It was closed before it sent its first value."))

    async def _deliver_all(
        self, record: Subscription, work: Work, first: asyncio.Future[Any]
    ) -> bool:
        """Send the values on, and return whether the last one said that it was final."""
        task = asyncio.current_task()
        async with aclosing(work.open()) as values:
            async for value in values:
                if task is not None and task.cancelling():  # it held on to its cancellation
                    raise asyncio.CancelledError
                given = value if isinstance(value, SubscriptionEvent) else SubscriptionEvent(value)
                is_sent = first.done() and self._send(record.id, given)
                if not first.done():
                    first.set_result(given.value)
                if given.final:
                    return is_sent
                await self._inbox.room(record.id, MOST_WAITING)
        return False

    def _send(self, record_id: str, given: SubscriptionEvent) -> bool:
        """Put an event in, and return whether it was kept."""
        current = self.get(record_id)
        if current is None or not current.is_open:
            return False
        number = current.events + 1
        event = self._event(
            current,
            as_content(given.value),
            given.dedup_id or f"{current.id}:{number}",
            final=given.final,
        )
        if self._inbox.put(event) != "kept":
            return False
        # Its place in the count is written when it ends: each event would cost a second write.
        self._records.note(replace(current, events=number, last_at=event.at))
        self._changed()
        return True

    def _event(self, record: Subscription, content: Any, dedup_id: str, **more: Any) -> Event:
        return Event(
            "event",
            content,
            dedup_id,
            call_id=record.id,
            group_id=record.group_id,
            tool_name=record.tool_name,
            associative=record.associative,
            **more,
        )

    def _end(self, record: Subscription, *, is_told: bool) -> None:
        """Keep that it ended, and tell so by a final event unless one was sent.

        If the store cannot keep it now, it is known at once, and kept as soon as it can.
        """
        try:
            self._write_end(record, is_told)
        except StoreError:
            _log.exception("the end of subscription %s could not be kept yet", record.id)
            self._records.note(record)
            self._unkept.retry(partial(self._write_end, record, is_told))
        self._changed()

    def _write_end(self, record: Subscription, is_told: bool) -> None:
        content = {"subscription": record.status}
        last = self._event(record, content, f"{record.id}:end", final=True, error=record.error)
        with self._database.transaction():
            self._records.put(record)
            if not is_told:
                self._inbox.put(last)

    async def cancel(self, subscription_id: str) -> Subscription:
        """Close one: its generator is closed, and what stands in its ``finally`` has run.

        It is waited for at most 5 seconds. Twice does no harm.

        Raises:
            ToolError: There is none of that id.
        """
        record = self.get(subscription_id)
        if record is None:
            raise unknown(
                "subscription", subscription_id, [one.id for one in self.all if one.is_open]
            )
        await stopped(self._running.get(subscription_id))
        self._end_lost()
        return self.get(subscription_id) or record

    def _end_lost(self) -> None:
        """End what ran on a loop that was closed under it: it never goes on."""
        for subscription_id, task in list(self._running.items()):
            record = self.get(subscription_id)
            if task.get_loop().is_closed() and record is not None and record.is_open:
                del self._running[subscription_id]
                self._end(record.interrupted(), is_told=False)

    async def close(self) -> None:
        """Close all of them; they count as interrupted."""
        for subscription_id in tuple(self._running):
            record = self.get(subscription_id)
            if record is not None and record.is_open:
                self._end(record.interrupted(), is_told=False)
        await asyncio.gather(*map(stopped, self._running.values()))
        self._unkept.close()


class _Failed:
    """Carries what was raised: a future cannot hold every exception."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
