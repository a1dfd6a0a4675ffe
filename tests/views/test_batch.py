"""The batch view: rows, patches, details on demand, Stop."""

from __future__ import annotations

import json

import pytest

from agtools_nb.calls import Change, ToolCall, ToolResult
from agtools_nb.views import batch
from agtools_nb.views.batch import BatchView

CHANGE = Change("/n", "3", 3, "text to integer")


@pytest.fixture(autouse=True)
def wall_clock(clock, monkeypatch):
    """Unix time is the turned clock's, so that offsets are exact."""
    monkeypatch.setattr(BatchView, "_time", staticmethod(lambda: clock.now))


def calls(count: int) -> list[ToolCall]:
    return [ToolCall("work", {"n": str(i)}) for i in range(count)]


def ok(clock, result=1, **more) -> ToolResult:
    return ToolResult("work", result=result, started_at=clock.now - 0.5, duration=0.5, **more)


def test_rows_go_from_waiting_to_running_to_done(clock):
    view = BatchView(clock, calls(2), None)
    assert [row["status"] for row in view.data["rows"]] == ["waiting", "waiting"]
    clock.turn(1)
    view.call_started(0, ToolCall("work", {"n": "3"}, id="a"), {"n": 3}, (CHANGE,))
    assert view.snapshot()["rows"][0] == {
        "i": 0, "name": "work", "args": '{"n": "0"}', "status": "running", "changes": 1, "start": 0.0
    }  # fmt: skip
    clock.turn(1)
    view.call_finished(0, ok(clock, [1, 2], coercions=(CHANGE,), arguments={"n": 3}))
    row = view.snapshot()["rows"][0]
    assert (row["status"], row["start"], row["duration"]) == ("ok", 0.5, 0.5)
    assert row["outcome"] == "[1, 2]"
    assert row["detail"]["changes"] == [["/n", '"3"', "3", "text to integer"]]


def test_while_it_runs_only_changed_rows_are_sent(clock, wire):
    view = BatchView(clock, calls(1_000), None)
    for index in range(1_000):
        view.call_started(index, view._rows[index].call, {"n": index}, ())
        view.call_finished(index, ok(clock))
        clock.turn(0.001)
    clock.turn(1)
    assert len(wire.log) <= 22
    assert all(message["type"] == "rows" for message in wire.custom)
    assert sum(len(message["rows"]) for message in wire.custom) <= 1_030
    assert {row["i"] for message in wire.custom for row in message["rows"]} == set(range(1_000))


def test_at_the_end_everything_is_sent_at_once(clock, wire):
    view = BatchView(clock, calls(2), lambda: None)
    for index in range(2):
        view.call_started(index, view._rows[index].call, {}, ())
        view.call_finished(index, ok(clock))
    clock.turn(2)
    wire.log.clear()
    view.batch_finished()
    assert len(wire.log) == 1  # no turn of the loop: the kernel may be shut down next
    assert view.data["finished"] is True
    assert view.data["elapsed"] == pytest.approx(2)
    assert [row["status"] for row in view.data["rows"]] == ["ok", "ok"]


def test_a_reloaded_page_gets_everything(clock, wire, say):
    view = BatchView(clock, calls(3), None)
    view.call_started(0, view._rows[0].call, {}, ())
    clock.turn(1)
    wire.log.clear()
    say(view, "ready", rev=1)
    clock.turn(1)
    (_, _, message) = wire.log[0]
    assert message["state"]["data"]["rows"][0]["status"] == "running"


def test_details_come_when_a_row_is_opened(clock, wire, say):
    view = BatchView(clock, calls(3), None)
    view.call_started(1, view._rows[1].call, {"n": 1}, ())
    view.call_finished(1, ok(clock, "x" * 100_000))
    view.batch_finished()
    assert "detail" not in view.data["rows"][1]
    wire.log.clear()
    say(view, "open", i=1)
    clock.turn(1)
    (message,) = wire.custom
    assert message["i"] == 1
    assert len(json.loads(message["detail"]["result"])) == 100_000


@pytest.mark.parametrize("index", [-1, 3, 1.0, "1", None, True, [1]])
def test_rows_that_are_not_there_are_not_opened(clock, wire, say, index):
    view = BatchView(clock, calls(3), None)
    say(view, "open", i=index)
    clock.turn(1)
    assert wire.custom == []


def test_details_sent_along_are_bounded(clock):
    view = BatchView(clock, calls(1_000), None)
    for index in range(1_000):
        view.call_started(index, view._rows[index].call, {"n": index}, ())
        view.call_finished(index, ok(clock, "y" * 1_500))
    view.batch_finished()
    size = len(json.dumps(view.data))
    assert size < batch.INLINE_TOTAL * 1.5 + 1_000 * 600


def test_stop_is_pressed_once(clock, wire, say):
    pressed: list[int] = []
    view = BatchView(clock, calls(2), lambda: pressed.append(1))
    assert view.data["can_stop"] is True
    say(view, "stop")
    say(view, "stop")
    clock.turn(1)
    assert pressed == [1]
    assert wire.custom[-1]["stopping"] is True


def test_without_a_stop_there_is_no_button(clock, say):
    view = BatchView(clock, calls(2), None)
    assert view.data["can_stop"] is False
    say(view, "stop")
    clock.turn(1)


def test_after_the_end_stop_does_nothing(clock, say):
    pressed: list[int] = []
    view = BatchView(clock, calls(1), lambda: pressed.append(1))
    view.batch_finished()
    say(view, "stop")
    clock.turn(1)
    assert pressed == []


def test_arguments_that_are_no_json_are_shown_as_they_came(clock):
    view = BatchView(clock, [ToolCall("work", "{oops")], None)
    view.call_started(0, view._rows[0].call, None, ())
    view.call_finished(0, ToolResult("work", error="not JSON", status="invalid"))
    row = view.snapshot()["rows"][0]
    assert row["args"] == "{oops"
    assert row["detail"]["sent"] == "{oops"
    assert "got" not in row["detail"]


def test_an_empty_batch(clock):
    view = BatchView(clock, [], None)
    view.batch_finished()
    assert view.data["rows"] == []
    assert view.static_text().startswith("0 calls")


def test_static_forms(clock):
    view = BatchView(clock, [*calls(2), ToolCall("<b>", {"x": "<i>"})], None)
    view.call_started(0, view._rows[0].call, {}, ())
    view.call_finished(0, ok(clock, {"a": 1}))
    view.call_started(1, view._rows[1].call, {}, ())
    view.call_finished(1, ToolResult("work", error="<u>broken</u>", status="error"))
    html, text = view.static_html(), view.static_text()
    assert "3 calls · 1 ok · 1 failed · 1 waiting" in html
    assert "3 calls · 1 ok · 1 failed · 1 waiting" in text
    assert "&lt;u&gt;broken" in html
    for raw in ("<b>", "<i>", "<u>"):
        assert raw not in html


def test_a_single_call_has_a_compact_static_form(clock):
    view = BatchView(clock, calls(1), None)
    view.call_started(0, view._rows[0].call, {}, ())
    view.call_finished(0, ok(clock, 7))
    assert "<table" not in view.static_html()
    assert view.static_text() == "work: ok, 500 ms\n7"


def test_a_long_batch_is_cut_in_its_static_form(clock):
    view = BatchView(clock, calls(1_000), None)
    assert "and 900 more calls" in view.static_html()
