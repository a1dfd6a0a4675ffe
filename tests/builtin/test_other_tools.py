"""Asking a person, finishing, and what others do: searching, images, subagents; many tools at once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Optional

import pytest
from builtin.trusting import trusting
from pydantic import BaseModel, Field, field_validator

from agtools_nb import (
    BuiltinTools,
    DefinitionError,
    Media,
    Question,
    SimpleToolContext,
    Tool,
    ToolContext,
    ToolError,
    ToolResult,
    ToolRunner,
    UsageError,
    Workspace,
    reply,
)
from agtools_nb.builtin import (
    Finished,
    SubagentTask,
    ask_question_tool,
    builtin_tools,
    finish_tool,
    generate_image_tool,
    search_web_tool,
    start_subagent_tool,
)

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40


def called(made: Tool, arguments: Mapping[str, Any], **options: Any) -> ToolResult:
    async def main() -> ToolResult:
        runner = trusting(made, **options)
        (result,) = await runner.process_tool_calls([(made.name, arguments)])
        return result

    return asyncio.run(main())


def told(result: ToolResult) -> str:
    """What the model is sent."""
    return str(reply([result], "openai"))


# -- ask_question ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "answer", "expected"),
    [
        ({"question": "Why?"}, "because", "because"),
        ({"question": "Which?", "options": ["a", "b"]}, "b", "b"),
        ({"question": "Which?", "options": ["a", "b", "a"]}, "c", "c"),
        ({"question": "Which?", "options": ["a", "b"], "multiple": True}, ["b", "a"], ["a", "b"]),
        ({"question": "Which?", "options": ["a"], "multiple": True}, [], []),
        ({"question": "Why?", "multiple": True, "allow_text": False}, "so", "so"),
    ],
)
def test_a_person_answers(arguments: dict[str, Any], answer: Any, expected: Any) -> None:
    seen: list[Question] = []

    def handler(question: Question) -> Any:
        seen.append(question)
        return answer

    result = called(ask_question_tool(), arguments, answer=handler)
    assert result.result == {"answer": expected}
    assert seen[0].text == arguments["question"]
    assert seen[0].options == tuple(dict.fromkeys(arguments.get("options", ())))
    assert (seen[0].tool_name, seen[0].call_id) == ("ask_question", result.id)


def test_who_does_not_answer_is_not_guessed_at() -> None:
    result = called(ask_question_tool(), {"question": "Why?"}, answer=lambda question: None)
    assert result.result["answer"] is None
    assert "say what you assumed" in result.result["note"]


def test_an_answer_that_was_not_offered_is_an_error() -> None:
    arguments = {"question": "Which?", "options": ["a"], "allow_text": False}
    result = called(ask_question_tool(), arguments, answer=lambda question: "b")
    assert "'b' is none of the options 'a'" in (result.error or "")


def test_without_anybody_there_the_model_is_told() -> None:
    for context in (None, SimpleToolContext("me")):
        result = called(ask_question_tool(), {"question": "Why?"}, context=context)
        assert "nobody here to answer" in (result.error or "")


@pytest.mark.parametrize(
    "arguments",
    [
        {"question": " "},
        {"question": "x" * 4_001},
        {"question": "?", "options": [" "]},
        {"question": "?", "options": [str(n) for n in range(21)]},
        {},
    ],
)
def test_what_is_no_question_is_not_put(arguments: dict[str, Any]) -> None:
    result = called(ask_question_tool(), arguments, answer=lambda question: "no")
    assert result.status == "invalid"


def test_a_hook_answers_when_it_wants_to() -> None:
    class Known:
        def on_question(self, question: Question, context: Any) -> str | None:
            return "blue" if "colour" in question.text else None

    def person(question: Question) -> str:
        return "a person says so"

    made = ask_question_tool()
    options = {"hooks": Known(), "answer": person}
    assert called(made, {"question": "Which colour?"}, **options).result == {"answer": "blue"}
    assert called(made, {"question": "Which size?"}, **options).result == {
        "answer": "a person says so"
    }
    alone = called(made, {"question": "Which colour?"}, hooks=Known(), context=ToolContext())
    assert alone.result == {"answer": "blue"}


def test_other_calls_go_on_while_a_person_thinks() -> None:
    async def main() -> None:
        answered = asyncio.Event()
        others: list[str] = []

        async def handler(question: Question) -> str:
            await answered.wait()
            return "now"

        async def other() -> str:
            others.append("done")
            answered.set()
            return "other"

        runner = trusting(
            ask_question_tool(), Tool(other), answer=handler, context=SimpleToolContext("me")
        )
        results = await asyncio.wait_for(
            runner.process_tool_calls([("ask_question", {"question": "?"}), ("other", {})]), 20
        )
        assert [result.result for result in results] == [{"answer": "now"}, "other"]

    asyncio.run(main())


# -- finish ------------------------------------------------------------------------------------


class Report(BaseModel):
    title: str = Field(min_length=1)
    score: int = 0

    @field_validator("score")
    @classmethod
    def known(cls, value: int) -> int:
        if value > 10:
            raise ValueError("a score is at most 10")
        return value


@dataclass
class Point:
    x: float
    y: float


def test_the_last_words_are_text_by_default() -> None:
    result = called(finish_tool(), {"message": "All done."})
    assert result.result == Finished("All done.")
    assert "All done." in told(result)
    assert "finished" in told(result)


def test_the_outcome_is_what_it_was_asked_to_be() -> None:
    result = called(finish_tool(Report), {"output": {"title": "Tea", "score": "3"}})
    assert result.result == Finished(Report(title="Tea", score=3))
    assert '\\"score\\": 3' in told(result) or '"score": 3' in told(result).replace("\\", "")
    for wrong in ({"title": ""}, {"title": "Tea", "score": 11}, {}):
        bad = called(finish_tool(Report), {"output": wrong})
        assert (bad.status, bad.result) == ("invalid", None)
    assert called(finish_tool(list[int]), {"output": ["1", 2]}).result == Finished([1, 2])
    assert called(finish_tool(Point), {"output": {"x": 1, "y": 2}}).result == Finished(
        Point(1.0, 2.0)
    )


def test_a_schema_says_what_the_outcome_must_be() -> None:
    schema = {
        "type": "object",
        "properties": {"title": {"type": "string"}, "self": {"$ref": "#"}},
        "required": ["title"],
        "additionalProperties": False,
    }
    result = called(finish_tool(schema), {"title": "Tea", "self": {"title": "x"}})
    assert result.result == Finished({"title": "Tea", "self": {"title": "x"}})
    assert called(finish_tool(schema), {"self": {}}).status == "invalid"
    assert finish_tool(schema).input_schema["required"] == ["title"]


@pytest.mark.parametrize("output", [{"type": "array"}, {"type": "no"}, threading.Lock, lambda: 1])
def test_what_no_model_could_send_is_no_outcome(output: Any) -> None:
    with pytest.raises(DefinitionError):
        _ = finish_tool(output).input_schema


@pytest.mark.parametrize(
    ("output", "what"),
    [
        (object(), "a value (object)"),
        (Report(title="Tea", score=3), "a value (Report)"),
        (Point(1, 2), "a value (Point)"),
        ("Report", "a value (str)"),
        (7, "a value (int)"),
        (lambda: 1, "a function"),
    ],
)
def test_an_outcome_is_a_type_and_no_value(output: Any, what: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        finish_tool(output)
    assert f"that is {what}; give a type, such as a pydantic model" in str(caught.value)


@pytest.mark.parametrize(
    "output",
    [int | None, Optional[int], Literal["a"], Any, list[int], Annotated[int, Field(ge=1)], Report],  # noqa: UP045
)
def test_types_of_every_kind_are_outcomes(output: Any) -> None:
    assert "output" in finish_tool(output).input_schema["properties"]


# -- search_web, generate_image, start_subagent ------------------------------------------------


@pytest.mark.parametrize(
    ("made", "arguments", "how"),
    [
        (search_web_tool(), {"query": "tea"}, "provider(query, limit) returns"),
        (generate_image_tool(), {"prompt": "tea"}, "provider(prompt) returns"),
        (start_subagent_tool(), {"name": "a", "task": "b"}, "start(task) returns"),
    ],
)
def test_without_a_provider_the_error_says_how_to_give_one(
    made: Tool, arguments: dict[str, Any], how: str
) -> None:
    result = called(made, arguments)
    assert result.status == "error"
    assert "it was given no provider" in (result.error or "")
    assert how in (result.error or "")
    assert f"{made.name}_tool(" in (result.error or "")


def test_a_search_is_passed_on_and_its_results_are_bounded() -> None:
    asked: list[Any] = []

    def provider(query: str, limit: int) -> Any:
        asked.append((query, limit, threading.current_thread() is threading.main_thread()))
        return [
            {"title": f"T{n}", "url": "https://e.org", "snippet": "x" * 5_000} for n in range(9)
        ]

    result = called(search_web_tool(provider), {"query": "tea", "limit": "2"})
    assert asked == [("tea", 2, False)]
    found = result.result["results"]
    assert [one["title"] for one in found] == ["T0", "T1"]
    assert len(found[0]["snippet"]) <= 1_001

    async def later(query: str, limit: int) -> str:
        return f"{query} is a plant"

    assert called(search_web_tool(later), {"query": "tea"}).result["results"] == "tea is a plant"
    bad = called(search_web_tool(lambda query, limit: 3), {"query": "tea"})  # type: ignore[arg-type,return-value]
    assert "neither a list nor text" in (bad.error or "")
    with pytest.raises(UsageError, match="must be a function"):
        search_web_tool("no function")  # type: ignore[arg-type]


def test_images_come_as_media() -> None:
    one = called(generate_image_tool(lambda prompt: PNG), {"prompt": "tea"})
    assert [media.mime_type for media in one.media] == ["image/png"]
    two = called(
        generate_image_tool(lambda prompt: [PNG, Media.file("gs://b/a.png")]), {"prompt": "tea"}
    )
    assert [media.summary for media in two.media] == [
        "image/png, 48 bytes",
        "image/png at gs://b/a.png",
    ]
    bad = called(generate_image_tool(lambda prompt: b"words"), {"prompt": "tea"})
    assert "returned no image" in (bad.error or "")


def test_a_provider_that_fails_is_that_calls_own_failure() -> None:
    def provider(*args: Any) -> Any:
        raise ToolError("quota", "no more searches today", retryable=True)

    for made, arguments in (
        (search_web_tool(provider), {"query": "tea"}),
        (generate_image_tool(provider), {"prompt": "tea"}),
        (start_subagent_tool(provider), {"name": "a", "task": "b"}),
    ):
        result = called(made, arguments)
        assert (result.status, result.error) == ("error", "no more searches today")


def test_subagents_are_named_in_the_schema_and_given_their_task() -> None:
    given: list[SubagentTask] = []

    async def start(task: SubagentTask) -> dict[str, Any]:
        given.append(task)
        assert task.context is not None
        return {"report": task.task.upper()}

    known = {"reviewer": "Reads code for mistakes", "writer": "Writes text"}
    made = start_subagent_tool(start, known)
    name = made.input_schema["properties"]["name"]
    assert name["enum"] == ["reviewer", "writer"]
    assert "- reviewer: Reads code for mistakes" in name["description"]
    arguments = {"name": "reviewer", "task": "look"}
    result = called(made, arguments, context=SimpleToolContext("me"))
    assert result.result == {"report": "LOOK"}
    assert (given[0].name, given[0].context.call_id) == ("reviewer", result.id)  # type: ignore[union-attr]
    wrong = called(made, {"name": "reviwer", "task": "look"})
    assert wrong.status == "invalid"
    assert "reviewer" in (wrong.error or "")
    assert len(given) == 1
    for bad in ({"": "x"}, {"a": " "}, {"a": 3}):
        with pytest.raises(UsageError, match="is text that is not blank"):
            start_subagent_tool(start, bad)  # type: ignore[arg-type]


# -- builtin_tools -----------------------------------------------------------------------------


def test_a_selection_is_made_in_order_and_each_once(tmp_path: Any) -> None:
    def names(*args: Any, **options: Any) -> list[str]:
        return [made.name for made in builtin_tools(*args, **options)]

    assert names(workspace=tmp_path) == [one.value for one in BuiltinTools.read_only()]
    assert names(BuiltinTools.all_tools(), tmp_path) == [one.value for one in BuiltinTools]
    assert names(["finish", BuiltinTools.VIEW_FILE, "view_file"], tmp_path) == [
        "finish",
        "view_file",
    ]
    assert names(BuiltinTools.none()) == []
    assert names(["finish"], tmp_path / "nothing") == ["finish"], "no folder is needed"


def test_every_builtin_tool_has_a_schema_that_says_what_all_is_for(tmp_path: Any) -> None:
    for made in builtin_tools(BuiltinTools.all_tools(), tmp_path, subagents={"a": "b"}):
        assert made.description, made.name
        assert made.injected in ((), ("context",))
        for name, schema in made.input_schema["properties"].items():
            assert schema.get("description"), (made.name, name)
        assert made.display_text(dict.fromkeys(made.input_schema["properties"], "x"))
    guarded = {
        made.name for made in builtin_tools(BuiltinTools.all_tools(), tmp_path) if made.guarded
    }
    assert guarded == {"create_file", "edit_file", "run_command"}


def test_options_reach_their_tools(tmp_path: Any) -> None:
    (tmp_path / "a.txt").write_text("words")

    async def main() -> None:
        runner = trusting(
            *builtin_tools(
                BuiltinTools.all_tools(),
                Workspace(tmp_path),
                shell=True,
                search=lambda query, limit: [query],  # type: ignore[arg-type,return-value]
                image=lambda prompt: PNG,
                subagent=lambda task: task.name,
                subagents={"a": "b"},
                hosts=["example.org"],
                output=Report,
            ),
            context=ToolContext(),
        )
        calls: list[Any] = [
            ("run_command", {"command": "cat a.txt | wc -w"}),
            ("search_web", {"query": "tea"}),
            ("generate_image", {"prompt": "tea"}),
            ("start_subagent", {"name": "a", "task": "t"}),
            ("read_url_content", {"url": "http://example.com/"}),
            ("finish", {"output": {"title": "T"}}),
            ("view_file", {"path": "a.txt"}),
        ]
        ran, found, image, agent, page, end, file = await runner.process_tool_calls(calls)
        assert ran.result["stdout"].strip() == "1"
        assert found.result["results"] == ["tea"]
        assert image.media
        assert agent.result == "a"
        assert "Hosts: example.org" in (page.error or "")
        assert isinstance(end.result, Finished)
        assert "words" in str(file.result)

    asyncio.run(main())


def test_a_name_that_is_none_names_the_nearest(tmp_path: Any) -> None:
    with pytest.raises(UsageError, match="did you mean 'view_file'"):
        builtin_tools(["viewfile"], tmp_path)
    with pytest.raises(UsageError, match=r"write tools=\['view_file'\]"):
        builtin_tools("view_file", tmp_path)
    with pytest.raises(UsageError, match="a folder that is there"):
        builtin_tools(workspace=tmp_path / "nothing")


def test_guarded_tools_are_taken_together_with_rules_only(tmp_path: Any) -> None:
    with pytest.raises(UsageError, match="policies="):
        ToolRunner(builtin_tools(["run_command"], tmp_path))
