"""Bars of ``tqdm`` are progress of the call they are made in, and nothing but that."""

from __future__ import annotations

import asyncio
import io
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ProcessPoolExecutor
from types import ModuleType
from typing import Any

import pandas as pd
import pytest
import tqdm as package
from tqdm import tqdm, trange
from tqdm.asyncio import tqdm as tqdm_asyncio
from tqdm.contrib.concurrent import thread_map
from tqdm.notebook import tqdm as tqdm_notebook

from agtools_nb import ToolRunner, tool
from progress.following import Follower, chunks, followed, markers, progress_of, results_of


@tool
def adds_up() -> int:
    return sum(tqdm(range(5)))


KINDS = [tqdm, tqdm_asyncio, tqdm_notebook]


def bars(items: Any) -> list[tuple[str, Any, Any, str]]:
    return [(p.stream, p.done, p.total, p.chunk) for p in progress_of(items)]


@pytest.fixture(autouse=True)
def as_it_was() -> Any:
    """Whatever a test does, tqdm is itself again afterwards."""
    before = dict(tqdm.__dict__)
    finders = list(sys.meta_path)
    yield
    assert {name: tqdm.__dict__[name] for name in ("__init__", "__new__")} == {
        name: before[name] for name in ("__init__", "__new__")
    }
    assert sys.meta_path == finders


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_async", [True, False], ids=["async", "thread"])
def test_a_loop_shows_done_and_total(kind: Any, is_async: bool) -> None:
    def work() -> int:
        return sum(kind(range(5), desc="adding", mininterval=0, miniters=1))

    @tool
    def in_thread() -> int:
        return work()

    @tool
    async def on_loop() -> int:
        return work()

    items = followed(on_loop if is_async else in_thread)
    assert bars(items) == [("progress", n, 5, "adding") for n in range(6)]
    [result] = results_of(items)
    assert result.result == 10
    assert (result.stdout, result.stderr, result.warnings) == ("", "", ())
    assert result.media == ()


def test_a_fast_loop_shows_its_beginning_and_its_end() -> None:
    @tool
    def counts() -> int:
        return sum(1 for _ in trange(100_000))

    items = followed(counts)
    assert bars(items)[0] == ("progress", 0, 100_000, "")
    assert bars(items)[-1] == ("progress", 100_000, 100_000, "")
    assert len(bars(items)) < 50


def test_nested_bars_have_streams_of_their_own() -> None:
    @tool
    def nests() -> None:
        for outer in tqdm(range(2), desc="outer", mininterval=0, miniters=1):
            for _ in tqdm(range(2), desc=f"inner {outer}", leave=False, mininterval=0, miniters=1):
                pass

    assert bars(followed(nests)) == [
        ("progress", 0, 2, "outer"),
        ("progress 2", 0, 2, "inner 0"), ("progress 2", 1, 2, "inner 0"), ("progress 2", 2, 2, "inner 0"),
        ("progress", 1, 2, "outer"),
        ("progress 2", 0, 2, "inner 1"), ("progress 2", 1, 2, "inner 1"), ("progress 2", 2, 2, "inner 1"),
        ("progress", 2, 2, "outer"),
    ]  # fmt: skip


def test_thirty_bars_at_once_are_all_shown() -> None:
    """A terminal has twenty lines for them; here there are no lines."""

    @tool
    def many() -> None:
        opened = [tqdm(total=1) for _ in range(30)]
        for bar in opened:
            bar.update()
            bar.close()

    found = bars(followed(many))
    assert len({stream for stream, *_ in found}) == 30
    assert sum(done == 1 for _, done, _, _ in found) == 30


def test_bars_of_calls_side_by_side_do_not_mix() -> None:
    @tool
    def works(n: int) -> None:
        for _ in tqdm(range(n), desc=str(n), mininterval=0, miniters=1):
            pass

    items = followed(works, calls=[("works", {"n": n}) for n in range(30)])
    for n in range(30):
        found = [p for p in progress_of(items) if p.index == n]
        assert {(p.stream, p.total, p.chunk) for p in found} == {("progress", n, str(n))}
        done = [p.done for p in found]
        assert done[-1] == n
        assert done == sorted(set(done))
    assert markers(items) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_total_nobody_knows_is_none(kind: Any) -> None:
    @tool
    def counts() -> int:
        return sum(1 for _ in kind((n for n in range(3)), mininterval=0, miniters=1))

    assert bars(followed(counts)) == [("progress", n, None, "") for n in range(4)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_loop_that_raises_closes_its_bar_where_it_stands(kind: Any) -> None:
    @tool
    def fails() -> None:
        for n in kind(range(10), mininterval=1e9):
            if n == 4:
                raise ValueError("at four")

    items = followed(fails)
    assert bars(items) == [("progress", 0, 10, ""), ("progress", 4, 10, "")]
    assert results_of(items)[0].error == "ValueError: at four"
    assert results_of(items)[0].stderr == ""


@pytest.mark.parametrize("kind", KINDS)
def test_a_bar_by_hand_shows_what_it_is_told(kind: Any) -> None:
    @tool
    def loads() -> None:
        with kind(total=100, mininterval=0, miniters=1) as bar:
            bar.set_description("loading")
            bar.update(40)
            bar.set_postfix(loss=0.5)
            bar.reset(total=50)
            bar.clear()
            bar.refresh()
            bar.update(50)

    assert bars(followed(loads)) == [
        ("progress", 0, 100, ""),
        ("progress", 0, 100, "loading"),
        ("progress", 40, 100, "loading"),
        ("progress", 40, 100, "loading, loss=0.5"),
        ("progress", 0, 50, "loading, loss=0.5"),
        ("progress", 50, 50, "loading, loss=0.5"),
    ]


def test_a_bar_that_is_forgotten_gives_its_name_back() -> None:
    @tool
    def forgets() -> None:
        for n in range(3):
            bar = tqdm(total=10, desc=str(n))
            bar.update(n)
            del bar

    assert {stream for stream, *_ in bars(followed(forgets))} == {"progress"}


def test_loops_over_async_iterators() -> None:
    async def numbers() -> Any:
        for n in range(3):
            await asyncio.sleep(0)
            yield n

    @tool
    async def adds() -> int:
        return sum([n async for n in tqdm_asyncio(numbers(), total=3, mininterval=0, miniters=1)])

    items = followed(adds)
    assert bars(items) == [("progress", n, 3, "") for n in range(4)]
    assert results_of(items)[0].result == 3


def test_what_a_bar_writes_beside_itself_is_printed() -> None:
    @tool
    def writes() -> None:
        for _ in tqdm(range(2)):
            tqdm.write("a line")

    [result] = results_of(followed(writes))
    assert (result.stdout, result.stderr) == ("a line\na line\n", "")


def test_a_disabled_bar_is_none_and_one_for_people_is_shown() -> None:
    @tool
    def off() -> None:
        list(tqdm(range(3), disable=True))

    @tool
    def for_people() -> None:
        list(tqdm(range(3), disable=None))

    assert bars(followed(off)) == []
    assert bars(followed(for_people))[-1] == ("progress", 3, 3, "")


@pytest.mark.parametrize("given", ["keyword", "position"])
def test_a_bar_into_a_file_of_the_tools_own_is_left_to_it(given: str) -> None:
    log = io.StringIO()

    @tool
    def logs() -> None:
        if given == "keyword":
            list(tqdm(range(3), file=log))
        else:
            list(tqdm(range(3), "log", 3, True, log))

    assert bars(followed(logs)) == []
    assert "3/3" in log.getvalue()


def test_streams_by_name_are_the_calls_own() -> None:
    @tool
    def names() -> None:
        list(tqdm(range(3), file=sys.stdout))
        list(tqdm(range(3), "second", None, True, sys.stderr))

    items = followed(names)
    assert [(p.done, p.chunk) for p in progress_of(items) if p.done == 3] == [
        (3, ""),
        (3, "second"),
    ]
    assert (results_of(items)[0].stdout, results_of(items)[0].stderr) == ("", "")


def test_where_nobody_follows_there_is_no_text_either() -> None:
    @tool
    def works() -> int:
        return sum(tqdm(range(5)))

    [result] = asyncio.run(ToolRunner([works]).process_tool_calls([("works", {})]))
    assert (result.result, result.stdout, result.stderr) == (10, "", "")


def test_outside_of_a_call_a_bar_is_a_bar(capsys: pytest.CaptureFixture[str]) -> None:
    inside = threading.Event()
    go_on = threading.Event()

    @tool
    def holds() -> bool:
        inside.set()
        return go_on.wait(10)

    async def main() -> None:
        batch = ToolRunner([holds]).batch([("holds", {})], observers=[Follower()])
        running = asyncio.create_task(batch.run())
        await asyncio.to_thread(inside.wait, 10)
        list(tqdm(range(3)))
        go_on.set()
        await running

    asyncio.run(main())
    assert "3/3" in capsys.readouterr().err


def test_a_bar_that_outlives_its_call_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    left: list[Any] = []

    @tool
    def leaves() -> None:
        left.append(tqdm(total=10, mininterval=0, miniters=1))

    items = followed(leaves)
    assert bars(items) == [("progress", 0, 10, "")]
    left[0].update(5)
    left[0].close()
    assert capsys.readouterr().err == ""


def test_what_somebody_changes_in_tqdm_meanwhile_stays() -> None:
    before = tqdm.__dict__["__init__"]

    @tool
    def changes() -> None:
        ours = tqdm.__init__

        def init(self: Any, *args: Any, **kwargs: Any) -> None:
            ours(self, *args, **{**kwargs, "desc": "changed"})

        tqdm.__init__ = init  # type: ignore[method-assign]
        list(tqdm(range(2)))

    try:
        assert {chunk for *_, chunk in bars(followed(changes))} == {"changed"}
        assert tqdm.__init__.__name__ == "init"
        list(tqdm(range(2), file=io.StringIO()))
    finally:
        tqdm.__init__ = before  # type: ignore[method-assign]


def test_hostile_bars_cost_the_call_nothing() -> None:
    class Odd(str):
        __slots__ = ()

        def strip(self, chars: Any = None) -> str:  # type: ignore[override]
            raise RuntimeError("no")

    @tool
    def odd() -> str:
        bar = tqdm(total=10, mininterval=0, miniters=1, desc="<script>")
        bar.n = float("nan")
        bar.refresh()
        bar.n = "many"  # type: ignore[assignment]
        bar.display()
        bar.n, bar.total = 1, float("-inf")
        bar.refresh()
        bar.desc = Odd("x")
        bar.refresh()
        bar.desc, bar.postfix = "y" * 100_000, object()
        bar.fp.write("x")
        bar.close()
        return "done"

    items = followed(odd)
    assert results_of(items)[0].error is None
    assert bars(items)[0] == ("progress", 0, 10, "<script>")
    assert all(p.done in (0, 1) for p in progress_of(items) if not p.is_marker)
    assert max(len(chunk) for chunk in chunks(items)) <= 200
    assert markers(items) == []


def test_a_million_steps_of_many_bars_are_bounded() -> None:
    @tool
    def spins() -> None:
        with tqdm(total=1_000_000, mininterval=0, miniters=1) as bar:
            for _ in range(50_000):
                bar.update(20)

    follower = Follower()
    batch = ToolRunner([spins]).batch([("spins", {})], observers=[follower])
    asyncio.run(batch.run())
    found = progress_of(follower.items)
    assert found[-1].done == 1_000_000
    assert markers(found) == []


IMPORTED_INSIDE = """
import asyncio, sys, json
from agtools_nb import ToolRunner, tool

@tool
def first() -> bool:
    known = "tqdm" in sys.modules
    from tqdm.auto import tqdm
    list(tqdm(range(3), desc="first"))
    return known

class Follower:
    def call_started(self, *_): ...
    def call_finished(self, *_): ...
    def call_progress(self, index, progress):
        found.append([progress.done, progress.total, progress.chunk])

def ours(function):
    return "agtools_nb" in getattr(function, "__globals__", {}).get("__name__", "")

found = []
finders = list(sys.meta_path)
[result] = asyncio.run(ToolRunner([first]).batch([("first", {})], observers=[Follower()]).run())
import tqdm.std
print(json.dumps([result.result, result.stderr, found, sys.meta_path == finders,
    type(tqdm.std.__spec__.loader).__name__, ours(tqdm.std.tqdm.__init__)]))
"""


def test_the_import_may_come_inside_the_tool() -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(IMPORTED_INSIDE)],
        capture_output=True,
        text=True,
        check=True,
    )
    expected = '[false, "", [[0, 3, "first"], [3, 3, "first"]], true, "SourceFileLoader", false]'
    assert done.stdout.strip() == expected
    assert done.stderr == ""


def test_without_tqdm_nothing_is_imported() -> None:
    code = (
        "import asyncio, sys; from agtools_nb import ToolRunner, tool\n"
        "@tool\ndef plain() -> int:\n    return 1\n"
        "asyncio.run(ToolRunner([plain]).process_tool_calls([('plain', {})]))\n"
        "print([name for name in sys.modules if name.startswith('tqdm')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_in_another_process_a_bar_is_text_as_ever() -> None:
    with ProcessPoolExecutor(1) as pool:
        items = followed(adds_up, executor=pool)
    [result] = items
    assert (result.result, result.stdout) == (10, "")
    assert "5/5" in result.stderr


def test_a_map_over_threads_has_one_bar() -> None:
    @tool
    def maps() -> list[int]:
        return thread_map(abs, [-1, -2, -3], max_workers=2, mininterval=0, miniters=1)

    items = followed(maps)
    assert results_of(items)[0].result == [1, 2, 3]
    assert bars(items) == [("progress", n, 3, "") for n in range(4)]


def test_pandas_shows_its_bar() -> None:
    @tool
    def applies() -> int:
        tqdm.pandas(desc="rows", mininterval=0, miniters=1)
        return int(pd.Series([1, 2, 3]).progress_apply(abs).sum())

    items = followed(applies)
    assert results_of(items)[0].result == 6
    assert bars(items)[-1] == ("progress", 3, 3, "rows")


@pytest.mark.parametrize(
    "other", ["tqdm = None", "tqdm = len", "class tqdm: pass", "pass", "class tqdm(dict): pass"]
)
def test_another_tqdm_is_left_alone(other: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("tqdm.std")
    exec(other, module.__dict__)
    monkeypatch.setitem(sys.modules, "tqdm.std", module)

    @tool
    def works() -> int:
        return 1

    assert results_of(followed(works))[0].result == 1


def test_the_package_that_is_tested_is_the_real_one() -> None:
    assert package.__version__ >= "4.60"
