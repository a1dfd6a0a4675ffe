"""What ``repr`` says of a view, as in a debugger or a log."""

from __future__ import annotations

import pytest

from agtools_nb import tool
from agtools_nb.calls import ToolCall
from agtools_nb.context import StateStore
from agtools_nb.events import Background
from agtools_nb.views.activity import ActivityView
from agtools_nb.views.base import DirectScheduler, View
from agtools_nb.views.batch import BatchView
from agtools_nb.views.card import CardView
from agtools_nb.views.form import FormView
from agtools_nb.views.inspector import InspectorView
from agtools_nb.views.registry import RegistryRow, RegistryView


@tool
def bake(cakes: int, note: str = "") -> int:
    """Bake cakes.

    Args:
        cakes: How many.
    """
    return cakes


def views() -> list[tuple[View, str]]:
    scheduler = DirectScheduler()
    state = StateStore()
    state.set("a", 1)
    state.set("a", 2)
    background = Background()
    background.send("hello")
    return [
        (FormView(scheduler, bake, {"cakes": 3, "note": "x" * 50}), 'bake(cakes=3, note="xxx'),
        (FormView(scheduler, bake), "bake()"),
        (CardView(scheduler, bake), "bake: Bake cakes."),
        (RegistryView(scheduler, lambda: [RegistryRow(bake)]), "1 tool: bake"),
        (RegistryView(scheduler, list), "no tools yet"),
        (InspectorView(scheduler, state, "Kitchen"), "Kitchen, 1 key, 2 writes"),
        (ActivityView(scheduler, background), "0 running · 1 event to handle"),
        (BatchView(scheduler, [ToolCall("bake", {})] * 2, None), "2 calls · 2 waiting"),
    ]


def test_a_repr_says_what_is_shown() -> None:
    for view, words in views():
        text = repr(view)
        assert text.startswith(f"<{type(view).__name__}: {words}")
        assert text.endswith(">")
        assert " at 0x" not in text


def test_a_repr_is_one_short_line() -> None:
    @tool(description="first\nsecond " + "word " * 100)
    def bake(cakes: int) -> int:
        return cakes

    for view in (
        CardView(DirectScheduler(), bake),
        FormView(DirectScheduler(), bake, {"cakes": "a\n" * 500}),
        RegistryView(DirectScheduler(), lambda: [RegistryRow(bake)] * 100),
        InspectorView(DirectScheduler(), StateStore(), "a\nb" * 500),
    ):
        text = repr(view)
        assert "\n" not in text
        assert len(text) <= 120


def test_a_repr_never_raises() -> None:
    half_made = FormView.__new__(FormView)
    assert repr(half_made) == "<FormView>"

    def rows() -> list[RegistryRow]:
        if made:
            raise RuntimeError("no rows")
        return []

    made: list[View] = []
    made.append(RegistryView(DirectScheduler(), rows))
    assert repr(made[0]) == "<RegistryView>"


@pytest.mark.parametrize("kind", [FormView, CardView])
def test_jupyter_is_shown_the_whole_text(kind: type[View]) -> None:
    view = kind(DirectScheduler(), bake)  # type: ignore[call-arg]
    assert view._repr_mimebundle_()[0]["text/plain"] == view.static_text()
