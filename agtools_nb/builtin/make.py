"""``builtin_tools``: many of the tools that come with the package, made at once."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from agtools_nb.access.names import BuiltinTools
from agtools_nb.builtin.command import run_command_tool
from agtools_nb.builtin.files import (
    create_file_tool,
    edit_file_tool,
    find_file_tool,
    list_directory_tool,
    search_directory_tool,
    view_file_tool,
)
from agtools_nb.builtin.finish import finish_tool
from agtools_nb.builtin.image import ImageProvider, generate_image_tool
from agtools_nb.builtin.question import ask_question_tool
from agtools_nb.builtin.subagent import SubagentStarter, start_subagent_tool
from agtools_nb.builtin.url import read_url_content_tool
from agtools_nb.builtin.web import SearchProvider, search_web_tool
from agtools_nb.builtin.workspace import Workspace
from agtools_nb.define import Tool
from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr


def builtin_tools(
    tools: Iterable[BuiltinTools | str] | None = None,
    workspace: Workspace | str | os.PathLike[str] = ".",
    *,
    shell: bool | str = False,
    hosts: Iterable[str] | None = None,
    allowed_networks: Iterable[str] = (),
    search: SearchProvider | None = None,
    image: ImageProvider | None = None,
    subagent: SubagentStarter | None = None,
    subagents: Mapping[str, str] | None = None,
    output: Any = None,
) -> list[Tool]:
    """Make built-in tools, to be given to a runner or Toolkit.

    For a tool with more options, use its own function, such as ``run_command_tool``.

    Args:
        tools: Which, by member or name: ``BuiltinTools.file_tools()``, ``["view_file"]``.
            Default: ``BuiltinTools.read_only()``.
        workspace: What the tools for files and commands work in, one for all. Default: the
            working directory.
        shell: Whether ``run_command`` gives text to a shell. Default: no.
        hosts: What ``read_url_content`` may ask. Default: any host of the public internet.
        allowed_networks: Addresses that it may ask besides, such as ``"127.0.0.1"``.
        search: Carries out ``search_web``.
        image: Carries out ``generate_image``.
        subagent: Carries out ``start_subagent``.
        subagents: What each subagent is good for, by name.
        output: What ``finish`` must bring: a type, or a JSON Schema of an object. Default: text.

    Returns:
        The tools, each once, in the order in which they were asked for.

    Raises:
        UsageError: There is no such tool, or one of the options is wrong.
    """
    wanted = _wanted(BuiltinTools.read_only() if tools is None else tools)
    space = _workspace(wanted, workspace)
    makers: dict[BuiltinTools, Callable[[], Tool]] = {
        BuiltinTools.LIST_DIR: lambda: list_directory_tool(space),
        BuiltinTools.SEARCH_DIR: lambda: search_directory_tool(space),
        BuiltinTools.FIND_FILE: lambda: find_file_tool(space),
        BuiltinTools.VIEW_FILE: lambda: view_file_tool(space),
        BuiltinTools.CREATE_FILE: lambda: create_file_tool(space),
        BuiltinTools.EDIT_FILE: lambda: edit_file_tool(space),
        BuiltinTools.RUN_COMMAND: lambda: run_command_tool(space, shell=shell),
        BuiltinTools.ASK_QUESTION: ask_question_tool,
        BuiltinTools.START_SUBAGENT: lambda: start_subagent_tool(subagent, subagents),
        BuiltinTools.GENERATE_IMAGE: lambda: generate_image_tool(image),
        BuiltinTools.SEARCH_WEB: lambda: search_web_tool(search),
        BuiltinTools.READ_URL_CONTENT: lambda: read_url_content_tool(
            hosts=hosts, allowed_networks=allowed_networks
        ),
        BuiltinTools.FINISH: lambda: finish_tool(output),
    }
    return [makers[name]() for name in wanted]


def _workspace(
    wanted: Iterable[BuiltinTools], given: Workspace | str | os.PathLike[str]
) -> Workspace | str | os.PathLike[str]:
    """One workspace for all tools that work in one; none is opened where no tool does."""
    users = {*BuiltinTools.path_scoped_tools(), BuiltinTools.RUN_COMMAND}
    if isinstance(given, Workspace) or users.isdisjoint(wanted):
        return given
    return Workspace(given)


def _wanted(tools: Iterable[BuiltinTools | str]) -> list[BuiltinTools]:
    """The tools as members, each once.

    Raises:
        UsageError: One of them is none.
    """
    if isinstance(tools, str):
        raise UsageError(f"tools={tools!r} is one name; write tools=[{str(tools)!r}]")
    return list(dict.fromkeys(_member(tool) for tool in tools))


def _member(tool: BuiltinTools | str) -> BuiltinTools:
    try:
        return BuiltinTools(tool)
    except ValueError:
        names = [str(one) for one in BuiltinTools]
        close = difflib.get_close_matches(str(tool), names, n=1)
        remark = f"; did you mean {close[0]!r}?" if close else ""
        raise UsageError(
            f"there is no built-in tool {brief_repr(tool)}{remark} Built-in: {', '.join(names)}."
        ) from None
