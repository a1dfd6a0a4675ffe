"""What a conversation is made of: messages of the user, of the model, and of results."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from agtools_nb.calls import Change, Fault, Status, ToolCall, ToolResult
from agtools_nb.errors import UsageError
from agtools_nb.events import Event
from agtools_nb.events.event import as_content, fresh_id
from agtools_nb.jsonable import brief_repr, clean_text, json_text, jsonable, shorten
from agtools_nb.media import Media, split

Stop = Literal["end", "calls", "length", "broken", "cancelled"]
# Taken from the types: a list of its own would forget the next one, and lose conversations.
STOPS: tuple[Stop, ...] = get_args(Stop)
_STATUSES: tuple[Status, ...] = get_args(Status)

LONGEST_KEPT = 100_000
"""Characters of what a call printed, and of what stands beside its result, that are written."""

MOST_KEPT = 100
"""Coercions, faults, warnings and notes of one result that are written."""

_LONGEST_NAME = 200


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

    Args:
        written: A message as :func:`message_json` writes it, and ``export()`` with it.

    Raises:
        UsageError: It is none; says what is wrong with it.
    """
    try:
        if not isinstance(written, Mapping):
            raise TypeError(f"it is a {type(written).__name__}, not an object")
        return _READERS[_text(written["role"])](written)
    except (*_MISREAD, UsageError) as error:
        raise UsageError(
            f"{brief_repr(written)} is no message of a conversation ({type(error).__name__}: "
            f"{error}); give what export() returned"
        ) from error


def _user(written: Mapping[str, Any]) -> UserMessage:
    media = tuple(_read_media(one) for one in _list(written.get("media", [])))
    event, call_id = _text_or_none(written["event"]), _text_or_none(written["call_id"])
    return UserMessage(_text(written["text"]), media, event, call_id, *_stamp(written))


def _model(written: Mapping[str, Any]) -> ModelMessage:
    identity, at = _stamp(written)
    calls = tuple(
        ToolCall(_text(one["name"]), _read_arguments(one["arguments"]), _text(one["id"]), identity)
        for one in _list(written["calls"])
    )
    usage = written["usage"]
    return ModelMessage(
        _text(written["text"]),
        calls,
        _one_of(written["stop"], STOPS),
        Usage(int(usage["input"]), int(usage["output"]), bool(usage["is_estimate"])),
        _texts(written["notes"]),
        _text_or_none(written["error"]),
        identity,
        at,
        float(written["seconds"]),
    )


def _results(written: Mapping[str, Any]) -> ResultsMessage:
    results = tuple(_read_result(one) for one in _list(written["results"]))
    return ResultsMessage(results, _text_or_none(written["group_id"]), *_stamp(written))


# What comes of reading what is something else.
_MISREAD = (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)

_READERS: Mapping[str, Callable[[Mapping[str, Any]], Message]] = {
    "user": _user,
    "model": _model,
    "results": _results,
}


def _result_json(result: ToolResult) -> dict[str, Any]:
    written = {
        "id": result.id,
        "name": result.name,
        "status": result.status,
        "result": _value_json(result),
        "error": result.error,
        "subscription": result.subscription,
        "started_at": result.started_at,
        "duration": result.duration,
    }
    # What stands beside it, for people who look at it later; most results have none of it.
    changes = result.coercions[:MOST_KEPT]
    arguments = _kept(result.arguments) if changes else None
    beside = {
        "arguments": arguments if isinstance(arguments, dict) else None,
        "coercions": [
            {
                "pointer": _short(one.pointer),
                "before": _kept(one.before),
                "after": _kept(one.after),
                "rule": _short(one.rule),
            }
            for one in changes
        ],
        "faults": [
            {name: _short(getattr(one, name)) for name in _FAULT}
            for one in result.faults[:MOST_KEPT]
        ],
        "stdout": _short(result.stdout),
        "stderr": _short(result.stderr),
        "warnings": [_short(one) for one in result.warnings[:MOST_KEPT]],
        "notes": [_short(one) for one in result.notes[:MOST_KEPT]],
    }
    return written | {name: value for name, value in beside.items() if value}


def _read_result(written: Mapping[str, Any]) -> ToolResult:
    value = written["result"]
    arguments = written.get("arguments")
    return ToolResult(
        _text(written["name"]),
        _text(written["id"]),
        result=value,
        error=_text_or_none(written["error"]),
        status=_one_of(written["status"], _STATUSES),
        arguments=arguments if isinstance(arguments, dict) else None,
        coercions=tuple(
            Change(_text(one["pointer"]), one["before"], one["after"], _text(one["rule"]))
            for one in _list(written.get("coercions", []))
        ),
        faults=tuple(
            Fault(*(_text(one[name]) for name in _FAULT))
            for one in _list(written.get("faults", []))
        ),
        stdout=_text(written.get("stdout", "")),
        stderr=_text(written.get("stderr", "")),
        media=split(value).media,
        warnings=_texts(written.get("warnings", [])),
        notes=_texts(written.get("notes", [])),
        subscription=_text_or_none(written["subscription"]),
        started_at=float(written["started_at"]),
        duration=float(written["duration"]),
    )


_FAULT = tuple(one.name for one in fields(Fault))


def _value_json(result: ToolResult) -> Any:
    """What a tool returned, with the names of its media."""
    content = as_content(result.result)
    if any(media.name for media in result.media):
        data = [media for media in result.media if media.data is not None]
        files = [media for media in result.media if media.data is None]
        for key, found in (("inline_data", data), ("file_data", files)):
            forms = content.get(key, ()) if isinstance(content, dict) else ()
            if len(forms) == len(found):
                for form, media in zip(forms, found, strict=True):
                    if media.name:
                        form["display_name"] = _media_name(media)
    return content


def _kept(value: Any) -> Any:
    """A value as JSON; the beginning of its text if that is long. Once cut it stays as it is."""
    found = jsonable(value)
    if not isinstance(found, str):
        text = json_text(found)
        return found if len(text) <= LONGEST_KEPT else _short(text)
    return _short(found)


def _short(text: str) -> str:
    return shorten(clean_text(text), LONGEST_KEPT)


def _media_name(media: Media) -> str:
    return shorten(clean_text(str(media.name)), _LONGEST_NAME)


def _media_json(media: Media) -> dict[str, Any]:
    written: dict[str, Any] = {"mime_type": media.mime_type}
    if media.data is None:
        written["uri"] = media.uri
    else:
        written["data"] = base64.b64encode(media.data).decode("ascii")
    return written | ({"name": _media_name(media)} if media.name else {})


def _read_media(written: Mapping[str, Any]) -> Media:
    name = _text(written.get("name", ""))
    if "data" not in written:
        return Media(_text(written["mime_type"]), uri=_text(written["uri"]), name=name)
    data = base64.b64decode(_text(written["data"]), validate=True)
    return Media(_text(written["mime_type"]), data, name=name)


def _arguments(args: Mapping[str, Any] | str) -> Any:
    return args if isinstance(args, str) else dict(args)


def _read_arguments(args: Any) -> Mapping[str, Any] | str:
    if isinstance(args, (str, dict)):
        return args
    raise TypeError("arguments are an object, or text")


def _stamp(written: Mapping[str, Any]) -> tuple[str, float]:
    return _text(written["id"]), float(written["at"])


def _list(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    raise TypeError(f"{brief_repr(value)} is no list")


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(_text(one) for one in _list(value))


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
