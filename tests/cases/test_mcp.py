"""Tools of several servers under one roof: each under a name of its own, and its own rules."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_servers import started

from agtools_nb import DuplicateToolError, Policy, ToolRunner, allow, deny, tool
from agtools_nb.mcp import MCPServer
from agtools_nb.mcp.names import in_company, registered_names
from cases.calling import run

LEGAL = re.compile(r"[A-Za-z0-9_-]{1,64}")


def named(who: str, *names: str, **options) -> MCPServer:
    """A server of tools that return what they and their server are called."""
    return started("named", who, *names, name=who, **options)


async def results(runner: ToolRunner) -> dict[str, str]:
    done = await runner.process_tool_calls([(name, {}) for name in runner.tool_names])
    return {one.name: one.result for one in done}


def named_by(rule: Policy, runner: ToolRunner) -> list[str]:
    return [one.name for one in runner.tools if rule.names(one)]


class TestOneNameTwice:
    """mcp-01: never does the last of two tools of one name win, and no rule slips to the other."""

    def test_from_two_servers(self) -> None:
        """Refused with the names of both, or prefixed, and said so."""

        async def main() -> None:
            a, b = named("a", "read_file", "list"), named("b/c", "read-file", "list", "own")
            async with a, b:
                with pytest.raises(DuplicateToolError, match=r"'list' .* server 'a'; .* 'b/c'"):
                    ToolRunner([*a.tools(), *b.tools()])
                runner = ToolRunner(a.tools())
                with pytest.warns(UserWarning, match="is taken, or looks like") as said:
                    tools = b.tools(taken=runner.tool_names)
                told = [
                    re.search(r"tool ('.*') of .*'b/c' is registered as ('.*?')", str(w.message))
                    for w in said
                ]
                assert [one.groups() for one in told] == [
                    ("'read-file'", "'b_c_read-file'"),
                    ("'list'", "'b_c_list'"),
                ]
                for one in tools:
                    runner.register(one)
                assert await results(runner) == {
                    "read_file": "read_file of a",
                    "list": "list of a",
                    "b_c_read-file": "read-file of b/c",
                    "b_c_list": "list of b/c",
                    "own": "own of b/c",
                }
                # Rules name tools by what their server calls them, and reach no other's.
                assert named_by(deny("a/list"), runner) == ["list"]
                assert named_by(deny("b/c/list"), runner) == ["b_c_list"]
                [rule] = allow(b, ["read-file"])
                assert named_by(rule, runner) == ["b_c_read-file"]
                assert named_by(allow("b/c/*"), runner) == ["b_c_read-file", "b_c_list", "own"]
                assert named_by(allow("list"), runner) == []  # a bare name allows own tools

        run(main())

    def test_beside_own_tools(self) -> None:
        @tool
        def list_files() -> str:
            return "mine"

        async def main() -> None:
            async with named("a", "List-Files", "list/files", "x", prefix=True) as a:
                found = a.tools(taken=["list_files"])
                assert [one.remote_name for one in found] == ["List-Files", "list/files", "x"]
                assert found[0].name == "a_List-Files"
                assert re.fullmatch(r"a_list_files_[0-9a-f]{6}", found[1].name)
                assert found[2].name == "a_x"
                assert (await results(ToolRunner([list_files, *found])))["list_files"] == "mine"

        run(main())

    def test_any_spelling_of_a_name_that_is_taken(self) -> None:
        """Both the raw and the made name are looked at."""
        spellings = ["read-file", "read_file", "Read_File", "read/file", "read.file", "réad file"]
        for first, second in itertools.product(spellings, repeat=2):
            taken = registered_names([first]).values()
            names = in_company(registered_names([second]), taken, "b")
            assert folded(names.values()).isdisjoint(folded(taken)), (first, second)

    @given(st.lists(st.text(min_size=1, max_size=80), unique=True), st.lists(st.text(min_size=1)))
    def test_whatever_servers_call_them(self, raws: list[str], others: list[str]) -> None:
        """Names are legal, each once, none that is taken, and the same in any order."""
        names = registered_names(raws)
        assert len(set(names.values())) == len(raws)
        assert all(LEGAL.fullmatch(name) for name in names.values())
        assert registered_names(raws[::-1]) == names
        given = in_company(names, others, "☃ server" * 9)
        assert list(given) == raws
        assert len(set(given.values())) == len(raws)
        assert all(LEGAL.fullmatch(name) for name in given.values())
        assert folded(given.values()).isdisjoint(folded(others))


def folded(names: Iterable[str]) -> set[str]:
    return {name.casefold().replace("-", "_") for name in names}
