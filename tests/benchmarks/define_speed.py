"""How long it takes to define a tool and to build its schema, beside pydantic's own work."""

from __future__ import annotations

import subprocess
import sys
from typing import Any, Literal

from pydantic import TypeAdapter

from agtools_nb import Tool, ToolRunner
from benchmarks.table import Row, medians

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


def import_seconds(statement: str) -> float:
    """Fastest of five imports in a fresh interpreter, without its own start."""
    code = f"import time; s = time.perf_counter(); {statement}; print(time.perf_counter() - s)"
    runs = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
        for _ in range(5)
    ]
    return min(runs)


def rows(rounds: int) -> list[Row]:
    """All comparisons of defining; ``rounds`` is how often each is taken."""
    found: list[Row] = []
    name = "TypeAdapter(f).json_schema()"
    for kind, header in (("", ""), (", text annotations", "from __future__ import annotations\n")):
        function = made(header)
        schema, register, yardstick = medians(
            [
                lambda function=function: Tool(function).input_schema,
                lambda function=function: ToolRunner().register(function),
                lambda function=function: TypeAdapter(function).json_schema(),
            ],
            rounds,
        )
        found.append(Row(f"schema of 5 parameters{kind}", name, schema, yardstick, 1.2))
        found.append(Row(f"register{kind}", name, register, yardstick, 0.1))
    # The last two are what a script pays that uses one name of each.
    for ours, theirs, reach in (
        ("import agtools_nb", "import pydantic", 1.5),
        ("from agtools_nb import tool", "from pydantic import BaseModel", None),
    ):
        found.append(
            Row(ours, theirs, import_seconds(ours) * 1e6, import_seconds(theirs) * 1e6, reach)
        )
    return found
