"""What holds of progress whatever the tools and the reader do, and in whatever order."""

from __future__ import annotations

import asyncio
import random
import threading
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agtools_nb import ToolContext, ToolRunner, tool
from agtools_nb.context import CallProgress, Progress, ProgressChannel
from agtools_nb.context.channel import QUEUE_EVENTS
from agtools_nb.context.pieces import CALL_BYTES, CHUNK_BYTES, Piece
from progress.following import markers, progress_of, streamed

CALLS = 3
texts = st.one_of(
    st.text(max_size=5),
    st.builds(lambda c, n: c * n, st.sampled_from(["a", "é", "€", "𝄞"]), st.integers(0, 60_000)),
)
calls = st.integers(0, CALLS - 1)
streams = st.sampled_from(["stdout", "log"])
steps = st.one_of(
    st.tuples(st.just("emit"), calls, streams, texts),
    st.tuples(st.just("print"), calls, streams, texts),
    st.tuples(st.just("show"), calls, st.sampled_from(["progress", "progress 2"]), texts),
    st.tuples(st.just("flood"), calls, streams, st.integers(1, 400)),
    st.tuples(st.just("take"), st.integers(1, 300)),
    st.tuples(st.just("close"), calls),
)


def _played(script: list[Any]) -> tuple[list[Progress], list[int]]:
    """What a reader got of a script, and how many counted pieces waited at most."""

    async def main() -> tuple[list[Progress], list[int]]:
        channel = ProgressChannel(lambda: None)
        made = [CallProgress(channel, f"c{n}", "made", n) for n in range(CALLS)]
        taken: list[Progress] = []
        sizes = [0]
        for step in script:
            _play(step, channel, made, taken)
            sizes.append(channel._counted)
        for call in made:
            call.close()
        taken += [channel.take() for _ in range(len(channel))]
        assert channel._counted == 0
        return taken, sizes

    return asyncio.run(main())


def _play(step: Any, channel: ProgressChannel, made: list[CallProgress], taken: list[Any]) -> None:
    match step:
        case "emit", call, stream, text:
            made[call].emit(Piece(stream, text))
        case "print", call, stream, text:
            made[call].print(stream, text)
        case "show", call, stream, text:
            made[call].show(Piece(stream, text[:50], len(text), 60_000))
        case "flood", call, stream, count:
            for n in range(count):
                made[call].emit(Piece(stream, str(n)))
        case "take", count:
            taken += [channel.take() for _ in range(min(count, len(channel)))]
        case "close", call:
            made[call].close()


@given(st.lists(steps, max_size=40))
def test_every_call_gets_numbered_pieces_within_the_limits_and_at_most_one_marker(
    script: list[Any],
) -> None:
    taken, sizes = _played(script)
    assert max(sizes) <= QUEUE_EVENTS
    for n in range(CALLS):
        mine = [p for p in taken if p.index == n]
        numbers = [p.seq for p in mine]
        assert numbers == sorted(set(numbers))
        assert all(len(p.chunk.encode()) <= CHUNK_BYTES for p in mine)
        assert sum(len(p.chunk.encode()) for p in mine if not p.is_marker) <= CALL_BYTES
        assert len(markers(mine)) <= 1
        assert not any(p.is_marker for p in mine[:-1])
        if not markers(mine):
            assert numbers == list(range(len(mine)))


@given(st.lists(st.tuples(streams, texts), max_size=8), st.integers(1, 5))
def test_where_nothing_is_dropped_what_was_printed_arrives(prints: Any, every: int) -> None:
    script: list[Any] = []
    for count, (stream, text) in enumerate(prints):
        script.append(("print", 0, stream, text))
        if count % every == 0:
            script.append(("take", 300))
    taken, _ = _played(script)
    for stream in ("stdout", "log"):
        arrived = "".join(p.chunk for p in taken if p.stream == stream and not p.is_marker)
        printed = "".join(text for to, text in prints if to == stream)
        assert printed.startswith(arrived)
        if not markers(taken):
            assert arrived == printed


@given(st.lists(st.one_of(steps, st.tuples(st.just("emit"), calls, streams, texts)), max_size=40))
def test_a_marker_is_there_if_and_only_if_something_is_missing(script: list[Any]) -> None:
    script = [step for step in script if step[0] in ("emit", "take")]
    taken, _ = _played(script)
    for n in range(CALLS):
        offered = [step[3] for step in script if step[0] == "emit" and step[1] == n]
        arrived = [p.chunk for p in taken if p.index == n and not p.is_marker]
        mine = markers([p for p in taken if p.index == n])
        assert bool(mine) == (arrived != offered)


def test_threads_tasks_and_a_slow_reader() -> None:
    """Blocking and async tools report as fast as they can; the reader dawdles."""
    lucky = random.Random(7)

    @tool
    def thread(ctx: ToolContext, n: int) -> int:
        for count in range(400):
            ctx.emit_progress("log", str(count))
        return n

    @tool
    async def task(ctx: ToolContext, n: int) -> int:
        for count in range(400):
            await ctx.emit_progress("log", str(count))
        return n

    async def main() -> list[Any]:
        runner = ToolRunner([thread, task], context=ToolContext())
        names = [("thread" if n % 2 else "task", {"n": n}) for n in range(12)]
        items = []
        async for item in runner.stream(names, progress=True):
            items.append(item)
            if lucky.random() < 0.01:
                await asyncio.sleep(0.002)
        return items

    items = asyncio.run(main())
    for n in range(12):
        mine = [item for item in items if item.index == n]
        found = progress_of(mine)
        assert mine[-1].result == n
        assert len(progress_of(mine)) == len(mine) - 1
        counts = [int(p.chunk) for p in found if not p.is_marker]
        assert counts == sorted(set(counts))
        assert bool(markers(found)) == (len(counts) < 400)
        assert [p.seq for p in found if not p.is_marker] == counts


def test_many_threads_of_one_call_lose_and_double_nothing() -> None:
    @tool
    def spread(ctx: ToolContext) -> None:
        def work(name: int) -> None:
            for count in range(200):
                ctx.emit_progress(f"worker {name}", str(count))

        workers = [threading.Thread(target=work, args=(name,)) for name in range(8)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    runner = ToolRunner([spread], context=ToolContext())
    found = progress_of(asyncio.run(streamed(runner, [("spread", {})])))
    numbers = [p.seq for p in found]
    assert numbers == sorted(set(numbers))
    for name in range(8):
        counts = [int(p.chunk) for p in found if p.stream == f"worker {name}"]
        assert counts == sorted(set(counts))
    if not markers(found):
        assert len(found) == 1_600
