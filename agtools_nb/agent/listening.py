"""One answer of a model, from its stream to a message of the conversation."""

from __future__ import annotations

import asyncio
import contextlib
import operator
import time
from collections.abc import Callable, Container, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, cast

from agtools_nb.agent.messages import ModelMessage, Stop, Usage
from agtools_nb.agent.model import (
    CallPart,
    EndPart,
    Model,
    ModelEvent,
    ModelRequest,
    NotePart,
    RawPart,
    TextPart,
    UsagePart,
    model_name,
)
from agtools_nb.agent.weight import characters_of
from agtools_nb.arguments.parse import MAX_NESTING, place_beyond
from agtools_nb.calls import ToolCall
from agtools_nb.errors import AgtoolsError, ModelError
from agtools_nb.events.event import fresh_id
from agtools_nb.jsonable import brief_repr, clean_text, json_text, shorten
from agtools_nb.run.batch import GRACE_SECONDS
from agtools_nb.run.words import error_text

LONGEST_TEXT = 1_000_000
"""Characters of one answer; a model that never stops is stopped there."""

LONGEST_NOTE = 2_000
"""Characters of a model's remark."""

MOST_CALLS = 1_000
"""Calls of one answer."""

_CHARACTERS_A_TOKEN = 4

_MOST_TOKENS = 2**53 - 1  # the largest whole number that every reader of JSON keeps

# Besides our two words those of the providers whose meaning is certain. Whether the answer calls
# is seen from its calls; what a filter stopped is no answer, and is not among them.
_REASONS: Mapping[str, Stop] = {
    "end": "end",
    "stop": "end",
    "stop_sequence": "end",
    "end_turn": "end",
    "completed": "end",
    "tool_calls": "end",
    "function_call": "end",
    "tool_use": "end",
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
}

# What ends an answer and nothing else; an interrupt is a person's.
_FAULTS = (Exception, SystemExit, GeneratorExit)

# The loop holds its tasks weakly.
_left_behind: set[asyncio.Task[Any]] = set()


@dataclass(slots=True)
class Answer:
    """An answer while it comes.

    Args:
        used_ids: Call ids that the conversation has already.
        told: Told of each piece of text and of each call.

    Attributes:
        id: Id of the message that it becomes, and the ``step_id`` of its calls.
        raw: What went over the wire, as far as the model tells.
    """

    used_ids: Container[str]
    told: Callable[[str | ToolCall], None]
    id: str = field(default_factory=lambda: fresh_id("model"))
    raw: RawPart | None = None
    _texts: list[str] = field(default_factory=list)
    _length: int = 0
    _calls: list[ToolCall] = field(default_factory=list)
    _usage: Usage | None = None
    _stop: Stop = "end"
    _error: str | None = None
    _notes: list[str] = field(default_factory=list)
    _began: float = field(default_factory=time.monotonic)
    _is_over: bool = False  # what still comes is not wanted

    async def listen(self, model: Model, request: ModelRequest) -> None:
        """Take in all of it. What goes wrong becomes part of the answer.

        A model that is stopped has a second to end; then it is left to itself.

        Raises:
            asyncio.CancelledError: The waiting task was cancelled; what came until then is kept.
            BaseException: The model was interrupted, by ``KeyboardInterrupt`` for example; the
                answer is one that broke off.
        """
        # A task of its own: code that catches every CancelledError can then be left behind.
        task = asyncio.create_task(self._hear(model, request))
        try:
            stopped = await self._ended(task)
            error = task.result() if task.done() and not task.cancelled() else None
            if error is not None and not isinstance(error, (*_FAULTS, asyncio.CancelledError)):
                raise error
        except BaseException as interrupt:
            self._is_over = True
            task.cancel()
            self._break(f"it was interrupted ({type(interrupt).__name__})")
            raise
        if stopped is not None:
            # Also where it came to its end: calls that nobody waits for are not to be run.
            self._stop = "cancelled"
            raise stopped
        if isinstance(error, asyncio.CancelledError):
            self._break("the model was cancelled from within")
        elif error is not None:
            own = isinstance(error, ModelError)  # its text is for people as it is
            self._break(f"{model_name(model)}: {error if own else error_text(error)}")

    async def _hear(self, model: Model, request: ModelRequest) -> BaseException | None:
        """Take in what the model gives, and return what it raised.

        An interrupt that left this task by itself would end the loop before the answer is kept.
        """
        try:
            async with aclosing(_started(model, request)) as parts:
                async for part in parts:
                    if self._is_over or not self._take(part):
                        break
        except BaseException as error:
            return error
        return None

    async def _ended(self, task: asyncio.Task[Any]) -> asyncio.CancelledError | None:
        """Wait for the model's end; once the wait is cancelled, only for the grace period.

        Returns what cancelled the wait, if anything did.
        """
        loop = asyncio.get_running_loop()
        stopped: asyncio.CancelledError | None = None
        last = 0.0
        while not task.done():
            left = None if stopped is None else last - loop.time()
            if left is not None and left <= 0:
                _left_behind.add(task)
                task.add_done_callback(_left_behind.discard)
                self._notes.append(
                    f"the model was still at work {GRACE_SECONDS:g} s after it was stopped, and "
                    "was left to it"
                )
                break
            try:
                await asyncio.wait({task}, timeout=left)
            except asyncio.CancelledError as error:
                # A second stop would cut short what the first one has clean up.
                if stopped is None:
                    stopped, last = error, loop.time() + GRACE_SECONDS
                    self._is_over = True
                    task.cancel()
        return stopped

    def message(self, request: ModelRequest) -> ModelMessage:
        """The answer as a message."""
        # Calls of an answer that broke off may lack what would have come next.
        is_whole = self._stop in ("end", "length")
        calls = tuple(self._calls) if is_whole else ()
        if self._calls and not is_whole:
            count = len(self._calls)
            were = "call of the broken answer was" if count == 1 else "calls of it were"
            self._notes.append(f"{count} {were} not run")
        text = "".join(self._texts)
        stop: Stop = "calls" if calls and self._stop == "end" else self._stop
        return ModelMessage(
            text,
            calls,
            stop,
            self._usage or _estimated(request, text, calls),
            tuple(self._notes),
            self._error,
            self.id,
            seconds=time.monotonic() - self._began,
        )

    def _take(self, part: ModelEvent | Any) -> bool:
        """Take one part in, and tell whether more is wanted."""
        if isinstance(part, TextPart):
            return self._take_text(part.text)
        if isinstance(part, CallPart):
            return self._take_call(part)
        if isinstance(part, UsagePart):
            return self._take_usage(part.usage)
        if isinstance(part, EndPart):
            return self._take_end(part.reason)
        if isinstance(part, RawPart):
            self.raw = part
        elif isinstance(part, NotePart):
            self._notes.append(shorten(clean_text(str(part.text)), LONGEST_NOTE))
        else:
            return self._refuse(f"{brief_repr(part)}, which is no part of an answer")
        return True

    def _take_usage(self, usage: Any) -> bool:
        if not isinstance(usage, Usage):
            return self._refuse(
                f"UsagePart({brief_repr(usage)}); what it holds is a Usage, such as Usage(120, 8)"
            )
        counts = _count(usage.input), _count(usage.output)
        if counts[0] is None or counts[1] is None:
            return self._refuse(f"{brief_repr(usage)}; its counts are whole numbers from 0 on")
        self._usage = Usage(counts[0], counts[1], bool(usage.is_estimate))
        return True

    def _take_end(self, reason: Any) -> bool:
        known = _REASONS.get(reason.lower()) if isinstance(reason, str) else None
        if known is None:
            return self._refuse(
                f"EndPart({brief_repr(reason)}); its reason is 'end' or 'length', and an "
                "answer that may not be used ends with ModelError"
            )
        self._stop = known
        return True

    def _refuse(self, what: str) -> bool:
        """Break the answer at a part that is a mistake of the model's own code."""
        self._break(f"the model gave {what}. Its respond() has to be put right")
        return False

    def _take_text(self, text: Any) -> bool:
        piece = clean_text(str(text))[: LONGEST_TEXT - self._length]
        self._length += len(piece)
        if piece:
            self._texts.append(piece)
            self.told(piece)
        if self._length < LONGEST_TEXT:
            return True
        self._stop = "length"
        self._notes.append(f"the answer was stopped after {LONGEST_TEXT:,} characters")
        return False

    def _take_call(self, part: CallPart) -> bool:
        if len(self._calls) >= MOST_CALLS:
            self._stop = "length"
            self._notes.append(f"the answer was stopped after {MOST_CALLS:,} calls")
            return False
        name, arguments = clean_text(str(part.name)), _arguments(part.arguments)
        call = ToolCall(name, arguments, self._call_id(part), self.id)
        self._calls.append(call)
        self.told(call)
        return True

    def _call_id(self, part: CallPart) -> str:
        given = clean_text(part.id) if isinstance(part.id, str) else ""
        taken = given in self.used_ids or any(call.id == given for call in self._calls)
        if given and not taken:
            return given
        made = fresh_id("call")
        why = f"call id {shorten(given, 60)!r} was used before" if given else "a call had no id"
        self._notes.append(f"{why}; it is now {made}")
        return made

    def _break(self, why: str) -> None:
        self._stop, self._error = "broken", why


async def _started(model: Model, request: ModelRequest) -> Any:
    """The model's answer as an async generator, whatever kind of iterator it is."""
    stream = model.respond(request)
    if not hasattr(stream, "__aiter__"):
        close = getattr(stream, "close", None)
        if callable(close):
            close()  # a coroutine that nobody awaits would warn
        raise AgtoolsError(
            f"respond() of {model_name(model)} must be an async generator, and returned "
            f"{brief_repr(stream)}"
        )
    try:
        async for part in stream:
            yield part
    finally:
        closing = getattr(stream, "aclose", None)
        if closing is not None:
            with contextlib.suppress(RuntimeError):  # it is running: it is being closed
                await closing()


def _count(tokens: Any) -> int | None:
    """A count of tokens as an ``int``; ``None`` if it is none."""
    if isinstance(tokens, bool):
        return None
    try:
        count = operator.index(tokens)
    except TypeError:
        return None
    return count if 0 <= count <= _MOST_TOKENS else None


def _arguments(given: Any) -> dict[str, Any] | str:
    if isinstance(given, str):
        return given
    # What is no object is text to the runner, which answers with what it should be.
    if not isinstance(given, dict):
        return json_text(given)
    if place_beyond(MAX_NESTING, given) is None:
        return dict(given)
    # The runner refuses it, which tells the model; whoever looks at it need not go deeper.
    return cast("dict[str, Any]", _cut(given, MAX_NESTING + 1, {}))


def _cut(value: Any, levels: int, done: dict[tuple[int, int], Any]) -> Any:
    """Containers of a value down to so many levels; what stands twice is cut once."""
    if not isinstance(value, (Mapping, list, tuple)):
        return value
    place = id(value), levels
    if place not in done:
        if not levels:
            done[place] = "[...]"
        elif isinstance(value, Mapping):
            done[place] = {key: _cut(one, levels - 1, done) for key, one in value.items()}
        else:
            done[place] = [_cut(one, levels - 1, done) for one in value]
    return done[place]


def _estimated(request: ModelRequest, text: str, calls: tuple[ToolCall, ...]) -> Usage:
    written = len(text) + sum(len(call.name) + len(str(call.args)) for call in calls)
    return Usage(
        -(-characters_of(request) // _CHARACTERS_A_TOKEN),
        -(-written // _CHARACTERS_A_TOKEN),
        is_estimate=True,
    )
