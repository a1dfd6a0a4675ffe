"""The six tools of the evaluation. They do nothing: only the call is looked at."""

from __future__ import annotations

from typing import Literal

from agtools_nb.define import Tool

Currency = Literal["USD", "EUR", "GBP", "JPY", "CHF"]


def get_weather(city: str, unit: Literal["celsius", "fahrenheit"] = "celsius") -> str:
    """Get the current weather for a city.

    Args:
        city: Name of the city.
        unit: Unit of the temperature.
    """
    return f"weather of {city} in {unit}"


def add(a: int, b: int) -> int:
    """Add two integers.

    Args:
        a: The first number.
        b: The second number.
    """
    return a + b


def search_documents(query: str, limit: int = 5) -> str:
    """Search the documents for a topic.

    Args:
        query: What to search for.
        limit: Most documents to find.
    """
    return f"{limit} documents about {query}"


def convert_currency(amount: float, from_currency: Currency, to_currency: Currency) -> str:
    """Convert an amount of money from one currency to another.

    Args:
        amount: How much money.
        from_currency: Currency to convert from.
        to_currency: Currency to convert to.
    """
    return f"{amount} {from_currency} in {to_currency}"


def set_timer(minutes: int, label: str | None = None) -> str:
    """Set a timer for a number of minutes.

    Args:
        minutes: How long, in minutes.
        label: Name of the timer.
    """
    return f"timer {label or ''} for {minutes} minutes"


def send_message(to: str, text: str) -> str:
    """Send a text message to a person.

    Args:
        to: Name of the person.
        text: What to say.
    """
    return f"sent {text!r} to {to}"


_FUNCTIONS = (get_weather, add, search_documents, convert_currency, set_timer, send_message)


def evaluation_tools() -> tuple[Tool, ...]:
    """The six tools, in the order in which a model is offered them."""
    return tuple(Tool.from_function(function) for function in _FUNCTIONS)
