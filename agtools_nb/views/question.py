"""The question widget: what a tool asks a person, and what they said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from agtools_nb.context import Question
from agtools_nb.context.questions import Answer
from agtools_nb.views import markup
from agtools_nb.views.asked import AskedView
from agtools_nb.views.base import Scheduler
from agtools_nb.views.unseen import show_unseen

TEXT_LIMIT = 100_000
"""Characters of an answer in the person's own words."""


class QuestionView(AskedView):
    """Asks a person one question, and shows afterwards what they said.

    Args:
        scheduler: Where handlers and updates run.
        question: What is asked.
        settle: Called once with the answer: one text, several if several may be chosen, or
            ``None`` if the person declined.
        seconds: How long it waits; then it is :meth:`expire` that ends it.
    """

    _view: ClassVar[str] = "question"

    def __init__(
        self,
        scheduler: Scheduler,
        question: Question,
        settle: Callable[[Answer], None],
        seconds: float | None = None,
    ) -> None:
        self._question = question
        self._said: tuple[str, ...] | None = None
        self._refused = ""
        super().__init__(scheduler, settle, seconds)

    @property
    def question(self) -> Question:
        """What is asked."""
        return self._question

    @property
    def answer(self) -> tuple[str, ...] | None:
        """What was said; ``None`` while nobody has, or if the person declined."""
        return self._said

    def say(self, *texts: str) -> None:
        """Answer with these texts, as the button does. On the main loop only."""
        if not self.is_open:
            return
        answer: Answer = list(texts) if self._question.multiple else (texts[0] if texts else "")
        if len(texts) > 1 and not self._question.multiple:
            answer = list(texts)  # which is no answer, and said to be none
        if (fault := self._question.fault(answer)) is not None:
            self._refused = fault
            self.refresh()
            return
        self._said = texts
        self._answer(answer)

    def decline(self) -> None:
        """Decline to answer, as the button does. On the main loop only."""
        self._answer(None)

    # -- from the browser ---------------------------------------------------------------------

    def on_answer(self, content: dict[str, Any]) -> None:
        """Answer was pressed: numbers of ``options``, and ``text`` in own words."""
        options, chosen = self._question.options, content.get("options")
        said = []
        if isinstance(chosen, list):
            said = [options[at] for at in chosen if type(at) is int and 0 <= at < len(options)]
        text = content.get("text")
        if isinstance(text, str) and (text or not options):
            said.append(text[:TEXT_LIMIT])
        self.say(*said)

    def on_decline(self, content: dict[str, Any]) -> None:
        """The person does not want to answer."""
        self.decline()

    # -- state --------------------------------------------------------------------------------

    def snapshot(self) -> dict[str, Any]:
        """Return what the page draws; see ``widgets/question/index.js``."""
        question = self._question
        return {
            **self._clock_data(),
            "tool": question.tool_name,
            "text": question.text,
            "options": list(question.options),
            "multiple": question.multiple,
            "allow_text": question.allow_text,
            "refused": self._refused,
            "decision": self._words(),
        }

    def _words(self) -> dict[str, str] | None:
        if self.is_open:
            return None
        if self.state == "expired":
            return {"word": "no answer", "kind": "cancelled", "note": "Nobody answered in time."}
        if self.state == "stopped":
            return {"word": "stopped", "kind": "cancelled", "note": "The call was stopped."}
        if self._said is None:
            return {"word": "declined", "kind": "cancelled", "note": ""}
        said = " · ".join(self._said) if self._said else "none of them"
        return {"word": "answered", "kind": "ok", "note": said}

    # -- static forms -------------------------------------------------------------------------

    def headline(self) -> str:
        """Return the question, and what came of it."""
        words = self._words()
        return f"{self._question.text}: {words['word'] if words else 'waits for an answer'}"

    def static_html(self) -> str:
        """Return the question and the answer."""
        options = self._question.options
        return markup.tag(
            "div",
            markup.tag("p", markup.tag("strong", show_unseen(self._question.text))),
            markup.tag("ul", *(markup.tag("li", show_unseen(one)) for one in options))
            if options
            else None,
            markup.tag("p", self._outcome()),
        )

    def static_text(self) -> str:
        """Return the question and the answer."""
        options = "".join(f"\n  - {show_unseen(one)}" for one in self._question.options)
        return f"{show_unseen(self._question.text)}{options}\n  {self._outcome()}"

    def _outcome(self) -> str:
        words = self._words()
        if words is None:
            return "It waited for an answer when this was saved."
        return f"{words['word']}: {show_unseen(words['note'])}" if words["note"] else words["word"]
