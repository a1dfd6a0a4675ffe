"""What does not fit a schema, place by place, written for a model to act on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from agtools_nb.arguments.conform import Document
from agtools_nb.arguments.faults import make_fault, place_text, told
from agtools_nb.arguments.findings import Findings
from agtools_nb.arguments.parse import MAX_NESTING, place_beyond
from agtools_nb.calls import Fault
from agtools_nb.define.branching import check_looks


def validate(arguments: Any, schema: Mapping[str, Any] | bool) -> tuple[Fault, ...]:
    """Return what in ``arguments`` does not fit ``schema``; empty if all fits.

    Args:
        arguments: Any JSON value.
        schema: A JSON Schema, draft 7 or 2020-12. ``format`` is an annotation.

    Returns:
        At most 20 faults, one a place, in the order of the schema.

    Raises:
        DefinitionError: The schema would look at one value more than 100,000 times.
    """
    with suppress(RecursionError):  # deep ones are read as far as they can be
        check_looks(schema, "the schema")
    deep = place_beyond(MAX_NESTING, arguments)
    if deep is not None:
        return (too_deep_fault(deep),)
    return told(faults_in(arguments, Findings(Document(schema))))[0]


def faults_in(arguments: Any, findings: Findings) -> Iterator[Fault]:
    """Yield every fault, for a schema that has been made ready."""
    document = findings.document
    if document.conforms(arguments):
        return
    fault = None
    for fault in findings.faults(document.errors(arguments)):
        yield fault
    if fault is None:
        yield make_fault("", "what the schema asks for", findings.got("", arguments))


def too_deep_fault(pointer: str) -> Fault:
    """The fault of values that are not followed to their end."""
    expected = f"at most {MAX_NESTING} levels of nesting"
    message = f"{place_text(pointer)}: nested too deeply (more than {MAX_NESTING} levels)"
    return Fault(pointer, expected, "more", message)
