"""Providers' data as plain dicts and lists: SDK objects unpacked, nothing else touched."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any


def plain(value: Any) -> Any:
    """Return an SDK's object as the dict that its ``model_dump`` gives; all else as it is.

    Never raises: an object whose ``model_dump`` fails comes back as it is.
    """
    if value is None or isinstance(value, (Mapping, list, tuple, str, int, float)):
        return value
    dump = getattr(type(value), "model_dump", None)
    if dump is None:
        return value
    with contextlib.suppress(Exception):
        # Stray fields of newer servers make the SDKs' models warn.
        return dump(value, warnings=False)
    with contextlib.suppress(Exception):
        return dump(value)
    return value


def mapping(value: Any) -> Mapping[str, Any]:
    """Return the value as a dict if it is one, or an SDK's object of one; else an empty dict."""
    found = plain(value)
    return found if isinstance(found, Mapping) else {}


def first(form: Mapping[str, Any], *keys: str) -> Any:
    """Return the first value that is there and not ``None``, whichever key it is under."""
    return next((form[key] for key in keys if form.get(key) is not None), None)
