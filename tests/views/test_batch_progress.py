"""What running calls report: bars, the last line, and output as it is written."""

from __future__ import annotations

import asyncio

import pytest

from agtools_nb import ToolContext, ToolRunner, tool
from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.context import Progress
from agtools_nb.views import reported
from agtools_nb.views.batch import BatchView
from agtools_nb.views.reported import Reported, bar_text


@tool
async def waits_for(other: int, ctx: ToolContext) -> int:
    """Report, and end when the other call has been seen to report."""
    await ctx.report_progress(1, 2)
    await seen[other].wait()
    await ctx.report_progress(2, 2)
    return other


seen: list[asyncio.Event] = []


@pytest.fixture(autouse=True)
def wall_clock(clock, monkeypatch):
    """Unix time is the turned clock's, so that offsets are exact."""
    monkeypatch.setattr(BatchView, "_time", staticmethod(lambda: clock.now))


def wrote(chunk, stream="stdout", **more) -> Progress:
    return Progress("c", "work", 0, stream, chunk, 0, 0.0, **more)


def stands(done, total=None, text="", stream="progress") -> Progress:
    return wrote(text, stream, done=done, total=total)


def started(clock, count=2, stop=None) -> BatchView:
    view = BatchView(clock, [ToolCall("work", {"n": i}) for i in range(count)], stop)
    for index in range(count):
        view.call_started(index, view._rows[index].call, {}, ())
    clock.turn(1)
    return view


def rows(wire):
    return [row for message in wire.custom if message["type"] == "rows" for row in message["rows"]]


def test_a_row_shows_its_bar_and_the_last_line_while_it_runs(clock, wire):
    view = started(clock)
    view.call_progress(0, stands(3, 12, "reading"))
    view.call_progress(0, wrote("one\ntwo\n\n"))
    clock.turn(1)
    row = rows(wire)[-1]
    assert row["bars"] == [
        {"stream": "progress", "share": 0.25, "label": "3 of 12", "text": "reading"}
    ]
    assert row["line"] == "two"
    assert "output" not in row
    view.call_finished(0, ToolResult("work", result=1))
    clock.turn(1)
    assert {"bars", "line"}.isdisjoint(rows(wire)[-1])


def test_a_thousand_pieces_a_second_are_20_messages(clock, wire):
    view = started(clock)
    wire.log.clear()
    for n in range(1_000):
        view.call_progress(n % 2, stands(n, 1_000))
        clock.turn(0.001)
    clock.turn(1)
    assert len(wire.log) <= 22
    assert rows(wire)[-1]["bars"][0]["label"] in ("998 of 1,000", "999 of 1,000")


def test_output_is_sent_once_a_row_is_opened_and_then_as_it_comes(clock, wire, say):
    view = started(clock)
    view.call_progress(1, wrote("before "))
    clock.turn(1)
    say(view, "open", i=1)
    clock.turn(1)
    assert wire.custom[-1]["output"] == {"from": 0, "to": 7, "pieces": [["stdout", "before "]]}
    view.call_progress(1, wrote("after", "stderr"))
    clock.turn(1)
    assert rows(wire)[-1]["output"] == {"from": 7, "to": 12, "pieces": [["stderr", "after"]]}
    view.call_progress(1, stands(1))
    clock.turn(1)
    assert rows(wire)[-1]["output"] == {"from": 12, "to": 12, "pieces": []}


def test_a_single_call_is_read_from_the_start(clock, wire):
    view = started(clock, 1)
    view.call_progress(0, wrote("hello"))
    clock.turn(1)
    assert rows(wire)[-1]["output"]["pieces"] == [["stdout", "hello"]]


def test_a_reloaded_page_gets_the_output_so_far(clock, wire, say):
    view = started(clock, 1)
    view.call_progress(0, wrote("hello"))
    clock.turn(1)
    wire.log.clear()
    say(view, "ready", rev=1)
    clock.turn(1)
    (_, _, message) = wire.log[0]
    assert message["state"]["data"]["rows"][0]["output"]["pieces"] == [["stdout", "hello"]]


def test_a_flood_is_cut_to_what_one_message_holds(clock, wire):
    view = started(clock, 1)
    for _ in range(100):
        view.call_progress(0, wrote("x" * 8_000))
    clock.turn(1)
    output = rows(wire)[-1]["output"]
    assert (output["from"], output["to"]) == (800_000 - reported.SENT_CHARACTERS, 800_000)
    kept = sum(len(text) for _, text in view._rows[0].reported._pieces)
    assert kept <= reported.KEPT_CHARACTERS + 8_000 + reported.JOINED


def test_after_the_end_the_details_tell_what_was_reported(clock, wire, say):
    view = started(clock)
    view.call_progress(0, stands(4, 4))
    view.call_progress(0, wrote("printed\n"))
    view.call_progress(0, wrote("a step\n", "log"))
    view.call_progress(0, wrote("3 pieces were dropped", is_marker=True))
    view.call_finished(0, ToolResult("work", result=1, stdout="printed\n"))
    say(view, "open", i=0)
    clock.turn(1)
    detail = wire.custom[-1]["detail"]
    assert detail["output"] == [["log", "a step\n"]]
    assert detail["output_note"] == "3 pieces were dropped"
    assert detail["bars"][0]["share"] == 1.0
    assert "output" not in wire.custom[-1]


def test_the_static_forms_say_how_far_a_running_call_is(clock):
    view = started(clock)
    view.call_progress(0, stands(1, 3, "<b>first</b>"))
    view.call_progress(0, wrote("<i>line</i>"))
    html, text = view.static_html(), view.static_text()
    assert "1 of 3 · 33 % · &lt;b&gt;first" in html
    assert "&lt;i&gt;line" in html
    assert "<b>" not in html
    assert "1 of 3 · 33 %" in text


@pytest.mark.parametrize(
    ("done", "total", "share", "label"),
    [
        (0, 0, 1.0, "0 of 0"),
        (5, 4, 1.0, "5 of 4"),
        (1_234_567, None, None, "1,234,567"),
        (0.5, 2.0, 0.25, "0.50 of 2"),
        (10**400, 10**401, 0.1, "a great many of a great many"),
        (1, 10**400, 0.0, "1 of a great many"),
        (1e20, 2e20, 0.5, "1e+20 of 2e+20"),
    ],
)
def test_bars_of_any_size(done, total, share, label):
    call = Reported()
    call.add(stands(done, total))
    (bar,) = call.bars()
    assert (bar["share"], bar["label"]) == (pytest.approx(share), label)
    assert bar_text(bar).startswith(label)


def test_a_bar_that_moves_stays_one_bar_and_many_are_bounded():
    call = Reported()
    for n in range(50):
        call.add(stands(n, 50, stream=f"progress {n}"))
        call.add(stands(n, 50, stream="progress 0"))
    assert len(call.bars()) == reported.BARS_KEPT
    assert call.bars()[0]["label"] == "49 of 50"


def test_of_a_line_written_again_the_last_form_counts():
    call = Reported()
    call.add(wrote("head\n10 %\r20 %\r30 %"))
    assert call.line() == "30 %"
    assert Reported().line() == ""


def test_pieces_of_one_stream_are_joined_in_order():
    call = Reported()
    for n in range(3_000):
        call.add(wrote(f"{n} "))
    call.add(wrote("other", "log"))
    call.add(wrote("more"))
    whole = "".join(f"{n} " for n in range(3_000))
    assert call.output(1_000_000)["pieces"] == [
        ["stdout", whole],
        ["log", "other"],
        ["stdout", "more"],
    ]
    assert call.output(6)["pieces"] == [["log", "er"], ["stdout", "more"]]
    assert call.output(100, ("stdout",))["pieces"] == [["log", "other"]]
    assert len(call._pieces) < 20


def test_every_call_of_a_running_batch_is_heard(clock):
    """Two calls that each wait until the view has heard of the other."""

    async def run() -> BatchView:
        seen[:] = [asyncio.Event(), asyncio.Event()]
        runner = ToolRunner([waits_for], context=ToolContext())
        batch = runner.batch([ToolCall("waits_for", {"other": n}) for n in (1, 0)])
        view = BatchView(clock, batch.calls, None)

        class Observer:
            def call_started(self, index, call, prepared) -> None:
                view.call_started(index, call, prepared.arguments, ())

            def call_progress(self, index, progress) -> None:
                view.call_progress(index, progress)
                seen[index].set()

            def call_finished(self, index, result) -> None:
                view.call_finished(index, result)

        batch.watch(Observer())
        async with asyncio.timeout(10):
            assert [result.status for result in await batch.run()] == ["ok", "ok"]
        return view

    view = asyncio.run(run())
    assert [row.reported.bars()[0]["label"] for row in view._rows] == ["2 of 2", "2 of 2"]
