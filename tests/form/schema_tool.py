"""A tool made of a JSON Schema alone, and the corpus of real ones."""

from __future__ import annotations

import functools
import gzip
import json
import re
from pathlib import Path
from typing import Any

from agtools_nb import ToolWithSchema

CORPUS = Path(__file__).resolve().parent.parent / "data" / "corpus" / "tools.jsonl.gz"


def schema_tool(schema: Any, name: str = "tool", description: str = "") -> ToolWithSchema:
    """A tool with any input schema that answers with its arguments."""

    def takes(**arguments: Any) -> Any:
        return arguments

    return ToolWithSchema(takes, schema, name=tool_name(name), description=description)


def tool_name(name: str) -> str:
    """The nearest name that every provider takes; some of the corpus have dots and blanks."""
    return re.sub("[^A-Za-z0-9_-]", "_", name)[:64]


@functools.cache
def corpus() -> tuple[dict[str, Any], ...]:
    """Every tool of the corpus."""
    with gzip.open(CORPUS, "rt", encoding="utf-8") as lines:
        return tuple(json.loads(line) for line in lines)


def corpus_tools() -> list[ToolWithSchema]:
    """The corpus as tools."""
    return [schema_tool(row["schema"], row["name"], row["description"]) for row in corpus()]


def leaves(value: Any) -> list[Any]:
    """Every scalar in a JSON value, and every empty container."""
    if isinstance(value, dict) and value:
        return [leaf for child in value.values() for leaf in leaves(child)]
    if isinstance(value, list) and value:
        return [leaf for child in value for leaf in leaves(child)]
    return [value]
