"""Text that is nearly what was looked for: why an edit matched nowhere."""

from __future__ import annotations

import difflib
import time

_SECONDS = 0.5
_COMPARED = 200
_CLOSE = 0.6
_MOST_LINES = 20_000


def spaced_otherwise(lines: list[str], wanted: str) -> int | None:
    """The line (from 0) where the same text stands with other white space, if there is one."""
    words = [" ".join(line.split()) for line in wanted.strip("\n").split("\n")]
    if not any(words):
        return None
    plain = [" ".join(line.split()) for line in lines]
    last = len(plain) - len(words)
    for at in range(last + 1):
        if words[0] in plain[at] and _fits(plain, words, at):
            return at
    return None


def _fits(plain: list[str], words: list[str], at: int) -> bool:
    """Whether lines say the same, the first from anywhere and the last up to anywhere."""
    if len(words) == 1:
        return True
    return (
        plain[at].endswith(words[0])
        and plain[at + 1 : at + len(words) - 1] == words[1:-1]
        and plain[at + len(words) - 1].startswith(words[-1])
    )


def most_alike(lines: list[str], wanted: str) -> int | None:
    """The line (from 0) that is most like the longest one of the text, if one is like it."""
    longest = max(wanted.split("\n"), key=lambda line: len(line.strip())).strip()[:_COMPARED]
    if not longest:
        return None
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(longest)
    best, best_ratio = None, _CLOSE
    deadline = time.monotonic() + _SECONDS
    for number, line in enumerate(lines[:_MOST_LINES]):
        if time.monotonic() > deadline:
            break
        matcher.set_seq1(line.strip()[:_COMPARED])
        if matcher.real_quick_ratio() <= best_ratio or matcher.quick_ratio() <= best_ratio:
            continue
        ratio = matcher.ratio()
        if ratio > best_ratio:
            best, best_ratio = number, ratio
    return best
