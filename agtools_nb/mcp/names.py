"""Names for the tools of a server: such as providers take, each once, and the same every time."""

from __future__ import annotations

import hashlib
import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence

from agtools_nb.define.naming import MAX_NAME, NAME_PATTERN
from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr

MAX_SERVER_NAME = 100
_HASH = 6


def checked_server_name(name: object) -> str:
    """The name of a server as given: rules name tools by it, ``"server/tool"``.

    Raises:
        UsageError: It is no text that a rule could name.
    """
    if (
        not isinstance(name, str)
        or not 0 < len(name) <= MAX_SERVER_NAME
        or not name.isprintable()
        or name != name.strip()
        or re.search(r"[*?\[\]]", name)
    ):
        raise UsageError(
            f"MCPServer({brief_repr(name)}): a server's name is text of 1 to {MAX_SERVER_NAME} "
            'printable characters without "*", "?", "[" and "]", such as "files"; rules name its '
            'tools as "files/read"'
        )
    return name


def registered_names(raws: Sequence[str]) -> dict[str, str]:
    """Say under which name each tool of one server is registered.

    A name that providers take stays. In another one, accents are dropped and each run of other
    characters becomes ``_``; where that is nothing, too long, or the name of another tool of
    the server, a hash of the name follows, so that the order of the tools says nothing.

    Args:
        raws: The names as the server has them, each once.

    Returns:
        The registered name of each; no two are the same.
    """
    plain = {raw: _plain(raw) for raw in raws}
    shared = Counter(plain.values())
    names = {raw: raw for raw in raws if NAME_PATTERN.fullmatch(raw)}
    used = set(names)
    for raw in sorted(raws):
        if raw in names:
            continue
        name = plain[raw]
        if not 0 < len(name) <= MAX_NAME or shared[name] > 1:
            name = _hashed(name, raw, used)
        names[raw] = name
        used.add(name)
    return {raw: names[raw] for raw in raws}


def in_company(
    names: Mapping[str, str], taken: Iterable[str], server: str, *, prefix: bool = False
) -> dict[str, str]:
    """Give those names the server's name as a prefix that others have already.

    Names count as the same where they differ in case only, or in ``-`` for ``_``: to a model,
    and to whoever reads a rule, they look the same.

    Args:
        names: Registered names by the server's own.
        taken: Names of the tools there are.
        server: The server's name.
        prefix: Whether to prefix all.
    """
    others = {_folded(name) for name in taken}
    used = others | {_folded(name) for name in names.values()}
    result = {}
    for raw, name in names.items():
        if prefix or _folded(name) in others:
            name = _prefixed(server, raw, name, used)
            used.add(_folded(name))
        result[raw] = name
    return result


def _prefixed(server: str, raw: str, name: str, used: Container[str]) -> str:
    whole = f"{_plain(server) or 'server'}_{name}"
    if len(whole) <= MAX_NAME and _folded(whole) not in used:
        return whole
    return _hashed(whole, f"{server}/{raw}", used)


def _plain(raw: str) -> str:
    """The name with nothing but ASCII letters, digits, ``_`` and ``-`` in it; maybe too long."""
    if NAME_PATTERN.fullmatch(raw):
        return raw
    decomposed = unicodedata.normalize("NFKD", raw)
    letters = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return re.sub(r"[^A-Za-z0-9_-]+", "_", letters).strip("_")


def _hashed(name: str, of: str, used: Container[str]) -> str:
    """A name that nobody has, made of another and a hash."""
    for attempt in itertools.count():
        seed = f"{attempt or ''}{of}".encode("utf-8", "backslashreplace")
        tail = hashlib.sha256(seed).hexdigest()[:_HASH]
        made = f"{name[: MAX_NAME - _HASH - 1] or 'tool'}_{tail}"
        if _folded(made) not in used and made not in used:
            return made
    raise AssertionError


def _folded(name: str) -> str:
    return name.casefold().replace("-", "_")
