"""Static forms: everything is escaped, and nothing needs a style."""

from __future__ import annotations

from agtools_nb.views.markup import (
    Html,
    code,
    details,
    duration,
    join,
    plural,
    pre,
    pretty,
    table,
    tag,
    text_table,
)

HOSTILE = "</td><script>alert(1)</script>&\"'"


def test_text_is_escaped_wherever_it_stands():
    made = [
        tag("p", HOSTILE, title=HOSTILE),
        code(HOSTILE),
        pre(HOSTILE),
        details(HOSTILE, HOSTILE),
        table((HOSTILE,), [(HOSTILE,)]),
        join([HOSTILE, [HOSTILE, None]]),
    ]
    for one in made:
        assert "<script" not in one
        assert isinstance(one, Html)


def test_html_is_kept():
    assert tag("p", tag("b", "x"), None) == "<p><b>x</b></p>"


def test_lone_surrogates_and_nul_do_not_reach_the_page():
    assert tag("p", "\ud800\x00") == "<p>\\ud800\ufffd</p>"


def test_empty_columns_are_left_out():
    made = table(("A", "B"), [("1", ""), ("2", None)])
    assert "B" not in made
    assert table(("A",), []) == ""


def test_long_text_is_cut_with_a_note():
    assert "first 4,000 of 5,000 characters" in pre("x" * 5_000)


def test_text_table_lays_out_columns():
    made = text_table(("name", "note", "n"), [("a\nb", "", "1"), ("long" * 30, "", "2")], width=10)
    assert made.splitlines() == ["name        n", "a b         1", "longlongl…  2"]


def test_durations_read_as_in_the_widgets():
    cases = {
        0.0: "0 ms",
        0.00042: "0.42 ms",
        0.0123: "12 ms",
        0.2144: "214 ms",
        1.2: "1.20 s",
        12.34: "12.3 s",
        61: "1 min 1 s",
        3_700: "1 h 1 min",
    }
    assert {seconds: duration(seconds) for seconds in cases} == cases


def test_words():
    assert plural(1, "call") == "1 call"
    assert plural(1_000, "call") == "1,000 calls"
    assert pretty('{"a":1}') == '{\n  "a": 1\n}'
    assert pretty("{oops") == "{oops"
