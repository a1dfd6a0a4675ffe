"""``ScriptedModel``: a model whose answers are written beforehand, for tests and lessons."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agtools_nb.agent.messages import ModelMessage, ResultsMessage, Usage, UserMessage
from agtools_nb.agent.model import (
    CallPart,
    EndPart,
    ModelEvent,
    ModelRequest,
    NotePart,
    RawPart,
    TextPart,
    UsagePart,
)
from agtools_nb.calls import ToolCall
from agtools_nb.errors import ModelError, UsageError
from agtools_nb.jsonable import brief_repr, shorten

_PARTS = (TextPart, CallPart, UsagePart, RawPart, NotePart, EndPart)


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer of a script.

    Attributes:
        text: What it says, streamed word by word.
        calls: The calls it asks for: ``ToolCall`` objects, or ``(name, arguments)`` pairs.
        expect: Text that what it answers must hold (the user's text, or a result's), or a
            function of the :class:`ModelRequest` that says whether it is the one to answer.
            ``None``: it answers whatever comes.
        usage: Tokens that it says it cost.
    """

    text: str = ""
    calls: Sequence[ToolCall | tuple[str, Mapping[str, Any]]] = ()
    expect: str | Callable[[ModelRequest], bool] | None = None
    usage: Usage | None = None


Said = str | ToolCall | tuple[Any, ...] | Turn | Sequence[Any]
ScriptFunction = Callable[[ModelRequest], "Said | Awaitable[Said]"]


class ScriptedModel:
    """Answers as it was told to, turn by turn.

    ::

        model = ScriptedModel([
            ("forecast", {"city": "Oslo"}),             # a call
            "It will be sunny.",                        # text
            [("add", {"a": 1, "b": 2}), ("add", {"a": 3, "b": 4})],   # two calls
            Turn("Let me see.", [("search", {"query": "tea"})], expect="tea"),
            lambda request: request.messages[-1].text.upper(),
        ])

    Args:
        turns: The answers in order: text, a call (``ToolCall`` or a pair), a list of calls
            and parts (``TextPart``, ``CallPart``, ...), a :class:`Turn`, or a function of the
            :class:`ModelRequest` that returns any of these. Or one function, asked each time.
        name: What people call it. Default ``"scripted"``.

    Raises:
        UsageError: A turn is none of these.

    Attributes:
        requests: Every request it was sent, oldest first.
    """

    def __init__(
        self, turns: Iterable[Said | ScriptFunction] | ScriptFunction, *, name: str = "scripted"
    ) -> None:
        self.name = name
        self.requests: list[ModelRequest] = []
        self._always: ScriptFunction | None = None
        self._turns: list[Any] = []
        if callable(turns):
            self._always = turns
        elif isinstance(turns, (str, Mapping)) or not isinstance(turns, Iterable):
            raise UsageError(
                f"ScriptedModel takes a list of turns, or one function, not {brief_repr(turns)}"
            )
        else:
            self._turns = list(turns)
            for number, turn in enumerate(self._turns, 1):
                if not callable(turn):
                    _parts(turn, f"turn {number}")

    @property
    def is_done(self) -> bool:
        """Whether every turn was used."""
        return self._always is None and not self._turns_left

    @property
    def _turns_left(self) -> int:
        return max(len(self._turns) - len(self.requests), 0)

    async def respond(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Give the next answer.

        Raises:
            ModelError: The script has no more turns, or expected another request.
        """
        number = len(self.requests)
        self.requests.append(request)
        for part in await self._said(number, request):
            yield part

    async def _said(self, number: int, request: ModelRequest) -> list[ModelEvent]:
        turn = self._always
        if turn is None:
            if number >= len(self._turns):
                raise ModelError(
                    f"the script has {len(self._turns)} turns and was asked for one more, to "
                    f"answer {_last(request)}; add a turn"
                )
            turn = self._turns[number]
        said: Any = turn
        if callable(turn):
            said = turn(request)
            if inspect.isawaitable(said):
                said = await said
        where = f"turn {number + 1}"
        if isinstance(said, Turn):
            _check(said, where, request)
        return _parts(said, where)

    def __repr__(self) -> str:
        left = "a function" if self._always else f"{self._turns_left} turns left"
        return f"<ScriptedModel: {left}>"


def _check(turn: Turn, where: str, request: ModelRequest) -> None:
    expected = turn.expect
    if expected is None:
        return
    came = _last(request)
    met = expected(request) if callable(expected) else expected in came
    if not met:
        words = "what its function asks for" if callable(expected) else repr(expected)
        raise ModelError(f"{where} of the script expected {words}, and came to answer {came}")


def _last(request: ModelRequest) -> str:
    """What a request asks to be answered, in words."""
    last = request.messages[-1] if request.messages else None
    if isinstance(last, UserMessage):
        return shorten(repr(last.text), 2_000)
    if isinstance(last, ResultsMessage):
        found = ((r.name, r.result if r.ok else r.error) for r in last.results)
        return shorten("; ".join(f"{name}: {value!r}" for name, value in found), 2_000)
    return "nothing" if last is None else f"a message of the model: {brief_repr(last.text)}"


def _parts(said: Any, where: str) -> list[ModelEvent]:
    """What was said, as parts of an answer.

    Raises:
        UsageError: It is nothing that a model could say.
    """
    if isinstance(said, _PARTS):
        return [said]
    if isinstance(said, str):
        return _words(said)
    if isinstance(said, ToolCall):
        return [CallPart(said.name, said.args, said.id)]
    if isinstance(said, ModelMessage):
        return [*_words(said.text), *(CallPart(c.name, c.args, c.id) for c in said.calls)]
    if isinstance(said, Turn):
        calls = [part for call in said.calls for part in _parts(call, where)]
        usage = [] if said.usage is None else [UsagePart(said.usage)]
        return [*_words(said.text), *calls, *usage]
    if _is_pair(said):
        return [CallPart(said[0], said[1])]
    if isinstance(said, (list, tuple)):
        return [part for one in said for part in _parts(one, where)]
    raise UsageError(
        f"{where} of the script is {brief_repr(said)}; a turn is text, a call such as "
        "('forecast', {'city': 'Oslo'}), a list of calls, or a Turn"
    )


def _is_pair(said: Any) -> bool:
    return (
        isinstance(said, tuple)
        and len(said) == 2
        and isinstance(said[0], str)
        and isinstance(said[1], (str, Mapping))
        and not (isinstance(said[1], str) and " " in said[0])
    )


def _words(text: str) -> list[ModelEvent]:
    """Text in pieces of a word each, as a model streams it."""
    pieces = text.split(" ")
    return [
        TextPart(piece if at == len(pieces) - 1 else f"{piece} ")
        for at, piece in enumerate(pieces)
        if piece or at < len(pieces) - 1
    ]
