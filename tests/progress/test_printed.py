"""``capture="progress"``: what a tool prints is shown while it runs, and stands in its result."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
from typing import Any

import pytest
from cases.stepped_loop import run_stepped

from agtools_nb import DefinitionError, StatefulTool, ToolContext, ToolResult, ToolRunner, tool
from agtools_nb.context.pieces import CALL_BYTES, CHUNK_BYTES
from progress.following import Follower, chunks, followed, markers, progress_of, results_of


def texts(items: Any, stream: str) -> str:
    return "".join(p.chunk for p in progress_of(items) if p.stream == stream and not p.is_marker)


def test_prints_are_progress_and_in_the_result() -> None:
    @tool(capture="progress")
    async def talks() -> str:
        print("one")
        await asyncio.sleep(0)
        print("two", file=sys.stderr)
        await asyncio.sleep(0)
        print("three")
        return "done"

    items = followed(talks)
    assert [(p.stream, p.chunk) for p in progress_of(items)] == [
        ("stdout", "one\n"), ("stderr", "two\n"), ("stdout", "three\n")
    ]  # fmt: skip
    [result] = results_of(items)
    assert (result.stdout, result.stderr) == ("one\nthree\n", "two\n")


def test_they_come_while_the_tool_runs() -> None:
    seen = threading.Event()

    @tool(capture="progress")
    def talks() -> bool:
        print("is anybody there?")
        return seen.wait(10)

    class Hears(Follower):
        def call_progress(self, index: int, progress: Any) -> None:
            seen.set()

    batch = ToolRunner([talks]).batch([("talks", {})], observers=[Hears()])
    [result] = asyncio.run(batch.run())
    assert result.result is True


def test_by_default_they_come_with_the_result_only() -> None:
    @tool
    def talks() -> None:
        print("one")

    [result] = followed(talks)
    assert isinstance(result, ToolResult)
    assert result.stdout == "one\n"


def test_without_a_follower_the_result_is_the_same() -> None:
    @tool(capture="progress")
    def talks() -> None:
        print("one")

    [result] = asyncio.run(ToolRunner([talks]).process_tool_calls([("talks", {})]))
    assert result.stdout == "one\n"


def test_what_waits_is_joined_to_as_few_pieces_as_it_takes() -> None:
    @tool(capture="progress")
    async def chatters() -> None:
        for n in range(4_000):
            print(n)
            sys.stderr.write("!" if n == 2_000 else "")

    items = followed(chatters)
    assert markers(items) == []
    assert texts(items, "stdout") == results_of(items)[0].stdout
    assert [p.seq for p in progress_of(items)] == list(range(len(progress_of(items))))
    assert len(progress_of(items)) == 5
    assert max(len(chunk) for chunk in chunks(items)) == CHUNK_BYTES


def test_a_line_comes_whole_from_a_thread_too() -> None:
    @tool(capture="progress")
    def talks() -> None:
        for n in range(200):
            print("line", n, sep=" ")

    items = followed(talks)
    assert texts(items, "stdout") == results_of(items)[0].stdout
    assert all(chunk.endswith("\n") for chunk in chunks(items))


def test_the_beginning_of_a_line_is_not_kept_for_long() -> None:
    """Dots without an end of line are seen while the tool runs."""

    @tool(capture="progress")
    async def dots() -> None:
        for _ in range(3):
            print(".", end="")
            await asyncio.sleep(1)
        print("done", end="")

    async def main() -> list[Any]:
        loop = asyncio.get_running_loop()
        runner, start = ToolRunner([dots]), loop.time()
        items = [
            (item, loop.time() - start) async for item in runner.stream([("dots",)], progress=True)
        ]
        return [(item.chunk, at) for item, at in items if not isinstance(item, ToolResult)]

    found = run_stepped(main())
    assert [chunk for chunk, _ in found] == [".", ".", ".", "done"]
    assert [at for _, at in found] == pytest.approx([0.05, 1.05, 2.05, 3.0], abs=0.01)


def test_flushed_text_comes_at_once_and_streams_keep_their_order() -> None:
    @tool(capture="progress")
    async def mixes(ctx: ToolContext) -> None:
        print("1%", end="\r", flush=True)
        ctx.emit_progress("log", "reported")
        print("2%", end="\r")
        print("error", end="", file=sys.stderr)
        ctx.report_progress(2, 100)
        print("rest", end="")

    items = followed(mixes)
    assert [(p.stream, p.chunk) for p in progress_of(items)] == [
        ("stdout", "1%\r"), ("log", "reported"), ("stdout", "2%\r"), ("stderr", "error"),
        ("progress", ""), ("stdout", "rest"),
    ]  # fmt: skip


@pytest.mark.parametrize("is_async", [True, False])
def test_a_long_print_is_not_cut_but_split(is_async: bool) -> None:
    long = "grün€𝄞" * 10_000

    @tool(capture="progress")
    async def on_loop() -> None:
        print(long, end="")

    @tool(capture="progress")
    def in_thread() -> None:
        print(long, end="")

    items = followed(on_loop if is_async else in_thread)
    assert texts(items, "stdout") == long
    assert all(len(chunk.encode()) <= CHUNK_BYTES for chunk in chunks(items))
    assert markers(items) == []


def test_a_gigabyte_of_print_is_a_mebibyte_of_progress() -> None:
    @tool(capture="progress")
    def floods() -> str:
        line = "x" * (1024 * 1024)
        for _ in range(1_024):
            sys.stdout.write(line)
        return "done"

    items = followed(floods)
    assert len(texts(items, "stdout")) == CALL_BYTES
    assert len(markers(items)) == 1
    [result] = results_of(items)
    assert result.result == "done"
    assert "more characters were not kept" in result.stdout


def test_emitted_and_printed_pieces_are_not_joined() -> None:
    @tool(capture="progress")
    async def both(ctx: ToolContext) -> None:
        ctx.emit_progress("stdout", "emitted")
        print("printed", end="")
        print(" and more", end="")
        ctx.emit_progress("stdout", "emitted")
        print("printed", end="")

    assert chunks(followed(both)) == ["emitted", "printed and more", "emitted", "printed"]


def test_what_is_printed_after_the_result_is_no_progress() -> None:
    tasks = []

    @tool(capture="progress")
    async def leaves() -> str:
        async def later() -> None:
            await asyncio.sleep(0.01)
            print("late", file=sys.stderr)

        tasks.append(asyncio.create_task(later()))
        return "done"

    follower = Follower()

    async def main() -> None:
        batch = ToolRunner([leaves]).batch([("leaves", {})], observers=[follower])
        await batch.run()
        await asyncio.gather(*tasks)

    asyncio.run(main())
    assert progress_of(follower.items) == []


def test_a_finalizer_may_print_in_the_middle_of_a_print() -> None:
    class Talks:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            print("finalized")

    @tool(capture="progress")
    async def litters() -> None:
        before = gc.get_threshold()
        gc.set_threshold(1)
        try:
            for n in range(300):
                Talks()
                print(n)
            gc.collect()
        finally:
            gc.set_threshold(*before)

    items = followed(litters)
    assert results_of(items)[0].stdout.count("finalized") == 300
    assert texts(items, "stdout").count("finalized") == 300


def test_a_stateful_tool_takes_the_option_too() -> None:
    def talks(state: Any) -> None:
        print("one")

    made = StatefulTool(talks, object(), capture="progress")
    assert chunks(followed(made)) == ["one\n"]


@pytest.mark.parametrize("value", ["live", None, True, ["progress"], "Progress"])
def test_another_word_is_refused_where_the_tool_is_defined(value: Any) -> None:
    with pytest.raises(DefinitionError, match=r"must be 'result' .* or 'progress'"):

        @tool(capture=value)
        def talks() -> None: ...
