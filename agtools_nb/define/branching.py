"""How often a schema could look at one value: references that double can make it for ever.

A few definitions that each lead twice to the next are short to write. Where both ways are
about one value, a check takes both, at each level.
"""

from __future__ import annotations

from typing import Any

from agtools_nb.define.subschemas import MISSING, resolve
from agtools_nb.errors import DefinitionError

MAX_LOOKS = 100_000
"""How often one value, or what is in it, may be looked at."""

# Keywords by what they are about. Of those in one row, several can be about one value.
_SAME = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas")
_MEMBERS = ("properties", "additionalProperties", "unevaluatedProperties")
_PATTERNS = ("patternProperties",)
_ITEMS = ("prefixItems", "items", "additionalItems", "unevaluatedItems")
_SOME = ("contains",)
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
_NAMED = ("properties", "patternProperties", "dependentSchemas", "dependencies")


def looks_too_often(schema: Any) -> bool:
    """Whether a check could look at one value more than 100,000 times.

    Where a schema leads back to itself it is not followed again: what is recursive looks at
    smaller and smaller values.

    Raises:
        RecursionError: It is nested too deeply, or its references are.
    """
    return _Looks(schema).most(schema) > MAX_LOOKS


def check_looks(schema: Any, where: str) -> None:
    """Refuse a schema that would look at one value too often.

    Args:
        schema: The document.
        where: What it is, for messages.

    Raises:
        DefinitionError: It would.
        RecursionError: It is nested too deeply, or its references are.
    """
    if looks_too_often(schema):
        raise DefinitionError(
            f'{where} would look at one value more than {MAX_LOOKS:,} times: its "$ref" lead in '
            "several ways to the same schemas, at one level after another. Refer to each from one "
            'branch of "anyOf", "oneOf" or "allOf" only.'
        )


class _Looks:
    """Counts for each schema of a document.

    Args:
        root: The document.
    """

    def __init__(self, root: Any) -> None:
        self._root = root
        self._known: dict[int, int] = {}

    def most(self, schema: Any) -> int:
        """How often a value, or the one thing in it that is looked at most, is looked at."""
        if not isinstance(schema, dict):
            return 1
        if id(schema) not in self._known:
            self._known[id(schema)] = 1  # while it is open: it has come back to itself
            self._known[id(schema)] = self._counted(schema)
        return self._known[id(schema)]

    def _counted(self, schema: dict[str, Any]) -> int:
        count = 1 + sum(self.most(one) for key in _SAME for one in _within(schema, key))
        target = resolve(schema.get("$ref"), self._root)
        count += 0 if target is MISSING else self.most(target)
        count += sum(self.most(one) for one in _within(schema, "dependencies"))
        members = self._largest(schema, _MEMBERS)
        members += sum(self.most(one) for key in _PATTERNS for one in _within(schema, key))
        items = self._largest(schema, _ITEMS) + self._largest(schema, _SOME)
        names = self._largest(schema, ("propertyNames",))
        return count + max(members, items, names)

    def _largest(self, schema: dict[str, Any], keys: tuple[str, ...]) -> int:
        return max((self.most(one) for key in keys for one in _within(schema, key)), default=0)


def _within(schema: dict[str, Any], key: str) -> list[Any]:
    """The schemas that a keyword holds."""
    value = schema.get(key)
    if key in _LISTS and isinstance(value, list):
        return value
    if not isinstance(value, dict):
        return []
    return list(value.values()) if key in _NAMED else [value]
