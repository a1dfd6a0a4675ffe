"""Arguments that do not fit: told so that a model can act on it, and the function not run."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, SecretStr

from agtools_nb import Tool, ToolContext, tool, validate
from cases.calling import call, refused, value


class Options(BaseModel):
    model_config = {"extra": "forbid"}
    max_depth: int = 3


class TestUnknownArguments:
    """validation-01: a misspelled argument is no success with defaults."""

    def test_each_is_named_with_what_there_is(self) -> None:
        def f(topic: str = "", max_depth: int = 3):
            return topic, max_depth

        error = str(call(f, {"path": "x", "depth": 1}).error)
        assert refused(f, {"path": "x", "depth": 1}) == ["/path", "/depth"]
        assert "/path, /depth: there are no such parameters" in error
        assert error.count("known: topic, max_depth") == 1
        assert "did you mean 'max_depth'" in error

    @pytest.mark.parametrize(
        "key", ["maxDepth", "Max_Depth", "max-depth", "max_depth ", "", "ctx", "self"]
    )
    def test_close_names_are_not_taken_for_the_right_one(self, key: str) -> None:
        def f(max_depth: int = 3): ...

        assert refused(f, {key: 1}) == [f"/{key}"]

    def test_in_nested_objects_that_forbid_them(self) -> None:
        def f(o: Options): ...

        assert refused(f, {"o": {"maxdepth": 1}}) == ["/o/maxdepth"]

    def test_a_function_without_parameters_takes_none(self) -> None:
        def f(): ...

        error = str(call(f, {"x": 1}).error)
        assert "/x" in error
        assert "known: none" in error

    def test_keyword_arguments_take_any_name_of_their_type(self) -> None:
        def f(**more: int):
            return more

        assert value(f, {"a": "1", "b": 2}) == {"a": 1, "b": 2}
        assert refused(f, {"a": "x"}) == ["/a"]


@pytest.mark.parametrize(
    ("annotation", "default"),
    [
        (bool, False),
        (int, 3),
        (str, ""),
        (list[int], []),
        (dict[str, int], {}),
        (float, 0.5),
        (Options, Options()),
    ],
    ids=str,
)
def test_null_is_not_the_same_as_nothing(annotation: Any, default: Any) -> None:
    """validation-02: null for a parameter that merely has a default is a fault."""

    def f(a=default):
        return a

    f.__annotations__ = {"a": annotation}
    assert value(f, {}) == default
    assert refused(f, {"a": None}) == ["/a"]
    assert "got null" in str(call(f, {"a": None}).error)


class Inner(BaseModel):
    n: int


class TestWordsForTheModel:
    """validation-04: the place, what was expected, what came; never a secret."""

    @pytest.mark.parametrize(
        ("arguments", "place", "words"),
        [
            ({"n": "x"}, "/n", 'expected an integer at most 10, got "x" (a string)'),
            ({"n": 1, "inner": {"n": []}}, "/inner/n", "expected an integer, got [] (an array)"),
            ({"n": 1, "many": [{"n": 1}, {}]}, "/many/1/n", "got nothing (it is required)"),
            ({"n": 11}, "/n", "expected at most 10, got 11"),
            ({}, "/n", "got nothing (it is required)"),
        ],
        ids=str,
    )
    def test_name_the_place(self, arguments: Any, place: str, words: str) -> None:
        def f(
            n: Annotated[int, Field(le=10)],
            inner: Inner | None = None,
            many: list[Inner] = [],  # noqa: B006
        ): ...

        assert refused(f, arguments) == [place]
        error = str(call(f, arguments).error)
        assert f"{place}: " in error
        assert words in error
        assert "Call it as f(n: integer" in error

    @pytest.mark.parametrize(
        "arguments",
        [
            {"key": ["hunter2"], "n": "x"},
            {"key": {"k": "hunter2"}},
            {"key": "hunter2", "n": "x"},
            {"key": "a", "ctx": "hunter2"},
        ],
        ids=str,
    )
    def test_tell_no_secret(self, arguments: Any) -> None:
        def f(key: SecretStr, n: int = 1, ctx: ToolContext | None = None): ...

        result = call(f, arguments, context=ToolContext())
        assert result.status == "invalid"
        assert "hunter2" not in str(result.error)

    def test_a_failure_of_the_tool_is_told_by_kind_and_words(self) -> None:
        def f(n: int):
            raise LookupError(f"no row {n}")

        result = call(f, {"n": "3"})
        assert (result.status, result.error) == ("error", "LookupError: no row 3")


class TestResults:
    """validation-05: a declared result type is checked when that is asked for, never claimed in vain."""

    def test_the_declared_type_is_told(self) -> None:
        def f() -> dict[str, int]:
            return {"a": "notint"}  # type: ignore[dict-item]

        schema = Tool.from_function(f).response_schema
        assert schema is not None
        assert [fault.pointer for fault in validate(f(), schema)] == ["/a"]

    def test_without_a_declaration_anything_is_a_result(self) -> None:
        @tool
        def f():
            return {"a": "notint"}

        assert f.response_schema is None
        assert value(f, {}) == {"a": "notint"}
