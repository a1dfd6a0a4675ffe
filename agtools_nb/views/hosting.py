"""A view that shows, below itself, cards that wait for a person's answer.

A card lives in the output of the view whose work asks: an output that is there already is shown
by every front end, also after its cell has ended.
"""

from __future__ import annotations

from typing import Any

from agtools_nb.views.asked import AskedView
from agtools_nb.views.base import Scheduler, View
from agtools_nb.views.markup import Html, join

MAX_OPEN = 3
"""Cards that ask at one time; further ones come when one of these was answered."""

MAX_ANSWERED = 20
"""Answered cards that stay to be seen."""


class HostView(View):
    """A view with cards below.

    Args:
        scheduler: Where handlers and updates run.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self._cards: list[AskedView] = []
        super().__init__(scheduler)

    @property
    def cards(self) -> tuple[AskedView, ...]:
        """The cards, in the order in which they came to ask."""
        return tuple(self._cards)

    def show_card(self, card: AskedView) -> None:
        """Show a card that asks. On the main loop only."""
        self._cards.append(card)
        self.cards_changed()

    def cards_changed(self) -> None:
        """A card was answered: the next one may ask. On the main loop only."""
        answered = [card for card in self._cards if not card.is_open]
        for card in answered[:-MAX_ANSWERED]:
            self._cards.remove(card)
            card.close()
        self._changes += 1
        # A page that is loaded later has an older state, and is sent all of it.
        self._rev += 1
        self.post({"type": "cards", "cards": self._cards_data()})

    def _cards_data(self) -> dict[str, Any]:
        waiting = [card for card in self._cards if card.is_open]
        hidden = waiting[MAX_OPEN:]
        shown = [card.id for card in self._cards if card not in hidden]
        return {"ids": shown, "more": len(hidden)}

    def _next_data(self) -> dict[str, Any]:
        return {**super()._next_data(), "cards": self._cards_data()}

    def cards_html(self) -> Html:
        """Return the cards for the static form."""
        return join([Html(card.static_html()) for card in self._cards])

    def cards_text(self) -> list[str]:
        """Return the cards for the static form, a text each."""
        return [card.static_text() for card in self._cards]
