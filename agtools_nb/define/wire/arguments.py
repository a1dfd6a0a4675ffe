"""A call's arguments in the form that a provider's history wants: text or an object."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agtools_nb.calls import ToolCall
from agtools_nb.jsonable import clean_text, json_text, jsonable

UNREADABLE = "unreadable_arguments"
"""Key under which an object holds arguments that were no JSON object."""


def as_text(call: ToolCall) -> str:
    """The arguments as JSON text; a model's own text as it is, malformed or not."""
    args: Any = call.args
    if isinstance(args, str):
        return clean_text(args)
    return json_text(args if isinstance(args, Mapping) else {})


def as_object(call: ToolCall) -> dict[str, Any]:
    """The arguments as an object; text that is none stands under :data:`UNREADABLE`."""
    args: Any = call.args
    if isinstance(args, Mapping):
        found: dict[str, Any] = jsonable(args)
        return found
    if not isinstance(args, str) or not args.strip():
        return {}
    try:
        read = json.loads(args, strict=False)
    except (ValueError, RecursionError):
        read = None
    return jsonable(read) if isinstance(read, dict) else {UNREADABLE: clean_text(args)}
