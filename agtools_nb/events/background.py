"""``Background``: what a session does beside its calls, and the inbox that it reports to."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agtools_nb.context.database import Database
from agtools_nb.errors import UsageError
from agtools_nb.events.cancel_tool import cancel_tool
from agtools_nb.events.event import Event, as_content, fresh_id
from agtools_nb.events.inbox import Inbox
from agtools_nb.events.records import BackgroundTask, Subscription
from agtools_nb.events.status_tool import status_tool
from agtools_nb.events.subscriptions import Subscriptions
from agtools_nb.events.tasks import Tasks
from agtools_nb.events.triggers import RunningTrigger, Trigger, Triggers
from agtools_nb.events.watchers import Watchers
from agtools_nb.run.work import Started

if TYPE_CHECKING:
    from agtools_nb.define import Tool
    from agtools_nb.run.work import Work

_log = logging.getLogger("agtools_nb")


class Background:
    """Takes care of calls that outlive their answer.

    ::

        runner = ToolRunner(tools, background=Background())

    Tasks and subscriptions run on the event loop on which they were started. What they
    bring arrives in :attr:`inbox`. Opened again on the same database, everything that ran
    when the process ended is ``"interrupted"``, and its waiters are told so.

    Args:
        database: Where it is kept. Default: in memory.
        conversation_id: Id of the conversation that it belongs to. Default: a fresh one.

    Attributes:
        inbox: The events of the session.
        conversation_id: Id of the conversation.
    """

    def __init__(
        self, database: Database | None = None, *, conversation_id: str | None = None
    ) -> None:
        database = Database.open(None) if database is None else database
        self._watchers = Watchers("the background")
        if database.has_part("background"):
            raise UsageError(
                "this database has a background already, which may have work running; take it: "
                "Background.of(database)"
            )
        self.conversation_id = conversation_id or fresh_id("conversation")
        self.inbox = Inbox(database)
        self._tasks = Tasks(database, self.inbox, self._watchers.tell)
        self._subscriptions = Subscriptions(database, self.inbox, self._watchers.tell)
        self._triggers = Triggers(self.send, self._watchers.tell)
        self._lock = threading.Lock()
        self._calls = 0
        self.inbox.watch(self._watchers.tell)
        # Last of all: one that could not be read must not stay there half made.
        database.part("background", lambda: self)

    @classmethod
    def of(cls, database: Database, *, conversation_id: str | None = None) -> Background:
        """The background of a database: the one that it has in this process, or a new one.

        Raises:
            StoreError: It could not be read.
        """
        return database.part("background", lambda: cls(database, conversation_id=conversation_id))

    # -- what runs --------------------------------------------------------------------------

    @property
    def tasks(self) -> tuple[BackgroundTask, ...]:
        """Dispatched and long-running calls, oldest first; of those that ended the last 1,000."""
        return self._tasks.all

    @property
    def subscriptions(self) -> tuple[Subscription, ...]:
        """The subscriptions, oldest first; of those that ended the last 1,000."""
        return self._subscriptions.all

    @property
    def triggers(self) -> tuple[RunningTrigger, ...]:
        """The triggers that were added and not removed."""
        return self._triggers.all

    @property
    def is_idle(self) -> bool:
        """Whether no call is waited for and no task is pending."""
        return not self._calls and not any(task.is_open for task in self.tasks)

    def task(self, task_id: str) -> BackgroundTask | None:
        """The task of that id."""
        return self._tasks.get(task_id)

    def task_result(self, task_id: str) -> Any:
        """What a task returned: in Python if it ran in this process, else its JSON."""
        return self._tasks.result(task_id)

    async def cancel(self, task_id: str) -> BackgroundTask:
        """Stop a task and wait until it has cleaned up, at most 5 seconds. Twice does no harm.

        A blocking function cannot be stopped; its result is dropped.

        Raises:
            ToolError: There is no task of that id.
        """
        return await self._tasks.cancel(task_id)

    async def cancel_subscription(self, subscription_id: str) -> Subscription:
        """Close a subscription: its generator's ``finally`` has run when this returns.

        It is waited for at most 5 seconds. Twice does no harm.

        Raises:
            ToolError: There is none of that id.
        """
        return await self._subscriptions.cancel(subscription_id)

    def add_trigger(self, trigger: Trigger) -> RunningTrigger:
        """Start a trigger such as ``every(60, "look again")``; it sends messages to the inbox.

        Raises:
            UsageError: It is no trigger, or no event loop runs here.
        """
        return self._triggers.add(trigger)

    async def remove_trigger(self, trigger_id: str) -> None:
        """Stop a trigger. One that is gone already does no harm."""
        await self._triggers.remove(trigger_id)

    def send(self, message: Any) -> Event:
        """Put a message into the inbox. Messages are not held while calls are waited for.

        Args:
            message: Text, or anything that has a JSON form.

        Returns:
            The event as it was put in.

        Raises:
            UsageError: It is nothing.
            StoreError: It could not be kept.
        """
        if message is None or (isinstance(message, str) and not message.strip()):
            raise UsageError("there is nothing to send: give a text, or a value with a JSON form")
        event = Event("message", as_content(message))
        self.inbox.put(event)
        return event

    def watch(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call ``listener`` after each change of tasks, subscriptions, triggers and inbox.

        It is called on the thread that made the change, maybe thousands of times a second:
        hand over and return. Returns a function that ends it.
        """
        return self._watchers.add(listener)

    async def close(self) -> None:
        """Stop everything that runs, and wait for its cleaning up; it counts as interrupted."""
        await self._triggers.close()
        await self._subscriptions.close()
        await self._tasks.close()

    # -- for the runner ---------------------------------------------------------------------

    async def start(self, work: Work) -> Started:
        """Start what outlives its call."""
        given = work.call.id or fresh_id("call")
        own_id = self._unused(given)
        if work.tool.is_subscription:
            return Started(own_id, await self._subscriptions.start(work, own_id))
        return Started(own_id, self._tasks.start(work, own_id))

    def _unused(self, call_id: str) -> str:
        """The id, or one made of it if it was used: what comes would be taken for another's."""
        number, found = 2, call_id
        while (
            self.inbox.knows(found)
            or self.inbox.knows_call(found)
            or self._tasks.get(found) is not None
            or self._subscriptions.get(found) is not None
        ):
            found = f"{call_id}#{number}"
            number += 1
        return found

    def call_began(self, tool: Tool) -> None:
        """A call has begun, and is waited for: events wait too, unless the tool is passive."""
        with self._lock:
            self._calls += 1
        if not tool.passive:
            self.inbox.hold()

    def call_ended(self, tool: Tool) -> None:
        """It has its result."""
        with self._lock:
            self._calls -= 1
        if not tool.passive:
            self.inbox.let_go()

    def companion(self, tool: Tool) -> Tool | None:
        """The tool that a model needs beside this one: its status tool, or what ends it."""
        if tool.is_subscription:
            return cancel_tool(self.cancel_subscription)
        if tool.long_running:
            return status_tool(
                tool, self.task, self.task_result, lambda: self.tasks, self._watchers.until
            )
        return None

    def __repr__(self) -> str:
        tasks = sum(task.is_open for task in self.tasks)
        active = sum(one.is_open for one in self.subscriptions)
        waiting = len(self.inbox)
        return f"<Background: {tasks} tasks, {active} subscriptions, {waiting} events to handle>"
