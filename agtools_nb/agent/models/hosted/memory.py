"""Answers as their providers gave them, for as long as the model object lives.

A provider may sign what its model thought, and wants it back, unchanged, with the results of the
calls that came of it. A conversation holds text and calls only, so the signed parts are kept here.
An answer that is not here (the kernel was restarted, another model gave it) goes back as text and
calls, which every provider takes.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart

from agtools_nb.agent.messages import ModelMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_ANSWERS = 200


class Answers:
    """The last answers that had calls and more than a conversation can hold."""

    def __init__(self) -> None:
        self._answers: OrderedDict[tuple[str, ...], ModelResponse] = OrderedDict()

    def remember(self, answer: ModelResponse, ids: Sequence[str | None]) -> None:
        """Keep an answer.

        Args:
            answer: As it came.
            ids: Of its calls, as the conversation has them.
        """
        own = [part.tool_call_id for part in answer.parts if isinstance(part, ToolCallPart)]
        if not own or own != list(ids) or not _holds_more(answer):
            return
        self._answers[tuple(own)] = answer
        while len(self._answers) > MOST_ANSWERS:
            self._answers.popitem(last=False)

    def recall(self, message: ModelMessage) -> ModelResponse | None:
        """The answer that a message was made of; ``None`` if it is not here or was changed."""
        found = self._answers.get(tuple(call.id or "" for call in message.calls))
        if found is None:
            return None
        names = [part.tool_name for part in found.parts if isinstance(part, ToolCallPart)]
        text = "".join(part.content for part in found.parts if isinstance(part, TextPart))
        is_same = names == [call.name for call in message.calls]
        return found if is_same and _bare(text) == _bare(message.text) else None

    def __repr__(self) -> str:
        return f"<Answers: {len(self._answers)}>"


def _holds_more(answer: ModelResponse) -> bool:
    return any(
        not isinstance(part, (TextPart, ToolCallPart)) or part.provider_details
        for part in answer.parts
    )


def _bare(text: str) -> str:
    return "".join(text.split())
