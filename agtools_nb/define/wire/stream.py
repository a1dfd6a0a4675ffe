"""Calls out of a stream: a provider's chunks, put together to whole ``ToolCall`` objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agtools_nb.calls import ToolCall
from agtools_nb.define.wire.plain import first, mapping, plain
from agtools_nb.define.wire.reading import (
    arguments_of,
    call_of,
    is_whole,
    read_calls,
    text_or_none,
)


class CallAssembler:
    """Puts the calls of one streamed message together.

    ::

        assembler = CallAssembler()
        for chunk in stream:
            for call in assembler.feed(chunk):
                ...  # complete: it may run while the rest is still coming
        calls = assembler.finish()

    Takes the chunks of OpenAI chat completions, the events of OpenAI's Responses and of
    Anthropic's Messages, and the responses that Gemini and Ollama stream; as dicts or as the
    SDKs' objects, and single deltas of a call. Nothing that a provider sends makes it raise:
    what it does not know is ignored, and arguments that stay malformed stay text, which the
    runner answers with an error.

    In chat completions, whose servers differ, a delta belongs to the call that

    * has its id; a new id opens a new call, also under an index that is taken;
    * without an id: has its index, or, without an index too, came last;
    * but a delta that brings a name to a call whose arguments are whole opens a new one.
    """

    def __init__(self) -> None:
        self._open: list[_Open] = []
        self._told: set[int] = set()

    def feed(self, chunk: Any) -> tuple[ToolCall, ...]:
        """Take one chunk.

        Returns:
            The calls that it completes, for certain and for the first time. In chat
            completions that is known only when the message ends.
        """
        try:
            self._take(plain(chunk))
        except Exception:  # a foreign object's own code
            return ()
        return self._completed()

    def finish(self) -> list[ToolCall]:
        """Return all calls of the stream, in the order in which they began."""
        return [one.call() for one in self._open]

    def _completed(self) -> tuple[ToolCall, ...]:
        new = [n for n, one in enumerate(self._open) if one.done and n not in self._told]
        self._told.update(new)
        return tuple(self._open[number].call() for number in new)

    def _take(self, chunk: Any) -> None:
        if isinstance(chunk, (list, tuple)):
            for one in chunk:
                self._take(plain(one))
            return
        if not isinstance(chunk, Mapping):
            return
        kind = chunk.get("type")
        take = _EVENTS.get(kind) if isinstance(kind, str) else None
        if take is not None:
            take(self, chunk)
        elif _is_delta(chunk):
            self._delta(chunk)
        else:
            self._chat(chunk)

    # -- chat completions, Gemini, Ollama ---------------------------------------------------

    def _chat(self, chunk: Mapping[str, Any]) -> None:
        choices = chunk.get("choices")
        choice = mapping(choices[0]) if isinstance(choices, (list, tuple)) and choices else {}
        delta = mapping(choice.get("delta")) or chunk
        asked = delta.get("tool_calls")
        if isinstance(asked, (list, tuple)):
            for one in asked:
                self._delta(mapping(one))
        elif delta is not chunk:
            self._delta(mapping(delta.get("function_call")))  # before there were several
        else:
            self._open += [_Open(call, done=True) for call in read_calls(chunk)]
        if choice.get("finish_reason"):
            for one in self._open:
                one.done = True

    def _delta(self, delta: Mapping[str, Any]) -> None:
        function = mapping(delta.get("function")) or delta
        name = text_or_none(function.get("name")) or ""
        sent = first(function, "arguments", "args", "input")
        call_id = text_or_none(first(delta, "id", "call_id")) or None
        index = delta.get("index") if type(delta.get("index")) is int else None
        by_id = None if call_id is None else self._by_id(call_id, index)
        target = by_id or self._by_place(index, name, sent)
        if target is not None:
            target.add(name, sent)

    def _by_id(self, call_id: str, index: int | None) -> _Open:
        known = self._last(
            lambda one: one.id == call_id and (None in (index, one.index) or one.index == index)
        )
        if known is None and index is not None:
            # The id may come after the first piece.
            known = self._last(lambda one: one.id is None and one.index == index)
        found = known or self._begin(index)
        found.id = call_id
        return found

    def _by_place(self, index: int | None, name: str, sent: Any) -> _Open | None:
        found = self._last(lambda one: index is None or one.index == index)
        if found is None or isinstance(sent, Mapping) or found.starts_anew(name, sent):
            stray = not name and (sent is None or bool(self._open))
            return None if stray else self._begin(index)
        return found

    def _begin(self, key: Any) -> _Open:
        self._open.append(_Open(ToolCall("", ""), key, done=False))
        return self._open[-1]

    def _last(self, fits: Callable[[_Open], bool]) -> _Open | None:
        return next((one for one in reversed(self._open) if not one.done and fits(one)), None)

    # -- Anthropic --------------------------------------------------------------------------

    def _message_start(self, event: Mapping[str, Any]) -> None:
        for one in self._open:
            one.done = True  # the blocks of the next message are counted anew

    def _block_start(self, event: Mapping[str, Any]) -> None:
        block = mapping(event.get("content_block"))
        call = call_of(block) if block.get("type") == "tool_use" else None
        if call is not None:
            self._open.append(_Open(call, ("block", event.get("index"))))

    def _block_delta(self, event: Mapping[str, Any]) -> None:
        delta = mapping(event.get("delta"))
        found = self._at("block", event.get("index"))
        if found is not None and delta.get("type") == "input_json_delta":
            found.add("", delta.get("partial_json"))

    def _block_stop(self, event: Mapping[str, Any]) -> None:
        found = self._at("block", event.get("index"))
        if found is not None:
            found.done = True

    # -- Responses --------------------------------------------------------------------------

    def _item_added(self, event: Mapping[str, Any]) -> None:
        item = mapping(event.get("item"))
        call = call_of(item) if item.get("type") == "function_call" else None
        if call is not None and self._item(event) is None:
            self._open.append(_Open(call, ("item", event.get("output_index")), item.get("id")))

    def _item_delta(self, event: Mapping[str, Any]) -> None:
        found = self._item(event)
        if found is not None:
            found.add("", event.get("delta"))

    def _item_arguments(self, event: Mapping[str, Any]) -> None:
        found = self._item(event)
        if found is not None and isinstance(event.get("arguments"), str):
            found.pieces = [event["arguments"]]

    def _item_done(self, event: Mapping[str, Any]) -> None:
        item = mapping(event.get("item"))
        call = call_of(item) if item.get("type") == "function_call" else None
        if call is None:
            return
        found = self._item(event)
        if found is not None:
            found.become(call)
        elif not any(one.id == call.id for one in self._open):
            self._open.append(_Open(call, done=True))

    def _response_done(self, event: Mapping[str, Any]) -> None:
        """The whole response again: what an event was lost of is in here."""
        known = {one.id: one for one in self._open}
        for call in read_calls(event.get("response")):
            found = known.get(call.id)
            if found is None:
                self._open.append(_Open(call, done=True))
            elif not found.done:
                found.become(call)

    def _item(self, event: Mapping[str, Any]) -> _Open | None:
        item_id = event.get("item_id") or mapping(event.get("item")).get("id")
        if isinstance(item_id, str):
            return self._last(lambda one: one.item_id == item_id)
        return self._at("item", event.get("output_index"))

    def _at(self, kind: str, number: Any) -> _Open | None:
        return self._last(lambda one: one.index == (kind, number))


class _Open:
    """A call of which more may come, until it is done."""

    def __init__(
        self, call: ToolCall, index: Any = None, item_id: Any = None, *, done: bool = False
    ) -> None:
        self.index = index
        self.item_id = item_id if isinstance(item_id, str) else None
        self.become(call)
        self.done = done

    def become(self, call: ToolCall) -> None:
        """Be this call, and done."""
        self.id, self.name, self.step_id = call.id, call.name, call.step_id
        self.whole: Mapping[str, Any] | None = None
        self.pieces: list[str] = []
        self.add("", call.args)
        self.done = True

    @property
    def arguments(self) -> Mapping[str, Any] | str:
        """What has come so far."""
        return "".join(self.pieces) if self.pieces else self.whole or {}

    def starts_anew(self, name: str, sent: Any) -> bool:
        """Whether a piece with this name, and no id, begins another call."""
        if not name or not self.name:
            return False
        if name != self.name:
            return True
        return sent not in (None, "") and bool(self.arguments) and is_whole(self.arguments)

    def add(self, name: str, sent: Any) -> None:
        """Take a piece. Some servers repeat the name with each; none is known to split it."""
        self.name = self.name or name
        more = arguments_of(sent)
        if not isinstance(more, str):
            self.whole = more or self.whole
        elif more:
            # A block opens with an empty object, and pieces of text follow.
            self.pieces.append(more)

    def call(self) -> ToolCall:
        """The call as far as it has come."""
        return ToolCall(self.name, self.arguments, self.id, self.step_id)


def _is_delta(chunk: Mapping[str, Any]) -> bool:
    """Whether a chunk is a piece of one call, without the message around it."""
    if chunk.keys() & {"choices", "candidates", "message", "tool_calls", "content", "parts"}:
        return False
    return bool(chunk.keys() & {"function", "arguments"})


_EVENTS: Mapping[str, Callable[[CallAssembler, Mapping[str, Any]], None]] = {
    "message_start": CallAssembler._message_start,
    "content_block_start": CallAssembler._block_start,
    "content_block_delta": CallAssembler._block_delta,
    "content_block_stop": CallAssembler._block_stop,
    "response.output_item.added": CallAssembler._item_added,
    "response.function_call_arguments.delta": CallAssembler._item_delta,
    "response.function_call_arguments.done": CallAssembler._item_arguments,
    "response.output_item.done": CallAssembler._item_done,
    "response.completed": CallAssembler._response_done,
    "response.incomplete": CallAssembler._response_done,
}
