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
from agtools_nb.calls import Status

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
    lambda data: Media(mime_type="image/png", data=data), st.binary(min_size=1, max_size=20)
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
results = st.builds(
    lambda name, call_id, value: ToolResult(name, call_id, result=value), text, text, values
) | st.builds(
    lambda name, call_id, error: ToolResult(name, call_id, error=error, status="error"),
    text, text, text,
)  # fmt: skip
answers = st.builds(ResultsMessage, st.lists(results, max_size=3).map(tuple), st.none() | text)


@given(models | users | answers)
def test_what_is_written_is_read_back_the_same(message: Message) -> None:
    written = json.loads(json.dumps(message_json(message)))
    again = read_message(written)
    assert type(again) is type(message)
    assert json.dumps(message_json(again)) == json.dumps(message_json(message))
    assert (again.id, again.at) == (message.id, message.at)
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
