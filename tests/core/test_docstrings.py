"""Descriptions out of docstrings, in every common style."""

from __future__ import annotations

import pytest

from agtools_nb.define.docstrings import describe

GOOGLE = """Search the index.

    More prose.

    Args:
        query: What to look for.
        mode: One of:
            - fast: quick
            - slow: thorough

    Keyword Args:
        limit: Most results.

    Returns:
        The hits.

    Raises:
        ValueError: when bad
    """
NUMPY = """Search the index.

    More prose.

    Parameters
    ----------
    query : str
        What to look for.
    mode : str
        One of:
            - fast: quick
            - slow: thorough

    Other Parameters
    ----------------
    limit : int
        Most results.

    Returns
    -------
    list
        The hits.
    """
REST = """Search the index.

    More prose.

    :param query: What to look for.
    :param mode: One of:
        - fast: quick
        - slow: thorough
    :param limit: Most results.
    :returns: The hits.
    :raises ValueError: when bad
    """


@pytest.mark.parametrize("doc", [GOOGLE, NUMPY, REST], ids=["google", "numpy", "rest"])
def test_each_style_says_the_same(doc: str) -> None:
    found = describe(doc, ["query", "mode", "limit"])
    assert found.summary == "Search the index.\n\nMore prose."
    assert set(found.parameters) == {"query", "mode", "limit"}
    assert found.parameters["query"] == "What to look for."
    assert found.parameters["limit"] == "Most results."
    assert "- fast: quick" in found.parameters["mode"]
    assert "- slow: thorough" in found.parameters["mode"]


def test_sections_before_the_parameters_are_not_part_of_the_summary() -> None:
    found = describe(
        "Summary.\n\nRaises:\n    ValueError: when bad\n\nArgs:\n    x: The x value\n", ["x"]
    )
    assert (found.summary, found.parameters) == ("Summary.", {"x": "The x value"})


def test_numpy_groups() -> None:
    found = describe("Add.\n\nParameters\n----------\nx, y : float\n    An operand.\n", ["x", "y"])
    assert found.parameters == {"x": "An operand.", "y": "An operand."}


@pytest.mark.parametrize("doc", ["", None, "   \n  "])
def test_no_docstring(doc: str | None) -> None:
    assert describe(doc, ["x"]).summary == ""


@pytest.mark.parametrize(
    "doc", ["Args:", "Just prose: with a colon.", ":param", "Parameters\n-----\n", "<b>&\x00"]
)
def test_odd_docstrings_do_no_harm(doc: str) -> None:
    assert isinstance(describe(doc, ["x"]).summary, str)


EPYDOC = """Search the index.

    More prose.

    @param query: What to look for.
    @param mode: One of:
        - fast: quick
        - slow: thorough
    @param limit: Most results.
    @return: The hits.
    @raise ValueError: when bad
    """


def test_epydoc() -> None:
    found = describe(EPYDOC, ["query", "mode", "limit"])
    assert found.summary == "Search the index.\n\nMore prose."
    assert found.parameters["limit"] == "Most results."
    assert "- slow: thorough" in found.parameters["mode"]


@pytest.mark.parametrize(
    "section",
    [
        "Note:\n    Slow.",
        "Warning:\n    Slow.",
        "Returns:\n    The hits.",
        "Raises:\n    ValueError: x is bad",
        "Yields:\n    int: hits",
        "Examples:\n    >>> f(1)\n    x: 5",
        "Attributes:\n    x: an attribute",
        "See Also:\n    other",
    ],
)
def test_other_sections_stay_out_wherever_they_stand(section: str) -> None:
    args = "Args:\n    x: The x value."
    for text in (f"Summary.\n\n{section}\n\n{args}", f"Summary.\n\n{args}\n\n{section}"):
        found = describe(text, ["x"])
        assert (found.summary, found.parameters) == ("Summary.", {"x": "The x value."}), text


@pytest.mark.parametrize(
    "section",
    [
        "Notes\n-----\nSlow.",
        "Raises\n------\nValueError\n    bad x",
        "Returns\n-------\nlist\n    hits",
        "Attributes\n----------\nx : int\n    an attribute",
        "See Also\n--------\nother",
    ],
)
def test_other_numpy_sections_stay_out(section: str) -> None:
    args = "Parameters\n----------\nx : int\n    The x value."
    for text in (f"Summary.\n\n{section}\n\n{args}", f"Summary.\n\n{args}\n\n{section}"):
        found = describe(text, ["x"])
        assert (found.summary, found.parameters) == ("Summary.", {"x": "The x value."}), text


def test_prose_keeps_its_lines_and_paragraphs() -> None:
    text = "One sentence over\ntwo lines.\n\nAnother: with a colon.\n\n- a list"
    assert describe(text, ["x"]).summary == text
    found = describe(f"{text}\n\nArgs:\n    x: The x value.", ["x"])
    assert (found.summary, found.parameters) == (text, {"x": "The x value."})


def test_the_style_that_describes_the_parameters_wins() -> None:
    text = "Summary.\n\nExample:\n    f(1)\n\n:param x: The x value.\n"
    assert describe(text, ["x"]).parameters == {"x": "The x value."}


def test_types_and_stars_belong_to_no_name() -> None:
    text = (
        "S.\n\nArgs:\n    x (int, optional): X.\n    **more (str): Others.\n    y: Y: with colon.\n"
    )
    assert describe(text, ["x", "more", "y"]).parameters == {
        "x": "X.", "more": "Others.", "y": "Y: with colon.",
    }  # fmt: skip
