"""A conversation as pydantic-ai's messages: ids kept, every call answered."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pydantic_ai import messages as theirs
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from agtools_nb.agent.messages import Message, ModelMessage, ResultsMessage, UserMessage
from agtools_nb.agent.model import ModelRequest
from agtools_nb.agent.models.hosted.media import Content, contents
from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.define.wire.arguments import as_object
from agtools_nb.define.wire.content import LIMIT, content_of
from agtools_nb.define.wire.content import Content as Told
from agtools_nb.define.wire.declared import Provider
from agtools_nb.jsonable import clean_text

Recall = Callable[[ModelMessage], theirs.ModelResponse | None]
"""An answer as its provider gave it, with its signed thoughts, if that is known."""

_NO_RESULT_YET = "There is no result of this call yet."


def parameters_of(request: ModelRequest) -> ModelRequestParameters:
    """Tools, system text, and whether text alone is an answer."""
    tools = [
        ToolDefinition(
            name=tool.name,
            description=tool.description,
            parameters_json_schema=tool.input_schema,
        )
        for tool in request.tools
    ]
    system = clean_text(request.system)
    said = [theirs.InstructionPart(content=system)] if system else []
    return ModelRequestParameters(
        function_tools=tools,
        allow_text_output=not (request.must_call and tools),
        instruction_parts=said,
    )


def messages_of(
    messages: Iterable[Message], form: Provider, recall: Recall
) -> list[theirs.ModelMessage]:
    """The conversation as pydantic-ai has it.

    What a provider would refuse is put right: an answer without text and calls is left out,
    a call that has no result yet is answered with just that, and a result whose call is not
    there becomes text.
    """
    written = _Written(form, recall)
    for message in messages:
        written.add(message)
    return written.finished()


class _Written:
    def __init__(self, form: Provider, recall: Recall) -> None:
        self._form = form
        self._recall = recall
        self._messages: list[theirs.ModelMessage] = []
        self._open: dict[str, ToolCall] = {}

    def add(self, message: Message) -> None:
        if isinstance(message, ModelMessage):
            self._answer_open_calls()
            self._add_answer(message)
        elif isinstance(message, ResultsMessage):
            for result in message.results:
                self._add_result(result)
        else:
            self._answer_open_calls()
            self._request().append(theirs.UserPromptPart(content=self._said(message)))

    def finished(self) -> list[theirs.ModelMessage]:
        self._answer_open_calls()
        return self._messages

    def _request(self) -> list[Any]:
        """The parts of the request that is being written."""
        if not self._messages or isinstance(self._messages[-1], theirs.ModelResponse):
            self._messages.append(theirs.ModelRequest(parts=[]))
        return self._messages[-1].parts  # type: ignore[return-value]

    def _add_answer(self, message: ModelMessage) -> None:
        if not message.text and not message.calls:
            return
        if not self._messages:
            # Providers want the first word to be the user's.
            self._request().append(theirs.UserPromptPart(content="(It goes on from here.)"))
        answer = self._recall(message)
        if answer is None:
            parts: list[Any] = [theirs.TextPart(clean_text(message.text))] if message.text else []
            answer = theirs.ModelResponse([*parts, *map(_call_part, message.calls)])
        self._messages.append(answer)
        self._open = {call.id or "": call for call in message.calls}

    def _add_result(self, result: ToolResult) -> None:
        told = content_of(result, LIMIT)
        files = contents(told.media, self._form, is_result=True)
        call = self._open.pop(result.id or "", None)
        if call is None:
            text = f"[result of {told.name} ({told.id})] {told.full_text}"
            self._request().append(theirs.UserPromptPart(content=[text, *files]))
            return
        self._request().append(
            theirs.ToolReturnPart(
                tool_name=call.name,
                content=_returned(told, files, self._form),
                tool_call_id=call.id or "",
                outcome="failed" if told.is_error else "success",
            )
        )

    def _answer_open_calls(self) -> None:
        for call in self._open.values():
            self._request().append(
                theirs.ToolReturnPart(
                    tool_name=call.name,
                    content=_NO_RESULT_YET,
                    tool_call_id=call.id or "",
                    outcome="interrupted",
                )
            )
        self._open = {}

    def _said(self, message: UserMessage) -> str | list[Content]:
        files = contents(message.media, self._form)
        text = clean_text(message.text)
        if not files:
            return text
        return [text, *files] if text else files


def _returned(told: Told, files: list[Content], form: Provider) -> Any:
    """What a result holds: text, or with Gemini an object with the key that its API knows."""
    value: Any = told.full_text
    if form == "gemini" and not told.is_error:
        value = {"output": told.text if told.is_cut else told.value}
        value |= {"notes": list(told.notes)} if told.notes else {}
    return [value, *files] if files else value


def _call_part(call: ToolCall) -> theirs.ToolCallPart:
    return theirs.ToolCallPart(
        tool_name=call.name, args=as_object(call), tool_call_id=call.id or ""
    )
