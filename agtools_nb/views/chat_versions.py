"""Where conversations with a common beginning part: a page can go from one to another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agtools_nb.views.chat_transcript import Transcript


def versions(shown: Transcript[Any], branches: Sequence[Transcript[Any]]) -> dict[str, list[str]]:
    """By message of what is shown: the messages that stand at its place in all the branches.

    Only messages at which another branch parts are listed.
    """
    if len(branches) == 1:
        return {}
    own = shown.ids()
    every = [branch.ids() for branch in branches]
    found: dict[str, list[str]] = {}
    for ids in every:
        pairs = enumerate(zip(own, ids, strict=False))
        at = next((place for place, (a, b) in pairs if a != b), None)
        if at is not None and own[at] not in found:
            alike = (one[at] for one in every if len(one) > at and one[:at] == own[:at])
            found[own[at]] = list(dict.fromkeys(alike))
    return found
