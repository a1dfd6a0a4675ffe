"""A question that a tool asks a person, and what counts as an answer."""

from __future__ import annotations

import inspect
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from agtools_nb.errors import AgtoolsError, ToolError, UsageError
from agtools_nb.jsonable import brief_repr

Answer = str | Sequence[str] | None
"""One text, several (where several may be chosen), or ``None``: the person declined."""


@dataclass(frozen=True, slots=True, init=False)
class Question:
    """What a person is asked while a call runs.

    Args:
        text: The question.
        options: What may be chosen. Default: nothing, and any text is an answer.
        multiple: Whether several options may be chosen, or none. Default ``False``.
        allow_text: Whether the answer may be in the person's own words. Default: only
            where there are no options.
        tool_name: Which tool asks; ``None`` if none does.
        call_id: In which call.

    Attributes:
        text: The question.
        options: What may be chosen, in this order.
        multiple: Whether several options may be chosen, or none.
        allow_text: Whether the answer may be in the person's own words.
        tool_name: Which tool asks; ``None`` if none does.
        call_id: In which call; ``None`` outside of one.

    Raises:
        UsageError: There is nothing to ask, or no way to answer.
    """

    text: str
    options: tuple[str, ...]
    multiple: bool
    allow_text: bool
    tool_name: str | None
    call_id: str | None

    def __init__(
        self,
        text: str,
        options: Sequence[str] = (),
        multiple: bool = False,
        allow_text: bool | None = None,
        *,
        tool_name: str | None = None,
        call_id: str | None = None,
    ) -> None:
        chosen_from = _checked_options(options)
        if _is_blank(text):
            raise UsageError(f"a question is text that is not blank, not {brief_repr(text)}")
        if multiple and not chosen_from:
            raise UsageError("multiple=True needs options=[...] of which several may be chosen")
        if allow_text is False and not chosen_from:
            raise UsageError("allow_text=False needs options=[...]: nothing could be answered")
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "options", chosen_from)
        object.__setattr__(self, "multiple", bool(multiple))
        is_open = not chosen_from if allow_text is None else bool(allow_text)
        object.__setattr__(self, "allow_text", is_open)
        object.__setattr__(self, "tool_name", tool_name)
        object.__setattr__(self, "call_id", call_id)

    def fault(self, answer: Answer) -> str | None:
        """Why this is no answer to the question; ``None`` if it is one.

        Args:
            answer: What a person or a handler said. ``None`` always is one: it declines.
        """
        if answer is None:
            return None
        said = _texts(answer)
        if said is None:
            return f"{brief_repr(answer)} is neither text, nor a list of texts, nor None"
        if not self.multiple and len(said) != 1:
            return f"{brief_repr(answer)} are {len(said)} answers, and exactly one was asked for"
        other = [text for text in said if text not in self.options]
        if other and not self.allow_text:
            known = ", ".join(map(repr, self.options))
            return f"{brief_repr(other[0])} is none of the options {known}"
        return None

    def read(self, answer: Answer) -> str | tuple[str, ...] | None:
        """An answer in one form: text, with ``multiple`` a tuple of texts, or ``None``.

        What was chosen comes in the order of the options, each once; own words come last.

        Raises:
            UsageError: It is no answer to this question.
        """
        if (fault := self.fault(answer)) is not None:
            raise UsageError(f"this does not answer {brief_repr(self.text)}: {fault}")
        said = _texts(answer)
        if said is None:
            return None
        if not self.multiple:
            return said[0]
        chosen = [option for option in self.options if option in said]
        return tuple(dict.fromkeys([*chosen, *said]))


AnswerHandler = Callable[[Question], Answer | Awaitable[Answer]]
"""Puts a question to a person, or answers it; sync or async. Called on the event loop."""


class Stopwatch:
    """Counts the seconds within ``with``, those of several at once only once."""

    def __init__(self) -> None:
        self._open = 0
        self._since = 0.0
        self._before = 0.0

    @property
    def seconds(self) -> float:
        """The seconds so far."""
        return self._before + (time.monotonic() - self._since if self._open else 0.0)

    def __enter__(self) -> None:
        if not self._open:
            self._since = time.monotonic()
        self._open += 1

    def __exit__(self, *_: object) -> None:
        self._open -= 1
        if not self._open:
            self._before += time.monotonic() - self._since


async def answered(
    question: Question, handler: AnswerHandler | None
) -> str | tuple[str, ...] | None:
    """Put a question to a handler, and read its answer.

    Args:
        question: What is asked.
        handler: Who is asked; ``None`` if nobody is there.

    Returns:
        See :meth:`Question.read`. ``None``: the person declined.

    Raises:
        ToolError: There is nobody to ask, or the handler says that it cannot ask.
        UsageError: The handler failed, or what it returned answers something else.
    """
    if handler is None:
        raise nobody_to_ask()
    try:
        answer = handler(question)
        if inspect.isawaitable(answer):
            answer = await answer
    except AgtoolsError:
        raise
    except Exception as error:
        raise UsageError(
            f"the handler of questions (answer=) failed: {type(error).__name__}: {error}"
        ) from error
    return question.read(answer)


def nobody_to_ask() -> ToolError:
    """What a tool is told that asks where nobody answers."""
    return ToolError(
        "nobody_to_ask",
        "The question was not put: there is nobody here to answer questions "
        "(the author can give answer=, a function that is given the question).",
        category="access",
        hint="Go on with what you know, and say what you assumed.",
    )


def _texts(answer: Answer) -> list[str] | None:
    """The texts of an answer; ``None`` if there is something else in it."""
    if isinstance(answer, str):
        return [answer]
    if not isinstance(answer, (list, tuple, set, frozenset)):
        return None
    said = list(answer)
    return said if all(isinstance(text, str) for text in said) else None


def _is_blank(text: Any) -> bool:
    return not isinstance(text, str) or not text.strip()


def _checked_options(options: Sequence[str]) -> tuple[str, ...]:
    """The options as given.

    Raises:
        UsageError: They are not different texts that are not blank.
    """
    if isinstance(options, str):
        raise UsageError(f"options={brief_repr(options)} is one text; write options=[...]")
    found = tuple(options)
    for option in found:
        if _is_blank(option):
            raise UsageError(
                f"an option is text that is not blank, and {brief_repr(option)} is not"
            )
    if len(set(found)) != len(found):
        twice = next(option for option in found if found.count(option) > 1)
        raise UsageError(f"the option {brief_repr(twice)} is there twice")
    return found
