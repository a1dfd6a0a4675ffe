"""A subagent whose model or bounds cannot be is refused where it is written."""

from __future__ import annotations

import math
from typing import Any

import pytest

from agtools_nb import Agent, ScriptedModel, Subagent, UsageError
from agtools_nb.agent import UserMessage
from agtools_nb.agent.models.hosted import HostedModel


@pytest.mark.parametrize("model", [5, "nonsense", "", "nobody:model", ScriptedModel, object()])
def test_what_is_no_model_is_refused(model: Any) -> None:
    with pytest.raises(UsageError, match=r"Subagent 'helper': .* is no (hosted )?model"):
        Subagent("helper", "Helps.", model=model)


def test_a_hosted_model_without_its_key_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pydantic_ai")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UsageError, match=r"Subagent 'helper': .*OPENAI_API_KEY is not set"):
        Subagent("helper", "Helps.", model="openai:gpt-test")


def test_the_name_of_a_hosted_model_is_that_model(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pydantic_ai")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    assert isinstance(Subagent("helper", "Helps.", model="openai:gpt-test").model, HostedModel)


@pytest.mark.parametrize("turns", [0, -1, True, "3", 1.5, None, math.nan, math.inf])
def test_bounds_are_checked(turns: Any) -> None:
    with pytest.raises(UsageError, match=r"Subagent 'helper': max_turns=.* must be a whole number"):
        Subagent("helper", "Helps.", max_turns=turns)


async def test_a_model_of_its_own_answers() -> None:
    def said(request: Any) -> Any:
        last = request.messages[-1]
        is_first = isinstance(last, UserMessage)
        return ("start_subagent", {"name": "helper", "task": "t"}) if is_first else "Done."

    helper = Subagent("helper", "Helps.", model=ScriptedModel(["Helped."]), max_turns=1)
    async with Agent([], ScriptedModel(said), subagents=[helper]) as agent:
        reply = await agent.chat("Go")
    assert [result.result for result in reply.results] == ["Helped."]
