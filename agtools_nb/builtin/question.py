"""``ask_question``: the model asks the person."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from agtools_nb.access.names import BuiltinTools
from agtools_nb.context import ToolContext, nobody_to_ask
from agtools_nb.define import Tool

MOST_OPTIONS = 20

_NOT_BLANK = r"\S"


def ask_question_tool() -> Tool:
    """Make the ``ask_question`` tool.

    The question goes where ``ctx.ask`` goes: to hooks, then to the runner's ``answer=``; in a
    notebook it is a widget.
    """

    async def ask_question(
        question: Annotated[
            str,
            Field(max_length=4_000, pattern=_NOT_BLANK, description="In words for the person."),
        ],
        options: Annotated[
            list[Annotated[str, Field(max_length=500, pattern=_NOT_BLANK)]],
            Field(max_length=MOST_OPTIONS, description="What may be chosen. Default: free text."),
        ] = [],  # noqa: B006 -- never changed
        multiple: Annotated[
            bool, Field(description="Several of the options may be chosen, or none.")
        ] = False,
        allow_text: Annotated[
            bool, Field(description="Beside the options, own words are an answer, too.")
        ] = True,
        context: ToolContext | None = None,
    ) -> dict[str, Any]:
        """Ask the person, where only they can know: what they want, not what you can find out."""
        if context is None:
            raise nobody_to_ask()
        choices = list(dict.fromkeys(options))
        answer = await context.ask(
            question,
            choices,
            multiple=multiple and bool(choices),
            allow_text=allow_text or not choices,
        )
        return _told(answer)

    return Tool(
        ask_question,
        name=BuiltinTools.ASK_QUESTION.value,
        read_only=True,
        display="Ask: {question}",
    )


def _told(answer: str | tuple[str, ...] | None) -> dict[str, Any]:
    if answer is None:
        note = "The person did not answer. Go on with what you know, and say what you assumed."
        return {"answer": None, "note": note}
    return {"answer": answer if isinstance(answer, str) else list(answer)}
