"""Where each of the handed cases is tested, and that it really is.

The cases are failures of other libraries; each stands for a kind. The list holds facts only: the
id of a case, and the file (and the test in it) that shows the kind to be right here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = "tests/cases/"
NOT_BUILT = "not built yet"

CASES = {
    **{f"schema-{n:02}": f"{HERE}test_schema.py" for n in (1, 2, 4, 5, 7, 8, 10, 11, 13, 14)},
    **{f"docstring-{n:02}": f"{HERE}test_docstring.py" for n in (1, 2, 4, 5)},
    **{f"coercion-{n:02}": f"{HERE}test_coercion.py" for n in (1, 2, 4, 5, 7, 8, 10, 11, 13, 14)},
    **{f"validation-{n:02}": f"{HERE}test_validation.py" for n in (1, 2, 4, 5)},
    **{f"dispatch-{n:02}": f"{HERE}test_dispatch.py" for n in (1, 2)},
    **{f"wire-{n:02}": f"{HERE}test_wire.py" for n in (1, 2, 4, 5, 7, 8)},
    **{f"stream-{n:02}": f"{HERE}test_streaming.py" for n in (1, 2)},
    "stream-04": "tests/mcp/test_progress.py::test_only_with_a_token_and_only_for_that_call",
    **{f"async-{n:02}": f"{HERE}test_async.py" for n in (1, 2, 3)},
    **{f"async-{n:02}": f"{HERE}test_timeouts.py" for n in (4, 5)},
    **{f"context-{n:02}": f"{HERE}test_context.py" for n in (1, 2, 3)},
    **{f"state-{n:02}": f"{HERE}test_context.py" for n in (1, 2)},
    "policy-01": "tests/access/test_approvals.py::test_which_answers_let_it_run",
    "policy-02": "tests/access/test_approvals.py::test_what_a_handler_is_given",
    "policy-04": "tests/access/test_approvals.py::test_what_the_model_is_told",
    "policy-05": "tests/access/test_approvals.py::test_only_the_call_that_is_asked_about_waits",
    "policy-07": "tests/access/test_policies.py::test_remarks_are_warned_of_once_as_calls_begin",
    "widget-01": "tests/form/test_corpus.py::test_an_untouched_form_is_empty",
    "widget-02": "tests/form/test_edits.py::test_clearing_a_required_text_leaves_the_empty_text",
    "widget-04": "tests/form/test_edits.py::test_text_and_integer_are_told_apart_by_the_type_switch",
    "widget-05": "tests/form/test_edits.py::test_typed_numbers_are_never_clamped_rounded_or_lost",
    "widget-07": "tests/views/test_base.py::test_every_update_differs_even_if_python_calls_the_values_equal",
    "widget-08": "tests/form/test_edits.py::test_a_root_of_branches",
    "security-01": f"{HERE}test_dispatch.py",  # in a page: tests/browser/test_hostile.py
    "notebook-01": "tests/browser/test_views.py::test_form_runs_while_a_cell_awaits",
    "notebook-02": "tests/views/test_base.py::test_refresh_and_post_may_come_from_any_thread",
    "notebook-04": "tests/kernel/test_kernel.py::test_a_handle_runs_on_while_other_cells_do",
    "notebook-05": "tests/browser/test_batches.py::test_interrupt_in_mid_batch",
    "notebook-06": "tests/kernel/test_kernel.py::test_no_cell_queued_behind_one_is_lost",
    "notebook-07": "tests/core/test_runner.py::test_tasks_and_threads_are_told_apart",
    "notebook-08": "tests/core/test_runner.py::test_tasks_and_threads_are_told_apart",
    "notebook-10": f"{HERE}test_dispatch.py",
    "notebook-11": f"{HERE}test_dispatch.py",  # in a kernel: tests/kernel/test_kernel.py
    "mcp-01": f"{HERE}test_mcp.py",
    "mcp-02": f"{HERE}test_dispatch.py",
    "mcp-04": f"{HERE}test_coercion.py",
}


def docstrings(path: Path) -> Iterator[str]:
    """Docstrings of the tests in a file, and of the classes they stand in."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        is_test = isinstance(
            node, (ast.FunctionDef, ast.AsyncFunctionDef)
        ) and node.name.startswith("test")
        if is_test or (isinstance(node, ast.ClassDef) and node.name.startswith("Test")):
            yield ast.get_docstring(node) or ""


def names_of_tests(path: Path) -> set[str]:
    """Names of the tests in a file."""
    return {
        node.name
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and node.name.startswith("test")
    }


def test_the_list_is_whole() -> None:
    """As many as were handed over; and few enough are left."""
    assert len(CASES) == 73
    assert sum(where.startswith(NOT_BUILT) for where in CASES.values()) == 0


@pytest.mark.parametrize("case", CASES)
def test_is_where_the_list_says(case: str, repo: Path) -> None:
    """In this room a docstring names the case; elsewhere the named test exists."""
    file, _, name = CASES[case].partition("::")
    if file.startswith(NOT_BUILT):
        return
    if name:
        assert name in names_of_tests(repo / file)
        return
    assert any(case in text for text in docstrings(repo / file)), f"{file} does not name {case}"


def test_no_docstring_names_a_case_that_is_not_listed(repo: Path) -> None:
    """A case that was renamed or mistyped would be lost."""
    import re

    for path in sorted((repo / HERE).glob("test_*.py")):
        for text in docstrings(path):
            for found in re.findall(r"\b[a-z]+-\d\d\b", text):
                assert CASES.get(found, "").startswith(f"{HERE}{path.name}"), (path.name, found)
