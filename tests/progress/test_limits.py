"""What bounds progress: the size of a chunk, of a call, of the queue, and the time to wait."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from cases.stepped_loop import run_stepped
from hypothesis import given
from hypothesis import strategies as st

from agtools_nb import ToolContext, ToolResult, ToolRunner, tool
from agtools_nb.context import CallProgress, Progress, ProgressChannel
from agtools_nb.context.channel import QUEUE_EVENTS, WAIT_SECONDS
from agtools_nb.context.pieces import CALL_BYTES, CHUNK_BYTES, Piece, cut
from progress.following import chunks, followed, markers, progress_of, results_of

Emit = Callable[[CallProgress], Awaitable[None]]


def test_the_limits_are_those_of_the_design() -> None:
    assert (QUEUE_EVENTS, WAIT_SECONDS, CHUNK_BYTES, CALL_BYTES) == (256, 0.1, 8_192, 1_048_576)


def emitting(*given: Any, stream: Any = "log") -> list[Any]:
    @tool
    async def emits(ctx: ToolContext) -> str:
        for chunk in given:
            await ctx.emit_progress(stream, chunk)
        return "done"

    return followed(emits)


class TestChunks:
    """One chunk is at most 8 KiB of UTF-8, cut where a character ends."""

    @given(st.text(), st.integers(0, 200))
    def test_a_cut_text_is_the_longest_beginning_that_fits(self, text: str, most: int) -> None:
        kept, size = cut(text, most)
        plain = text.encode("utf-8", "replace").decode()
        assert plain.startswith(kept)
        assert size == len(kept.encode()) <= most
        if kept != plain:
            assert size + len(plain[len(kept)].encode()) > most

    @pytest.mark.parametrize("character", ["a", "é", "€", "𝄞"], ids=["1", "2", "3", "4"])
    @pytest.mark.parametrize("lead", range(4))
    def test_multi_byte_text_is_cut_between_characters(self, character: str, lead: int) -> None:
        items = emitting("." * lead + character * 9_000)
        chunk, marker = chunks(items)
        width = len(character.encode())
        assert chunk == "." * lead + character * ((CHUNK_BYTES - lead) // width)
        assert CHUNK_BYTES - width < len(chunk.encode()) <= CHUNK_BYTES
        assert marker == "[progress is not complete: 1 piece cut short]"

    def test_what_just_fits_is_whole(self) -> None:
        items = emitting("€" * 2_730 + "ab")
        assert [len(chunk.encode()) for chunk in chunks(items)] == [CHUNK_BYTES]
        assert markers(items) == []

    def test_bytes_are_read_as_utf_8(self) -> None:
        items = emitting("grün".encode(), bytearray(b"ok"), b"\xff\xfe", "€".encode() * 5_000)
        assert chunks(items)[:3] == ["grün", "ok", "\N{REPLACEMENT CHARACTER}" * 2]
        assert chunks(items)[3] == "€" * 2_730
        assert len(markers(items)) == 1

    def test_lone_surrogates_can_be_sent_on(self) -> None:
        assert chunks(emitting("a\ud800b")) == ["a?b"]

    @pytest.mark.parametrize(
        "text",
        [
            "<script>alert(1)</script>",
            "\x00\x1b[31m\r\b",
            "\u202ereversed",
            "{0.__class__}",
            "%s%n",
        ],
    )
    def test_hostile_text_is_text(self, text: str) -> None:
        items = emitting(text, stream=text)
        assert [(p.stream, p.chunk) for p in progress_of(items)] == [(text, text)]

    def test_an_empty_chunk_is_a_sign_of_life(self) -> None:
        assert chunks(emitting("", "")) == ["", ""]

    @pytest.mark.parametrize("chunk", [5, None, {"a": 1}, ["x"], 1.5, memoryview(b"x")])
    @pytest.mark.parametrize("is_followed", [True, False])
    def test_what_is_no_text_is_the_tools_mistake(self, chunk: Any, is_followed: bool) -> None:
        """It fails whether or not somebody follows, or it would be found too late."""

        @tool
        async def emits(ctx: ToolContext) -> None:
            await ctx.emit_progress("log", chunk)

        if is_followed:
            [result] = followed(emits)
        else:
            runner = ToolRunner([emits], context=ToolContext())
            [result] = asyncio.run(runner.process_tool_calls([("emits", {})]))
        assert isinstance(result, ToolResult)
        assert "chunk must be text or bytes, not " in (result.error or "")
        assert f"({type(chunk).__name__})" in (result.error or "")

    @pytest.mark.parametrize("stream", [5, None, "", b"log"])
    def test_a_stream_has_a_name(self, stream: Any) -> None:
        [result] = emitting("x", stream=stream)
        assert "the stream of progress must be a word such as 'stdout' or 'log'" in result.error

    def test_a_long_name_is_cut(self) -> None:
        [piece] = progress_of(emitting("x", stream="€" * 1_000_000))
        assert piece.stream == "€" * 64


class TestCalls:
    """One call may offer 1 MiB."""

    def test_a_mebibyte_arrives_and_no_more(self) -> None:
        items = emitting(*["x" * CHUNK_BYTES] * 200)
        assert sum(len(p.chunk) for p in progress_of(items) if not p.is_marker) == CALL_BYTES
        [marker] = markers(items)
        assert marker.chunk == "[progress is not complete: 72 pieces dropped]"
        assert items[-2] is marker
        assert results_of(items)[0].result == "done"

    def test_the_last_piece_is_cut_at_a_character_and_nothing_small_slips_in_after_it(self) -> None:
        items = emitting("ab", *["x" * CHUNK_BYTES] * 127, "€" * 2_731, "z")
        assert chunks(items)[-2] == "€" * 2_730
        assert "z" not in chunks(items)
        [marker] = markers(items)
        assert marker.chunk == "[progress is not complete: 1 piece dropped, 1 piece cut short]"
        total = sum(len(p.chunk.encode()) for p in progress_of(items) if not p.is_marker)
        assert CALL_BYTES - 3 <= total <= CALL_BYTES

    def test_bars_go_on_without_their_text(self) -> None:
        @tool
        async def works(ctx: ToolContext) -> None:
            for _ in range(128):
                await ctx.emit_progress("log", "x" * CHUNK_BYTES)
            await ctx.report_progress(5, 10, "halfway")

        items = followed(works)
        bar = progress_of(items)[-2]
        assert (bar.done, bar.total, bar.chunk) == (5, 10, "")
        assert [m.chunk for m in markers(items)] == [
            "[progress is not complete: 1 piece cut short]"
        ]

    def test_each_call_has_its_own_mebibyte(self) -> None:
        @tool
        async def emits(ctx: ToolContext, n: int) -> None:
            for _ in range(128):
                await ctx.emit_progress("log", "x" * CHUNK_BYTES)

        items = followed(emits, calls=[("emits", {"n": n}) for n in range(3)])
        assert markers(items) == []
        assert sum(len(chunk) for chunk in chunks(items)) == 3 * CALL_BYTES


def made_call(channel: ProgressChannel) -> CallProgress:
    return CallProgress(channel, "c1", "made", 0)


class TestQueue:
    """256 pieces wait; one more waits for room for 100 ms, then it is dropped."""

    def test_an_async_tool_waits_100_ms_and_then_never_again(self) -> None:
        async def main() -> tuple[list[float], list[Progress]]:
            channel = ProgressChannel(lambda: None)
            call, waits = made_call(channel), []
            for n in range(QUEUE_EVENTS + 5):
                start = asyncio.get_running_loop().time()
                await call.emit(Piece("log", str(n)))
                waits.append(asyncio.get_running_loop().time() - start)
            call.close()
            return waits, [channel.take() for _ in range(len(channel))]

        waits, [*kept, marker] = run_stepped(main())
        assert waits[:QUEUE_EVENTS] == [0.0] * QUEUE_EVENTS
        assert waits[QUEUE_EVENTS] == pytest.approx(WAIT_SECONDS)
        assert waits[QUEUE_EVENTS + 1 :] == [0.0] * 4
        assert [p.seq for p in kept] == list(range(QUEUE_EVENTS))
        assert marker.is_marker
        assert marker.seq == QUEUE_EVENTS + 5
        assert marker.chunk == "[progress is not complete: 5 pieces dropped]"

    def test_a_reader_who_takes_one_lets_one_in(self) -> None:
        async def main() -> tuple[float, list[str]]:
            loop = asyncio.get_running_loop()
            channel = ProgressChannel(lambda: None)
            call = made_call(channel)
            for n in range(QUEUE_EVENTS):
                await call.emit(Piece("log", str(n)))
            loop.call_later(0.03, channel.take)
            start = loop.time()
            await call.emit(Piece("log", "late"))
            waited = loop.time() - start
            call.close()
            return waited, [channel.take().chunk for _ in range(len(channel))]

        waited, left = run_stepped(main())
        assert waited == pytest.approx(0.03)
        assert left[-1] == "late"
        assert len(left) == QUEUE_EVENTS

    def test_after_a_wait_in_vain_taking_one_makes_others_wait_again(self) -> None:
        async def main() -> list[float]:
            loop = asyncio.get_running_loop()
            channel = ProgressChannel(lambda: None)
            call, waits = made_call(channel), []

            async def emit() -> None:
                start = loop.time()
                await call.emit(Piece("log", "x"))
                waits.append(loop.time() - start)

            for _ in range(QUEUE_EVENTS):
                await call.emit(Piece("log", "x"))
            await emit()
            await emit()
            channel.take()
            await emit()
            await emit()
            return waits

        assert run_stepped(main()) == pytest.approx([WAIT_SECONDS, 0, 0, WAIT_SECONDS])

    def test_a_blocking_tool_waits_as_long(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The clock of the channel is moved by the waiting itself."""
        waits: list[float] = []

        class Freed:
            def wait(self, seconds: float) -> None:
                waits.append(seconds)

            def notify_all(self) -> None: ...

        clock = SimpleNamespace(monotonic=lambda: 50.0 + sum(waits))
        monkeypatch.setattr("agtools_nb.context.channel.time", clock)

        async def main() -> int:
            channel = ProgressChannel(lambda: None)
            channel._freed = Freed()  # type: ignore[assignment]
            call = made_call(channel)

            def work() -> None:
                for _ in range(QUEUE_EVENTS + 5):
                    call.emit(Piece("log", "x"))

            await asyncio.to_thread(work)
            return len(channel)

        assert asyncio.run(main()) == QUEUE_EVENTS
        assert waits == pytest.approx([WAIT_SECONDS])

    def test_a_blocking_tool_goes_on_as_soon_as_there_is_room(self) -> None:
        async def main() -> list[str]:
            channel = ProgressChannel(lambda: None)
            call = made_call(channel)

            def work() -> None:
                for n in range(QUEUE_EVENTS + 50):
                    call.emit(Piece("log", str(n)))

            working = asyncio.create_task(asyncio.to_thread(work))
            taken = []
            while not working.done() or len(channel):
                await asyncio.sleep(0)
                if len(channel):
                    taken.append(channel.take().chunk)
            return taken

        assert asyncio.run(main()) == [str(n) for n in range(QUEUE_EVENTS + 50)]

    def test_a_plain_call_on_the_loop_cannot_wait(self) -> None:
        """What finds no room there and is never awaited counts as dropped."""

        @tool
        async def hasty(ctx: ToolContext) -> None:
            for n in range(QUEUE_EVENTS + 10):
                ctx.emit_progress("log", str(n))

        items = followed(hasty)
        assert len(progress_of(items)) == QUEUE_EVENTS + 1
        assert markers(items)[0].chunk == "[progress is not complete: 10 pieces dropped]"

    def test_awaiting_twice_reports_once(self) -> None:
        async def main() -> list[str]:
            channel = ProgressChannel(lambda: None)
            call = made_call(channel)
            for _ in range(QUEUE_EVENTS):
                await call.emit(Piece("log", "x"))
            waiting = call.emit(Piece("log", "once"))
            channel.take()
            channel.take()
            await waiting
            await waiting
            return [channel.take().chunk for _ in range(len(channel))]

        assert run_stepped(main()).count("once") == 1

    def test_two_calls_share_the_256_and_each_has_its_own_marker(self) -> None:
        async def main() -> list[Any]:
            channel = ProgressChannel(lambda: None)
            calls = [CallProgress(channel, f"c{n}", "made", n) for n in range(3)]
            for _ in range(200):
                for call in calls[:2]:
                    await call.emit(Piece("log", "x"))
            for call in calls:
                call.close()
                call.close()
            return [channel.take() for _ in range(len(channel))]

        items = run_stepped(main())
        assert len(items) == QUEUE_EVENTS + 2
        assert [m.index for m in markers(items)] == [0, 1]
        assert {m.chunk for m in markers(items)} == {
            "[progress is not complete: 72 pieces dropped]"
        }

    def test_a_gap_in_the_numbers_is_where_pieces_were_dropped(self) -> None:
        async def main() -> list[Any]:
            channel = ProgressChannel(lambda: None)
            call = made_call(channel)
            for n in range(QUEUE_EVENTS + 3):
                await call.emit(Piece("log", str(n)))
            items = [channel.take() for _ in range(len(channel))]
            await call.emit(Piece("log", "after"))
            call.close()
            return items + [channel.take() for _ in range(len(channel))]

        *_, last, after, marker = run_stepped(main())
        assert (last.seq, after.seq, marker.seq) == (255, 259, 260)

    def test_a_cancelled_wait_counts_as_dropped(self) -> None:
        async def main() -> list[Any]:
            channel = ProgressChannel(lambda: None)
            call = made_call(channel)
            for _ in range(QUEUE_EVENTS):
                await call.emit(Piece("log", "x"))
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await call.emit(Piece("log", "x"))
            call.close()
            return [channel.take() for _ in range(len(channel))]

        assert [m.chunk for m in markers(run_stepped(main()))] == [
            "[progress is not complete: 1 piece dropped]"
        ]


class TestBars:
    """A bar's newest report replaces an older one that found no room, and the last arrives."""

    def test_numbers_come_as_pythons_own(self) -> None:
        @tool
        async def works(ctx: ToolContext) -> None:
            await ctx.report_progress(0)
            await ctx.report_progress(np.int64(1), np.float32(2.0), "one")
            await ctx.report_progress(Fraction(1, 2), 10**30, stream="second")

        first, second, third = progress_of(followed(works))
        assert (first.done, first.total, first.chunk, first.stream) == (0, None, "", "progress")
        assert (second.done, second.total, second.chunk) == (1, 2.0, "one")
        assert type(second.done) is int
        assert type(second.total) is float
        assert (third.done, third.total, third.stream) == (0.5, 10**30, "second")

    @pytest.mark.parametrize("done", ["3", None, True, 1j, [1]])
    def test_what_is_no_number_is_the_tools_mistake(self, done: Any) -> None:
        with pytest.raises(TypeError, match=r"report_progress: done=.* must be a number, not"):
            ToolContext().report_progress(done)

    @pytest.mark.parametrize("total", [math.nan, math.inf, -1, np.float64("nan")])
    def test_a_total_is_finite(self, total: Any) -> None:
        with pytest.raises(ValueError, match="a finite number of at least 0; leave total out"):
            ToolContext().report_progress(1, total)

    def test_a_bars_text_is_text(self) -> None:
        with pytest.raises(TypeError, match="text must be text, not 5"):
            ToolContext().report_progress(1, 2, 5)  # type: ignore[arg-type]

    def test_it_never_waits_and_the_last_one_arrives(self) -> None:
        async def main() -> tuple[float, list[Progress]]:
            channel = ProgressChannel(lambda: None)
            call = made_call(channel)
            start = asyncio.get_running_loop().time()
            for done in range(10_000):
                await call.show(Piece("progress", "", done, 10_000))
            waited = asyncio.get_running_loop().time() - start
            call.close()
            return waited, [channel.take() for _ in range(len(channel))]

        waited, items = run_stepped(main())
        assert waited == 0
        assert [p.done for p in items] == [*range(QUEUE_EVENTS), 9_999]
        assert [p.seq for p in items] == list(range(QUEUE_EVENTS + 1))
        assert markers(items) == []

    def test_endless_bars_are_bounded(self) -> None:
        async def main() -> list[Progress]:
            channel = ProgressChannel(lambda: None)
            call = made_call(channel)
            for n in range(1_000):
                await call.show(Piece(f"bar {n}", "", n))
            call.close()
            return [channel.take() for _ in range(len(channel))]

        items = run_stepped(main())
        assert len(items) == QUEUE_EVENTS + 32 + 1
        assert len(markers(items)) == 1
