"""A tool made of a JSON Schema alone, and the corpus of real ones."""

from __future__ import annotations

import functools
import gzip
import json
from pathlib import Path
from typing import Any

from pydantic_core import ValidationError

from agtools_nb.arguments import validate
from agtools_nb.define import Parameter, bounds_text, type_text

CORPUS = Path(__file__).resolve().parent.parent / "data" / "corpus" / "tools.jsonl.gz"


class SchemaTool:
    """What :class:`FormView` needs of a tool, for any input schema."""

    origin = "a test"
    read_only = concurrency_safe = True
    long_running = False
    scopes: tuple[str, ...] = ()
    injected: tuple[str, ...] = ()

    def __init__(self, schema: Any, name: str = "tool", description: str = "") -> None:
        self.input_schema = schema
        self.name = name
        self.description = description
        self.adapter = self
        self.usage = f"{name}(...)"

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The top-level properties."""
        required = self.input_schema.get("required", ())
        return tuple(
            Parameter(name, name in required, sub, type_text(sub), bounds_text(sub), None, "")
            for name, sub in self.input_schema.get("properties", {}).items()
        )

    def validate_json(self, text: str, *, strict: bool) -> Any:
        """Judge as the schema does, in the way of pydantic's ``TypeAdapter``."""
        value = json.loads(text)
        if validate(value, self.input_schema):
            raise ValidationError.from_exception_data(self.name, [])
        return value


@functools.cache
def corpus() -> tuple[dict[str, Any], ...]:
    """Every tool of the corpus."""
    with gzip.open(CORPUS, "rt", encoding="utf-8") as lines:
        return tuple(json.loads(line) for line in lines)


def corpus_tools() -> list[SchemaTool]:
    """The corpus as tools."""
    return [SchemaTool(row["schema"], row["name"], row["description"]) for row in corpus()]


def leaves(value: Any) -> list[Any]:
    """Every scalar in a JSON value, and every empty container."""
    if isinstance(value, dict) and value:
        return [leaf for child in value.values() for leaf in leaves(child)]
    if isinstance(value, list) and value:
        return [leaf for child in value for leaf in leaves(child)]
    return [value]
