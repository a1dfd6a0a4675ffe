"""Whether what a tool returned is what it says it returns."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Iterable, Iterator
from typing import Any, get_args, get_origin

from agtools_nb.arguments import direct_validator, validate
from agtools_nb.define import Tool
from agtools_nb.define.annotations import yielded
from agtools_nb.errors import ToolError
from agtools_nb.jsonable import brief_repr, clean_text, jsonable, shorten
from agtools_nb.media import json_part

_KEPT_AS = "_judge of its result"
_LISTED = (Iterator, Iterable, Generator, AsyncIterator)


def check_result(tool: Tool, value: Any) -> None:
    """Refuse a result that is not what its tool says it returns.

    Raises:
        ToolError: It is not; for the tool's author.
    """
    fault = result_fault(tool, value)
    if fault is not None:
        raise ToolError(
            "bad_result",
            f"{tool.name} ran, but what it returned does not fit its response schema: {fault}. "
            f"It returned {brief_repr(value)}.",
            category="author",
            hint="This is a mistake in the tool, not in the call.",
        )


def result_fault(tool: Tool, value: Any) -> str | None:
    """What is wrong with a result, in words for the tool's author; ``None`` if nothing is.

    A schema that was given is asked about the JSON form of the result. A return
    annotation is asked, by pydantic, about the Python value: strictly, but a dict
    will do where a model, a dataclass or a ``TypedDict`` is announced.
    """
    given = tool.given_response_schema
    if given is not None:
        faults = validate(jsonable(json_part(value)), given)
        return "; ".join(fault.message for fault in faults) or None
    judge = tool.__dict__.get(_KEPT_AS)
    if judge is None:
        returns = tool.signature.returns
        judge = _Judge(yielded(returns) if tool.is_subscription else returns)
        tool.__dict__[_KEPT_AS] = judge
    return judge.fault(value)


class _Judge:
    """Knows what fits a return annotation."""

    def __init__(self, annotation: Any) -> None:
        self._strict: Any = None
        self._lenient: Any = None
        if get_origin(annotation) in _LISTED:
            # The runner collects what a generator yields.
            annotation = list[get_args(annotation)[0]]  # type: ignore[misc]
        try:
            from pydantic import TypeAdapter

            self._strict = TypeAdapter(annotation)
            found = direct_validator(self._strict.core_schema)
            self._lenient = None if found is None else found[0]
        except Exception:  # a type that pydantic knows nothing of: nothing can be said
            self._strict = None

    def fault(self, value: Any) -> str | None:
        if self._strict is None:
            return None
        try:
            self._strict.validate_python(value, strict=True)
        except ValueError as error:  # pydantic's ValidationError is one
            return None if self._is_lenient_about(value) else _words(error)
        return None

    def _is_lenient_about(self, value: Any) -> bool:
        if self._lenient is None:
            return False
        try:
            self._lenient(value)
        except ValueError:
            return False
        return True


def _words(error: Any) -> str:
    details = error.errors(include_url=False, include_context=False)
    texts = []
    for detail in details[:10]:
        place = "".join(f"/{step}" for step in detail["loc"]) or "the result"
        texts.append(f"{place}: {detail['msg']}, got {brief_repr(detail['input'])}")
    return shorten(clean_text("; ".join(texts)), 2_000)
