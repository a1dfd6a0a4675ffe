"""The scripted model: what a turn may be, and that it fails loudly."""

from __future__ import annotations

from typing import Any

import pytest

from agtools_nb import ToolCall, ToolRunner, UsageError, tool
from agtools_nb.agent import (
    CallPart,
    EndPart,
    ModelMessage,
    ModelRequest,
    ScriptedModel,
    Session,
    TextPart,
    Turn,
    Usage,
    UserMessage,
)
from agtools_nb.errors import ModelError


async def said(turn: Any, *messages: Any) -> list[Any]:
    request = ModelRequest(messages or (UserMessage("Hi"),))
    return [part async for part in ScriptedModel([turn]).respond(request)]


@pytest.mark.parametrize(
    ("turn", "parts"),
    [
        ("Good day", [TextPart("Good "), TextPart("day")]),
        (
            "  two  gaps ",
            [TextPart(" "), TextPart(" "), TextPart("two "), TextPart(" "), TextPart("gaps ")],
        ),
        ("", []),
        (("add", {"a": 1}), [CallPart("add", {"a": 1})]),
        (("add", '{"a": 1'), [CallPart("add", '{"a": 1')]),
        (ToolCall("add", {"a": 1}, "c1"), [CallPart("add", {"a": 1}, "c1")]),
        ([("add", {"a": 1}), "Hm"], [CallPart("add", {"a": 1}), TextPart("Hm")]),
        (("Hello there", "friend"), [TextPart("Hello "), TextPart("there"), TextPart("friend")]),
        (EndPart("length"), [EndPart("length")]),
        (
            ModelMessage("Yes", (ToolCall("add", {}, "c"),)),
            [TextPart("Yes"), CallPart("add", {}, "c")],
        ),
    ],
    ids=[
        "text",
        "gaps",
        "nothing",
        "pair",
        "cut off",
        "call",
        "several",
        "two texts",
        "end",
        "message",
    ],
)
async def test_a_turn_may_be(turn: Any, parts: list[Any]) -> None:
    assert await said(turn) == parts


async def test_the_pieces_of_a_text_are_the_text() -> None:
    for text in ("a b", " a", "a ", "a\nb  c", "   "):
        assert "".join(part.text for part in await said(text)) == text


async def test_a_turn_may_be_a_function_of_the_request_sync_or_async() -> None:
    async def later(request: ModelRequest) -> Any:
        return [("add", {"a": len(request.messages)})]

    assert await said(lambda request: request.messages[-1].text.upper()) == [TextPart("HI")]
    assert await said(later) == [CallPart("add", {"a": 1})]


async def test_a_turn_says_what_it_costs() -> None:
    parts = await said(Turn("x", usage=Usage(3, 1)))
    assert parts[-1].usage == Usage(3, 1)


@pytest.mark.parametrize("wrong", [None, 3, {"name": "add"}, [("add", 1)], object(), b"x"])
def test_what_no_model_could_say_is_refused_when_the_script_is_made(wrong: Any) -> None:
    with pytest.raises(UsageError, match="turn 1 of the script"):
        ScriptedModel([wrong])


@pytest.mark.parametrize("wrong", ["text", {"a": 1}, None, 3])
def test_a_script_is_a_list_or_a_function(wrong: Any) -> None:
    with pytest.raises(UsageError, match="list of turns"):
        ScriptedModel(wrong)


async def test_a_script_that_runs_out_says_what_it_was_asked() -> None:
    model = ScriptedModel(["One."])
    session = Session(model)
    assert not model.is_done
    await session.chat("a")
    assert model.is_done
    reply = await session.chat("What now?")
    assert reply.reason == "model_error"
    assert "1 turns" in reply.detail
    assert "'What now?'" in reply.detail


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


async def test_a_request_that_was_not_expected_is_said_so() -> None:
    script = [Turn(calls=[("add", {"a": 1, "b": 2})], expect="sum"), Turn("Three.", expect="3")]
    session = Session(ScriptedModel(script), ToolRunner([add]))
    assert (await session.chat("The sum, please")).text == "Three."
    session = Session(ScriptedModel(script), ToolRunner([add]))
    reply = await session.chat("The product, please")
    assert "expected 'sum'" in reply.detail
    assert "product" in reply.detail
    session = Session(ScriptedModel([Turn("x", expect=lambda r: len(r.messages) == 5)]))
    assert "what its function asks for" in (await session.chat("Hi")).detail


async def test_a_function_that_fails_or_says_nothing_is_a_model_that_cannot_answer() -> None:
    session = Session(ScriptedModel([lambda r: 1 / 0, lambda r: None]))
    assert "ZeroDivisionError" in (await session.chat("a")).detail
    assert "turn 2 of the script is None" in (await session.chat("b")).detail


async def test_what_it_was_sent_is_kept() -> None:
    model = ScriptedModel(["One.", "Two."], name="lesson")
    session = Session(model)
    await session.chat("a")
    await session.chat("b")
    assert [len(request.messages) for request in model.requests] == [1, 3]
    assert model.name == "lesson"
    assert issubclass(ModelError, Exception)
