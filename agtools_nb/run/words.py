"""What the model is told of an exception."""

from __future__ import annotations

from typing import Any

from agtools_nb.arguments.nearest import listed, nearest
from agtools_nb.errors import (
    ArgumentsError,
    CallTimeoutError,
    DefinitionError,
    ToolError,
    UnknownToolError,
    UsageError,
)
from agtools_nb.jsonable import clean_text, shorten

ERROR_LIMIT = 8_000  # characters of an exception's text that a model is shown
_MOST_OF_A_GROUP = 5
_MOST_TOOLS = 2_000  # characters of the names that are listed where a name is unknown
STOPPED = "The call was stopped before it finished."


def error_text(error: BaseException) -> str:
    """What the model is told of an exception: type and text, or a ``ToolError``'s own words.

    Never raises, and cuts the text at 8,000 characters.
    """
    try:
        text = _words_of(error)
    except (Exception, SystemExit, GeneratorExit):
        text = f"{type(error).__name__}: its text could not be read"
    return shorten(clean_text(text), ERROR_LIMIT)


def _words_of(error: BaseException) -> str:
    if isinstance(error, ToolError):
        return _with_hint(error)
    text = str(error)
    if isinstance(error, DefinitionError):
        return f"{_sentence(text)} This is a mistake in the tool, not in the call."
    if isinstance(error, UsageError) and not isinstance(error, UnknownToolError):
        return f"{_sentence(text)} This is for the user to put right; the call is not at fault."
    if isinstance(error, (ArgumentsError, CallTimeoutError, UnknownToolError)):
        return text
    if isinstance(error, BaseExceptionGroup):
        # What a task group says of itself is only that something went wrong in it.
        inner = [error_text(one) for one in error.exceptions[:_MOST_OF_A_GROUP]]
        text = "; ".join([shorten(text, 200), *(shorten(one, 1_000) for one in inner)])
    name = type(error).__name__
    return f"{name}: {text}" if text else name


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _with_hint(error: ToolError) -> str:
    """The hint is what to do, so it is the message that is cut."""
    if not error.hint:
        return str(error.message)
    hint = shorten(str(error.hint), ERROR_LIMIT // 2)
    return f"{shorten(str(error.message), ERROR_LIMIT - len(hint) - 1)} {hint}"


def no_such_tool(name: Any, known: tuple[str, ...]) -> UnknownToolError:
    """What a model is told that called a tool that is not there."""
    text = str(name)
    close = nearest(text, known)
    remark = f"; did you mean {close!r}?" if close else "."
    return UnknownToolError(
        f"There is no tool named {shorten(text, 80)!r}{remark} "
        f"Tools: {listed(text, known, _MOST_TOOLS)}."
    )
