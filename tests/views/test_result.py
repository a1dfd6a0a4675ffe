"""One result as HTML, as text and as data for a widget."""

from __future__ import annotations

from agtools_nb.calls import Change, Fault, ToolCall, ToolResult
from agtools_nb.errors import ToolExecutionError
from agtools_nb.views.result import call_detail, result_html, result_text

HOSTILE = "<img src=x onerror=alert(1)>"


def failed() -> ToolResult:
    try:
        try:
            raise KeyError(HOSTILE)
        except KeyError as error:
            raise ToolExecutionError("it failed", tool_name="t") from error
    except ToolExecutionError as error:
        return ToolResult("t", error=HOSTILE, exception=error, status="error", duration=1.5)


def test_a_result_shows_name_status_duration_coercions_and_value():
    result = ToolResult(
        "forecast",
        result={"high": 3},
        coercions=(Change("/days", "3", 3, "text to integer"),),
        stdout="asked the model\n",
        duration=0.012,
        notes=("the id was replaced",),
    )
    html, text = result_html(result), result_text(result)
    for part in ("forecast", "ok", "12 ms", "/days", "text to integer", "asked the model"):
        assert part in html
        assert part in text
    assert "the id was replaced" in html


def test_nothing_from_outside_becomes_html():
    result = ToolResult(
        HOSTILE,
        result={HOSTILE: HOSTILE},
        coercions=(Change(HOSTILE, HOSTILE, HOSTILE, HOSTILE),),
        stdout=HOSTILE,
        stderr=HOSTILE,
        notes=(HOSTILE,),
    )
    assert "<img" not in result_html(result)
    assert "<img" not in result_html(failed())


def test_a_large_result_is_cut_with_a_note():
    result = ToolResult("t", result=list(range(100_000)), stdout="x" * 1_000_000)
    html = result_html(result)
    assert len(html) < 25_000
    assert "items left out" in html
    assert "first 2,000 of 1,000,000 characters" in html
    assert len(result_text(result)) < 5_000


def test_detail_of_a_running_call_has_arguments_only():
    detail = call_detail(ToolCall("t", {"n": "3"}), {"n": 3}, (), None, 1_000)
    assert detail["sent"] == '{"n": "3"}'
    assert detail["got"] == '{"n": 3}'
    assert "result" not in detail
    assert "error" not in detail


def test_detail_of_a_failure_has_the_tools_traceback():
    detail = call_detail(ToolCall("t", "{oops"), None, (), failed(), 1_000)
    assert detail["sent"] == "{oops"
    assert "got" not in detail
    assert detail["error"] == HOSTILE
    assert "KeyError" in detail["traceback"]


def test_detail_lists_faults():
    fault = Fault("/days", "an integer", "nothing", "no days")
    result = ToolResult("t", error="bad", status="invalid", faults=(fault,))
    detail = call_detail(ToolCall("t"), {}, (), result, 1_000)
    assert detail["faults"] == [{"pointer": "/days", "expected": "an integer", "got": "nothing"}]


def test_integers_beyond_the_browser_travel_as_text():
    result = ToolResult("t", result=[9007199254740993])
    assert call_detail(ToolCall("t"), {}, (), result, 1_000)["result"] == "[9007199254740993]"
