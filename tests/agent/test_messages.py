"""Messages as JSON: what is written can be read, whatever it holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agtools_nb import (
    Event,
    Media,
    ScriptedModel,
    Session,
    Store,
    ToolCall,
    ToolResult,
    ToolRunner,
    UsageError,
    deny,
    tool,
)
from agtools_nb.agent.messages import (
    Message,
    ModelMessage,
    ResultsMessage,
    Stop,
    Usage,
    UserMessage,
    message_json,
    read_message,
)
from agtools_nb.calls import Change, Fault, Status

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=5,
)
arguments = st.dictionaries(text, values, max_size=3) | text
calls = st.builds(ToolCall, text, arguments, text)
usages = st.builds(Usage, st.integers(0, 10**6), st.integers(0, 10**6), st.booleans())
media = st.builds(
    lambda data, name: Media(mime_type="image/png", data=data, name=name),
    st.binary(max_size=20),
    text,
)
models = st.builds(
    ModelMessage,
    text,
    st.lists(calls, max_size=3).map(tuple),
    st.sampled_from(get_args(Stop)),
    usages,
    st.lists(text, max_size=2).map(tuple),
    st.none() | text,
)
users = st.builds(
    UserMessage,
    text,
    st.lists(media, max_size=2).map(tuple),
    st.none() | st.sampled_from(["result", "event", "message", "report", "reminder"]),
    st.none() | text,
)
texts = st.lists(text, max_size=2).map(tuple)
beside = st.fixed_dictionaries(
    {
        "arguments": st.dictionaries(text, values, max_size=2),
        "coercions": st.lists(st.builds(Change, text, values, values, text), max_size=2).map(tuple),
        "faults": st.lists(st.builds(Fault, text, text, text, text), max_size=2).map(tuple),
        "stdout": text,
        "stderr": text,
        "warnings": texts,
        "notes": texts,
        "started_at": st.floats(0, 2e9),
        "duration": st.floats(0, 100),
    }
)
results = st.builds(
    lambda name, call_id, value, more: ToolResult(name, call_id, result=value, **more),
    text, text, values, beside,
) | st.builds(
    lambda name, call_id, error, more: ToolResult(
        name, call_id, error=error, status="error", **more
    ),
    text, text, text, beside,
)  # fmt: skip
answers = st.builds(ResultsMessage, st.lists(results, max_size=3).map(tuple), st.none() | text)


KEPT = [*("name", "id", "status", "result", "error", "started_at", "duration")]
KEPT += ["coercions", "faults", "stdout", "stderr", "warnings", "notes"]


@given(models | users | answers)
def test_what_is_written_is_read_back_the_same(message: Message) -> None:
    written = json.loads(json.dumps(message_json(message)))
    again = read_message(written)
    assert type(again) is type(message)
    assert json.dumps(message_json(again)) == json.dumps(message_json(message))
    assert (again.id, again.at) == (message.id, message.at)
    if isinstance(message, UserMessage):
        assert isinstance(again, UserMessage)
        assert again.media == message.media
    if isinstance(message, ResultsMessage):
        assert isinstance(again, ResultsMessage)
        for read, result in zip(again.results, message.results, strict=True):
            assert [getattr(read, name) for name in KEPT] == [
                getattr(result, name) for name in KEPT
            ]
    if isinstance(message, ModelMessage):
        assert isinstance(again, ModelMessage)
        assert [(c.name, c.args, c.id) for c in again.calls] == [
            (c.name, c.args, c.id) for c in message.calls
        ]


@pytest.mark.parametrize("status", get_args(Status))
def test_every_status_of_a_result_is_read_back(status: Status) -> None:
    error = None if status == "ok" else "no"
    message = ResultsMessage((ToolResult("rm", "c", error=error, status=status),))
    again = read_message(message_json(message))
    assert isinstance(again, ResultsMessage)
    assert [(one.status, one.error) for one in again.results] == [(status, error)]


@pytest.mark.parametrize("stop", get_args(Stop))
def test_every_end_of_an_answer_is_read_back(stop: Stop) -> None:
    again = read_message(message_json(ModelMessage("x", stop=stop)))
    assert isinstance(again, ModelMessage)
    assert again.stop == stop


async def test_a_conversation_with_a_denied_call_can_be_read_again(tmp_path: Path) -> None:
    @tool
    def rm(path: str) -> str:
        """Remove."""
        return path

    path = tmp_path / "work.db"
    with Store.open(path) as store:
        runner = ToolRunner([rm], policies=[deny("rm", reason="no")])
        session = Session(
            ScriptedModel([("rm", {"path": "a"}), "Not allowed."]), runner, store=store
        )
        reply = await session.chat("Remove it")
        assert [one.status for one in reply.results] == ["denied"]
        written = session.export()
    assert Session(ScriptedModel([]), messages=written).export()["messages"] == written["messages"]
    with Store.open(path) as store:
        assert len(Session(ScriptedModel([]), store=store).messages) == 4


NO_MESSAGES: list[Any] = [
    UserMessage("Hi"),
    ModelMessage("Hi"),
    UserMessage,
    object(),
    b"{}",
    [("role", "user")],
    {"role": ["user"]},
    {"role": "user"},
    {"role": None, "id": "a", "at": 0},
    {**message_json(UserMessage("Hi")), "media": [3]},
    {**message_json(UserMessage("Hi")), "media": [{"mime_type": "image/png", "data": "?"}]},
    {**message_json(UserMessage("Hi")), "media": [{"mime_type": "image", "data": "aGk="}]},
    {**message_json(UserMessage("Hi")), "at": 10**400},
    {**message_json(ModelMessage("Hi")), "seconds": "soon"},
    {**message_json(ModelMessage("Hi")), "notes": "one"},
    {**message_json(ResultsMessage(())), "results": [None]},
    {**message_json(ResultsMessage(())), "results": {"id": "c"}},
]


@pytest.mark.parametrize("value", NO_MESSAGES, ids=range(len(NO_MESSAGES)))
def test_only_what_export_writes_is_a_message(value: Any) -> None:
    with pytest.raises(UsageError, match=r"no message of a conversation .*give what export\(\)"):
        read_message(value)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("coercions", [3]),
        ("coercions", {"pointer": ""}),
        ("faults", [{"pointer": "/a"}]),
        ("stdout", 3),
        ("warnings", "one"),
        ("notes", [None]),
        ("status", "fine"),
    ],
)
def test_a_result_with_a_wrong_field_is_refused(name: str, wrong: Any) -> None:
    written = message_json(ResultsMessage((ToolResult("add", "c"),)))
    written["results"][0][name] = wrong
    with pytest.raises(UsageError, match="no message of a conversation"):
        read_message(written)


def test_a_result_without_what_stands_beside_it_is_as_short_as_ever() -> None:
    [written] = message_json(ResultsMessage((ToolResult("add", "c", result=3),)))["results"]
    assert set(written) == {
        *("id", "name", "status", "result", "error", "subscription", "started_at", "duration")
    }
    [read] = read_results(written)
    assert (read.stdout, read.coercions, read.notes, read.arguments) == ("", (), (), None)


def read_results(*written: Any) -> tuple[ToolResult, ...]:
    message = read_message({**message_json(ResultsMessage(())), "results": list(written)})
    assert isinstance(message, ResultsMessage)
    return message.results


def test_what_is_very_long_is_cut_and_stays_as_it_is_then() -> None:
    long = "\ud800é" * 100_000
    changes = tuple(Change("/a", [long], {"a": [long]}, "x") for _ in range(2))
    result = ToolResult(
        "add",
        "c",
        arguments={"a": long},
        coercions=changes,
        stdout=long,
        stderr=long,
        warnings=(long,) * 101,
        notes=(long,),
    )
    [once] = message_json(ResultsMessage((result,)))["results"]
    assert len(once["stdout"]) == len(once["coercions"][0]["after"]) == 100_000
    assert len(once["warnings"]) == 100
    [twice] = message_json(ResultsMessage(read_results(once)))["results"]
    assert twice == once


async def test_a_reopened_conversation_knows_what_was_converted_and_printed() -> None:
    @tool
    def add(a: int, b: int) -> int:
        """Add."""
        print("adding")
        return a + b

    script = [[("add", {"a": "1", "b": 2}), ("add", {"a": "one"})], "Three."]
    session = Session(ScriptedModel(script), ToolRunner([add]))
    await session.chat("Add")
    written = json.loads(json.dumps(session.export()))
    again = Session(ScriptedModel([]), messages=written)
    [results] = [one.results for one in again.messages if isinstance(one, ResultsMessage)]
    added, wrong = results
    assert [(c.pointer, c.before, c.after) for c in added.coercions] == [("/a", "1", 1)]
    assert added.arguments == {"a": 1, "b": 2}
    assert added.stdout == "adding\n"
    assert {fault.pointer for fault in wrong.faults} == {"/a", "/b"}
    assert again.export()["messages"] == written["messages"]


def test_names_of_media_survive() -> None:
    shown = [
        Media("image/png", b"\x89PNG", name="plot.png"),
        Media("image/png", b"\x89PNG2"),
        Media.file("https://example.org/a.pdf", name="paper"),
        Media("text/plain", b"x", name="n" * 300),
    ]
    result = ToolResult("plot", "c", result={"two": shown}, media=tuple(shown))
    for message in (UserMessage("Look", tuple(shown)), ResultsMessage((result,))):
        written = json.loads(json.dumps(message_json(message)))
        again = read_message(written)
        found = again.media if isinstance(again, UserMessage) else again.results[0].media  # type: ignore[union-attr]
        assert sorted(one.name for one in found) == ["", "n" * 199 + "…", "paper", "plot.png"]
        assert json.loads(json.dumps(message_json(again))) == written


@given(values)
def test_anything_else_is_refused_in_words(value: Any) -> None:
    with pytest.raises(UsageError, match="no message of a conversation"):
        read_message(value)


@pytest.mark.parametrize("field", ["id", "at", "text", "calls", "stop", "usage", "seconds"])
@pytest.mark.parametrize("wrong", [[None], {"a": []}, object])
def test_a_field_that_is_wrong_is_refused(field: str, wrong: Any) -> None:
    written = message_json(ModelMessage("x", (ToolCall("add", {}, "c"),)))
    with pytest.raises(UsageError):
        read_message({**written, field: wrong})


def test_images_of_results_survive() -> None:
    shown = ToolResult(
        "plot", "c", result={"inline_data": {"mime_type": "image/png", "data": b"\x89PNG"}}
    )
    again = read_message(json.loads(json.dumps(message_json(ResultsMessage((shown,))))))
    assert isinstance(again, ResultsMessage)
    assert [one.data for one in again.results[0].media] == [b"\x89PNG"]


def test_a_file_by_its_address_survives() -> None:
    message = UserMessage("Look", (Media(mime_type="image/png", uri="https://example.org/a.png"),))
    again = read_message(message_json(message))
    assert isinstance(again, UserMessage)
    assert again.media[0].uri == "https://example.org/a.png"


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (Event("message", "Hello"), "Hello"),
        (Event("message", {"a": 1}), '{"a": 1}'),
        (
            Event("result", 3, call_id="c", tool_name="add", final=True),
            "[result of add (c), its last] 3",
        ),
        (
            Event("event", None, call_id="c", tool_name="prices", error="gone"),
            "[event of prices (c)] failed: gone",
        ),
    ],
)
def test_events_in_words(event: Event, said: str) -> None:
    assert UserMessage.of_event(event).text == said
