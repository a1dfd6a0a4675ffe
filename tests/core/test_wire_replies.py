"""Results as each provider wants them in its history, checked against the SDKs' own types."""

from __future__ import annotations

import base64
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.define.wire import call_message, reply
from agtools_nb.jsonable import jsonable
from agtools_nb.media import Media, split
from tests.core.schemas import JSON
from tests.core.wire_shapes import adapter, fits

ALL = ("openai", "openai-responses", "anthropic", "gemini", "mcp", "ollama")
SHAPES = {
    "openai": "openai.types.chat:ChatCompletionToolMessageParam",
    "openai-responses": "openai.types.responses.response_input_item_param:FunctionCallOutput",
    "anthropic": "anthropic.types:MessageParam",
    "mcp": "mcp.types:CallToolResult",
}
PNG = b"\x89PNG\r\n\x1a\n" + bytes(30)
PDF = b"%PDF-1.7" + bytes(30)
WAV = b"RIFF\x00\x00\x00\x00WAVE" + bytes(30)
MEDIA = (
    Media("image/png", PNG, name="dot"),
    Media("application/pdf", PDF),
    Media("audio/wav", WAV),
    Media("image/svg+xml", b"<svg/>"),
    Media("image/jpeg", uri="https://example.org/a.jpg"),
    Media("application/pdf", uri="https://example.org/a.pdf"),
    Media("video/mp4", uri="gs://bucket/a.mp4"),
)


def checked(results: list[ToolResult], provider: Any, **options: Any) -> list[dict[str, Any]]:
    """The reply, which the SDK's type takes whole."""
    messages = reply(results, provider, **options)
    for message in messages:
        json.dumps(message, allow_nan=False).encode()
        if provider in SHAPES:
            fits(SHAPES[provider], message)
        if provider == "gemini":
            adapter("google.genai.types:Content").validate_python(message)
    return messages


def done(value: Any, call_id: str = "c1", **more: Any) -> ToolResult:
    return ToolResult("look", call_id, result=value, media=split(value).media, **more)


FAILED = ToolResult("look", "c2", error="no such file", status="error")


def test_plain_results() -> None:
    results = [done({"n": 1, "text": "ü"}), FAILED]
    text = '{"n": 1, "text": "ü"}'
    assert checked(results, "openai") == [
        {"role": "tool", "tool_call_id": "c1", "content": text},
        {"role": "tool", "tool_call_id": "c2", "content": "no such file"},
    ]
    assert checked(results, "openai-responses") == [
        {"type": "function_call_output", "call_id": "c1", "output": text},
        {"type": "function_call_output", "call_id": "c2", "output": "no such file"},
    ]
    assert checked(results, "anthropic") == [
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": text},
                {
                    "type": "tool_result",
                    "tool_use_id": "c2",
                    "content": "no such file",
                    "is_error": True,
                },
            ],
        }
    ]
    assert checked(results, "gemini") == [
        {
            "role": "user",
            "parts": [
                {
                    "functionResponse": {
                        "id": "c1",
                        "name": "look",
                        "response": {"output": {"n": 1, "text": "ü"}},
                    }
                },
                {
                    "functionResponse": {
                        "id": "c2",
                        "name": "look",
                        "response": {"error": "no such file"},
                    }
                },
            ],
        }
    ]
    assert checked(results, "mcp") == [
        {
            "content": [{"type": "text", "text": text}],
            "isError": False,
            "structuredContent": {"n": 1, "text": "ü"},
        },
        {"content": [{"type": "text", "text": "no such file"}], "isError": True},
    ]
    assert checked(results, "ollama")[0] == {"role": "tool", "tool_name": "look", "content": text}


@pytest.mark.parametrize("provider", ALL)
def test_nothing_to_answer(provider: Any) -> None:
    assert reply([], provider) == []


def test_an_unknown_provider() -> None:
    for provider in ("x", None, []):
        with pytest.raises(ValueError, match="known are openai, openai-responses"):
            reply([FAILED], provider)


def test_text_is_not_quoted() -> None:
    assert reply([done("a\nb")], "openai")[0]["content"] == "a\nb"
    assert reply([done(None)], "openai")[0]["content"] == "null"


def test_media_are_nested_where_there_is_a_place() -> None:
    result = [done({"rows": 3, "parts": list(MEDIA)})]
    (item,) = checked(result, "openai-responses")
    kinds = [part["type"] for part in item["output"]]
    assert kinds == [
        "input_text",
        "input_image",
        "input_file",
        "input_text",
        "input_text",
        "input_image",
        "input_file",
        "input_text",
    ]
    assert (
        item["output"][1]["image_url"] == f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    )
    assert item["output"][2]["filename"] == "part-2.pdf"
    (message,) = checked(result, "anthropic")
    blocks = message["content"][0]["content"]
    assert [block["type"] for block in blocks] == [
        "text",
        "image",
        "document",
        "text",
        "text",
        "image",
        "document",
        "text",
    ]
    assert blocks[1]["source"] == {
        "type": "base64",
        "media_type": "image/png",
        "data": base64.b64encode(PNG).decode(),
    }
    assert blocks[5]["source"] == {"type": "url", "url": "https://example.org/a.jpg"}
    assert blocks[3]["text"] == "[part 3: audio/wav, 42 bytes; it cannot be shown here]"
    (told,) = checked(result, "mcp")
    assert [block["type"] for block in told["content"]] == [
        "text",
        "image",
        "resource",
        "audio",
        "image",
        "resource_link",
        "resource_link",
        "resource_link",
    ]
    assert told["structuredContent"]["parts"][0] == "<part 1: image/png>"
    (chat,) = checked(result, "openai")
    assert "[part 1: image/png, 38 bytes, dot; it cannot be shown here]" in chat["content"]
    assert checked(result, "ollama")[0]["images"] == [base64.b64encode(PNG).decode()]


def test_gemini_takes_all_media() -> None:
    from google.genai import types

    (content,) = checked([done(list(MEDIA))], "gemini")
    for read in (
        types.Content.model_validate(content),
        types.Content.model_validate_json(json.dumps(content)),
    ):
        response = read.parts[0].function_response
        got = [
            (part.inline_data.mime_type, part.inline_data.data, None)
            if part.inline_data
            else (part.file_data.mime_type, None, part.file_data.file_uri)
            for part in response.parts
        ]
        assert got == [(media.mime_type, media.data, media.uri) for media in MEDIA]
        assert response.response["output"][6] == "<part 7: video/mp4>"


def test_media_without_words() -> None:
    assert checked([done(PNG)], "mcp")[0]["content"][1]["type"] == "image"
    result = ToolResult("look", "c1", result="", media=(MEDIA[0],))
    (message,) = checked([result], "anthropic")
    assert [block["type"] for block in message["content"][0]["content"]] == ["image"]
    assert [block["type"] for block in checked([result], "mcp")[0]["content"]] == ["image"]


@pytest.mark.parametrize("provider", ALL)
def test_a_bad_part_is_named(provider: Any) -> None:
    value = {"rows": 3, "inline_data": [{"mime_type": "image/png", "data": "?"}, {"data": PNG}]}
    text = json.dumps(checked([done(value)], provider), ensure_ascii=False)
    assert "The part at /inline_data/0 is left out: its data are no base64 text" in text
    plain = json.loads(text)
    assert base64.b64encode(PNG).decode() in text or "part 1: image/png" in text
    assert plain


@pytest.mark.parametrize("provider", ALL)
def test_large_results_are_cut_and_say_so(provider: Any) -> None:
    note = "[cut: these are the first 1,000 of 500,000 characters]"
    for value in ("x" * 500_000, FAILED):
        result = value if isinstance(value, ToolResult) else done(value)
        if result is FAILED:
            result = ToolResult("look", "c2", error="x" * 500_000, status="error")
        text = json.dumps(checked([result], provider, limit=1_000))
        assert note in text
        assert len(text) < 2_000
        whole = json.dumps(checked([result], provider, limit=None))
        assert "[cut:" not in whole
        assert "x" * 500_000 in whole
    default = json.dumps(checked([done("x" * 500_000)], provider))
    assert "first 100,000 of 500,000" in default


def test_structured_content_is_not_cut() -> None:
    (told,) = checked([done({"a": "x" * 500})], "mcp", limit=100)
    assert len(told["content"][0]["text"]) < 200
    assert told["structuredContent"] == {"a": "x" * 500}
    (content,) = checked([done({"a": "x" * 500})], "gemini", limit=100)
    output = content["parts"][0]["functionResponse"]["response"]["output"]
    assert isinstance(output, str)
    assert len(output) < 200


def test_ids_agree_between_calls_and_replies() -> None:
    """Cases wire-01 and wire-02: doubled and missing ids, which the runner replaces."""
    calls = [ToolCall("ok", {}, "c1"), ToolCall("ok", {}, "c1"), ToolCall("ok", {})]
    results = [ToolResult("ok", one, result=1) for one in ("c1", "c1#2", "call_0123456789ab1")]
    asked = call_message(calls, "openai", results)[0]["tool_calls"]
    assert [one["id"] for one in asked] == ["c1", "c1#2", "call_0123456789ab1"]
    assert [one["tool_call_id"] for one in reply(results, "openai")] == [
        "c1",
        "c1#2",
        "call_0123456789ab1",
    ]
    asked = call_message(calls, "anthropic", results)[0]["content"]
    answered = reply(results, "anthropic")[0]["content"]
    assert (
        [one["id"] for one in asked]
        == [one["tool_use_id"] for one in answered]
        == ["c1", "c1_2", "call_0123456789ab1"]
    )
    asked = call_message(calls, "gemini", results)[0]["parts"]
    answered = reply(results, "gemini")[0]["parts"]
    ids = [one["functionCall"].get("id") for one in asked]
    assert ids == [one["functionResponse"].get("id") for one in answered] == ["c1", "c1#2", None]
    with pytest.raises(ValueError, match="longer"):
        call_message(calls, "openai", [*results, *results])


def test_made_up_ids_are_those_of_the_runner() -> None:
    """``is_made`` knows the runner's ids by their form."""
    import asyncio

    from agtools_nb import ToolRunner
    from agtools_nb.define.wire.content import is_made

    def ok() -> int:
        return 1

    (result,) = asyncio.run(ToolRunner([ok]).process_tool_calls([("ok", {})]))
    assert is_made(result.id)
    assert not is_made("call_KlZ3vWc1n0qR6yT8uXbAeMfG")


def test_a_picture_is_drawn_once() -> None:
    from PIL import Image

    class Counted(Image.Image):
        drawn = 0

        def save(self, *args: Any, **options: Any) -> None:
            Counted.drawn += 1
            super().save(*args, **options)

    image = Image.new("RGB", (2, 2))
    image.__class__ = Counted
    result = done({"image": image})
    assert Counted.drawn == 1
    (told,) = checked([result], "mcp")
    assert Counted.drawn == 1
    assert Image.open(io.BytesIO(base64.b64decode(told["content"][1]["data"]))).size == (2, 2)


TEXTS = st.text(st.characters(exclude_categories=[]), max_size=8)
VALUES = st.recursive(
    JSON | st.sampled_from(MEDIA) | TEXTS | st.binary(max_size=5) | st.just(float("nan")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(TEXTS, inner, max_size=3)
        | st.builds(lambda data, rest: {"response": rest, "inline_data": [{"data": data}, {"data": "?"}]}, st.binary(max_size=9), inner)
    ),
    max_leaves=8,
)  # fmt: skip
RESULTS = st.lists(
    st.builds(lambda value, call_id: done(value, call_id), VALUES, st.text(max_size=5))
    | st.builds(
        lambda error, status: ToolResult("look", "c9", error=error, status=status),
        TEXTS,
        st.sampled_from(["error", "invalid", "cancelled"]),
    ),
    min_size=1,
    max_size=3,
)


@pytest.mark.parametrize("provider", ALL)
@given(results=RESULTS, limit=st.sampled_from([None, 0, 10, 100_000]))
def test_law_the_sdks_take_every_reply(
    provider: Any, results: list[ToolResult], limit: Any
) -> None:
    messages = checked(results, provider, limit=limit)
    text = json.dumps(messages)
    for result in results:
        for media in result.media:
            if media.data and len(media.data) > 20:
                assert text.count(base64.b64encode(media.data).decode()) <= sum(
                    one.data == media.data for other in results for one in other.media
                ), "media never stand in the JSON text too"
    inside = {"anthropic": "content", "gemini": "parts"}.get(provider)
    answers = messages[0][inside] if inside else messages
    assert len(answers) == len(results), "one answer a call"


@given(JSON)
def test_law_json_results_come_through_whole(value: Any) -> None:
    text = reply([done(value)], "openai")[0]["content"]
    assert (text if isinstance(value, str) else json.loads(text)) == jsonable(value)
    told = reply([done(value)], "gemini")[0]["parts"][0]["functionResponse"]
    assert told["response"] == {"output": jsonable(value)}
