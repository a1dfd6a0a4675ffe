"""A whole request in each provider's form, and an answer read back from it."""

from __future__ import annotations

import json

import pytest

from agtools_nb import Media, ToolCall, ToolResult, tool
from agtools_nb.agent import ModelMessage, ModelRequest, ResultsMessage, UserMessage
from agtools_nb.agent.wire_form import CHAT_PROVIDERS, answer_form, read_answer, request_form
from agtools_nb.errors import UsageError

PNG = Media.image(b"\x89PNG\r\n\x1a\n0000", "image/png")


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


def conversation(*, must_call: bool = False) -> ModelRequest:
    call = ToolCall("add", {"a": 1, "b": 2}, "call_a")
    return ModelRequest(
        (
            UserMessage("1 + 2?", (PNG,)),
            ModelMessage("Let me see.", (call,), "calls"),
            ResultsMessage((ToolResult("add", "call_a", result=3),)),
            ModelMessage("It is 3."),
            UserMessage("Thanks."),
        ),
        "Be brief.",
        (add,),
        must_call=must_call,
    )


@pytest.mark.parametrize("provider", CHAT_PROVIDERS)
def test_nothing_is_left_out_and_all_of_it_is_json(provider):
    text = json.dumps(request_form(conversation(), provider))
    for part in ("Be brief.", "1 + 2?", "Let me see.", "It is 3.", "Thanks.", "Add.", '"b"'):
        assert part in text
    assert text.count("Thanks.") == 1


@pytest.mark.parametrize(
    ("provider", "key", "roles"),
    [
        ("openai", "messages", ["system", "user", "assistant", "tool", "assistant", "user"]),
        ("ollama", "messages", ["system", "user", "assistant", "tool", "assistant", "user"]),
        ("anthropic", "messages", ["user", "assistant", "user", "assistant", "user"]),
        ("gemini", "contents", ["user", "model", "user", "model", "user"]),
        ("openai-responses", "input", ["user", "assistant", None, None, "assistant", "user"]),
    ],
)
def test_roles_are_the_providers(provider, key, roles):
    form = request_form(conversation(), provider)
    assert [message.get("role") for message in form[key]] == roles


@pytest.mark.parametrize(
    ("provider", "key"),
    [
        ("openai", "tool_choice"),
        ("openai-responses", "tool_choice"),
        ("anthropic", "tool_choice"),
        ("gemini", "toolConfig"),
    ],
)
def test_that_a_call_is_wanted_is_said(provider, key):
    assert key not in request_form(conversation(), provider)
    assert key in request_form(conversation(must_call=True), provider)


@pytest.mark.parametrize("provider", CHAT_PROVIDERS)
def test_an_empty_request_has_no_empty_parts(provider):
    form = request_form(ModelRequest((UserMessage("Hi"),)), provider)
    assert len(form) == 1
    [(message,)] = form.values()
    assert "Hi" in json.dumps(message)


@pytest.mark.parametrize("provider", CHAT_PROVIDERS)
@pytest.mark.parametrize("text", ["", "Let me see."])
@pytest.mark.parametrize("count", [0, 1, 2])
def test_an_answer_is_read_back_as_it_was_written(provider, text, count):
    if not text and not count:
        return
    calls = [ToolCall("add", {"a": n, "b": n}, f"c{n}") for n in range(count)]
    said, asked = read_answer(json.loads(json.dumps(answer_form(text, calls, provider))))
    assert said == text
    assert [call.name for call in asked] == ["add"] * count
    read = [json.loads(c.args) if isinstance(c.args, str) else c.args for c in asked]
    assert read == [call.args for call in calls]


def deep(depth: int) -> object:
    form: object = "text"
    for _ in range(depth):
        form = {"content": [form]}
    return form


@pytest.mark.parametrize("form", [None, 5, [], {}, {"content": ""}, {"role": "user"}, deep(50)])
def test_what_holds_neither_is_refused(form):
    with pytest.raises(UsageError, match="neither text nor a call"):
        read_answer(form)


def test_an_unknown_provider_is_refused():
    with pytest.raises(UsageError, match="known are openai, openai-responses"):
        request_form(conversation(), "mcp")
    with pytest.raises(UsageError, match="no provider None"):
        answer_form("x", (), None)
