r"""Any Python value as JSON, so that every result can be shown and sent. Nothing here raises.

============================  =====================================================
Python                        JSON
============================  =====================================================
NaN, infinities               the text ``"NaN"``, ``"Infinity"``, ``"-Infinity"``
tuple, set, frozenset         array (sets sorted where their items can be)
deque, dict view, array       array; a ``range`` too, of at most 100,000 numbers
dict key that is not text     its text form
date, time, datetime          ISO 8601 text
timedelta                     ISO 8601 duration, ``"PT90S"``
enum member                   its value
UUID, Decimal, Fraction,      ``str(value)``
complex, path, IP address
bytes                         ``{"base64": ..., "size": bytes}``
pydantic model, dataclass,    object of its fields
attrs or msgspec class,
``SimpleNamespace``
``Media``                     ``{"media": "image/png, 12 KB"}``, never its data
NumPy scalar, array           number, nested arrays; dates as ISO 8601 text
pandas data frame             array of row objects, an index of its own among the columns
                              (``{"columns": ..., "rows": ...}`` if two columns share a name)
pandas series                 object by index (array of pairs if the index repeats)
pandas index, polars series   array
``NaT``, ``pd.NA``            ``null``
polars frame, Arrow table     array of row objects
tensor (``tolist``)           number, nested arrays
generator, other iterator     its ``repr``: reading it would use it up
exception                     ``{"error": type, "message": text}``
anything else                 its ``repr``, cut at 2,000 characters
a container inside itself     the text ``"<cycle: dict>"``
nesting deeper than 64        the text ``"<too deep: list>"``
more than a million items     the text ``"<too large: list>"`` for what is beyond
keys that are equal as text   the later ones with their type: ``"null (NoneType)"``
text with lone surrogates     the surrogates as ``\udXXX`` escapes
integer of over 4,000 digits  hexadecimal text
============================  =====================================================
"""

from __future__ import annotations

import array
import base64
import collections
import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import itertools
import json
import math
import pathlib
import reprlib
import types
import uuid
from collections.abc import ItemsView, KeysView, Mapping, ValuesView
from typing import Any

MAX_DEPTH = 64
MAX_ITEMS = 1_000_000
REPR_LIMIT = 2_000
# Python refuses to print integers of more than 4,300 digits; 13,000 bits stay below that.
MAX_INT_BITS = 13_000

_AS_TEXT = (
    decimal.Decimal,
    fractions.Fraction,
    pathlib.PurePath,
    uuid.UUID,
    complex,
)
_SEQUENCES = (collections.deque, array.array, KeysView, ValuesView, ItemsView)
_MOST_OF_A_RANGE = 100_000


# What an object's own code may raise while it is looked at; KeyboardInterrupt is a person's.
_OWN_FAULTS = (Exception, SystemExit, GeneratorExit)


def jsonable(value: Any) -> Any:
    """Return ``value`` in the JSON form of the table above. Never raises."""
    return _convert(value, (_Count(),))


class _Count:
    """Items that may still be converted; stands first in the path to a value."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = MAX_ITEMS

    def __eq__(self, other: object) -> bool:
        return False  # the rest of the path are ids of containers

    __hash__ = None  # type: ignore[assignment]


def json_text(value: Any, *, indent: int | None = None) -> str:
    """Return the JSON text of any value, non-ASCII characters as they are."""
    return json.dumps(jsonable(value), indent=indent, ensure_ascii=False)


def same_json(first: Any, second: Any) -> bool:
    """Whether two values are the same JSON: ``1`` is neither ``True`` nor ``1.0``.

    The order of keys does not matter. What is no JSON is the same as nothing.
    """
    try:
        return json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return False


def pointer_step(key: str) -> str:
    """A key as a step of a JSON Pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def shorten(text: str, limit: int) -> str:
    """Cut ``text`` to ``limit`` characters, the last of them an ellipsis, if it is longer."""
    return text if len(text) <= limit else text[: max(limit - 1, 0)] + "…"


def safe_repr(value: Any, limit: int = REPR_LIMIT) -> str:
    """``repr`` of a value that may not have a working one, cut at ``limit`` characters."""
    try:
        text = repr(value)
    except _OWN_FAULTS:
        text = f"<{type(value).__name__}: its repr raised>"
    return shorten(clean_text(text), limit)


class _Brief(reprlib.Repr):
    """Looks at no more of a value than it shows."""

    def repr1(self, x: Any, level: int) -> str:
        if isinstance(x, (str, bytes, bytearray)):
            return repr(x[: self.maxstring])
        return super().repr1(x, level)


_brief = _Brief()
_brief.maxstring = _brief.maxother = 200


def brief_repr(value: Any) -> str:
    """A short ``repr`` that does not build the long one first. Never raises."""
    try:
        return clean_text(_brief.repr(value))
    except _OWN_FAULTS:
        return safe_repr(value, 200)


# A count of items, then the ids of the containers that a value is in.
_Path = tuple[Any, ...]


def _convert(value: Any, parents: _Path) -> Any:
    if value is None or value is True or value is False:
        return value
    kind = type(value)
    if kind is str:
        return clean_text(value)
    if kind is int:
        return _integer(value)
    if kind is float:
        return _number(value)
    try:
        return _structured(value, parents)
    except _OWN_FAULTS:
        return safe_repr(value)


def _structured(value: Any, parents: _Path) -> Any:
    if isinstance(value, enum.Enum):
        return _convert(value.value, parents)
    if isinstance(value, (Mapping, list, tuple, set, frozenset)):
        return _container(value, parents)
    if isinstance(value, _SEQUENCES) or (
        isinstance(value, range) and len(value) <= _MOST_OF_A_RANGE
    ):
        return _container(value, parents)
    if isinstance(value, (str, int, float)):
        return _scalar(value)
    if isinstance(value, (dt.datetime, dt.date, dt.time)):
        # NaT, pandas' missing date, is no date; it alone differs from itself.
        return value.isoformat() if value == value else None
    if isinstance(value, dt.timedelta):
        return _duration(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        data = bytes(value)
        return {"base64": base64.b64encode(data).decode("ascii"), "size": len(data)}
    if isinstance(value, _AS_TEXT):
        return clean_text(str(value))
    if isinstance(value, BaseException):
        return {"error": type(value).__name__, "message": clean_text(str(value))}
    return _object(value, parents)


def _scalar(value: str | float) -> Any:
    """Subclasses of the JSON types, as what they hold."""
    if isinstance(value, str):
        return clean_text(str.__str__(value))
    return _integer(int(value)) if isinstance(value, int) else _number(float(value))


def _container(value: Any, parents: _Path) -> Any:
    if id(value) in parents:
        return f"<cycle: {type(value).__name__}>"
    if len(parents) > MAX_DEPTH:
        return f"<too deep: {type(value).__name__}>"
    # A container that stands in two places counts twice: so it does in the text.
    parents[0].left -= len(value)
    if parents[0].left < 0:
        return f"<too large: {type(value).__name__}>"
    inner = (*parents, id(value))
    if isinstance(value, Mapping):
        return _mapping(value, inner)
    if isinstance(value, (set, frozenset)):
        value = _sorted(value)
    return [_convert(item, inner) for item in value]


def _mapping(value: Mapping[Any, Any], inner: _Path) -> dict[str, Any]:
    built: dict[str, Any] = {}
    for key, item in value.items():
        name = _key(key)
        if name in built:
            # None beside "null": neither may be lost.
            name = _free_name(f"{name} ({type(key).__name__})", built)
        built[name] = _convert(item, inner)
    return built


def _free_name(name: str, taken: Mapping[str, Any]) -> str:
    names = itertools.chain([name], (f"{name} {number}" for number in itertools.count(2)))
    return next(one for one in names if one not in taken)


def _object(value: Any, parents: _Path) -> Any:
    """Objects that know a form of their own: models, dataclasses, NumPy, pandas."""
    if isinstance(value, type):
        return safe_repr(value)
    if id(value) in parents or len(parents) > MAX_DEPTH:
        return safe_repr(value)
    inner = (*parents, id(value))
    kind = type(value)
    if callable(getattr(kind, "_agtools_json_", None)):
        return _convert(value._agtools_json_(), inner)
    if callable(getattr(value, "model_dump", None)):
        return _convert(_dumped(value), inner)
    fields = _field_names(value)
    if fields is not None:
        return {name: _convert(getattr(value, name), inner) for name in fields}
    form = _FORMS_BY_MODULE.get(kind.__module__.partition(".")[0])
    return safe_repr(value) if form is None else form(value, inner)


def _dumped(model: Any) -> Any:
    """The fields of a model under the names that its JSON Schema has."""
    try:
        return model.model_dump(by_alias=True)
    except TypeError:  # it only has a method of that name
        return model.model_dump()


def _field_names(value: Any) -> list[str] | None:
    """Names of the fields of a class that is made of fields; ``None`` for any other."""
    kind = type(value)
    if dataclasses.is_dataclass(value):
        return [field.name for field in dataclasses.fields(value)]
    attrs = getattr(kind, "__attrs_attrs__", None)
    if isinstance(attrs, tuple):
        return [field.name for field in attrs]
    struct = getattr(kind, "__struct_fields__", None)
    if isinstance(struct, tuple):
        return list(struct)
    return list(vars(value)) if kind is types.SimpleNamespace else None


def _numpy(value: Any, parents: _Path) -> Any:
    if getattr(value, "dtype", None) is not None and value.dtype.kind in "mM":
        return _numpy_times(value, parents)
    return _listed(value, parents)


def _numpy_times(value: Any, parents: _Path) -> Any:
    """Dates and durations; in nanoseconds, ``tolist`` would make plain numbers of them."""
    if value.dtype.kind == "m":
        return _convert(value.astype("timedelta64[us]").tolist(), parents)
    texts = value.astype(str).tolist()
    return _convert(_without_nat(texts), parents)


def _without_nat(texts: Any) -> Any:
    if isinstance(texts, list):
        return [_without_nat(text) for text in texts]
    return None if texts == "NaT" else texts


def _pandas(value: Any, parents: _Path) -> Any:
    name = type(value).__name__
    if name == "NAType":
        return None
    if hasattr(value, "columns") and hasattr(value, "to_dict"):
        return _convert(_frame(value), parents)
    if hasattr(value, "index") and hasattr(value, "to_dict"):
        # A dict would keep one value of each index that repeats.
        pairs = value.to_dict() if value.index.is_unique else list(value.items())
        return _convert(pairs, parents)
    return _listed(value, parents, str)


def _frame(frame: Any) -> Any:
    # Column by column, by position: pandas' own ways warn of, or lose, columns of one name.
    data = [frame.iloc[:, number].tolist() for number in range(len(frame.columns))]
    names, index = _own_index(frame.index)
    columns = [*names, *(_key(column) for column in frame.columns)]
    rows = [list(row) for row in zip(*index, *data, strict=True)]
    if len(set(columns)) < len(columns):
        return {"columns": columns, "rows": rows}
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _own_index(index: Any) -> tuple[list[str], list[list[Any]]]:
    """Names and columns of an index that says something; counting rows says nothing."""
    if type(index).__name__ == "RangeIndex" and index.name is None:
        return [], []
    labels = list(index.names)
    names = [
        _key(label) if label is not None else "index" if len(labels) == 1 else f"level_{number}"
        for number, label in enumerate(labels)
    ]
    return names, [index.get_level_values(number).tolist() for number in range(len(labels))]


def _polars(value: Any, parents: _Path) -> Any:
    for method in ("to_dicts", "to_pylist", "to_list"):
        if callable(getattr(type(value), method, None)):
            return _convert(getattr(value, method)(), parents)
    return safe_repr(value)


def _text(value: Any, parents: _Path) -> str:
    return clean_text(str(value))


def _listed(value: Any, parents: _Path, other: Any = safe_repr) -> Any:
    if callable(getattr(value, "tolist", None)):
        return _convert(value.tolist(), parents)
    return clean_text(other(value))


# Modules whose objects are told apart without importing them.
_FORMS_BY_MODULE = {
    "ipaddress": _text,
    "numpy": _numpy,
    "pandas": _pandas,
    "polars": _polars,
    "pyarrow": _polars,
    "torch": _listed,
    "jax": _listed,
    "jaxlib": _listed,
    "tensorflow": _listed,
}


def _integer(value: int) -> Any:
    return value if value.bit_length() <= MAX_INT_BITS else hex(value)


def _number(value: float) -> Any:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _duration(value: dt.timedelta) -> str:
    seconds = value.total_seconds()
    return f"{'-' if seconds < 0 else ''}PT{abs(seconds):.15g}S"


def _key(key: Any) -> str:
    if type(key) is str:
        return clean_text(key)
    try:
        if isinstance(key, enum.Enum):
            key = key.value
        if key is None or isinstance(key, (bool, int, float)):
            return json.dumps(_convert(key, ()))
        return clean_text(str(key))
    except _OWN_FAULTS:
        return safe_repr(key)


def _sorted(items: Any) -> list[Any]:
    try:
        return sorted(items)
    except _OWN_FAULTS:
        return list(items)


def clean_text(text: str) -> str:
    """Return text that UTF-8 can carry; a lone surrogate would break the kernel's message."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text
