"""The benchmarks run, and measure what they say. No time is judged here."""

from __future__ import annotations

from benchmarks import define_speed, progress_speed, run_speed, store_speed, talk_speed
from benchmarks.table import Row, text


def test_every_comparison_runs_and_stands_in_the_table() -> None:
    rows = [*run_speed.rows(1), *define_speed.rows(2)]
    assert len(rows) == 12
    assert all(row.ours > 0 and row.theirs > 0 for row in rows)
    lines = text(rows).splitlines()
    assert len(lines) == len(rows) + 1
    assert all(row.work in line for row, line in zip(rows, lines[1:], strict=True))


def test_progress_is_measured_too() -> None:
    rows = progress_speed.rows(1)
    assert len(rows) == 4
    assert all(row.ours > 0 and row.theirs > 0 for row in rows)


def test_what_lasts_is_measured_too() -> None:
    rows = store_speed.rows(1)
    assert len(rows) == 11
    assert all(row.ours > 0 and row.theirs > 0 for row in rows)


def test_rules_and_conversations_are_measured_too() -> None:
    rows = talk_speed.rows(1)
    assert len(rows) == 3
    assert all(row.ours > 0 and row.theirs > 0 for row in rows)


def test_a_row_that_misses_says_so() -> None:
    assert "MISSED" in text([Row("work", "yardstick", 4, 2, reach=1.5)])
    assert "MISSED" in text([Row("work", "yardstick", 1, 4, reach=5, at_least=True)])
    assert "MISSED" not in text([Row("work", "yardstick", 2, 2, 1.5), Row("w", "y", 1, 6, 5, True)])
