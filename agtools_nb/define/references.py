"""Whether the references of a schema lead somewhere inside of it; nothing is ever fetched."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agtools_nb.define.subschemas import MISSING, JsonSchema, resolve, walk

_NAMES = ("$id", "$anchor", "$dynamicAnchor")


class Scope:
    """Where in a document one stands, to follow references from.

    Plain pointers are followed by hand. A document that gives names (``$id``,
    ``$anchor``) is left to the ``referencing`` library, which knows their rules.

    Args:
        root: The document.
    """

    def __init__(self, root: JsonSchema) -> None:
        self._root = root
        # Of another type they name nothing, and break the library.
        named = any(isinstance(node.get(name), str) for node in walk(root) for name in _NAMES)
        self._resolver = _resolver(root) if named else None

    @contextmanager
    def entered(self, schema: JsonSchema) -> Iterator[None]:
        """Stand in a subschema, which may begin a document of its own (``$id``)."""
        if self._resolver is None or schema is self._root or not isinstance(schema.get("$id"), str):
            yield
            return
        outer = self._resolver
        self._resolver = outer.in_subresource(_specification(self._root).create_resource(schema))
        try:
            yield
        finally:
            self._resolver = outer

    def problem(self, reference: str) -> str:
        """What is wrong with a reference, with the remedy; ``""`` if it leads to a schema."""
        target = self._target(reference)
        if target is MISSING:
            if reference.startswith("#"):
                return f"leads nowhere; {self._known()}"
            return (
                "leads to another document, and nothing is fetched. Copy that schema under "
                '"$defs" and refer to it: "#/$defs/name"'
            )
        if not isinstance(target, (dict, bool)):
            return "leads to something that is no schema (a dict, true or false)"
        return "leads back to itself only" if self._is_circle(target) else ""

    def _target(self, reference: str) -> Any:
        if self._resolver is None:
            return resolve(reference, self._root)
        from referencing.exceptions import Unresolvable

        try:
            return self._resolver.lookup(reference).contents
        except (Unresolvable, ValueError, TypeError, AttributeError, KeyError):
            return MISSING

    def _is_circle(self, target: Any) -> bool:
        """Whether following references alone never comes to an end."""
        seen: set[int] = set()
        while isinstance(target, dict) and isinstance(target.get("$ref"), str):
            if id(target) in seen:
                return True
            seen.add(id(target))
            target = self._target(target["$ref"])
        return False

    def _known(self) -> str:
        places = [
            f"#/{key}/{name}"
            for key in ("$defs", "definitions")
            if isinstance(self._root.get(key), dict)
            for name in self._root[key]
        ]
        shown = ", ".join(places[:12]) + (", ..." if len(places) > 12 else "")
        return f"known: {shown}" if places else 'define it under "$defs"'


def _resolver(root: JsonSchema) -> Any:
    from referencing import Registry

    resource = _specification(root).create_resource(root)
    registry: Any = Registry()
    return registry.resolver_with_root(resource)


def _specification(root: JsonSchema) -> Any:
    from referencing.jsonschema import DRAFT7, DRAFT202012

    return DRAFT7 if "draft-07" in str(root.get("$schema", "")) else DRAFT202012
