"""What a request mentions: its words, its numbers, and the runs of words that may be copied."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

_WORD = re.compile(r"\S+")
_BEFORE = re.compile(r"^[^\w+-]*")
_AFTER = re.compile(r"[^\w%]*$")
_NUMBER = re.compile(r"(?<!\d)[-+]?\d+(?:\.\d+)?(?!\d)")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_NAMES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen", "twenty"),
)
_TENS = {
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
    "hundred": 100,
}
_VALUES = {name: value for value, name in enumerate(_NAMES)} | _TENS
_CUES = ("called", "named", "titled", "labelled", "labeled")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text, without the punctuation around it.

    Attributes:
        start: Where it begins.
        end: Where it ends.
    """

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Number:
    """A number of a text.

    Attributes:
        word: Which word it is in, from 0.
        text: It as JSON, such as ``"-5"`` for ``-5`` and ``"7"`` for ``seven``.
    """

    word: int
    text: str

    @property
    def is_whole(self) -> bool:
        """Whether it has no fraction."""
        return "." not in self.text


class Mentions:
    """The words and numbers of a request, and which of them are taken.

    What became one argument is not used for another: a name is not the message too, and of two
    numbers each is meant for one place.

    Args:
        text: The request.

    Attributes:
        text: The request.
        words: Its words.
        free: For each word, whether it is still to be used.
        numbers: Its numbers that are not used.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = tuple(_words(text))
        self.free = [word.start < word.end for word in self.words]
        self.numbers = list(_numbers(text, self.words))

    def word(self, index: int) -> str:
        """A word's letters."""
        word = self.words[index]
        return self.text[word.start : word.end]

    def mentioned(self, values: Sequence[object]) -> list[object]:
        """Those of ``values`` whose text is in the request as words that are free."""
        return [value for value in values if self._places(str(value))]

    def take(self, value: object) -> None:
        """Use up where ``value`` is mentioned; words of a number wherever it is."""
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            same = [number for number in self.numbers if json.loads(number.text) == value]
            for number in same:
                self.free[number.word] = False
            if same:
                self.numbers.remove(same[0])  # "5 plus 5" has one for each place
            return
        run = next(iter(self._places(str(value))), ())
        for index in run:
            self.free[index] = False
        self.numbers = [number for number in self.numbers if number.word not in run]

    def after_cue(self, name: str) -> int | None:
        """The word after ``name`` or a word such as ``called``, from which a name is copied."""
        cues = {*_CUES, name.casefold(), name.casefold().replace("_", " ")}
        for index in range(len(self.words) - 1):
            nexts = index + 1
            said = self.word(index).casefold()
            if said == "call" and self.word(nexts).casefold() == "it":
                said, nexts = "called", index + 2
            if said in cues and nexts < len(self.words) and self.free[nexts]:
                return nexts
        return None

    def _places(self, value: str) -> list[tuple[int, ...]]:
        """The runs of free words that are ``value``, whatever the case."""
        parts = value.casefold().split()
        found = []
        for start in range(len(self.words) - len(parts) + 1 if parts else 0):
            run = tuple(range(start, start + len(parts)))
            first, last = self.words[run[0]].start, self.words[run[-1]].end
            said = self.text[first:last].casefold()
            if said.split() == parts and all(self.free[index] for index in run):
                found.append(run)
        return found


def _words(text: str) -> list[Word]:
    found = []
    for match in _WORD.finditer(text):
        said = match.group()
        start = match.start() + len(_BEFORE.match(said).group())  # type: ignore[union-attr]
        end = match.start() + _AFTER.search(said).start()  # type: ignore[union-attr]
        has_letters = end > start and any(letter.isalnum() for letter in text[start:end])
        found.append(Word(start, end) if has_letters else Word(match.end(), match.end()))
    return found


def _numbers(text: str, words: Sequence[Word]) -> list[Number]:
    found = []
    for index, word in enumerate(words):
        said = text[word.start : word.end]
        value = _VALUES.get(said.casefold())
        if value is not None:
            found.append(Number(index, str(value)))
            continue
        for match in _NUMBER.finditer(_THOUSANDS.sub("", said)):
            number = match.group().removeprefix("+")
            if match.start() and not number[0].isdigit():
                number = number[1:]  # 3-4 is no minus four
            found.append(Number(index, _plain(number)))
    return found


def _plain(number: str) -> str:
    """A number as JSON writes it: in the digits 0 to 9, without zeros in front."""
    number = "".join(str(int(one)) if one.isdecimal() else one for one in number)
    sign, digits = ("-", number[1:]) if number.startswith("-") else ("", number)
    whole, point, fraction = digits.partition(".")
    return f"{sign}{whole.lstrip('0') or '0'}{point}{fraction}"
