"""Warnings of a call are kept with that call, whatever else runs."""

from __future__ import annotations

import asyncio
import copy
import pickle
import sys
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from agtools_nb import ToolResult, ToolRunner, tool
from agtools_nb.run.capture import MAX_WARNINGS
from agtools_nb.run.warned import warning_text


@pytest.fixture(autouse=True)
def python_defaults() -> Iterator[None]:
    """Python's own filters, not pytest's, which make errors of warnings."""
    with warnings.catch_warnings():
        warnings.resetwarnings()
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        warnings.filterwarnings("default", category=DeprecationWarning, module=__name__)
        yield


def process(runner: ToolRunner, *calls: Any) -> list[ToolResult]:
    return asyncio.run(runner.process_tool_calls(calls))


@tool
def blocking(n: int) -> int:
    warnings.warn(f"blocking {n}", stacklevel=1)
    return n


@tool
async def waiting(n: int) -> int:
    await asyncio.sleep(0)
    warnings.warn("the same text at the same place", UserWarning, stacklevel=1)
    await asyncio.sleep(0)
    return n


def test_each_call_has_its_own_warnings() -> None:
    results = process(ToolRunner([blocking]), *[("blocking", {"n": n}) for n in range(20)])
    for n, result in enumerate(results):
        [text] = result.warnings
        assert text.startswith(f"UserWarning: blocking {n} (test_warned.py:")
        assert result.stderr == ""


def test_a_warning_that_python_shows_once_a_place_is_on_every_call() -> None:
    runner = ToolRunner([waiting])
    for _ in range(2):
        results = process(runner, *[("waiting", {"n": n}) for n in range(5)])
        assert [len(result.warnings) for result in results] == [1] * 5


def test_a_filter_that_ignores_still_ignores() -> None:
    warnings.filterwarnings("ignore", message="the same text")
    [result] = process(ToolRunner([waiting]), ("waiting", {"n": 1}))
    assert result.warnings == ()


def test_a_filter_that_makes_errors_still_does() -> None:
    warnings.filterwarnings("error", message="the same text")
    [result] = process(ToolRunner([waiting]), ("waiting", {"n": 1}))
    assert result.error == "UserWarning: the same text at the same place"


def test_deprecations_are_shown_for_the_tools_module_only() -> None:
    space: dict[str, Any] = {"__name__": "some_library", "warnings": warnings}
    exec("def old():\n    warnings.warn('old', DeprecationWarning, stacklevel=1)", space)

    @tool
    def uses() -> None:
        space["old"]()
        warnings.warn("mine", DeprecationWarning, stacklevel=1)

    [result] = process(ToolRunner([uses]), ("uses",))
    assert [text.split(" (")[0] for text in result.warnings] == ["DeprecationWarning: mine"]


def test_a_tool_that_records_warnings_itself_still_can() -> None:
    @tool
    async def records() -> list[str]:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            warnings.warn("inside", stacklevel=1)
        return [str(one.message) for one in found]

    [result] = process(ToolRunner([records]), ("records",))
    assert result.result == ["inside"]
    assert result.warnings == ()


def test_warnings_outside_of_calls_go_where_they_went() -> None:
    seen, release = threading.Event(), threading.Event()

    @tool
    def wait() -> None:
        seen.set()
        release.wait(30)

    async def main() -> list[ToolResult]:
        running = asyncio.create_task(ToolRunner([wait]).process_tool_calls([("wait",)]))
        await asyncio.to_thread(seen.wait, 30)
        warnings.warn("from outside", stacklevel=1)
        release.set()
        return await running

    with warnings.catch_warnings(record=True) as outside:
        warnings.simplefilter("always")
        [result] = asyncio.run(main())
    assert [str(one.message) for one in outside] == ["from outside"]
    assert result.warnings == ()


def test_everything_is_put_back() -> None:
    before, shown = list(warnings.filters), warnings.showwarning
    process(ToolRunner([waiting, blocking]), ("waiting", {"n": 1}), ("blocking", {"n": 1}))
    assert list(warnings.filters) == before
    assert warnings.showwarning is shown


def test_a_tool_that_warns_without_end_is_bounded() -> None:
    @tool
    def floods() -> None:
        for n in range(MAX_WARNINGS + 50):
            warnings.warn(f"{n}", stacklevel=1)

    [result] = process(ToolRunner([floods]), ("floods",))
    assert len(result.warnings) == MAX_WARNINGS + 1
    assert result.warnings[-1] == "[50 more warnings were not kept]"


def test_hostile_text_in_a_warning_stays_text() -> None:
    @tool
    def warns() -> None:
        warnings.warn("\ud800 <b>" + "x" * 5_000, stacklevel=1)

    [result] = process(ToolRunner([warns]), ("warns",))
    [text] = result.warnings
    text.encode()
    assert len(text) < 2_200


def test_streams_and_warnings_do_not_mix() -> None:
    @tool
    def both() -> None:
        print("printed", file=sys.stderr)
        warnings.warn("warned", stacklevel=1)

    [result] = process(ToolRunner([both]), ("both",))
    assert result.stderr == "printed\n"
    assert len(result.warnings) == 1


def test_the_filters_can_be_copied_and_sent_while_calls_run() -> None:
    """joblib sends them to its workers."""

    @tool
    async def sends() -> int:
        return len(pickle.loads(pickle.dumps(warnings.filters))) + len(
            copy.deepcopy(warnings.filters)
        )

    [result] = process(ToolRunner([sends]), ("sends",))
    assert result.error is None
    assert result.result > 2


def test_a_cell_is_called_one() -> None:
    assert (
        warning_text("w", UserWarning, "/tmp/ipykernel_12/345.py", 7)
        == "UserWarning: w (a cell, line 7)"
    )
