"""``await evaluate(model)``: every request asked, every call compared."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import aclosing
from typing import Any

from agtools_nb.agent.messages import UserMessage
from agtools_nb.agent.model import CallPart, ModelRequest, TextPart, model_name
from agtools_nb.agent.models.choosing import as_model
from agtools_nb.agent.models.evaluation.report import Evaluation, Outcome
from agtools_nb.agent.models.evaluation.requests import EvaluationRequest, requests
from agtools_nb.agent.models.evaluation.tools import evaluation_tools
from agtools_nb.arguments import prepare
from agtools_nb.define import Tool
from agtools_nb.errors import ModelError, UsageError
from agtools_nb.jsonable import jsonable


async def evaluate(
    model: Any,
    asked: Iterable[EvaluationRequest] | None = None,
    tools: Sequence[Tool] | None = None,
    *,
    system: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Ask a model every request, each in a conversation of its own, and compare its calls.

    The tools are not run. The arguments are coerced and validated first, as they would be.

    Args:
        model: The model, or its name such as ``"openai:gpt-..."``.
        asked: What it is asked. Default: the 60 requests of the test, and 10 without a tool.
        tools: The tools that it is offered. Default: :func:`evaluation_tools`.
        system: System instructions. Default: none.
        progress: Told after each request how many are done, and of how many.

    Raises:
        UsageError: ``model`` is none, or a request is for a tool that is not offered.
    """
    model = as_model(model)
    wanted = requests() if asked is None else tuple(asked)
    offered = evaluation_tools() if tools is None else tuple(tools)
    by_name = {tool.name: tool for tool in offered}
    unknown = {one.tool for one in wanted if one.tool is not None} - by_name.keys()
    if unknown:
        names = ", ".join(sorted(map(str, unknown)))
        raise UsageError(f"no tool is offered for requests of {names}")
    outcomes = []
    for number, one in enumerate(wanted, 1):
        request = ModelRequest((UserMessage(one.request),), system, offered)
        outcomes.append(await _outcome(model, request, one, by_name))
        if progress is not None:
            progress(number, len(wanted))
    return Evaluation(model_name(model), tuple(outcomes))


async def _outcome(
    model: Any, request: ModelRequest, wanted: EvaluationRequest, tools: dict[str, Tool]
) -> Outcome:
    began = time.monotonic()
    calls: list[CallPart] = []
    texts: list[str] = []
    error = None
    try:
        async with aclosing(model.respond(request)) as parts:
            async for part in parts:
                if isinstance(part, CallPart):
                    calls.append(part)
                elif isinstance(part, TextPart):
                    texts.append(part.text)
    except ModelError as failure:
        error = str(failure)
    seconds = time.monotonic() - began
    text = "".join(texts)
    if len(calls) != 1 or error:
        right = wanted.tool is None and not calls and not error
        said = [(call.name, call.arguments) for call in calls]
        return Outcome(wanted, None, said or None, text, right, right, seconds, error)
    [call] = calls
    arguments, fits = _compared(call, wanted, tools)
    return Outcome(
        wanted, call.name, arguments, text, call.name == wanted.tool, fits, seconds, error
    )


def _compared(
    call: CallPart, wanted: EvaluationRequest, tools: dict[str, Tool]
) -> tuple[Any, bool]:
    """The arguments as the tool would get them, and whether they are what was asked for."""
    tool = tools.get(call.name)
    if tool is None:
        return call.arguments, False
    prepared = prepare(tool, call.arguments)
    if prepared.arguments is None:
        return call.arguments, False
    if call.name != wanted.tool:
        return call.arguments, False
    properties = tool.input_schema.get("properties", {})
    defaults = {name: one["default"] for name, one in properties.items() if "default" in one}
    return call.arguments, wanted.fits(jsonable(dict(prepared.arguments)), defaults)
