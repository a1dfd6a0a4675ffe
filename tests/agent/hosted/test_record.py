"""What is kept of the wire for people, and how long a refusal is waited for."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from agent.hosted.cases import CASES, OPENAI, Case, asking, parts
from agent.hosted.server import serving, sse
from hypothesis import given
from hypothesis import strategies as st

from agtools_nb import Media
from agtools_nb.agent import RawPart, UserMessage
from agtools_nb.agent.models.hosted import record as recording
from agtools_nb.agent.models.hosted.record import Record, is_last
from agtools_nb.agent.models.hosted.retry import Patience, asked_wait

each = pytest.mark.parametrize("case", CASES, ids=str)


@each
async def test_the_raw_view_is_what_went_over_the_wire(case: Case) -> None:
    answer = case.answer("Hi ", "there.")
    async with serving(answer) as server:
        found = await parts(case.model(server), asking("Hi"))
        asked = server.asked[0]
    raws = [part for part in found if isinstance(part, RawPart)]
    assert raws[0].response is None  # there before the answer is
    assert raws[0].request == raws[-1].request
    assert raws[-1].request == {
        "method": "POST", "url": server.url + asked.path, "body": asked.body,
    }  # fmt: skip
    assert raws[-1].response == {"status": 200, "events": list(answer.events)}
    json.dumps(raws[-1].response)


async def test_pictures_are_cut_in_the_raw_view() -> None:
    picture = Media("image/png", b"\x89PNG" + bytes(60_000))
    async with serving(OPENAI.answer("Hi.")) as server:
        found = await parts(OPENAI.model(server), asking("Hi", UserMessage("See.", (picture,))))
        sent = len(json.dumps(server.last))
    [*_, raw] = [part for part in found if isinstance(part, RawPart)]
    assert sent > 80_000
    assert len(json.dumps(raw.request)) < 2_000
    assert "characters]" in json.dumps(raw.request)


async def test_long_answers_are_kept_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "MOST_KEPT", 2_000)
    async with serving(OPENAI.answer(*["word "] * 100)) as server:
        found = await parts(OPENAI.model(server), asking("Hi"))
    [*_, raw] = [part for part in found if isinstance(part, RawPart)]
    assert raw.response["events_left_out"] > 80
    assert len(json.dumps(raw.response)) < 5_000


JSON = st.recursive(
    st.none() | st.integers() | st.text(),
    lambda inner: st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(st.lists(JSON, max_size=5), st.data())
def test_events_are_read_however_the_bytes_come(events: list[Any], data: st.DataObject) -> None:
    ends = data.draw(st.sampled_from([b"\n", b"\r\n"]))
    sent = b": hello\n\n" + b"".join(
        b"event: x\ndata: " + json.dumps(one).encode() + b"\n\n" for one in events
    )
    sent = sent.replace(b"\n", ends)
    told: list[Any] = []
    record = Record("openai", told.append)
    at = 0
    while at < len(sent):
        size = data.draw(st.integers(1, 40))
        record.came(sent[at : at + size])
        at += size
    record.came(b"", last=True)
    assert told == events


def test_an_event_of_several_lines_and_one_without_an_end() -> None:
    told: list[Any] = []
    record = Record("openai", told.append)
    record.came(b'data: {"a":\ndata: 1}\n\ndata: "left"')
    record.came(b"", last=True)
    assert told == [{"a": 1}, "left"]


def test_an_event_without_bound_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "LONGEST_EVENT", 1_000)
    told: list[Any] = []
    record = Record("openai", told.append)
    record.answered(200, "text/event-stream")
    for _ in range(100):
        record.came(b"x" * 100)
    record.came(b"\n\n" + sse({"a": 1}))
    assert told == [{"a": 1}]
    assert record.response is not None
    assert record.response["events_left_out"] >= 1


@pytest.mark.parametrize(
    ("form", "event", "last"),
    [
        ("openai", "[DONE]", True),
        ("openai", {"choices": [{"finish_reason": "stop"}]}, True),
        ("openai", {"choices": [{"finish_reason": None}]}, False),
        ("openai", {"choices": [3]}, False),
        ("anthropic", {"type": "message_stop"}, True),
        ("anthropic", {"type": "message_delta"}, False),
        ("gemini", {"candidates": [{"finishReason": "STOP"}]}, True),
        ("gemini", {"candidates": [{}]}, False),
        ("gemini", {"promptFeedback": {"blockReason": "OTHER"}}, True),
        ("openai-responses", {"type": "response.completed"}, True),
        ("openai-responses", {"type": "response.failed"}, False),
        ("anthropic", [], False),
        ("gemini", None, False),
    ],
)
def test_how_an_answer_ends(form: Any, event: Any, last: bool) -> None:
    assert is_last(event, form) is last


def waits(*refusals: tuple[int, dict[str, str]], tries: int = 3, body: bytes = b"") -> list[Any]:
    patience = Patience(tries, [])
    return [patience.seconds(status, headers, body) for status, headers in refusals]


def test_how_long_a_refusal_is_waited_for() -> None:
    busy: tuple[int, dict[str, str]] = (429, {})
    assert waits(busy, busy, busy, busy) == [1.0, 2.0, 4.0, None]
    assert waits((500, {}), (500, {})) == [1.0, None]
    assert waits((500, {}), tries=0) == [None]
    assert waits((429, {"retry-after": "7"}), (500, {})) == [7.0, None]
    assert waits((400, {}), (404, {}), (200, {})) == [None, None, None]
    assert waits((429, {"retry-after": "61"})) == [None]
    assert waits((429, {"x-should-retry": "false"})) == [None]


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"retry-after": "2"}, {}, 2.0),
        ({"retry-after": "0"}, {}, 0.0),
        ({"retry-after": "-5"}, {}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, {}, 1.5),
        ({"retry-after": "soon"}, {}, None),
        ({"retry-after": "nan"}, {}, None),
        ({"retry-after": "inf"}, {}, None),
        ({}, {"error": {"details": [{"@type": "x"}, {"retryDelay": "3.5s"}]}}, 3.5),
        ({}, [{"error": {"details": [{"retryDelay": "3s"}]}}], 3.0),
        ({}, {"error": {"details": [{"retryDelay": 3}, 4]}}, None),
        ({}, {"error": {"details": "none"}}, None),
        ({}, {"error": "no"}, None),
        ({}, [], None),
    ],
)
def test_where_a_refusal_says_how_long_to_wait(headers: Any, body: Any, seconds: Any) -> None:
    assert asked_wait(headers, json.dumps(body).encode()) == seconds


def test_a_date_to_wait_for() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    found = asked_wait({"retry-after": date}, b"")
    assert found is not None
    assert 25 < found <= 31
    past = format_datetime(datetime.fromtimestamp(time.time() - 60, UTC), usegmt=True)
    assert asked_wait({"retry-after": past}, b"") == 0.0
