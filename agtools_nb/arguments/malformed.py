"""Why a text is no JSON, in words for the model that wrote it.

The words are our own: Python's say where its reader stopped, not what the slip was, and
they change from version to version.
"""

from __future__ import annotations

import json
import re

from agtools_nb.jsonable import clean_text, shorten

_SHOWN = 80
_AROUND = 20
_PYTHON_WORDS = re.compile(r"(True|False|None|undefined|nil)\b")
_BARE_KEY = re.compile(r"[A-Za-z_$][\w$]*\s*:")
_CUT_WORD = re.compile(r"(-|t|tr|tru|f|fa|fal|fals|n|nu|nul)\Z")


def why_no_json(text: str, error: json.JSONDecodeError, *, quote: bool) -> str:
    """Return sentences on what is wrong and what to send instead.

    Args:
        text: What was read.
        error: What Python found.
        quote: Whether the sentences may hold parts of ``text``.
    """
    if error.msg == "Extra data":
        return clean_text(_extra(text[error.pos :].strip(), quote=quote))
    if _is_cut_off(text, error):
        inside = "inside a string" if error.msg.startswith(("Untermin", "Invalid")) else (
            "before the object is closed")  # fmt: skip
        return (
            f"The arguments are not JSON: they end too early, {inside}, and may have been cut "
            "off. Send the whole object again; if it is long, make it shorter."
        )
    if text.lstrip().startswith("```"):
        return (
            "The arguments are not JSON: they stand in a code fence. Send the object alone, "
            "without ``` around it."
        )
    near = ""
    if quote:
        around = text[max(error.pos - _AROUND, 0) : error.pos + _AROUND]
        near = f", near {shorten(around, _SHOWN)!r}"
    slip = _slip(text, error)
    return (
        f"The arguments are not JSON: {slip}, at character {error.pos}{near}. Send one JSON object."
    )


def _extra(extra: str, *, quote: bool) -> str:
    if extra[:1] in ("}", "]"):
        return (
            "The arguments are not JSON: there is a closing bracket too many after the object. "
            "Send one JSON object."
        )
    shown = f"; after the first came: {shorten(extra, _SHOWN)}" if quote else ""
    if extra[:1] in ("{", "["):
        return f"The arguments are more than one JSON value{shown}. Send one JSON object a call."
    shown = f": {shorten(extra, _SHOWN)}" if quote else ""
    return (
        f"The arguments are not JSON: after the value came more{shown}. "
        "Send one JSON object and nothing else."
    )


def _is_cut_off(text: str, error: json.JSONDecodeError) -> bool:
    """Whether the text ends where more had to come."""
    if error.msg.startswith("Unterminated string"):
        return True
    if text.lstrip()[:1] not in ("{", "[", '"'):
        return False
    rest = text[error.pos :].rstrip()
    if error.msg.startswith("Invalid \\"):
        return len(rest) < 6 and re.fullmatch(r"\\?u?[0-9a-fA-F]*", rest) is not None
    return not rest or _CUT_WORD.match(rest) is not None


def _slip(text: str, error: json.JSONDecodeError) -> str:
    before, rest = text[: error.pos].rstrip(), text[error.pos :].lstrip()
    # Python 3.13 stops at the comma, earlier ones at the bracket after it.
    after = rest[1:].lstrip()[:1] if rest[:1] == "," else ""
    if (rest[:1] in ("}", "]") and before.endswith(",")) or after in ("}", "]"):
        return "there is a comma before a closing bracket"
    if rest[:1] in ("'", "\u2018", "\u201c"):
        return "names and texts stand in double quotes in JSON"
    if rest.startswith(("//", "/*", "#")):
        return "JSON has no comments"
    if _PYTHON_WORDS.match(rest):
        return "JSON has true, false and null in place of True, False and None"
    return _by_message(text, error, rest)


def _by_message(text: str, error: json.JSONDecodeError, rest: str) -> str:
    message = error.msg
    if message.startswith("Expecting property name"):
        if _BARE_KEY.match(rest):
            return "a name stands without double quotes"
        return "a name in double quotes is missing"
    if message.startswith("Expecting ':'"):
        return "the colon after a name is missing"
    if message.startswith("Expecting ','"):
        return (
            "a comma or a closing bracket is missing, or a quote within a string has no backslash "
            "before it"
        )
    if message.startswith("Invalid \\escape"):
        return "a backslash within a string is written twice in JSON (\\\\)"
    if message.startswith("Invalid \\u"):
        return "\\u within a string is not followed by four hexadecimal digits"
    if not text[: error.pos].strip():
        return "they do not begin with {"
    return "a value is missing or is written in a way that JSON has not"
