"""The card view."""

from __future__ import annotations

import json
from typing import Annotated

from pydantic import Field

from agtools_nb.define import Tool, tool
from agtools_nb.views.card import CardView


@tool
def forecast(city: str, days: Annotated[int, Field(ge=1, le=10)] = 3) -> str:
    """Forecast <b>the</b> weather.

    Args:
        city: Name & country.
        days: How far ahead.
    """
    return city


def test_it_shows_each_parameter_with_type_default_bounds_and_description(clock):
    data = CardView(clock, forecast).data
    assert data["parameters"] == [
        {
            "name": "city",
            "required": True,
            "type": "string",
            "bounds": "",
            "default": None,
            "description": "Name & country.",
        },
        {
            "name": "days",
            "required": False,
            "type": "integer",
            "bounds": "from 1 to 10",
            "default": "3",
            "description": "How far ahead.",
        },
    ]
    assert "test_card" in data["origin"]


def test_it_shows_the_schema_and_what_each_provider_is_sent(clock):
    texts = {
        one["title"]: json.loads(one["text"]) for one in CardView(clock, forecast).data["texts"]
    }
    assert list(texts) == ["JSON Schema", "Result", "OpenAI", "Anthropic", "Gemini", "MCP"]
    assert texts["JSON Schema"]["properties"]["days"]["maximum"] == 10
    assert all("forecast" in json.dumps(texts[name]) for name in list(texts)[2:])


def test_static_forms_are_escaped(clock):
    view = CardView(clock, forecast)
    html, text = view.static_html(), view.static_text()
    assert "&lt;b&gt;the&lt;/b&gt;" in html
    assert "<b>" not in html
    for part in ("city", "from 1 to 10", "How far ahead."):
        assert part in html
        assert part in text
    assert "Anthropic" in html


def test_a_tool_without_arguments(clock):
    @tool
    def now() -> str:
        """Time."""
        return ""

    view = CardView(clock, now)
    assert view.data["parameters"] == []
    assert "Takes no arguments." in view.static_html()


def test_a_schema_that_cannot_be_built_is_told(clock):
    def late(city: "Missing") -> str:  # noqa: F821, UP037
        """Late."""
        return city

    view = CardView(clock, Tool(late))
    assert "Missing" in view.data["fault"]
    assert view.data["texts"] == []
    assert "Missing" in view.static_html()
