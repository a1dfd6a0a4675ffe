"""Memory: texts to be found again by what they say (SQLite FTS5)."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agtools_nb.context.database import Database
from agtools_nb.context.database_errors import damaged
from agtools_nb.context.kept import dumped, json_copy
from agtools_nb.errors import StoreError, UsageError
from agtools_nb.jsonable import brief_repr, clean_text

MOST_HITS = 1_000

# FTS5 takes expressions of a depth of 256; words beyond these do not change what is found much.
_MOST_WORDS = 64
_LONGEST_QUERY = 5_000

# Scripts written without spaces: each character becomes a word, and two in a row are looked for.
_UNSPACED = (
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_ONE_UNSPACED = re.compile(f"({_UNSPACED})")
_PIECES = re.compile(rf"{_UNSPACED}+|(?:(?!{_UNSPACED})[\w'\u2019.@-])+")

_TABLES = (
    """CREATE TABLE IF NOT EXISTS memories (
        id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL, labels TEXT NOT NULL,
        at REAL NOT NULL)""",
    """CREATE VIRTUAL TABLE IF NOT EXISTS memory_words USING fts5(
        words, tokenize = 'porter unicode61 remove_diacritics 2')""",
)


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """One text that was found.

    Attributes:
        id: What :meth:`Memory.add` gave it.
        text: The text.
        score: How well it fits (BM25): higher is better, and comparable within one search only.
        at: Unix time in seconds at which it was added, as the clock had it.
        labels: What it was labelled with.
    """

    id: int
    text: str
    score: float
    at: float
    labels: Mapping[str, Any]


class Memory:
    """Texts with labels, and a full-text search over them. Safe to use from any thread.

    Args:
        database: Where they last.

    Raises:
        StoreError: This Python's SQLite has no FTS5.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        try:
            database.create(*_TABLES)
        except StoreError as error:
            if "fts5" not in str(error):
                raise
            raise StoreError(
                "memory needs SQLite with FTS5, and this Python's SQLite has none: use another "
                "Python, such as one from python.org or conda-forge"
            ) from error

    def add(self, text: str, /, **labels: Any) -> int:
        """Remember a text.

        Args:
            text: What to remember; it is found by its words.
            labels: Whatever else is to be known of it, as JSON values: ``source="chat"``.

        Returns:
            Its id.

        Raises:
            UsageError: It is no text, or empty.
            StateValueError: A label is no JSON value.
            StoreError: It could not be written; nothing was.
        """
        if not _says_something(text):
            raise UsageError(f"memory keeps texts that say something, not {brief_repr(text)}")
        text = clean_text(text)
        kept = {name: json_copy(name, value) for name, value in labels.items()}
        with self._database.transaction():
            [(number,)] = self._database.execute(
                "INSERT INTO memories (text, labels, at) VALUES (?, ?, ?) RETURNING id",
                (text, dumped(kept), time.time()),
            )
            self._database.execute(
                "INSERT INTO memory_words (rowid, words) VALUES (?, ?)", (number, _spaced(text))
            )
        return int(number)

    def search(self, query: str, limit: int = 10) -> tuple[MemoryHit, ...]:
        """Return the texts that have words of the query, the best first.

        Any of the words will do, the rarer the better; ``builds`` finds ``build``, ``cafe``
        finds ``café``. There are no operators: quotes, ``NEAR`` and ``*`` are searched for
        like anything else.

        Args:
            query: Plain words.
            limit: Most hits, from 1 to 1,000. Default 10.

        Raises:
            UsageError: The query is no text, or the limit out of range.
        """
        if not isinstance(query, str):
            raise UsageError(f"a memory is searched for with text, not {brief_repr(query)}")
        if type(limit) is not int or not 1 <= limit <= MOST_HITS:
            raise UsageError(f"limit must be from 1 to {MOST_HITS:,}, not {brief_repr(limit)}")
        expression = _expression(query)
        if not expression:
            return ()
        # Ranked before the texts are read: a common word may be in all of them.
        rows = self._database.execute(
            "SELECT id, text, -rank, at, labels FROM memories JOIN ("
            "SELECT rowid, rank FROM memory_words WHERE memory_words MATCH ? "
            "ORDER BY rank, rowid DESC LIMIT ?) AS found ON found.rowid = id "
            "ORDER BY rank, id DESC",
            (expression, limit),
        )
        return tuple(
            MemoryHit(number, text, score, at, self._labels(labels))
            for number, text, score, at, labels in rows
        )

    def forget(self, number: int) -> bool:
        """Remove a text, by its id. Returns whether it was there.

        Raises:
            UsageError: It is no number.
        """
        if type(number) is not int:
            raise UsageError(f"forget() takes the id that add() gave, not {brief_repr(number)}")
        with self._database.transaction():
            self._database.execute("DELETE FROM memory_words WHERE rowid = ?", (number,))
            rows = "DELETE FROM memories WHERE id = ? RETURNING id"
            return bool(self._database.execute(rows, (number,)))

    def __len__(self) -> int:
        [(count,)] = self._database.execute("SELECT count(*) FROM memories")
        return int(count)

    def __bool__(self) -> bool:
        return True  # an empty memory is one

    def __repr__(self) -> str:
        return f"<Memory of {len(self):,} texts>"

    def _labels(self, text: str) -> dict[str, Any]:
        try:
            labels: dict[str, Any] = json.loads(text)
        except ValueError as error:
            raise damaged(self._database.path, f"its memory is unreadable: {error}") from error
        return labels


def _expression(query: str) -> str:
    """Plain words as an FTS5 expression: any of them, each a phrase in quotes."""
    pieces = _PIECES.findall(clean_text(query[:_LONGEST_QUERY]))
    words = dict.fromkeys(word for piece in pieces for word in _words(piece))
    return " OR ".join(f'"{word}"' for word in list(words)[:_MOST_WORDS])


def _words(piece: str) -> list[str]:
    if not _ONE_UNSPACED.match(piece):
        return [piece]
    return [" ".join(piece[at : at + 2]) for at in range(max(len(piece) - 1, 1))]


def _says_something(text: object) -> bool:
    return isinstance(text, str) and bool(text.strip())


def _spaced(text: str) -> str:
    return _ONE_UNSPACED.sub(r" \1 ", text)
