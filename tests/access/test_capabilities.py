"""Tools that are on and off."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agtools_nb import (
    Background,
    BuiltinTools,
    CapabilitiesConfig,
    PolicyEngine,
    Tool,
    ToolRunner,
    UnknownToolError,
    UsageError,
    allow_all,
)
from agtools_nb.access import Access


async def add(a: int, b: int) -> int:
    return a + b


async def view_file(path: str) -> str:
    return path


def runner(*tools: Any, **options: Any) -> ToolRunner:
    return ToolRunner(tools or (add, view_file), capabilities=CapabilitiesConfig(**options))


def test_both_lists_are_refused() -> None:
    with pytest.raises(UsageError, match="not both"):
        CapabilitiesConfig(enabled_tools=[], disabled_tools=[])


@pytest.mark.parametrize(
    "given", ["add", 5, [5], [""], [None], ["pa*"], ["s/p?y"], ["/x"], ["s/"], ["own tool"]]
)
def test_what_is_no_list_of_names_is_refused(given: Any) -> None:
    with pytest.raises(UsageError, match="disabled_tools"):
        CapabilitiesConfig(disabled_tools=given)


@pytest.mark.parametrize("given", [{"disabled_tools": ["add"]}, ["add"], "add", {}, []])
@pytest.mark.parametrize("make", [ToolRunner, Access, PolicyEngine])
def test_what_is_no_config_is_refused(make: Any, given: Any) -> None:
    with pytest.raises(UsageError, match=r"write capabilities=CapabilitiesConfig\(disabled_tools="):
        make([], capabilities=given)


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({}, ("add", "view_file")),
        ({"disabled_tools": ["add"]}, ("view_file",)),
        ({"disabled_tools": [BuiltinTools.VIEW_FILE]}, ("add",)),
        ({"enabled_tools": [BuiltinTools.VIEW_FILE]}, ("add", "view_file")),
        ({"enabled_tools": [BuiltinTools.FIND_FILE]}, ("add",)),
        ({"enabled_tools": [BuiltinTools.VIEW_FILE, "add"]}, ("add", "view_file")),
        ({"enabled_tools": [BuiltinTools.VIEW_FILE, "other"]}, ("view_file",)),
        ({"enabled_tools": [Tool(add)]}, ("add",)),
        ({"enabled_tools": BuiltinTools.none()}, ("add",)),
        ({"disabled_tools": []}, ("add", "view_file")),
    ],
)
def test_which_tools_there_are(options: dict[str, Any], names: tuple[str, ...]) -> None:
    made = runner(**options)
    assert made.tool_names == names
    assert tuple(one.name for one in made.tools) == names
    assert tuple(one.name for one in made.all_tools) == ("add", "view_file")


class ServedTool(Tool):
    @property
    def remote_name(self) -> str:
        return self.name.removeprefix("files_")


SERVED = (
    Tool(add), Tool(view_file), ServedTool(add, name="files_add", server_name="files"),
    Tool(add, name="move", server_name="files"), Tool(add, name="a", server_name="a/b"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("names", "named"),
    [
        (["*"], "add view_file files_add move a"),
        (["files/*"], "files_add move"),
        (["files/add"], "files_add"),
        (["files/files_add"], "files_add"),
        (["files_add"], "files_add"),
        (["files/move", "add"], "add move"),
        (["a/b/*"], "a"),
        (["a/b/a"], "a"),
        (["view_file", "files/*"], "view_file files_add move"),
    ],
)
def test_names_are_those_of_rules(names: list[str], named: str) -> None:
    every = [tool.name for tool in SERVED]
    assert runner(*SERVED, enabled_tools=names).tool_names == tuple(named.split())
    left = [name for name in every if name not in named.split()]
    made = runner(*SERVED, disabled_tools=names)
    assert list(made.tool_names) == left
    assert [tool.name for tool in made.all_tools if made.standing(tool) == "on"] == left
    assert made.twin().tool_names == made.tool_names
    asyncio.run(made.process_tool_calls([]))  # what is warned of is an error here


def test_names_of_servers_that_are_not_there_turn_nothing_off() -> None:
    for names in (["file/*"], ["s/add"], ["files/ad"], ["Files/*"], ["a/*"]):
        assert len(runner(*SERVED, disabled_tools=names).tool_names) == len(SERVED)
        assert runner(*SERVED, enabled_tools=names).tool_names == ()


def test_a_server_tool_that_goes_and_comes_stays_off() -> None:
    made = runner(*SERVED, disabled_tools=["files/*"])
    asyncio.run(made.process_tool_calls([("add", {"a": 1, "b": 1})]))
    made.unregister("move")
    made.unregister("files_add")
    asyncio.run(made.process_tool_calls([("add", {"a": 1, "b": 1})]))  # no warning: it is away
    made.register(SERVED[3])
    [result] = asyncio.run(made.process_tool_calls([("move", {"a": 1, "b": 2})]))
    assert result.status == "invalid"


def test_a_call_of_one_that_is_off_finds_no_tool() -> None:
    made = runner(disabled_tools=["add"])
    [result] = asyncio.run(made.process_tool_calls([("add", {"a": 1, "b": 2})]))
    assert result.status == "invalid"
    assert result.error == "There is no tool named 'add'. Tools: view_file."
    with pytest.raises(UnknownToolError, match="registered: view_file"):
        asyncio.run(made.execute("add", a=1, b=2))
    assert made.any_tool("add").name == "add"
    assert made.standing("add") == "off"
    made.unregister("add")
    assert [one.name for one in made.all_tools] == ["view_file"]


def test_nothing_is_off_without_a_list() -> None:
    assert ToolRunner([add]).access.is_needed is False
    assert runner(disabled_tools=["x"]).access.is_needed is True
    assert runner(enabled_tools=[]).access.is_needed is True


def test_what_comes_with_a_tool_is_on_and_off_with_it() -> None:
    async def one() -> None: ...
    async def two() -> None: ...
    async def ticks() -> Any:
        yield 1

    async def more_ticks() -> Any:
        yield 1

    def names(**options: Any) -> tuple[str, ...]:
        made = ToolRunner(
            [Tool(one, long_running=True), Tool(two, long_running=True), ticks, more_ticks],
            background=Background(),
            capabilities=CapabilitiesConfig(**options),
        )
        assert {tool.name: made.standing(tool) == "on" for tool in made.all_tools} == {
            tool.name: tool.name in made.tool_names for tool in made.all_tools
        }
        return made.tool_names

    every = ("one", "check_one", "two", "check_two", "ticks", "cancel_subscription", "more_ticks")
    assert names() == every
    assert names(enabled_tools=["one"]) == ("one", "check_one")
    assert names(disabled_tools=["two", "ticks"]) == (
        "one", "check_one", "cancel_subscription", "more_ticks"
    )  # fmt: skip
    assert names(disabled_tools=["ticks", "more_ticks"]) == ("one", "check_one", "two", "check_two")
    assert "check_one" not in names(disabled_tools=["check_one"])
    assert names(disabled_tools=["*"]) == ()
    assert names(enabled_tools=["*"]) == every


def test_what_comes_with_a_servers_tool_is_on_and_off_with_it() -> None:
    async def one() -> None: ...
    async def two() -> None: ...

    tools = [Tool(one, server_name="s", long_running=True), Tool(two, long_running=True)]

    def names(**options: Any) -> tuple[str, ...]:
        made = CapabilitiesConfig(**options)
        return ToolRunner(tools, background=Background(), capabilities=made).tool_names

    assert names(disabled_tools=["s/*"]) == ("two", "check_two")
    assert names(enabled_tools=["s/one"]) == ("one", "check_one")


def test_what_comes_with_a_tool_in_a_twin() -> None:
    async def one() -> None: ...

    made = ToolRunner(
        [Tool(one, long_running=True)],
        background=Background(),
        capabilities=CapabilitiesConfig(enabled_tools=["one", "two"]),
    )
    twin = made.twin(background=Background())
    twin.register(Tool(one, name="two", long_running=True))
    assert twin.tool_names == ("one", "check_one", "two", "check_two")
    assert {twin.standing(name) for name in twin.tool_names} == {"on"}
    assert made.tool_names == ("one", "check_one")


def test_a_guarded_tool_needs_rules_or_is_off() -> None:
    guarded = Tool(add, guarded=True)
    with pytest.raises(UsageError, match=r"add can change .* policies=safe_defaults\(\)"):
        ToolRunner([guarded])
    assert ToolRunner([guarded], policies=allow_all()).tool_names == ("add",)
    assert runner(guarded, disabled_tools=["add"]).tool_names == ()
