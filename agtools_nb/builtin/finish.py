"""``finish``: the model says that it is done, and with what."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, get_origin

from pydantic import Field

from agtools_nb.access.names import BuiltinTools
from agtools_nb.define import Tool, ToolWithSchema
from agtools_nb.errors import DefinitionError
from agtools_nb.jsonable import brief_repr

_DESCRIPTION = "End the conversation, once all is done or nothing more can be done."


@dataclass(frozen=True, slots=True)
class Finished:
    """What ``finish`` returns: the conversation is over.

    Whoever drives it looks for it: ``isinstance(result.result, Finished)``.

    Attributes:
        output: What the model ends with: text; with a schema an object, or what a type
            given as ``output=`` makes of it.
    """

    output: Any

    def _agtools_json_(self) -> dict[str, Any]:
        return {"finished": True, "output": self.output}


def finish_tool(output: Any = None) -> Tool:
    """Make the ``finish`` tool, whose result is :class:`Finished`.

    Args:
        output: What the outcome must be. A pydantic model or any other type: the model sends
            it as ``output``, and it arrives as a value of that type. A JSON Schema of an
            object, as a dict: the model sends its properties. Default: text.

    Raises:
        DefinitionError: No JSON can hold such a type, or the schema is none of an object.
    """
    if isinstance(output, Mapping):
        return _by_schema(output)
    return _text() if output is None else _by_type(output)


def _text() -> Tool:
    def finish(
        message: Annotated[str, Field(description="The last words to the user: what came of it.")],
    ) -> Finished:
        return Finished(message)

    return _made(finish)


def _by_type(output: Any) -> Tool:
    if not _is_type(output):
        kind = "a function" if inspect.isroutine(output) else f"a value ({type(output).__name__})"
        raise DefinitionError(
            f"finish_tool(output={brief_repr(output)}): that is {kind}; give a type, such as a "
            "pydantic model, or a JSON Schema as a dict"
        )

    def finish(output: Any) -> Finished:
        return Finished(output)

    described = Annotated[output, Field(description="What came of it.")]
    finish.__annotations__ = {"output": described, "return": Finished}
    return _made(finish)


def _is_type(given: Any) -> bool:
    """Whether something is a type: a class, or made by one of the modules of types."""
    return (
        isinstance(given, type)
        or get_origin(given) is not None
        or type(given).__module__ in ("typing", "typing_extensions")
    )


def _by_schema(schema: Mapping[str, Any]) -> Tool:
    def finish(**output: Any) -> Finished:
        return Finished(output)

    return ToolWithSchema(
        finish,
        schema,
        name=BuiltinTools.FINISH.value,
        description=_DESCRIPTION,
        read_only=True,
        display="Finish",
    )


def _made(finish: Any) -> Tool:
    # What the model is told is what it sent: no schema of a result is needed.
    return Tool(
        finish,
        name=BuiltinTools.FINISH.value,
        description=_DESCRIPTION,
        read_only=True,
        display="Finish",
        response_schema={"type": "object"},
    )
