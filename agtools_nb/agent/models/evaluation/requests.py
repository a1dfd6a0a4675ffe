"""The requests of the evaluation, and when a call is what a request asks for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr

SETS = ("test", "development")


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """A request, and the call that it asks for.

    Attributes:
        id: Its name.
        request: What the person says.
        tool: The tool to call; ``None`` if the answer is text.
        arguments: The arguments. A value stands for itself, text without regard to case and
            punctuation; ``{"words": [...]}``: text with all of these words;
            ``{"any": [...]}``: any of these; ``{"optional": ...}``: the same or left out.
            Arguments that are not named must have their default.
        swap: Two arguments that may change places.
    """

    id: str
    request: str
    tool: str | None = None
    arguments: Mapping[str, Any] | None = None
    swap: tuple[str, str] | None = None

    def fits(self, arguments: Mapping[str, Any], defaults: Mapping[str, Any]) -> bool:
        """Whether these are the arguments that it asks for, or as good.

        Args:
            arguments: What the model sent, as the tool would get it.
            defaults: The tool's own values for what is left out.
        """
        if self._fits(arguments, defaults):
            return True
        if self.swap is None:
            return False
        first, second = self.swap
        swapped = dict(arguments)
        swapped[first], swapped[second] = arguments.get(second), arguments.get(first)
        return self._fits(swapped, defaults)

    def _fits(self, arguments: Mapping[str, Any], defaults: Mapping[str, Any]) -> bool:
        wanted = self.arguments or {}
        for name in {*wanted, *arguments, *defaults}:
            got = arguments.get(name, defaults.get(name))
            if not _value_fits(wanted.get(name, defaults.get(name)), got):
                return False
        return True


def requests(of: Literal["test", "development"] = "test") -> tuple[EvaluationRequest, ...]:
    """The 60 requests of the test with 10 that no tool is for, or the 30 and 5 to develop on.

    Raises:
        UsageError: There is no such set.
    """
    if of not in SETS:
        raise UsageError(f"{brief_repr(of)} is no set of requests; there are {', '.join(SETS)}")
    file = resources.files("agtools_nb.agent.models.evaluation") / f"{of}.jsonl"
    return read(file.read_text(encoding="utf-8").splitlines())


def read(lines: Iterable[str]) -> tuple[EvaluationRequest, ...]:
    """Read requests, one a line of JSON with the fields of :class:`EvaluationRequest`.

    Raises:
        UsageError: A line is none; says which.
    """
    found = []
    for number, line in enumerate(lines, 1):
        try:
            written = json.loads(line)
            swap = written.pop("swap", None)
            found.append(EvaluationRequest(**written, swap=tuple(swap) if swap else None))
        except (ValueError, TypeError, AttributeError) as error:
            raise UsageError(f"line {number} is no request: {error}") from error
    return tuple(found)


def _value_fits(wanted: Any, got: Any) -> bool:
    if isinstance(wanted, Mapping):
        if "optional" in wanted:
            return got is None or _value_fits(wanted["optional"], got)
        if "any" in wanted:
            return any(_value_fits(one, got) for one in wanted["any"])
        said = _bare(got) if isinstance(got, str) else ""
        return all(_bare(word) in said for word in wanted["words"])
    if isinstance(wanted, str) and isinstance(got, str):
        return _bare(wanted) == _bare(got)
    return isinstance(wanted, bool) == isinstance(got, bool) and bool(wanted == got)


def _bare(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s]", " ", text.casefold()).split())
