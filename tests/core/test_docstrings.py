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
