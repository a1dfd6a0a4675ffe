"""``FormView`` from Python and from the page, without a browser."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from enum import Enum
from typing import Any, Literal

import pytest
from form.schema_tool import schema_tool
from pydantic import BaseModel

from agtools_nb import ToolRunner
from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.define import Tool, tool
from agtools_nb.views.base import DirectScheduler
from agtools_nb.views.form import FormView


class Mode(Enum):
    TRAIN = "train"
    BUS = "bus"


class Place(BaseModel):
    name: str
    lat: float | None = None


@tool
def trip(
    city: str,
    days: int,
    mode: Mode = Mode.TRAIN,
    stops: list[Place] = [],  # noqa: B006 - a tool's default
    note: str | None = None,
    units: Literal["km", "mi"] = "km",
) -> dict[str, Any]:
    """Plan a trip.

    Args:
        city: Where to.
        days: How long.
    """
    print("planning")
    if days > 100:
        raise ValueError("nobody stays that long")
    return {"city": city, "days": days, "mode": mode.value, "stops": len(stops)}


def form_of(tool: Any = trip, **options: Any) -> FormView:
    """A form without a kernel; ``run`` goes to a real runner."""
    if isinstance(tool, Tool):
        runner = ToolRunner([tool])

        async def run(arguments: dict[str, Any]) -> ToolResult:
            results = await runner.process_tool_calls([ToolCall(tool.name, arguments)])
            return results[0]

        options.setdefault("run", run)
    return FormView(DirectScheduler(), tool, **options)


def edit(form: FormView, op: str, *path: Any, **more: Any) -> None:
    """Send an edit as the page does."""
    form._handle_custom_msg({"type": "edit", "op": op, "path": list(path), **more}, [])


def send(form: FormView, kind: str, **more: Any) -> None:
    """Send another message as the page does."""
    form._handle_custom_msg({"type": kind, **more}, [])


def test_an_untouched_form_is_empty_and_says_what_is_missing() -> None:
    form = form_of()
    assert form.arguments == {}
    missing = [fault for fault in form.data["faults"] if fault.get("missing")]
    assert [(fault["at"], fault["quiet"]) for fault in missing] == [("/days", True)]


def test_arguments_are_a_fresh_copy() -> None:
    form = form_of(arguments={"stops": [{"name": "a"}]})
    form.arguments["stops"].append(1)
    assert form.arguments == {"stops": [{"name": "a"}]}


def test_arguments_by_name() -> None:
    form = form_of()
    form["city"] = "Oslo"
    form["days"] = 3
    assert form["city"] == "Oslo"
    assert "days" in form
    assert list(form) == ["city", "days"]
    del form["days"]
    assert form.arguments == {"city": "Oslo"}
    with pytest.raises(KeyError, match="days"):
        del form["days"]
    with pytest.raises(KeyError, match="days"):
        form["days"]


def test_what_python_sets_is_shown() -> None:
    form = form_of()
    form.arguments = {"city": "Oslo", "days": 5000, "note": None}
    assert dict(form.data["tree"]["e"]) == {
        "city": {"s": "text", "x": "Oslo"},
        "days": {"s": "number", "x": "5000"},
        "note": {"s": "null"},
    }
    assert json.loads(form.data["json"]) == form.arguments


def test_values_beyond_the_bounds_are_flagged_and_kept() -> None:
    form = form_of(
        schema_tool({"type": "object", "properties": {"n": {"type": "integer", "maximum": 100}}})
    )
    form["n"] = 5000
    assert form.arguments == {"n": 5000}
    assert form.data["faults"] == [
        {"at": "/n", "text": "expected at most 100, got 5000 (an integer)"}
    ]


def test_coercions_are_marked() -> None:
    form = form_of(arguments={"city": "Oslo", "days": "3"})
    assert form.prepared.ok
    assert {"t": '  "days": "3"', "m": "changed", "n": ""} in form.data["came"]
    assert {"t": '  "days": 3,', "m": "changed", "n": "text to integer"} in form.data["gets"]
    assert {"t": '  "units": "km"', "m": "default", "n": "default"} in form.data["gets"]


def test_faults_go_to_their_fields() -> None:
    form = form_of(arguments={"city": "Oslo", "days": "ten", "stops": [{"name": 1}, {}], "cty": 1})
    faults = {fault["at"]: fault["text"] for fault in form.data["faults"]}
    assert faults["/days"] == 'expected an integer, got "ten" (a string)'
    assert faults["/stops/1/name"] == "required: a string"
    assert faults["/cty"].startswith("there is no such parameter; did you mean 'city'?")


def test_edits_come_back_with_their_number() -> None:
    form = form_of()
    edit(form, "text", "city", text="Oslo", client="abc", seq=7)
    assert form.arguments == {"city": "Oslo"}
    assert form.data["seen"] == {"abc": 7}


def test_an_edit_without_a_change_is_told_without_drawing_anew() -> None:
    form = form_of(arguments={"city": "Oslo"})
    sent: list[Any] = []
    form.send = lambda content, buffers=None: sent.append(content)
    rev = form.data["rev"]
    edit(form, "text", "city", text="Oslo", client="abc", seq=7)
    assert form.data["rev"] == rev
    assert sent == [{"type": "seen", "seen": {"abc": 7}}]


@pytest.mark.parametrize(
    "message",
    [
        {"type": "edit"},
        {"type": "edit", "op": "text", "path": ["city"]},
        {"type": "edit", "op": "text", "path": "city", "text": "x"},
        {"type": "edit", "op": ["text"], "path": ["city"], "text": "x"},
        {"type": "edit", "op": "text", "path": [{"a": 1}], "text": "x"},
        {"type": "edit", "op": "choose", "path": ["mode"], "option": True},
        {"type": "edit", "op": "bool", "path": ["city"], "value": True},
        {"type": "edit", "op": "null", "path": []},
        {"type": "json", "text": 5},
        {"type": "json"},
        {"type": "snapshot"},
        {"type": "edit", "op": "text", "path": ["city"], "text": 3, "client": 5, "seq": "x"},
        None,
        [],
    ],
)
def test_messages_that_make_no_sense_change_nothing(message: Any) -> None:
    form = form_of()
    form._handle_custom_msg(message, [])
    assert form.arguments == {}
    assert form.data["problem"] is None


def test_the_json_tab_stays_in_step_both_ways() -> None:
    form = form_of()
    edit(form, "text", "city", text="Oslo")
    assert json.loads(form.data["json"]) == {"city": "Oslo"}
    send(form, "json", text='{"city":"Bergen",  "days": 12345678901234567890}')
    assert form.arguments == {"city": "Bergen", "days": 12345678901234567890}
    assert form.data["json"] == '{"city":"Bergen",  "days": 12345678901234567890}'
    edit(form, "text", "city", text="Bergen")  # no change: the text stays as it was typed
    assert form.data["json"].startswith('{"city":"Bergen",  ')
    edit(form, "text", "city", text="Bodø")
    assert '"city": "Bodø"' in form.data["json"]


@pytest.mark.parametrize("text", ['{"city": "x",}', "[1]", "3", '{"a": NaN}', '{"a": 1, "a": 2}'])
def test_json_that_is_no_object_stays_as_typed_with_its_fault(text: str) -> None:
    form = form_of(arguments={"city": "Oslo"})
    send(form, "json", text=text)
    assert (form.data["json"], form.arguments) == (text, {"city": "Oslo"})
    assert form.data["json_fault"]
    edit(form, "text", "city", text="lost?")  # the fields are locked until the text is settled
    assert form.arguments == {"city": "Oslo"}
    send(form, "discard")
    assert (json.loads(form.data["json"]), form.data["json_fault"]) == ({"city": "Oslo"}, "")


def test_running() -> None:
    form = form_of(arguments={"city": "Oslo", "days": "3"})
    send(form, "run")
    assert form.result is not None
    assert form.result.result == {"city": "Oslo", "days": 3, "mode": "train", "stops": 0}
    shown = form.data["result"]
    assert (shown["status"], shown["stdout"], shown["stale"]) == ("ok", "planning\n", False)
    assert form.data["running"] is False
    form["days"] = 4
    assert form.data["result"]["stale"] is True


def test_a_required_text_left_empty_runs_as_the_empty_text() -> None:
    form = form_of()
    edit(form, "text", "days", text="1")
    for shown in ("came", "gets"):
        lines = form.data[shown]
        assert any('"city": ""' in one["t"] and one["m"] == "left" for one in lines), shown
    assert form.arguments == {"days": 1}
    send(form, "run")
    assert form.result is not None
    assert form.result.result["city"] == ""


def test_arguments_that_were_handed_in_run_as_they_are() -> None:
    """A model's call shows its own fault, with nothing filled in."""
    form = form_of(arguments={"days": 1})
    send(form, "run")
    assert form.result is not None
    assert form.result.status == "invalid"
    assert "city" in str(form.result.error)
    assert {
        "at": "/city",
        "text": "required: a string",
        "missing": True,
        "quiet": False,
    } in form.data["faults"]


def test_arguments_that_do_not_fit_give_the_error_that_a_model_sees() -> None:
    form = form_of(arguments={"city": "Oslo", "days": "ten"})
    send(form, "run")
    assert form.data["result"]["status"] == "invalid"
    assert "it was not run" in form.data["result"]["error"]
    assert form.arguments == {"city": "Oslo", "days": "ten"}


def test_a_tool_that_fails() -> None:
    form = form_of(arguments={"city": "Oslo", "days": 101})
    send(form, "run")
    assert form.data["result"]["status"] == "error"
    assert "nobody stays that long" in form.data["result"]["error"]


def test_text_that_is_not_json_is_not_run() -> None:
    form = form_of(arguments={"city": "Oslo", "days": 3, "stops": []})
    edit(form, "as_json", "stops")
    edit(form, "json", "stops", text="[{")
    send(form, "run")
    assert form.result is None
    assert form.data["faults"][0]["unreadable"] is True
    assert dict(form.data["tree"]["e"])["stops"]["x"] == "[{"


def test_stop_and_one_run_at_a_time() -> None:
    started: list[dict[str, Any]] = []
    tasks: list[asyncio.Task[None]] = []

    class Loop(DirectScheduler):
        def spawn(self, coro: Coroutine[Any, Any, None], /) -> None:
            tasks.append(asyncio.get_running_loop().create_task(coro))

    async def run(arguments: dict[str, Any]) -> ToolResult:
        started.append(arguments)
        await asyncio.sleep(60)
        raise AssertionError

    async def scene() -> FormView:
        form = FormView(
            Loop(),
            trip,
            {"city": "Oslo", "days": 1},
            run=run,
            stop=lambda: [task.cancel() for task in tasks],
        )
        send(form, "run")
        await asyncio.sleep(0)
        assert form.data["running"] is True
        send(form, "run")
        send(form, "stop")
        await asyncio.wait(tasks)
        return form

    form = asyncio.run(scene())
    assert len(started) == 1
    assert form.data["running"] is False
    assert form.result is not None
    assert form.result.status == "cancelled"


def test_a_runner_that_breaks_is_shown() -> None:
    async def run(arguments: dict[str, Any]) -> ToolResult:
        raise RuntimeError("the runner is gone")

    form = form_of(arguments={"city": "a", "days": 1}, run=run)
    send(form, "run")
    form.refresh()
    assert "the runner is gone" in form.data["problem"]["text"]
    assert form.data["running"] is False


def test_a_tool_without_arguments() -> None:
    @tool
    def ping() -> str:
        """Answer."""
        return "pong"

    form = form_of(ping)
    assert form.plan["root"]["fields"] == []
    send(form, "run")
    assert form.arguments == {}
    assert form.result is not None
    assert form.result.result == "pong"


def test_clearing_unsets_everything() -> None:
    form = form_of(arguments={"city": "Oslo"})
    send(form, "clear")
    assert form.arguments == {}


def test_the_cell_that_ran_again_keeps_what_was_filled_in() -> None:
    @tool(name="trip")
    def newer(city: str, nights: int) -> str:
        """Another signature."""
        return city

    form = form_of(arguments={"city": "Oslo", "days": 3})
    form.set_tool(newer)
    assert [field["title"] for field in form.plan["root"]["fields"]] == ["city", "nights"]
    assert form.arguments == {"city": "Oslo", "days": 3}
    assert form.data["problem"] is None
    assert any(fault["at"] == "/days" for fault in form.data["faults"])


def test_text_that_utf8_cannot_carry_is_sent_escaped_and_kept_exactly() -> None:
    form = form_of(arguments={"city": "\ud800", "days": 1, "note": "a\x00b"})
    json.dumps(form.data, ensure_ascii=False).encode()
    assert form.arguments == {"city": "\ud800", "days": 1, "note": "a\x00b"}
    assert dict(form.data["tree"]["e"])["city"]["x"] == '"\\ud800"'


def test_static_forms_escape_and_say_what_is_set() -> None:
    form = form_of(arguments={"city": "<b>Oslo</b>", "days": "3"})
    send(form, "run")
    page = form.static_html()
    assert "<b>" not in page
    assert "&lt;b&gt;Oslo" in page
    assert "unset" in page
    assert "planning" in page
    assert form.static_text().startswith('form of trip: {"city": "<b>Oslo</b>", "days": "3"}')
    assert "No" not in form_of(schema_tool({"type": "object"}, "ping")).static_text()


def test_clearing_can_be_taken_back_until_the_next_change() -> None:
    form = form_of(arguments={"city": "Oslo"})
    send(form, "clear")
    assert form.data["can_undo"] is True
    send(form, "undo")
    assert form.arguments == {"city": "Oslo"}
    send(form, "clear")
    edit(form, "text", "city", text="Rome")
    send(form, "undo")
    assert form.arguments == {"city": "Rome"}


@pytest.mark.parametrize(
    ("arguments", "note"),
    [
        ({"city": "Oslo", "days": 3, "mode": "bus", "stops": [], "note": None, "units": "km"},
         "the same"),
        ({"city": "Oslo", "days": "3"}, ""),
        ({"city": "Oslo", "days": "many"}, "not run: the arguments do not fit"),
        ({"city": 4, "what": 1}, "not run: the arguments do not fit"),
        ({}, "not run: required arguments are missing"),
    ],
)  # fmt: skip
def test_what_is_not_run_is_not_said_to_be_what_the_tool_gets(
    arguments: dict[str, Any], note: str
) -> None:
    assert form_of(arguments=arguments).data["gets_note"] == note


def test_a_result_is_out_of_date_while_the_json_text_is_broken() -> None:
    form = form_of(arguments={"city": "Oslo", "days": 3})
    send(form, "run")
    assert form.data["result"]["stale"] is False
    send(form, "json", text='{"city": "Oslo"')
    assert form.data["result"]["stale"] is True
    assert form.data["gets_note"] == "not run: the JSON text cannot be read"
    send(form, "discard")
    assert form.data["result"]["stale"] is False


def test_a_result_is_out_of_date_after_clear_until_it_is_undone() -> None:
    form = form_of(arguments={"city": "Oslo", "days": 3})
    send(form, "run")
    send(form, "clear")
    assert form.data["result"]["stale"] is True
    send(form, "undo")
    assert form.data["result"]["stale"] is False
