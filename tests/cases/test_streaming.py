"""Calls that come in pieces, from servers that number them badly."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from agtools_nb.define.wire import CallAssembler


def assembled(chunks: list[Any]) -> list[tuple[str | None, str, Any]]:
    """Id, name and arguments of each call."""
    assembler = CallAssembler()
    for chunk in chunks:
        assembler.feed(chunk)
    return [
        (one.id, one.name, json.loads(one.args) if isinstance(one.args, str) else dict(one.args))
        for one in assembler.finish()
    ]


def bare(pieces: list[dict[str, Any]]) -> list[Any]:
    """Deltas without a message around them."""
    return pieces


def chat(pieces: list[dict[str, Any]]) -> list[Any]:
    """A chunk a delta, as chat completions stream."""
    return [
        {"choices": [{"index": 0, "delta": {"tool_calls": [_function(piece)]}}]} for piece in pieces
    ]


def together(pieces: list[dict[str, Any]]) -> list[Any]:
    """All deltas in one chunk."""
    return [{"choices": [{"delta": {"tool_calls": [_function(piece) for piece in pieces]}}]}]


def _function(piece: dict[str, Any]) -> dict[str, Any]:
    inner = {key: piece[key] for key in ("name", "arguments") if key in piece}
    outer = {key: value for key, value in piece.items() if key not in inner}
    return {**outer, "function": inner}


@pytest.mark.parametrize("form", [bare, chat, together], ids=lambda form: form.__name__)
class TestPieces:
    """How deltas find their call, in each form that they come in."""

    @pytest.mark.parametrize("index", [{"index": None}, {}], ids=["null", "absent"])
    def test_without_an_index(self, form: Any, index: dict[str, Any]) -> None:
        """stream-01: an id opens a call, and what has none continues the last."""
        pieces = [
            {**index, "id": "c1", "name": "glob", "arguments": '{"p":'},
            {**index, "arguments": '"a"}'},
            {**index, "id": "c2", "name": "grep", "arguments": ""},
            {**index, "arguments": '{"q": '},
            {**index, "arguments": "1}"},
        ]
        assert assembled(form(pieces)) == [("c1", "glob", {"p": "a"}), ("c2", "grep", {"q": 1})]

    def test_the_id_with_each_piece(self, form: Any) -> None:
        """stream-01: an id that is repeated opens nothing new."""
        text = '{"p": "abc"}'
        pieces = [{"id": "c1", "name": "glob", "arguments": letter} for letter in text]
        assert assembled(form(pieces)) == [("c1", "glob", {"p": "abc"})]

    @pytest.mark.parametrize("empty", ["", None])
    def test_an_empty_id_is_none(self, form: Any, empty: Any) -> None:
        """stream-01: later pieces with an empty id and name continue the call."""
        pieces = [
            {"index": 0, "id": "c1", "name": "glob", "arguments": '{"p":'},
            {"index": 0, "id": empty, "name": empty, "arguments": '"a"}'},
        ]
        assert assembled(form(pieces)) == [("c1", "glob", {"p": "a"})]

    def test_two_ids_under_one_index(self, form: Any) -> None:
        """stream-02: different ids are different calls, whatever their index says."""
        pieces = [
            {"index": 0, "id": "c1", "name": "glob", "arguments": '{"p":"a"}'},
            {"index": 0, "id": "c2", "name": "glob", "arguments": '{"p":"b"}'},
        ]
        assert assembled(form(pieces)) == [("c1", "glob", {"p": "a"}), ("c2", "glob", {"p": "b"})]

    def test_two_ids_under_one_index_in_pieces(self, form: Any) -> None:
        """stream-02: what follows belongs to the one that was opened last."""
        pieces = [
            {"index": 0, "id": "c1", "name": "glob", "arguments": '{"p"'},
            {"index": 0, "arguments": ':"a"}'},
            {"index": 0, "id": "c2", "name": "glob", "arguments": '{"p"'},
            {"index": 0, "arguments": ':"b"}'},
        ]
        assert assembled(form(pieces)) == [("c1", "glob", {"p": "a"}), ("c2", "glob", {"p": "b"})]

    def test_interleaved_by_index(self, form: Any) -> None:
        """stream-02: where the indexes are right they are followed, in any order of pieces."""
        texts = ['{"p": "aaaa"}', '{"p": "bb"}', '{"p": ""}']
        opening = [{"index": n, "id": f"c{n}", "name": "glob", "arguments": ""} for n in range(3)]
        pieces = [
            {"index": n, "arguments": letter}
            for letters in itertools.zip_longest(*texts)
            for n, letter in enumerate(letters)
            if letter
        ]
        assert assembled(form([*opening, *pieces])) == [
            (f"c{n}", "glob", json.loads(text)) for n, text in enumerate(texts)
        ]

    def test_no_ids_at_all(self, form: Any) -> None:
        """stream-02: whole calls without ids under one index are still two."""
        pieces = [
            {"index": 0, "name": "glob", "arguments": '{"p":"a"}'},
            {"index": 0, "name": "glob", "arguments": '{"p":"b"}'},
        ]
        assert [found[1:] for found in assembled(form(pieces))] == [
            ("glob", {"p": "a"}),
            ("glob", {"p": "b"}),
        ]
