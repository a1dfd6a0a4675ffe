"""What each provider is sent, against the types of its own SDK."""

from __future__ import annotations

import json
from datetime import date, datetime
from typing import Annotated, Any, Literal

import pytest
from agent.hosted.cases import (
    ANTHROPIC,
    CASES,
    GEMINI,
    GEMINI_3,
    OPENAI,
    RESPONSES,
    SERVER,
    Case,
    asking,
    fits,
    parts,
    takes,
)
from agent.hosted.server import serving
from pydantic import BaseModel, Field

from agtools_nb import Media, ToolCall, ToolResult, tool
from agtools_nb.agent import ModelMessage, ResultsMessage, UserMessage

PNG = (
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00"
    b"\x1f\x15\xc4\x89\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99"
    b"=\x1d\x00\x00\x00\x00IEND\xaeB`\x82"
)
PDF = b"%PDF-1.4\n%%EOF\n"
each = pytest.mark.parametrize("case", CASES, ids=str)


class Card(BaseModel):
    """A card."""

    number: str = Field(pattern="^[0-9]+$", examples=["1234"])
    until: datetime


@tool
def forecast(city: str, days: int | None = None, units: str = "metric") -> dict[str, Any]:
    """Forecast the weather.

    Args:
        city: Name of the city.
        days: How many days.
        units: metric or imperial.
    """
    return {"city": city, "days": days, "units": units}


@tool
def book(
    when: date, seats: Annotated[int, Field(gt=0, lt=9)], way: Literal["rail"], card: Card | None
) -> str:
    """Book, with all that providers would rewrite in a schema."""
    return f"{when} {seats} {way} {card}"


@tool
def now() -> str:
    """Tell the time."""
    return "noon"


def history() -> list[Any]:
    """All kinds of messages: text with media, calls good and malformed, results with media."""
    calls = (
        ToolCall("forecast", {"city": "Oslo"}, "call-1"),
        ToolCall("forecast", '{"city": "Os', "call-2"),
        ToolCall("now", {}, "call-3"),
    )
    results = (
        ToolResult("forecast", "call-1", result={"city": "Oslo", "rain": True}),
        ToolResult("forecast", "call-2", error="not JSON", status="invalid"),
        ToolResult("now", "call-3", result=["a picture", Media.image(PNG)]),
    )
    return [
        UserMessage("Look.", (Media.image(PNG), Media("application/pdf", PDF, name="a.pdf"))),
        ModelMessage("I see.", calls, "calls"),
        ResultsMessage(results),
        ModelMessage("It rains."),
    ]


async def sent(case: Case, *messages: Any, **more: Any) -> Any:
    async with serving(case.answer("Hi.")) as server:
        more = {"system": "Be brief.", "tools": (forecast, now), **more}
        await parts(case.model(server), asking("And now?", *messages, **more))
        return server.last


REQUESTS = {
    OPENAI: "openai.types.chat.completion_create_params:CompletionCreateParamsStreaming",
    SERVER: "openai.types.chat.completion_create_params:CompletionCreateParamsStreaming",
    RESPONSES: "openai.types.responses.response_create_params:ResponseCreateParamsStreaming",
    ANTHROPIC: "anthropic.types.message_create_params:MessageCreateParamsStreaming",
}


@pytest.mark.parametrize("case", list(REQUESTS), ids=str)
async def test_the_request_fits_the_type_of_the_sdk(case: Case) -> None:
    fits(REQUESTS[case], await sent(case, *history()))


@pytest.mark.parametrize("case", [GEMINI, GEMINI_3], ids=["2.5", "3"])
async def test_the_request_fits_the_types_of_geminis_sdk(case: Case) -> None:
    body = await sent(case, *history())
    known = {"contents", "systemInstruction", "tools", "toolConfig", "generationConfig"}
    assert body.keys() <= known
    for content in [*body["contents"], body["systemInstruction"]]:
        takes("google.genai.types:Content", content)
    for one in body["tools"]:
        for declared in one["functionDeclarations"]:
            takes("google.genai.types:FunctionDeclaration", declared)
    takes("google.genai.types:ToolConfig", body["toolConfig"])


def schemas(case: Case, body: Any) -> list[Any]:
    if case in (OPENAI, SERVER):
        return [one["function"]["parameters"] for one in body["tools"]]
    if case is RESPONSES:
        return [one["parameters"] for one in body["tools"]]
    if case is ANTHROPIC:
        return [one["input_schema"] for one in body["tools"]]
    declared = [each for one in body["tools"] for each in one["functionDeclarations"]]
    return [one["parameters_json_schema"] for one in declared]


@each
async def test_tools_are_declared_with_their_own_schemas(case: Case) -> None:
    tools = (forecast, now, book)
    body = await sent(case, tools=tools)
    assert schemas(case, body) == [one.input_schema for one in tools]
    assert "exclusiveMinimum" in json.dumps(body["tools"])
    assert "Forecast the weather." in json.dumps(body["tools"])


@each
async def test_the_system_text_is_sent_as_such(case: Case) -> None:
    body = await sent(case)
    found = {
        OPENAI: lambda: body["messages"][0],
        SERVER: lambda: body["messages"][0],
        RESPONSES: lambda: body["instructions"],
        ANTHROPIC: lambda: body["system"],
        GEMINI: lambda: body["systemInstruction"]["parts"],
    }[case]()
    expected = {
        OPENAI: {"role": "system", "content": "Be brief."},
        SERVER: {"role": "system", "content": "Be brief."},
        RESPONSES: "Be brief.",
        ANTHROPIC: [{"type": "text", "text": "Be brief."}],
        GEMINI: [{"text": "Be brief."}],
    }[case]
    assert found == expected


@each
async def test_without_system_text_and_tools_there_is_neither(case: Case) -> None:
    body = await sent(case, system="", tools=())
    assert "tools" not in body
    assert "Be brief." not in json.dumps(body)
    assert not {"system", "instructions", "systemInstruction"} & body.keys()
    assert [one["role"] for one in body.get("messages", [])] in ([], ["user"])


@each
async def test_ids_of_calls_are_kept_on_both_sides(case: Case) -> None:
    text = json.dumps(await sent(case, *history()))
    for call_id in ("call-1", "call-2", "call-3"):
        assert text.count(f'"{call_id}"') >= 2


async def test_results_for_openai() -> None:
    messages = (await sent(OPENAI, *history()))["messages"]
    roles = [one["role"] for one in messages]
    assert roles == [
        "system", "user", "assistant", "tool", "tool", "tool", "user", "assistant", "user",
    ]  # fmt: skip
    asked = messages[2]["tool_calls"]
    assert json.loads(asked[0]["function"]["arguments"]) == {"city": "Oslo"}
    assert json.loads(asked[1]["function"]["arguments"]) == {"unreadable_arguments": '{"city": "Os'}
    assert json.loads(messages[3]["content"]) == {"city": "Oslo", "rain": True}
    assert json.loads(messages[4]["content"]) == {"error": "not JSON"}
    # A tool's result holds text only; its picture follows, said to be the tool's.
    picture = [part["type"] for part in messages[6]["content"]]
    assert picture == ["text", "image_url", "text"]
    assert "call-3" in messages[6]["content"][0]["text"]


async def test_results_for_anthropic() -> None:
    messages = (await sent(ANTHROPIC, *history()))["messages"]
    assert [one["role"] for one in messages] == ["user", "assistant", "user", "assistant", "user"]
    results = messages[2]["content"]
    assert [(one["tool_use_id"], one["is_error"]) for one in results] == [
        ("call-1", False), ("call-2", True), ("call-3", False),
    ]  # fmt: skip
    assert [part["type"] for part in results[2]["content"]] == ["text", "image"]
    assert messages[1]["content"][2]["input"] == {"unreadable_arguments": '{"city": "Os'}


async def test_results_for_gemini() -> None:
    contents = (await sent(GEMINI_3, *history()))["contents"]
    assert [one["role"] for one in contents] == ["user", "model", "user", "model", "user"]
    results = [part["functionResponse"] for part in contents[2]["parts"]]
    assert results[0]["response"] == {"output": {"city": "Oslo", "rain": True}}
    assert results[1]["response"] == {"error": "not JSON"}
    [picture] = results[2]["parts"]
    assert picture["inline_data"]["mime_type"] == "image/png"


@each
async def test_pictures_of_the_user_are_sent_as_such(case: Case) -> None:
    body = json.dumps(await sent(case, *history()))
    assert "iVBORw0KGgo" in body  # the beginning of a PNG in base64
    assert "JVBERi0" in body  # and of a PDF


@each
async def test_what_has_no_place_is_told_in_words(case: Case) -> None:
    media = (
        Media("application/zip", b"PK\x03\x04"),
        Media("text/csv", b"a,b\n1,2\n", name="t.csv"),
        Media("text/plain", b"\xff\xfe\x00"),
        Media.file("gs://bucket/film.mp4"),
    )
    body = json.dumps(await sent(case, UserMessage("See.", media)))
    assert "[part 1: application/zip, 4 bytes; it cannot be shown here]" in body
    assert "[t.csv, text/csv]\\na,b\\n1,2" in body
    assert "[part 3: text/plain, 3 bytes; it cannot be shown here]" in body
    assert "[part 4: video/mp4 at gs://bucket/film.mp4; it cannot be shown here]" in body


@each
async def test_addresses_are_passed_on_and_never_fetched(case: Case) -> None:
    """The network is off: whoever fetched one would fail."""
    media = tuple(
        Media.file(f"https://pictures.example/{name}")
        for name in ("a.png", "b.pdf", "c.mp3", "d.mp4", "e.bin", "f.txt")
    )
    result = ToolResult("now", "c1", result="see", media=media)
    messages = [
        UserMessage("See.", media),
        ModelMessage("", (ToolCall("now", {}, "c1"),), "calls"),
        ResultsMessage((result,)),
    ]
    body = json.dumps(await sent(case, *messages))
    assert body.count("https://pictures.example/a.png") >= 2
    assert body.count("https://pictures.example/f.txt") >= 2


@each
async def test_addresses_on_this_machine_are_not_even_passed_on(case: Case) -> None:
    media = tuple(map(Media.file, ("http://127.0.0.1:1/a.png", "file:///etc/passwd.png")))
    body = json.dumps(await sent(case, UserMessage("See.", media)))
    assert body.count("it cannot be shown here") == 2


@each
async def test_settings_are_sent(case: Case) -> None:
    async with serving(case.answer("Hi.")) as server:
        options: dict[str, Any] = {"temperature": 0.5, "max_tokens": 77, "settings": {"top_p": 0.9}}
        await parts(case.model(server, **options), asking("Hi"))
        body = server.last
    numbers = body.get("generationConfig", body)
    assert 77 in numbers.values()
    assert 0.5 in numbers.values()
    assert 0.9 in numbers.values()
