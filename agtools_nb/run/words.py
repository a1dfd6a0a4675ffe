"""What the model is told of an exception."""

from __future__ import annotations

from agtools_nb.errors import (
    ArgumentsError,
    CallTimeoutError,
    DefinitionError,
    ToolError,
    UsageError,
)
from agtools_nb.jsonable import clean_text, shorten

ERROR_LIMIT = 8_000  # characters of an exception's text that a model is shown
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
        return f"{error.message} {error.hint}" if error.hint else f"{error.message}"
    text = str(error)
    if isinstance(error, (ArgumentsError, DefinitionError, UsageError, CallTimeoutError)):
        return text
    name = type(error).__name__
    return f"{name}: {text}" if text else name
