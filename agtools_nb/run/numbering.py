"""Calls read from the forms that people and providers write, each given an id of its own."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import AsyncIterable, Iterable, Mapping
from typing import Any

from agtools_nb.arguments import is_plain
from agtools_nb.calls import ToolCall
from agtools_nb.context import copied
from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr, clean_text
from agtools_nb.run.bounds import checked_seconds

Call = ToolCall | Mapping[str, Any] | tuple[Any, ...] | list[Any]


def as_call(call: Any) -> ToolCall:
    """Read a call from the forms that notebooks and providers write.

    ``("name", {...})``; ``{"name": ..., "args" | "arguments" | "input": ..., "id": ...}``;
    or a provider's ``{"id": ..., "function": {"name": ..., "arguments": ...}}``.

    Raises:
        UsageError: It is none of these.
    """
    if isinstance(call, ToolCall):
        if isinstance(call.name, str):
            return call
        raise _not_a_call(call)
    if isinstance(call, Mapping):
        inner = call.get("function", call)
        if isinstance(inner, Mapping) and isinstance(inner.get("name"), str):
            keys = [key for key in ("args", "arguments", "input") if key in inner]
            args = inner[keys[0]] if keys else {}
            # OpenAI's Responses items have an id of their own beside the call's.
            return ToolCall(
                inner["name"], args, call.get("call_id", call.get("id")), call.get("step_id")
            )
    if isinstance(call, (tuple, list)) and 1 <= len(call) <= 2 and isinstance(call[0], str):
        return ToolCall(*call)
    raise _not_a_call(call)


def checked_calls(calls: Any) -> Any:
    """Calls as given.

    Raises:
        UsageError: It is one call, or nothing that holds calls.
    """
    is_pair = isinstance(calls, tuple) and len(calls) <= 2 and isinstance(next(iter(calls), 0), str)
    if is_pair or isinstance(calls, (ToolCall, Mapping, str)):
        raise UsageError(f"give a list of calls: [{brief_repr(calls)}]")
    if not isinstance(calls, (Iterable, AsyncIterable)):
        raise UsageError(f"{brief_repr(calls)} holds no calls; give a list of them")
    return calls


# A call, a copy of its arguments that nobody else can change, whether that is a dict of scalars,
# and why it is no call if it is none.
Read = tuple[ToolCall, Any, bool, UsageError | None]


def read_call(call: Any) -> Read:
    """Read a call from any form; what is none keeps its id, so that it can be answered."""
    args: Any
    if type(call) is ToolCall and type(call.name) is str and call.timeout is None:
        args = call.args
        if is_plain(args):
            return call, args.copy(), True, None
    try:
        found = as_call(call)
        checked_seconds(found.timeout)
        args = found.args
        if is_plain(args):
            return found, args.copy(), True, None
        return found, copied(args), False, None
    except UsageError as error:
        return ToolCall("?", id=_id_of(call)), {}, False, error
    except Exception as error:  # a mapping's own code
        why = f"a call could not be read ({type(error).__name__}: {error})"
        return ToolCall("?"), {}, False, UsageError(why)


def _id_of(call: Any) -> str | None:
    if isinstance(call, ToolCall):
        return call.id
    if not isinstance(call, Mapping):
        return None
    found = call.get("call_id", call.get("id"))
    return found if isinstance(found, str) else None


def _not_a_call(call: Any) -> UsageError:
    return UsageError(
        f"{brief_repr(call)} is not a call; write ToolCall(name, args), (name, args), or "
        '{"name": ..., "args": {...}}'
    )


class Numbering:
    """Gives each call an id that no other has: results are told apart by it at the provider.

    Args:
        taken: Ids that calls to come bring along.

    Attributes:
        group_id: One id for all the calls together.
    """

    def __init__(self, taken: set[str] | None = None) -> None:
        token = secrets.token_hex(6)
        self._prefix = f"call_{token}"
        self.group_id = f"group_{token}"
        self._fresh = itertools.count(1)
        self._taken = set() if taken is None else taken
        self._used: set[str] = set()
        self._numbers: dict[str, itertools.count[int]] = {}

    def numbered(self, given: Any) -> tuple[str, tuple[str, ...]]:
        """Return the id for a call that came with ``given``, and a note if that is another."""
        if isinstance(given, str) and given and (given.isascii() or clean_text(given) == given):
            if given not in self._used:
                self._used.add(given)
                return given, ()
            fresh = self._another(given)
            return fresh, (
                f"The id {given!r} was sent more than once; this call is answered as {fresh!r}.",
            )
        fresh = f"{self._prefix}{next(self._fresh)}"
        self._used.add(fresh)
        if given is None:
            return fresh, ()
        return fresh, (f"It came with the id {brief_repr(given)}; it is answered as {fresh!r}.",)

    def forget(self, call_id: str) -> None:
        """Let an id be used again: its call has been answered."""
        self._used.discard(call_id)

    def _another(self, given: str) -> str:
        numbers = self._numbers.setdefault(given, itertools.count(2))
        ids = (f"{given}#{number}" for number in numbers)
        fresh = next(one for one in ids if one not in self._used and one not in self._taken)
        self._used.add(fresh)
        return fresh
