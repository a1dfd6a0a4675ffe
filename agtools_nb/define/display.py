"""A call in one line for people: ``display="Check build {build_id}"``.

The values come from a model, so a format string may hold plain names only:
``{build_id.__class__}`` would read whatever the value leads to.
"""

from __future__ import annotations

import inspect
import logging
import re
import string
from collections.abc import Collection, Mapping
from typing import Any

from agtools_nb.context import copied
from agtools_nb.define.options import Display
from agtools_nb.define.subschemas import holds_secret
from agtools_nb.errors import DefinitionError
from agtools_nb.jsonable import clean_text, json_text, shorten

VALUE_LIMIT = 80  # characters of one value in the line
LINE_LIMIT = 500  # characters of the line
HIDDEN = "(not shown)"

_NAME = re.compile(r"[^\W\d]\w*")
_log = logging.getLogger("agtools_nb")


def checked_display(display: Any, names: Collection[str], tool_name: str) -> Display | None:
    """The display option as given.

    Args:
        display: Text with ``{parameter}`` in it, a callable, or ``None``.
        names: The parameters that a model fills.
        tool_name: For messages.

    Raises:
        DefinitionError: It is neither, or the text holds something other than
            plain names of parameters. The message shows how to write it.
    """
    if display is None or (callable(display) and not isinstance(display, str)):
        return display
    if not isinstance(display, str):
        raise DefinitionError(
            f"{tool_name}: display={display!r} must be text with parameters in braces, or a "
            "function of the arguments that returns text"
        )
    for part in _parts(display, tool_name):
        _check_part(part, display, names, tool_name)
    return display


def display_text(
    display: Display | None, arguments: Mapping[str, Any], schema: Any, tool_name: str
) -> str | None:
    """Fill in a display. Never raises.

    Args:
        display: As checked by :func:`checked_display`.
        arguments: The arguments, as JSON values or as Python values.
        schema: The tool's schema: what it marks as secret is not shown.
        tool_name: For messages.

    Returns:
        One line of at most 500 characters; ``None`` without a display, or where
        the author's function failed (which is logged).
    """
    if display is None:
        return None
    text: Any
    try:
        if isinstance(display, str):
            text = _filled(display, arguments, schema)
        else:
            text = display(copied(dict(arguments)))
    except (Exception, SystemExit, GeneratorExit):  # the author's own code, or the values'
        _log.warning("display of the tool %s failed", tool_name, exc_info=True)
        return None
    if not isinstance(text, str):
        if inspect.iscoroutine(text):
            text.close()
        kind = type(text).__name__
        _log.warning("display of the tool %s gave %s instead of text", tool_name, kind)
        return None
    return shorten(_one_line(text), LINE_LIMIT)


def _parts(display: str, tool_name: str) -> list[tuple[str, str | None, str | None, str | None]]:
    try:
        return list(string.Formatter().parse(display))
    except ValueError as error:
        raise DefinitionError(
            f"{tool_name}: display={display!r} cannot be read ({error}). Write a parameter as "
            "{name}, and a brace that is meant as such twice: {{ or }}."
        ) from error


def _check_part(
    part: tuple[str, str | None, str | None, str | None],
    display: str,
    names: Collection[str],
    tool_name: str,
) -> None:
    _, field, spec, conversion = part
    if field is None or (field in names and not spec and not conversion):
        return
    known = ", ".join("{" + name + "}" for name in names) or "none"
    if _NAME.fullmatch(field) and field not in names:
        raise DefinitionError(
            f"{tool_name}: display={display!r} names {{{field}}}, which is no parameter that a "
            f"model fills. Write one of: {known}."
        )
    written = field + (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "")
    bare = next(iter(_NAME.findall(field)), "")
    advice = f"{{{bare}}}" if bare in names else f"one of: {known}"
    raise DefinitionError(
        f"{tool_name}: display={display!r}: {{{written}}} must be a parameter's plain name, "
        f"without attributes, indices, conversions or formats. Write {advice}, or give a function: "
        "display=lambda arguments: ..."
    )


def _filled(display: str, arguments: Mapping[str, Any], schema: Any) -> str:
    pieces = []
    for literal, field, _, _ in string.Formatter().parse(display):
        pieces.append(literal)
        if field is not None:
            pieces.append(_value_text(field, arguments, schema))
    return "".join(pieces)


def _value_text(name: str, arguments: Mapping[str, Any], schema: Any) -> str:
    if name not in arguments:
        return "…"
    properties = schema.get("properties", {}) if isinstance(schema, dict) else {}
    if holds_secret(properties.get(name), schema):
        return HIDDEN
    value = arguments[name]
    text = value if isinstance(value, str) else json_text(value)
    return shorten(_one_line(text[: 10 * VALUE_LIMIT]), VALUE_LIMIT)


def _one_line(text: str) -> str:
    return " ".join(clean_text(text).split())
