"""Which values are secret: theirs are never shown, at any place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agtools_nb.arguments.faults import HIDDEN, got_text, kind_of, top_of
from agtools_nb.jsonable import jsonable, pointer_step

_SHARED = ("$defs", "definitions")


class Secrets:
    """The secrets among the arguments of one schema.

    A schema marks them by ``writeOnly`` or ``"format": "password"``. A parameter that
    holds one anywhere is secret as a whole.

    Args:
        schema: The root schema.

    Attributes:
        parameters: The parameters that are secret, as steps of a JSON Pointer.
        any: Whether there are any secrets.
    """

    def __init__(self, schema: Any) -> None:
        self.parameters: frozenset[str] = frozenset()
        self._whole = False
        if isinstance(schema, dict):
            shared = any(_holds(schema.get(key), False) for key in _SHARED)
            properties = schema.get("properties")
            properties = properties if isinstance(properties, dict) else {}
            self.parameters = frozenset(
                pointer_step(str(name)) for name, sub in properties.items() if _holds(sub, shared)
            )
            rest = {key: schema[key] for key in schema if key not in ("properties", *_SHARED)}
            self._whole = _holds(rest, shared)
        self.any = self._whole or bool(self.parameters)

    def hide(self, pointer: str) -> bool:
        """Whether what stands at ``pointer`` must not be shown."""
        if self._whole:
            return True
        return top_of(pointer) in self.parameters if pointer else self.any

    def got(self, pointer: str, value: Any) -> str:
        """What came at a place, in words."""
        if self.hide(pointer) and value is not None:
            return f"{kind_of(value)} {HIDDEN}"
        return got_text(value)


def quotes(text: str, value: Any) -> bool:
    """Whether ``text`` holds any of the texts or numbers in ``value``."""
    return any(leaf in text for leaf in _leaves(value))


def _leaves(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, list):
            waiting += one
        elif one not in (None, True, False, ""):
            yield str(jsonable(one))


def _holds(schema: Any, shared: bool) -> bool:
    """Whether a part of a schema marks a secret, or refers to where one may be marked."""
    waiting, seen = [schema], set()
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if id(one) in seen:
                continue
            seen.add(id(one))
            if one.get("writeOnly") is True or one.get("format") == "password":
                return True
            if shared and "$ref" in one:
                return True
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
    return False
