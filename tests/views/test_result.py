"""One result as HTML, as text and as data for a widget."""

from __future__ import annotations

import base64
from dataclasses import replace

from agtools_nb.calls import Change, Fault, ToolCall, ToolResult
from agtools_nb.errors import ToolExecutionError
from agtools_nb.media import Media
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


def test_a_call_that_was_denied_has_no_traceback():
    result = replace(failed(), status="denied")
    assert call_detail(ToolCall("t"), {}, (), result, 1_000)["traceback"] == ""


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


PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)
MEDIA = (
    Media("image/png", PNG, name=HOSTILE),
    Media("image/svg+xml", b"<svg onload=alert(1)>"),
    Media("audio/wav", bytes(12_000)),
    Media("application/pdf", uri="https://example.org/a.pdf?q=%22<b>"),
    Media("text/html", uri="javascript:alert(1)"),
    Media("image/png", bytes(2_000_001)),
)


def shown(value: object = None, **more: object) -> ToolResult:
    return ToolResult("t", result=value, media=MEDIA, duration=0.1, **more)


def test_pictures_are_shown_and_other_media_named():
    html = result_html(shown({"rows": 3, "inline_data": {"data": PNG}}))
    assert html.count("<img") == 1
    data = base64.b64encode(PNG).decode()
    assert html.count(data) == 1, "its data stand in the image only"
    assert f'src="data:image/png;base64,{data}"' in html
    assert "part 3: audio/wav, 12 KB" in html
    assert "part 6: image/png, 2 MB" in html
    text = result_text(shown())
    assert "part 4: application/pdf at https://example.org/a.pdf" in text
    assert "part 1: image/png, 48 bytes" in text


def test_nothing_of_media_becomes_html():
    html = result_html(shown())
    assert HOSTILE not in html
    assert "<svg" not in html
    assert html.count("<a ") == 1
    assert 'href="https://example.org/a.pdf?q=%22&lt;b&gt;"' in html
    assert "javascript:" not in html.replace("text/html at javascript:alert(1)", "")


def test_detail_has_media_and_says_what_is_left_out():
    detail = call_detail(ToolCall("t"), {}, (), shown(), 1_000)
    assert [sorted(part) for part in detail["media"]] == [
        ["about", "src"], ["about"], ["about"], ["about", "href"], ["about"], ["about"],
    ]  # fmt: skip
    assert detail["media_note"] == ""
    small = call_detail(ToolCall("t"), {}, (), shown(), 1_000, images=10)
    assert "src" not in small["media"][0]
    assert small["media_note"] == "1 image not shown for want of room"
    many = ToolResult("t", media=(MEDIA[2],) * 30)
    assert (
        call_detail(ToolCall("t"), {}, (), many, 1_000)["media_note"] == "10 more parts not shown"
    )
    assert "and 10 more parts" in result_html(many)
    assert "media" not in call_detail(ToolCall("t"), {}, (), ToolResult("t"), 1_000)


def test_warnings_are_shown_like_printed_text():
    result = ToolResult("t", result=1, warnings=(f"UserWarning: {HOSTILE} (cell:1)", "b"))
    html = result_html(result)
    assert "warnings (" in html
    assert "<img" not in html
    assert "warnings: UserWarning" in result_text(result)
    detail = call_detail(ToolCall("t"), {}, (), result, 1_000)
    assert detail["warnings"] == f"UserWarning: {HOSTILE} (cell:1)\nb"
