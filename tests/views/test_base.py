"""What every view does: comms, coalescing, messages, problems."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any, ClassVar

import pytest

from agtools_nb.views.base import DirectScheduler, View, static_file, wire_safe


class Probe(View):
    _view: ClassVar[str] = "card"

    def __init__(self, scheduler: Any) -> None:
        self.value: Any = 0
        self.heard: list[Any] = []
        super().__init__(scheduler)

    def snapshot(self) -> dict[str, Any]:
        return {"value": self.value() if callable(self.value) else self.value}

    def on_note(self, content: dict[str, Any]) -> None:
        self.heard.append(content["text"])

    def on_loud(self, content: dict[str, Any]) -> None:
        print("hello")

    def on_flood(self, content: dict[str, Any]) -> None:
        print("x" * 10_000)

    def on_broken(self, content: dict[str, Any]) -> None:
        print("just before")
        raise ValueError("cannot do that")

    async def on_slow(self, content: dict[str, Any]) -> None:
        await asyncio.sleep(0)
        raise LookupError("gone")

    def static_text(self) -> str:
        return "<probe> & text"


def test_a_view_opens_one_comm(clock, comms):
    view = Probe(clock)
    view._repr_mimebundle_()
    assert len(comms) == 1
    assert view.data["id"] == view.model_id == comms[0].comm_id


def test_a_view_carries_its_own_built_files(clock):
    view = Probe(clock)
    assert "export" in view._esm
    assert ".agt" in view._css
    assert view.get_state()["layout"] is None


def test_refreshing_often_sends_at_most_20_messages_a_second(clock, wire):
    view = Probe(clock)
    for step in range(3_000):
        view.value = step
        view.refresh()
        clock.turn(0.001)
    clock.turn(1)
    assert 55 <= len(wire.log) <= 61
    assert all(b - a > 0.049 for a, b in zip(wire.times(), wire.times()[1:], strict=False))
    assert view.data["value"] == 2_999


def test_the_first_refresh_is_sent_at_once(clock, wire):
    view = Probe(clock)
    view.refresh()
    clock.turn(0)
    assert len(wire.log) == 1


def test_data_and_messages_share_the_limit(clock, wire):
    view = Probe(clock)
    for step in range(1_000):
        view.refresh()
        view.post({"type": "tick", "step": step})
        clock.turn(0.001)
    clock.turn(1)
    assert len(wire.log) <= 22
    assert [message["step"] for message in wire.custom] == list(range(1_000))


def test_a_refresh_from_inside_a_flush_is_not_lost(clock, wire):
    view = Probe(clock)

    def grow() -> int:
        if view._rev < 4:
            view.refresh()
        return view._rev

    view.value = grow
    view.refresh()
    clock.turn(1)
    assert len(wire.log) == 3
    assert all(b - a > 0.049 for a, b in zip(wire.times(), wire.times()[1:], strict=False))


def test_slow_drawing_is_drawn_less_often(clock, wire):
    view = Probe(clock)

    def slow() -> int:
        clock.now += 0.1
        return 1

    view.value = slow
    for _ in range(2_000):
        view.refresh()
        clock.turn(0.001)
    assert len(wire.log) <= 6


def test_refresh_and_post_may_come_from_any_thread(clock, wire):
    view = Probe(clock)

    def work() -> None:
        for _ in range(200):
            view.refresh()
            view.post({"type": "tick"})

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    clock.turn(1)
    assert len(wire.custom) == 1_600


def test_every_update_differs_even_if_python_calls_the_values_equal(clock, wire):
    view = Probe(clock)
    for value in (1, True, 1.0):
        view.value = value
        view.refresh()
        clock.turn(1)
    sent = [message["state"]["data"]["value"] for _, _, message in wire.log]
    assert [repr(value) for value in sent] == ["1", "True", "1.0"]


def test_a_message_goes_to_the_method_of_its_type(clock, say):
    view = Probe(clock)
    say(view, "note", text="a")
    assert view.heard == []  # only on the main loop
    clock.turn()
    assert view.heard == ["a"]


@pytest.mark.parametrize("kind", ["msg", "trait_change", "nothing", "", None, 3, ["note"], {}])
def test_other_messages_are_ignored(clock, wire, say, kind):
    view = Probe(clock)
    say(view, kind)
    clock.turn(1)
    assert wire.log == []


@pytest.mark.parametrize("content", [None, "note", 3, ["note"], {"text": "x"}])
def test_a_message_of_any_shape_is_survived(clock, wire, content):
    view = Probe(clock)
    view._handle_custom_msg(content, [])
    clock.turn(1)
    assert wire.log == []


def test_state_from_the_browser_is_ignored(clock):
    view = Probe(clock)
    before = view.data
    update = {"method": "update", "state": {"data": {"value": "evil"}, "_esm": "evil"}}
    view._handle_msg({"content": {"data": update}, "buffers": []})
    assert view.data == before
    assert view._esm != "evil"


def test_an_exception_in_a_handler_is_shown_and_can_be_dismissed(clock, wire, say):
    view = Probe(clock)
    say(view, "broken")
    clock.turn(1)
    problem, printed = wire.custom
    assert problem["type"] == "problem"
    assert problem["text"] == "ValueError: cannot do that"
    assert "on_broken" in problem["detail"]
    assert printed == {"type": "printed", "text": "just before\n"}
    view.refresh()
    clock.turn(1)
    assert view.data["problem"]["text"] == "ValueError: cannot do that"
    say(view, "dismiss")
    clock.turn(1)
    assert view.data["problem"] is None


def test_an_exception_in_an_asynchronous_handler_is_shown(clock, wire, say):
    view = Probe(clock)
    say(view, "slow")
    clock.turn()
    (coro,) = clock.coroutines
    asyncio.run(coro)
    clock.turn(1)
    assert wire.custom[0]["text"] == "LookupError: gone"


def test_what_a_handler_prints_is_shown_in_the_view(clock, wire, say, capsys):
    view = Probe(clock)
    say(view, "loud")
    clock.turn(1)
    assert wire.custom == [{"type": "printed", "text": "hello\n"}]
    assert capsys.readouterr().out == ""


def test_printing_without_end_is_cut_with_a_note(clock, wire, say):
    view = Probe(clock)
    say(view, "flood")
    clock.turn(1)
    text = wire.custom[0]["text"]
    assert text.endswith("... 6,001 more characters")
    assert len(text) < 4_100


def test_a_state_that_cannot_be_drawn_is_told(clock):
    view = Probe(clock)
    view.value = lambda: 1 / 0
    view.refresh()
    clock.turn(1)
    assert view.data["problem"]["text"] == "ZeroDivisionError: division by zero"


def test_ready_is_answered_only_to_a_page_that_is_behind(clock, wire, say):
    view = Probe(clock)
    say(view, "ready", rev=view.data["rev"])
    clock.turn(1)
    assert wire.log == []
    say(view, "ready", rev=0)
    clock.turn(1)
    assert len(wire.log) == 1


def test_a_closed_view_sends_nothing_and_fails_nowhere(clock, wire):
    view = Probe(clock)
    view.close()
    wire.log.clear()
    view.refresh()
    view.post({"type": "tick"})
    clock.turn(1)
    assert wire.log == []


def test_the_bundle_has_widget_html_and_text(clock):
    bundle, _ = Probe(clock)._repr_mimebundle_()
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"]
    assert bundle["text/plain"] == "<probe> & text"
    assert bundle["text/html"] == "<pre>&lt;probe&gt; &amp; text</pre>"


def test_direct_scheduler_runs_everything_at_once():
    view = Probe(DirectScheduler())
    view.value = 5
    view.refresh()
    assert view.data["value"] == 5
    ran: list[int] = []

    async def work() -> None:
        ran.append(1)

    DirectScheduler().spawn(work())
    assert ran == [1]


def test_wire_safe_keeps_what_can_be_sent_and_spells_out_the_rest():
    good = {"a": [1, "ä"]}
    assert wire_safe(good) is good
    bad = wire_safe({"a\udc80": "\ud800", "n": [float("nan"), float("-inf"), (1, 2)]})
    assert bad == {"a\\udc80": "\\ud800", "n": ["NaN", "-Infinity", [1, 2]]}
    json.dumps(bad, ensure_ascii=False, allow_nan=False).encode()


def test_a_missing_built_file_says_how_to_build_it():
    with pytest.raises(FileNotFoundError, match="npm ci && npm run build"):
        static_file("nothing.js")
