"""What a conversation is made of: messages of the user, of the model, and of results."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from agtools_nb.calls import Status, ToolCall, ToolResult
from agtools_nb.errors import UsageError
from agtools_nb.events import Event
from agtools_nb.events.event import as_content, fresh_id
from agtools_nb.jsonable import brief_repr, json_text
from agtools_nb.media import Media, split

Stop = Literal["end", "calls", "length", "broken", "cancelled"]
# Taken from the types: a list of its own would forget the next one, and lose conversations.
STOPS: tuple[Stop, ...] = get_args(Stop)
_STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more requests.

    Attributes:
        input: Tokens that the model was sent.
        output: Tokens that it wrote.
        is_estimate: Whether no model counted them: then four characters are taken for one.
    """

    input: int = 0
    output: int = 0
    is_estimate: bool = False

    @property
    def total(self) -> int:
        """Both together."""
        return self.input + self.output

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.is_estimate or other.is_estimate,
        )


NO_USAGE = Usage()


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What a person said, or what arrived in the inbox.

    Attributes:
        text: What it says.
        media: Images and files that go with it.
        event: What it came from: ``"result"``, ``"event"``, ``"message"`` or ``"report"`` of the
            inbox; ``None`` if a person said it.
        call_id: Id of the call that the event belongs to, if it belongs to one.
        id: The message's own id.
        at: Unix time in seconds.
    """

    text: str
    media: tuple[Media, ...] = ()
    event: str | None = None
    call_id: str | None = None
    id: str = field(default_factory=lambda: fresh_id("user"))
    at: float = field(default_factory=time.time)

    @classmethod
    def of_event(cls, event: Event) -> UserMessage:
        """What a model is told of an event of the inbox."""
        parts = split(event.content)
        said = parts.response if isinstance(parts.response, str) else json_text(parts.response)
        if event.error is not None:
            said = f"failed: {event.error}"
        if event.kind != "message":
            last = ", its last" if event.final else ""
            said = f"[{event.kind} of {event.tool_name} ({event.call_id}){last}] {said}"
        return cls(said, parts.media, event.kind, event.call_id)


@dataclass(frozen=True, slots=True)
class ModelMessage:
    """What the model said.

    Attributes:
        text: Its text, ``""`` if it only calls.
        calls: The calls it asks for, each with an id that is unique in the conversation.
        stop: Why it ended: ``"end"``; ``"calls"``: it waits for results; ``"length"``: it
            came to its limit; ``"broken"``: its stream broke off; ``"cancelled"``.
        usage: Tokens of the request.
        notes: Remarks, such as call ids that had to be replaced.
        error: Why it broke off, for people.
        id: The message's own id.
        at: Unix time in seconds at which it was complete.
        seconds: From the request to its end.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    stop: Stop = "end"
    usage: Usage = NO_USAGE
    notes: tuple[str, ...] = ()
    error: str | None = None
    id: str = field(default_factory=lambda: fresh_id("model"))
    at: float = field(default_factory=time.time)
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ResultsMessage:
    """What became of the calls of the message before it.

    Attributes:
        results: One a call, in call order.
        group_id: The same for all that these calls bring later; ``None`` if nobody gave one.
        id: The message's own id.
        at: Unix time in seconds.
    """

    results: tuple[ToolResult, ...]
    group_id: str | None = None
    id: str = field(default_factory=lambda: fresh_id("results"))
    at: float = field(default_factory=time.time)


Message = UserMessage | ModelMessage | ResultsMessage


def message_json(message: Message) -> dict[str, Any]:
    """A message as JSON that :func:`read_message` reads back."""
    written: dict[str, Any] = {"id": message.id, "at": message.at}
    if isinstance(message, UserMessage):
        written |= {"role": "user", "text": message.text, "event": message.event}
        written |= {"call_id": message.call_id}
        if message.media:
            written["media"] = [_media_json(media) for media in message.media]
    elif isinstance(message, ModelMessage):
        written |= {"role": "model", "text": message.text, "stop": message.stop}
        written["calls"] = [
            {"id": call.id, "name": call.name, "arguments": _arguments(call.args)}
            for call in message.calls
        ]
        written["usage"] = {
            "input": message.usage.input,
            "output": message.usage.output,
            "is_estimate": message.usage.is_estimate,
        }
        written |= {"notes": list(message.notes), "error": message.error}
        written["seconds"] = message.seconds
    else:
        written |= {"role": "results", "group_id": message.group_id}
        written["results"] = [_result_json(one) for one in message.results]
    return written


def read_message(written: Any) -> Message:
    """Read a message back.

    Raises:
        UsageError: It is none; says what is wrong with it.
    """
    try:
        return _READERS[written["role"]](written)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(
            f"{brief_repr(written)} is no message of a conversation ({type(error).__name__}: "
            f"{error}); give what export() returned"
        ) from error


def _user(written: Mapping[str, Any]) -> UserMessage:
    media = tuple(_read_media(one) for one in written.get("media", ()))
    event, call_id = _text_or_none(written["event"]), _text_or_none(written["call_id"])
    return UserMessage(_text(written["text"]), media, event, call_id, *_stamp(written))


def _model(written: Mapping[str, Any]) -> ModelMessage:
    identity, at = _stamp(written)
    calls = tuple(
        ToolCall(_text(one["name"]), _read_arguments(one["arguments"]), _text(one["id"]), identity)
        for one in written["calls"]
    )
    usage = written["usage"]
    return ModelMessage(
        _text(written["text"]),
        calls,
        _one_of(written["stop"], STOPS),
        Usage(int(usage["input"]), int(usage["output"]), bool(usage["is_estimate"])),
        tuple(_text(note) for note in written["notes"]),
        _text_or_none(written["error"]),
        identity,
        at,
        float(written["seconds"]),
    )


def _results(written: Mapping[str, Any]) -> ResultsMessage:
    results = tuple(_read_result(one) for one in written["results"])
    return ResultsMessage(results, _text_or_none(written["group_id"]), *_stamp(written))


_READERS: Mapping[str, Callable[[Mapping[str, Any]], Message]] = {
    "user": _user,
    "model": _model,
    "results": _results,
}


def _result_json(result: ToolResult) -> dict[str, Any]:
    return {
        "id": result.id,
        "name": result.name,
        "status": result.status,
        "result": as_content(result.result),
        "error": result.error,
        "subscription": result.subscription,
        "started_at": result.started_at,
        "duration": result.duration,
    }


def _read_result(written: Mapping[str, Any]) -> ToolResult:
    value = written["result"]
    return ToolResult(
        _text(written["name"]),
        _text(written["id"]),
        result=value,
        error=_text_or_none(written["error"]),
        status=_one_of(written["status"], _STATUSES),
        media=split(value).media,
        subscription=_text_or_none(written["subscription"]),
        started_at=float(written["started_at"]),
        duration=float(written["duration"]),
    )


def _media_json(media: Media) -> dict[str, Any]:
    if media.data is None:
        return {"mime_type": media.mime_type, "uri": media.uri}
    return {"mime_type": media.mime_type, "data": base64.b64encode(media.data).decode("ascii")}


def _read_media(written: Mapping[str, Any]) -> Media:
    form = {"inline_data": written} if "data" in written else {
        "file_data": {"mime_type": written["mime_type"], "file_uri": written["uri"]}
    }  # fmt: skip
    [media] = split(form).media
    return media


def _arguments(args: Mapping[str, Any] | str) -> Any:
    return args if isinstance(args, str) else dict(args)


def _read_arguments(args: Any) -> Mapping[str, Any] | str:
    if isinstance(args, (str, dict)):
        return args
    raise TypeError("arguments are an object, or text")


def _stamp(written: Mapping[str, Any]) -> tuple[str, float]:
    return _text(written["id"]), float(written["at"])


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise TypeError(f"{brief_repr(value)} is no text")


def _text_or_none(value: Any) -> str | None:
    return None if value is None else _text(value)


def _one_of(value: Any, known: tuple[Any, ...]) -> Any:
    if value in known:
        return value
    raise ValueError(f"{brief_repr(value)} is none of {', '.join(known)}")
