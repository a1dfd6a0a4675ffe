"""What providers and their servers send as tool calls, and what goes back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agtools_nb import ToolCall, ToolRunner, tool
from agtools_nb.define.wire import call_message, read_calls, reply
from cases.calling import batch, call, run


@tool
async def ok(n: int) -> str:
    return f"ok{n}"


@tool
def add(a: int, b: int = 0) -> int:
    return a + b


@tool
def say(text: str) -> str:
    return text


def shapes(calls: list[tuple[Any, str, Any]]) -> dict[str, Any]:
    """The same calls in the form of each provider's message."""
    return {
        "openai": {
            "role": "assistant",
            "tool_calls": [
                {"id": i, "type": "function", "function": {"name": n, "arguments": json.dumps(a)}}
                for i, n, a in calls
            ],
        },
        "openai-responses": [
            {"type": "function_call", "call_id": i, "name": n, "arguments": json.dumps(a)}
            for i, n, a in calls
        ],
        "anthropic": {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": i, "name": n, "input": a} for i, n, a in calls],
        },
        "gemini": {
            "role": "model",
            "parts": [{"functionCall": {"id": i, "name": n, "args": a}} for i, n, a in calls],
        },
        "ollama": {
            "role": "assistant",
            "tool_calls": [{"id": i, "function": {"name": n, "arguments": a}} for i, n, a in calls],
        },
    }


FORMS = ("openai", "openai-responses", "anthropic", "gemini", "ollama")


def ids_of(provider: str, messages: list[dict[str, Any]]) -> list[Any]:
    """The ids under which a reply answers."""
    if provider == "anthropic":
        return [block["tool_use_id"] for block in messages[0]["content"]]
    if provider == "gemini":
        return [part["functionResponse"].get("id") for part in messages[0]["parts"]]
    key = {"openai": "tool_call_id", "openai-responses": "call_id"}[provider]
    return [message[key] for message in messages]


class TestOneIdTwice:
    """wire-01: results pair by position; the second id is made unique in call and result alike."""

    @pytest.mark.parametrize("provider", FORMS)
    def test_both_run_and_both_are_answered(self, provider: str) -> None:
        sent = shapes([("c1", "ok", {"n": 1}), ("c1", "ok", {"n": 2})])[provider]
        results = batch([ok], read_calls(sent))
        assert [result.result for result in results] == ["ok1", "ok2"]
        assert [result.id for result in results] == ["c1", "c1#2"]
        assert "sent more than once" in results[1].notes[0]

    @pytest.mark.parametrize("provider", ["openai", "openai-responses", "anthropic"])
    def test_history_and_reply_agree(self, provider: Any) -> None:
        made = ToolRunner([ok]).batch(
            read_calls(shapes([("c1", "ok", {"n": 1}), ("c1", "ok", {"n": 2})])[provider])
        )
        results = run(made.run())
        history = call_message(made.calls, provider)
        asked = [found.id for found in read_calls(history)]
        assert len(set(asked)) == 2
        assert ids_of(provider, reply(results, provider)) == asked

    def test_many_times_and_beside_a_name_that_looks_made(self) -> None:
        results = batch(
            [ok], [ToolCall("ok", {"n": n}, id=i) for n, i in enumerate(["a", "a#2", "a", "a"])]
        )
        ids = [result.id for result in results]
        assert ids[:2] == ["a", "a#2"]
        assert len(set(ids)) == 4


class TestNoId:
    """wire-02: a missing id is made, and is not the same as another missing one."""

    @pytest.mark.parametrize("missing", ["", None, "absent", 5, [], {}], ids=repr)
    def test_each_gets_a_fresh_one(self, missing: Any) -> None:
        calls: list[dict[str, Any]] = [
            {"name": "ok", "args": {"n": n}, "id": missing} for n in range(3)
        ]
        if missing == "absent":
            for one in calls:
                del one["id"]
        for sent in (calls, read_calls(calls)):
            results = batch([ok], sent)
            assert [result.result for result in results] == ["ok0", "ok1", "ok2"]
            assert len({result.id for result in results}) == 3
            assert all(isinstance(result.id, str) and result.id for result in results)

    @pytest.mark.parametrize("provider", FORMS)
    def test_in_each_form(self, provider: str) -> None:
        sent = shapes([(None, "ok", {"n": 1}), ("", "ok", {"n": 2})])[provider]
        results = batch([ok], read_calls(sent))
        assert [result.result for result in results] == ["ok1", "ok2"]
        assert len({result.id for result in results}) == 2


class TestEncodedTwice:
    """wire-04: an object is asked for, so text within text is read once more, and not further."""

    @pytest.mark.parametrize("times", [1, 2])
    def test_read(self, times: int) -> None:
        text = '{"a": 1}'
        for _ in range(times - 1):
            text = json.dumps(text)
        assert call(add, text).result == 1

    @pytest.mark.parametrize("raw", ['"\\"{}\\""', '"[1]"', '"text"', '"1"', '"null"', '""', '"{"'])
    def test_what_is_still_no_object_is_refused(self, raw: str) -> None:
        assert call(add, raw).status == "invalid"

    def test_text_stays_text_within(self) -> None:
        assert call(say, json.dumps(json.dumps({"text": '{"a": 1}'}))).result == '{"a": 1}'


class TestMoreThanOneValue:
    """wire-05: refused even where both are the same: what a doubled stream meant is not known."""

    @pytest.mark.parametrize(
        ("raw", "extra"),
        [
            ('{"text": "S"}{"text": "S"}', '{"text": "S"}'),
            ('{"text": "S"}{"text": "T"}', '{"text": "T"}'),
            ('{"text": "S"}\n\n{"text"', '{"text"'),
            ('{"text": "S"}}', "a closing bracket too many"),
            ('{"text": "S"}</tool_call>', "</tool_call>"),
            ('{"text": "S"},', ","),
        ],
    )
    def test_is_named_and_not_run(self, raw: str, extra: str) -> None:
        result = call(say, raw)
        assert result.status == "invalid"
        assert result.arguments is None
        assert extra in str(result.error)
        assert "Call it as say(" in str(result.error)

    @pytest.mark.parametrize(
        "raw", ['{"text": "S"', '{"text": ', "{", '{"text": "S', '{"text" "S"}']
    )
    def test_an_unfinished_one_is_never_guessed(self, raw: str) -> None:
        assert call(say, raw).status == "invalid"


class TestObjectOrText:
    """wire-07: either form is read, and each provider is written the form that it wants."""

    @pytest.mark.parametrize("arguments", [{"a": 1}, '{"a": 1}', json.dumps('{"a": 1}')], ids=repr)
    def test_both_are_the_same_call(self, arguments: Any) -> None:
        for sent in (
            {"function": {"name": "add", "arguments": arguments}},
            {"name": "add", "arguments": arguments},
            {"type": "tool_use", "id": "t", "name": "add", "input": arguments},
            {"functionCall": {"name": "add", "args": arguments}},
        ):
            [result] = batch([add], read_calls(sent))
            assert result.result == 1

    @pytest.mark.parametrize("provider", FORMS)
    @pytest.mark.parametrize("arguments", [{"a": 1}, '{"a": 1}'], ids=repr)
    def test_replayed_to_another_provider(self, provider: Any, arguments: Any) -> None:
        written = call_message([ToolCall("add", arguments, id="c1")], provider)
        text = json.dumps(written)
        as_text = provider in ("openai", "openai-responses")
        assert ('"arguments": "{' in text) is as_text
        [back] = read_calls(written)
        assert back.name == "add"
        assert call(add, back.args).result == 1


class TestControlCharacters:
    """wire-08: bare ones inside strings have one reading; elsewhere they are as JSON has it."""

    @pytest.mark.parametrize(
        "text", ["line1\nline2\tx", "\r\n", "\x00\x07\x1b", "a\x7fb"], ids=repr
    )
    def test_in_a_string(self, text: str) -> None:
        assert call(say, '{"text": "' + text + '"}').result == text
        assert call(say, json.dumps({"text": text})).result == text

    def test_in_a_container_that_came_as_text(self) -> None:
        def f(many: list[str]):
            return many

        assert call(f, {"many": '["a\nb"]'}).result == ["a\nb"]

    @pytest.mark.parametrize("raw", ['{"text"\x00: "a"}', '\x07{"text": "a"}', '{"text": "a"}\x1b'])
    def test_outside_a_string_they_are_a_fault(self, raw: str) -> None:
        assert call(say, raw).status == "invalid"
