"""How long it takes to define a tool and to build its schema, beside pydantic's own work.

Run it from the repository: ``python tests/benchmarks/define_speed.py``. It prints one
table; each ratio is of two medians taken in turns in one run, so that a busy machine
slows both sides.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, Literal

from pydantic import TypeAdapter

from agtools_nb import Tool, ToolRunner

ROUNDS = 200
PLAIN = """
def forecast(city: str, days: int = 3, units: Literal["metric", "imperial"] = "metric",
             tags: list[str] | None = None, verbose: bool = False) -> dict[str, float]:
    '''Forecast the weather of a city.

    Takes the nearest station.

    Args:
        city: Name of the city.
        days: How many days ahead.
        units: Units of the answer, which are
            the same for all of it.
        tags: Only stations with these labels.
        verbose: Whether to say more.

    Returns:
        Temperature by day.
    '''
    return {}
"""


def made(header: str) -> Any:
    """The function, with annotations as objects or as text; each is a fresh one."""
    namespace: dict[str, Any] = {"Literal": Literal, "__name__": __name__}
    exec(compile(header + PLAIN, "<benchmark>", "exec", dont_inherit=True), namespace)
    return namespace["forecast"]


def medians(*jobs: Callable[[], Any]) -> list[float]:
    """Median microseconds of each job, taken in turns."""
    times: list[list[float]] = [[] for _ in jobs]
    for _ in range(ROUNDS):
        for job, taken in zip(jobs, times, strict=True):
            start = time.perf_counter()
            job()
            taken.append((time.perf_counter() - start) * 1e6)
    return [statistics.median(taken) for taken in times]


def import_seconds(module: str) -> float:
    """Fastest of five imports in a fresh interpreter, without its own start."""
    code = f"import time; s = time.perf_counter(); import {module}; print(time.perf_counter() - s)"
    runs = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
        for _ in range(5)
    ]
    return min(runs)


def rows() -> list[tuple[str, str, float, float, float | None]]:
    """Work, yardstick, both in microseconds, and what is asked of the ratio."""
    found: list[tuple[str, str, float, float, float | None]] = []
    for kind, header in (("", ""), (", text annotations", "from __future__ import annotations\n")):
        function = made(header)
        schema, register, yardstick = medians(
            lambda function=function: Tool(function).input_schema,
            lambda function=function: ToolRunner().register(function),
            lambda function=function: TypeAdapter(function).json_schema(),
        )
        name = "TypeAdapter(f).json_schema()"
        found.append((f"schema{kind}", name, schema, yardstick, 1.2))
        found.append((f"register{kind}", name, register, yardstick, 0.1))
    # Nothing is asked of agtools_nb.define alone: it is imported when it is first used.
    for module, reach in (("agtools_nb", 1.5), ("agtools_nb.define", None)):
        ours, theirs = import_seconds(module) * 1e6, import_seconds("pydantic") * 1e6
        found.append((f"import {module}", "import pydantic", ours, theirs, reach))
    return found


def main() -> None:
    print(f"{'work':32} {'yardstick':30} {'us':>9} {'us':>9} {'ratio':>6} {'reach':>6}")
    for work, yardstick, ours, theirs, reach in rows():
        asked = "-" if reach is None else f"{reach:.2f}"
        times = f"{ours:9.0f} {theirs:9.0f} {ours / theirs:6.2f}"
        print(f"{work:32} {yardstick:30} {times} {asked:>6}")


if __name__ == "__main__":
    main()
