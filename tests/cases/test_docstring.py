"""Docstrings: each parameter's words reach that parameter, and nothing else does."""

from __future__ import annotations

from typing import Any

import pytest

from agtools_nb import Tool


def told(doc: str, *names: str) -> tuple[str, dict[str, str]]:
    """Description of the tool, and of each parameter, with this docstring."""
    namespace: dict[str, Any] = {}
    exec(f"def f({', '.join(f'{name}: str = str()' for name in names)}): ...", namespace)
    namespace["f"].__doc__ = doc
    made = Tool.from_function(namespace["f"])
    properties = made.input_schema["properties"]
    return made.description, {name: sub.get("description", "") for name, sub in properties.items()}


@pytest.mark.parametrize("section", ["Keyword Args", "Keyword Arguments", "Other Parameters"])
def test_google_sections_beside_args(section: str) -> None:
    """docstring-01: every section that lists parameters is read."""
    doc = (
        f"Search.\n\nArgs:\n    query: What to look for.\n\n{section}:\n    limit: Most results.\n"
    )
    assert told(doc, "query", "limit") == (
        "Search.",
        {"query": "What to look for.", "limit": "Most results."},
    )


@pytest.mark.parametrize("section", ["Other Parameters", "Keyword Arguments"])
def test_numpy_sections_beside_parameters(section: str) -> None:
    """docstring-01: the same in NumPy's style."""
    line = "-" * len(section)
    doc = (
        "Search.\n\nParameters\n----------\nquery : str\n    What to look for.\n\n"
        f"{section}\n{line}\nlimit : int, optional\n    Most results.\n"
    )
    found = told(doc, "query", "limit")
    assert found[0] == "Search."
    assert found[1]["query"] == "What to look for."
    if section == "Other Parameters":  # the other is no section of NumPy's
        assert found[1]["limit"] == "Most results."


RAISES = {
    "google": "Summary.\n\nRaises:\n    ValueError: when bad\n\nArgs:\n    x: The x value\n",
    "google, after": "Summary.\n\nArgs:\n    x: The x value\n\nRaises:\n    ValueError: when bad\n",
    "numpy": "Summary.\n\nParameters\n----------\nx : str\n    The x value\n\nRaises\n------\nValueError\n    when bad\n",
    "rest": "Summary.\n\n:param x: The x value\n:raises ValueError: when bad\n:returns: nothing\n",
    "google, returns": "Summary.\n\nReturns:\n    when bad\n\nArgs:\n    x: The x value\n",
}


@pytest.mark.parametrize("style", RAISES)
def test_what_it_raises_is_not_what_it_does(style: str) -> None:
    """docstring-02: other sections are not glued to the summary."""
    assert told(RAISES[style], "x") == ("Summary.", {"x": "The x value"})


def test_paragraphs_of_prose_are_kept() -> None:
    """docstring-02: prose that follows the summary is part of the description."""
    doc = (
        "Summary.\n\nMore of it.\n\nAnd more.\n\nArgs:\n    x: The x value\n\nRaises:\n    E: no\n"
    )
    description, parameters = told(doc, "x")
    assert [part.strip() for part in description.split("\n\n")] == [
        "Summary.",
        "More of it.",
        "And more.",
    ]
    assert parameters == {"x": "The x value"}


BULLETS = {
    "google": "Run.\n\nArgs:\n    mode: One of:\n        - fast: quick\n        - slow: thorough\n    other: Next.\n",
    "numpy": "Run.\n\nParameters\n----------\nmode : str\n    One of:\n\n    - fast: quick\n    - slow: thorough\nother : str\n    Next.\n",
    "rest": "Run.\n\n:param mode: One of:\n    - fast: quick\n    - slow: thorough\n:param other: Next.\n",
}


@pytest.mark.parametrize("style", BULLETS)
def test_descriptions_of_several_lines(style: str) -> None:
    """docstring-04: whole, and no bullet is taken for a parameter."""
    description, parameters = told(BULLETS[style], "mode", "other")
    assert description == "Run."
    assert set(parameters) == {"mode", "other"}
    for part in ("One of:", "- fast: quick", "- slow: thorough"):
        assert part in parameters["mode"]
    assert parameters["other"] == "Next."


def test_a_colon_within_a_description() -> None:
    """docstring-04: a line that looks like an entry is still the description's."""
    doc = "Run.\n\nArgs:\n    mode: Format is\n        key: value\n        as in YAML.\n"
    _, parameters = told(doc, "mode")
    assert "key: value" in parameters["mode"]
    assert "as in YAML." in parameters["mode"]


WEATHER = {
    "google": "Look up weather.\n\nArgs:\n    location: City name.\n",
    "google, typed": "Look up weather.\n\nArgs:\n    location (str): City name.\n",
    "numpy": "Look up weather.\n\nParameters\n----------\nlocation : str\n    City name.\n",
    "rest": "Look up weather.\n\n:param location: City name.\n",
    "rest, typed": "Look up weather.\n\n:param str location: City name.\n",
    "indented": "\n    Look up weather.\n\n    Args:\n        location: City name.\n    ",
}


@pytest.mark.parametrize("style", WEATHER)
def test_each_style_reaches_the_parameter(style: str) -> None:
    """docstring-05: nothing is doubled, nothing is lost."""
    assert told(WEATHER[style], "location") == ("Look up weather.", {"location": "City name."})
