"""One request through pydantic-ai, and the parts of the answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai import messages as theirs
from pydantic_ai.direct import model_request_stream
from pydantic_ai.models import StreamedResponse

from agtools_nb.agent.messages import Usage
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
from agtools_nb.agent.models.hosted.lines import Line
from agtools_nb.agent.models.hosted.memory import Answers
from agtools_nb.agent.models.hosted.messages import messages_of, parameters_of
from agtools_nb.agent.models.hosted.record import Record
from agtools_nb.agent.models.hosted.words import failure_words, incomplete_words, stop_words
from agtools_nb.calls import ToolCall
from agtools_nb.define.wire import CallAssembler
from agtools_nb.define.wire.declared import Provider
from agtools_nb.errors import ModelError


@dataclass(slots=True)
class Asking:
    """Asks once.

    Args:
        line: The way to the model.
        form: Whose wire form it speaks.
        where: The server, for people.
        variables: Environment variables that hold its key, for people; ``""``: none.
        settings: pydantic-ai's settings of the request.
        answers: Remembers answers with signed thoughts.
    """

    line: Line
    form: Provider
    where: str
    variables: str
    settings: Mapping[str, Any]
    answers: Answers
    _assembler: CallAssembler = field(default_factory=CallAssembler)
    _answer: theirs.ModelResponse | None = None
    _said: bool = False

    async def parts(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Ask, and give the parts of the answer.

        Raises:
            ModelError: There was no answer, or it broke off.
        """
        record = self.line.wire.record = Record(self.form, self._assembler.feed)
        failure = ""
        try:
            async with aclosing(self._stream(request, record)) as parts:
                async for part in parts:
                    yield part
        except Exception as error:
            seconds = self.line.wire.seconds
            failure = failure_words(error, record, self.where, self.variables, seconds)
        finally:
            await self.line.wire.end()
        for note in record.notes:
            yield NotePart(note)
        yield RawPart(record.request, record.response)
        answer = self._answer
        if answer is not None and (answer.usage.input_tokens or answer.usage.output_tokens):
            yield UsagePart(Usage(answer.usage.input_tokens, answer.usage.output_tokens))
        # Raised out here, it carries no exception whose frames saw the request that went out.
        failure = failure or self._failure(record)
        if failure:
            raise ModelError(failure)
        for call in self._calls():
            yield call
        is_cut = answer is not None and answer.finish_reason == "length"
        yield EndPart("length" if is_cut else "end")

    async def _stream(
        self, request: ModelRequest, record: Record
    ) -> AsyncGenerator[ModelEvent, None]:
        """The text of the answer, as it comes."""
        messages = messages_of(request.messages, self.form, self.answers.recall)
        async with model_request_stream(
            self.line.model,
            messages,
            model_settings=dict(self.settings),  # type: ignore[arg-type]
            model_request_parameters=parameters_of(request),
        ) as stream:
            yield RawPart(record.request)
            try:
                async for event in stream:
                    text = self._text(event)
                    if text:
                        yield TextPart(text)
            finally:
                self._answer = _so_far(stream)
            refusal = (stream.provider_details or {}).get("refusal")
            if isinstance(refusal, str) and refusal:
                yield TextPart(refusal)
                yield NotePart("the model refused")

    def _text(self, event: Any) -> str:
        if isinstance(event, theirs.PartDeltaEvent):
            delta = event.delta
            return delta.content_delta if isinstance(delta, theirs.TextPartDelta) else ""
        if not isinstance(event, theirs.PartStartEvent):
            return ""
        if not isinstance(event.part, theirs.TextPart):
            return ""
        gap = "\n\n" if self._said else ""
        self._said = True
        return gap + event.part.content

    def _failure(self, record: Record) -> str:
        """Why an answer that came without an exception is none all the same."""
        answer = self._answer
        if answer is None:
            return incomplete_words(self.where)
        details = answer.provider_details or {}
        if answer.finish_reason in ("content_filter", "error") and "refusal" not in details:
            reason = (
                details.get("block_reason") or details.get("finish_reason") or "no reason given"
            )
            told = details.get("block_reason_message") or details.get("explanation") or ""
            return stop_words(self.where, str(reason), str(told))
        return "" if record.is_complete else incomplete_words(self.where)

    def _calls(self) -> list[CallPart]:
        """The calls as they came. What is malformed stays so; the runner answers it."""
        answer = self._answer
        read = (
            [one for one in answer.parts if isinstance(one, theirs.ToolCallPart)] if answer else []
        )
        found = self._assembler.finish()
        if [call.name for call in found] != [one.tool_name for one in read]:
            # Servers differ in how they count calls, and the assembler knows more of their ways.
            return [CallPart(call.name, call.args, call.id) for call in found]
        calls = [self._call(call, one) for call, one in zip(found, read, strict=True)]
        if answer is not None:
            self.answers.remember(answer, [call.id for call in calls])
        return calls

    def _call(self, call: ToolCall, read: theirs.ToolCallPart) -> CallPart:
        # pydantic-ai takes back what it did to a chat template's tokens in the request.
        arguments = read.args if isinstance(read.args, str) else call.args
        # Gemini's calls need no ids; the conversation's do.
        call_id = call.id or (read.tool_call_id if self.form == "gemini" else None)
        return CallPart(call.name, arguments, call_id)


def _so_far(stream: StreamedResponse) -> theirs.ModelResponse | None:
    try:
        return stream.get()
    except Exception:  # what came is in the record
        return None
