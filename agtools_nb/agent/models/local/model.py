"""``LocalModel``: a language model on this machine's processor, without any network."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

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
from agtools_nb.agent.models.local.choice import choose_tool
from agtools_nb.agent.models.local.engine import (
    Cost,
    Engine,
    RefusedError,
    Settings,
    require_library,
    usable_cores,
)
from agtools_nb.agent.models.local.filling import Filling
from agtools_nb.agent.models.local.grammar import call_grammar, sentences, told, value_grammar
from agtools_nb.agent.models.local.prompts import (
    Chat,
    about_results,
    asked,
    call_text,
    conversation,
    conversation_in_words,
    results_in_words,
    results_to_answer,
)
from agtools_nb.agent.models.local.weights import FETCH_COMMAND, model_path
from agtools_nb.calls import ToolResult
from agtools_nb.define import Tool
from agtools_nb.errors import ModelError, UsageError
from agtools_nb.jsonable import brief_repr, shorten

_TOO_LONG = "exceed_context_size_error"


class LocalModel:
    """A model in a GGUF file, run by llama.cpp in a process beside this one.

    ::

        model = LocalModel()                # SmolLM2-135M-Instruct: fetch it once with
                                            # python -m agtools_nb fetch-model
        model = LocalModel("qwen2.5-3b-instruct-q4_k_m.gguf")

    It calls tools in one of two ways. *Unguided*, the model reads the functions as JSON and
    writes text or one call, which a grammar made from the tools' schemas holds to a form that
    fits. *Guided*, as the model that comes with :mod:`agtools_nb` needs it, it is asked for less
    at a time: which tool explains best what the person said, then one argument after the other,
    out of the numbers, words and enumerations that the request mentions; after the results it
    picks a beginning, and says them as they are. Other text has at most two sentences.

    What a guided model cannot do: call two tools, use one tool's result for another, follow up
    on an earlier message, repair a call, work out a number, put a thing in other words, or fill
    nested arguments well. It takes about half of all small talk for a task. See
    ``evaluate(model)`` for what it gets right.

    The file is loaded by the first answer. One answer is given at a time; others wait.

    Args:
        path: The GGUF file. Default: the one that ``fetch-model`` fetched.
        guided: Whether it is guided. Default: only without ``path``. Written for SmolLM2.
        context: Tokens that the conversation may have. Default 4096.
        max_tokens: Most tokens of one answer. Default: 256 guided, else 1024.
        threads: Threads that compute. Default: half of the cores that the process may use;
            more than are really free slow it down many times over.
        name: What people call it. Default: the file's name.

    Raises:
        UsageError: A bound is out of range, or ``path`` is no path.
        ModelError: The library or the file is missing.

    Attributes:
        name: What people call it.
        path: The GGUF file.
        guided: Whether it is guided.
        max_tokens: Most tokens of one answer.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        guided: bool | None = None,
        context: int = 4096,
        max_tokens: int | None = None,
        threads: int | None = None,
        name: str | None = None,
    ) -> None:
        require_library()
        self.path = _checked_path(path)
        self.guided = (path is None) if guided is None else guided
        self.max_tokens = _checked(
            "max_tokens", (256 if self.guided else 1024) if max_tokens is None else max_tokens, 1
        )
        threads = max(1, usable_cores() // 2) if threads is None else threads
        self.name = name or self.path.stem
        self._engine = Engine(
            Settings(
                str(self.path), _checked("context", context, 256), _checked("threads", threads, 1)
            )
        )
        self._unreadable: dict[str, bool] = {}

    async def respond(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Answer: with text piece by piece, or with one call.

        Raises:
            ModelError: The model cannot be loaded, its process ended, or the request is longer
                than its context.
        """
        cost = Cost()
        parts = self._guided(request, cost) if self.guided else self._unguided(request, cost)
        try:
            async with contextlib.aclosing(parts) as answer:
                async for part in answer:
                    yield part
        except RefusedError as refusal:
            raise ModelError(_words(refusal, self.name)) from refusal
        yield UsagePart(cost.usage)

    def close(self) -> None:
        """End the process and give back its memory. The next answer starts it again."""
        self._engine.close()

    def __repr__(self) -> str:
        way = "guided" if self.guided else "unguided"
        state = "loaded" if self._engine.is_running else "not loaded"
        return f"<LocalModel: {self.name}, {way}, {state}>"

    # -- guided --------------------------------------------------------------------------------

    async def _guided(self, request: ModelRequest, cost: Cost) -> AsyncGenerator[ModelEvent, None]:
        results = results_to_answer(request.messages)
        tools = _still_to_call(request, results)
        text = asked(request.messages)
        tool, scores = None, dict[str, float]()
        if tools:
            tool, scores = await choose_tool(
                self._engine, text, tools, must_call=request.must_call, cost=cost
            )
        if tool is not None:
            filling = Filling(self._engine, tool, text, cost)
            arguments = await filling.fill()
            yield RawPart(
                self._raw(text=text, tools=scores, steps=filling.steps),
                {"output": call_text(tool.name, arguments)},
            )
            yield CallPart(tool.name, arguments)
            return
        if results:
            chat, grammar = about_results(request, results), told(results_in_words(results))
        else:
            chat, grammar = conversation_in_words(request), sentences()
        async for part in self._write(chat, grammar, cost, {"tools": scores} if scores else {}):
            yield part

    # -- unguided ------------------------------------------------------------------------------

    async def _unguided(
        self, request: ModelRequest, cost: Cost
    ) -> AsyncGenerator[ModelEvent, None]:
        for name in await self._look_at_schemas(request.tools):
            yield NotePart(
                f"the schema of {name} could not be made into a grammar: its arguments were free"
            )
        grammar = None
        if request.tools:
            unreadable = [tool.name for tool in request.tools if self._is_unreadable(tool)]
            grammar = call_grammar(request.tools, text=not request.must_call, unreadable=unreadable)
        for dropped in range(len(request.messages)):
            try:
                parts = self._write(conversation(request, dropped), grammar, cost, {})
                async with contextlib.aclosing(parts) as answer:
                    async for part in answer:
                        yield part
            except RefusedError as refusal:
                if refusal.kind != _TOO_LONG or dropped == len(request.messages) - 1:
                    raise
            else:
                if dropped:
                    yield NotePart(f"the {dropped} oldest messages did not fit and were left out")
                return

    async def _look_at_schemas(self, tools: Sequence[Tool]) -> list[str]:
        """Try the schemas that were never tried; return the names of those that fail."""
        failed = []
        for tool in tools:
            key = json.dumps(tool.input_schema)
            if key not in self._unreadable:
                self._unreadable[key] = not await self._holds(value_grammar(tool.input_schema, {}))
            if self._unreadable[key]:
                failed.append(tool.name)
        return failed

    async def _holds(self, grammar: str) -> bool:
        """Whether the engine can read a grammar of an object.

        It says nothing of one that it cannot read, and lets the model write what it likes.
        """
        body = {"prompt": "Once upon a", "grammar": grammar, "temperature": 0}
        body |= {"max_tokens": 1, "id_slot": 1}
        written = []
        try:
            async for piece in self._engine.generate("complete", body, Cost()):
                written.append(piece)  # noqa: PERF401 -- what came before it was refused is kept
        except RefusedError as refusal:
            if refusal.kind != "length":
                return False
        return "".join(written).startswith("{")

    def _is_unreadable(self, tool: Tool) -> bool:
        return self._unreadable[json.dumps(tool.input_schema)]

    # -- writing -------------------------------------------------------------------------------

    async def _write(
        self, chat: Chat, grammar: str | None, cost: Cost, shown: dict[str, Any]
    ) -> AsyncGenerator[ModelEvent, None]:
        body: dict[str, Any] = {"messages": chat, "temperature": 0, "max_tokens": self.max_tokens}
        body |= {"id_slot": 0} | ({} if grammar is None else {"grammar": grammar})
        written: list[str] = []
        is_cut = False
        try:
            async with contextlib.aclosing(self._engine.generate("chat", body, cost)) as pieces:
                async for piece in pieces:
                    written.append(piece)
                    if not written[0].startswith("{"):
                        yield TextPart(piece)
        except RefusedError as refusal:
            if refusal.kind != "length":
                raise
            is_cut = True
        output = "".join(written)
        yield RawPart(self._raw(**shown, messages=chat, grammar=grammar), {"output": output})
        if output.startswith("{"):
            yield _call_part(output)
        if is_cut:
            yield EndPart("length")

    def _raw(self, **shown: Any) -> dict[str, Any]:
        return {"model": self.path.name, **self._engine.about, **shown}


def _still_to_call(request: ModelRequest, results: Sequence[ToolResult]) -> tuple[Tool, ...]:
    """The tools that a guided model may call: after results none, unless it has to call one."""
    if not results:
        return request.tools
    if not request.must_call:
        return ()
    called = {result.name for result in results}
    return tuple(tool for tool in request.tools if tool.name not in called) or request.tools


def _call_part(output: str) -> CallPart:
    """A call as it was written, whole or not."""
    try:
        call = json.loads(output)
        return CallPart(str(call["name"]), call["arguments"])
    except (ValueError, KeyError, TypeError):
        name = output.partition('"name": "')[2].partition('"')[0]
        return CallPart(name, output.partition('"arguments": ')[2])


def _checked_path(path: Any) -> Path:
    if path is None:
        found = model_path()
        if found.is_file():
            return found
        raise ModelError(
            f"the small model is not in {found.parent}; fetch it once (98 MB): {FETCH_COMMAND}"
        )
    try:
        found = Path(path).expanduser()
        is_there = found.is_file()
    except TypeError:
        raise UsageError(
            f"{brief_repr(path)} is no path; give that of a GGUF file, such as 'model.gguf'"
        ) from None
    except (OSError, RuntimeError, ValueError):  # too long; "~nobody"; a zero character
        found, is_there = path, False
    if is_there:
        return found
    raise ModelError(
        f"there is no model file {shorten(str(found), 300)}; give the path of a GGUF file"
    )


def _checked(name: str, value: Any, least: int) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= least:
        return value
    raise UsageError(f"{name}={brief_repr(value)} must be a whole number of at least {least}")


def _words(refusal: RefusedError, name: str) -> str:
    if refusal.kind == _TOO_LONG:
        return (
            f"the conversation is too long for {name}: {refusal}; start a new one, or make the "
            "model with a larger context="
        )
    return f"{name} could not answer: {refusal}"
