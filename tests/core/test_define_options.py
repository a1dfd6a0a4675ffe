"""What is said about a tool beside its function: flags, limits, display, response schema."""

from __future__ import annotations

import inspect
import logging
from typing import Any

import pytest
from pydantic import SecretStr

from agtools_nb import DefinitionError, Tool, ToolContext, tool
from agtools_nb.define import ToolOptions


def check(
    build_id: str, n: int = 1, *, token: SecretStr | None = None, ctx: ToolContext | None = None
) -> int:
    """Check a build."""
    return n


def made(**options: Any) -> Tool:
    return tool(**options)(check)


def test_an_option_that_does_not_exist_is_named_with_the_nearest() -> None:
    with pytest.raises(DefinitionError, match=r"no option 'timeot'; did you mean 'timeout'\?"):
        made(timeot=1)
    with pytest.raises(DefinitionError, match=r"no option 'readonly'.*'read_only'"):
        Tool.from_function(check, readonly=True)


def test_the_documented_options_are_those_there_are() -> None:
    for name in ToolOptions.__annotations__:
        assert f"\n    {name}: " in (inspect.getdoc(tool) or "")
        assert f"\n    {name}: " in (inspect.getdoc(ToolOptions) or "")


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), "5", True, [1]])
def test_a_timeout_is_a_number_of_seconds_above_zero(seconds: Any) -> None:
    with pytest.raises(DefinitionError, match=r"check: timeout=.* must be .* above 0, or None"):
        made(timeout=seconds)
    assert made(timeout=2).timeout == 2.0
    assert made().timeout is None


def test_one_text_is_one_scope() -> None:
    assert made(scopes="files:read").scopes == ("files:read",)
    assert made(scopes=iter(["a", "b"])).scopes == ("a", "b")
    for bad in ([1], [""], 5, [b"x"]):
        with pytest.raises(DefinitionError, match="each scope must be text"):
            made(scopes=bad)


def test_a_description_is_text() -> None:
    with pytest.raises(DefinitionError, match="description=5 must be text"):
        made(description=5)


@pytest.mark.parametrize(
    ("options", "begin"), [({}, "Check a build."), ({"description": "Own."}, "Own.")]
)
def test_a_long_running_tool_says_how_to_wait(options: Any, begin: str) -> None:
    text = made(long_running=True, **options).description
    assert text.startswith(begin + "\n\nThis starts a task")
    assert "do not call this again" in text
    assert "ask the status tool check_check for it" in text
    assert "ask the status tool how" in made(long_running=True, status_tool="how").description
    again = Tool(made(long_running=True, **options))
    assert again.description == text, "said once"
    assert made(**options).description == begin


class TestDisplay:
    @pytest.mark.parametrize(
        ("display", "arguments", "line"),
        [
            ("Check build {build_id}", {"build_id": "b7"}, "Check build b7"),
            ("{{{build_id}}} {n}", {"build_id": "b", "n": [1, "é"]}, '{b} [1, "é"]'),
            ("{build_id}", {"build_id": "a\n  b\t\ud800"}, "a b \\ud800"),
            ("{build_id}", {"build_id": "{n.__class__}"}, "{n.__class__}"),
            ("{build_id}", {}, "…"),
            ("{token}", {"token": "geheim"}, "(not shown)"),
            (lambda arguments: arguments["build_id"].upper(), {"build_id": "b"}, "B"),
            (None, {"build_id": "b"}, None),
        ],
    )
    def test_one_line_for_people(self, display: Any, arguments: Any, line: str | None) -> None:
        assert made(display=display).display_text(arguments) == line

    def test_long_values_are_cut(self) -> None:
        line = made(display="{build_id}!").display_text({"build_id": "x" * 10**6})
        assert line == "x" * 79 + "…!"
        assert len(made(display=lambda _: "y" * 10**6).display_text({}) or "") == 500

    @pytest.mark.parametrize(
        ("display", "message"),
        [
            ("{build_id.__class__}", r"\{build_id\.__class__\} must be a parameter's plain name.*Write \{build_id\}"),
            ("{build_id[0]}", "plain name"),
            ("{build_id!r}", "plain name"),
            ("{n:>8}", "plain name"),
            ("{n:{build_id}}", "plain name"),
            ("{}", r"plain name.*one of: \{build_id\}"),
            ("{0}", "plain name"),
            ("{missing}", r"names \{missing\}, which is no parameter.*\{build_id\}, \{n\}"),
            ("{ctx}", "no parameter that a model fills"),
            ("{build_id", r"cannot be read.*\{\{"),
            ("}", "cannot be read"),
            (5, "must be text"),
        ],
    )  # fmt: skip
    def test_a_bad_one_is_refused_with_the_fix(self, display: Any, message: str) -> None:
        with pytest.raises(DefinitionError, match=message):
            made(display=display)

    def test_a_function_that_fails_is_logged_and_gives_nothing(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        async def later(arguments: Any) -> str:
            return "x"

        def leave(arguments: Any) -> str:
            raise SystemExit

        with caplog.at_level(logging.WARNING, logger="agtools_nb"):
            for bad in (lambda a: a["no"], lambda a: 5, lambda: "x", later, leave):
                assert made(display=bad).display_text({}) is None
        assert len(caplog.records) == 5
        assert all("display of the tool check" in r.getMessage() for r in caplog.records)

    def test_a_function_cannot_change_the_arguments(self) -> None:
        arguments = {"build_id": ["b"]}
        assert made(display=lambda a: str(a["build_id"].pop())).display_text(arguments) == "b"
        assert arguments == {"build_id": ["b"]}


class TestResponseSchema:
    def test_the_one_given_wins_over_the_annotation(self) -> None:
        given = {"type": "object", "properties": {"n": {"type": "integer"}}}
        assert made(response_schema=given).response_schema == given
        assert made().response_schema == {"type": "integer"}

    def test_a_bad_one_is_refused_at_once(self) -> None:
        with pytest.raises(DefinitionError, match=r"response_schema of check, at /type"):
            made(response_schema={"type": "nothing"})


def test_a_tool_of_a_tool_takes_its_options_over() -> None:
    first = made(name="first", read_only=True, timeout=3, description="Words.")
    second = Tool(first, timeout=4)
    assert (second.name, second.read_only, second.timeout) == ("first", True, 4.0)
    assert (second.description, second.fn) == ("Words.", check)
