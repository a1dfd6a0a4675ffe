"""Names: of tools as a model writes them, of rules as a person writes them, of servers."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace
from typing import Any

import pytest
from access.world import Attempts, World

from agtools_nb import (
    CapabilitiesConfig,
    HookResult,
    Hooks,
    Tool,
    UsageError,
    allow,
    allow_all,
    ask_user,
    deny,
    deny_all,
    safe_defaults,
    workspace_only,
)

attempts = Attempts()

LOOK_ALIKES = [
    "Delete",
    "DELETE",
    "delete ",
    " delete",
    "delete\n",
    "delete\x00",
    "delete\u200b",
    "de\u00adlete",
    "dele\u200dte",
    "\ufeffdelete",
    "d\u0435lete",
    "\uff44elete",
    "\u217eelete",
    "delete\u0301",
    "delete/",
    "/delete",
    "./delete",
    "functions.delete",
    "own/delete",
    "delete*",
    "*",
    "del?te",
]


@attempts("a name that looks like that of a denied tool", each=LOOK_ALIKES, open_too=False)
async def by_another_name(world: World, value: str) -> None:
    runner = world.runner(world.delete(), policies=[deny("delete"), allow_all()])
    assert not (await world.send(runner, value)).ok


@attempts("a name that looks like that of an allowed tool", each=LOOK_ALIKES[:10], open_too=False)
async def by_the_name_of_a_friend(world: World, value: str) -> None:
    runner = world.runner(world.pay(), policies=[allow("delete"), deny_all()])
    assert not (await world.send(runner, value)).ok


@attempts(
    "a rule whose target could be read in two ways is none",
    each=[
        "d\u0435lete", "delete\u200b", "delete ", "", "del*", "dele?e", "[d]elete", "**", "*/delete",
        "s*/delete", "s/del*", "s/**", "s/", "/delete", "delete\n", "\uff44elete", "a" * 65,
    ],
    open_too=False,
)  # fmt: skip
async def a_target_that_is_none(world: World, value: str) -> None:
    for make in (allow, deny, ask_user):
        try:
            make(value)
        except UsageError:
            continue
        world.ran.append((make.__name__, value))


@attempts("the name of an enum member in place of its value", open_too=False)
async def by_the_members_name(world: World) -> None:
    async def list_directory() -> None:
        world.ran.append(("list_directory", {}))

    runner = world.runner(list_directory, policies=[deny("list_directory")])
    assert not (await world.send(runner, "LIST_DIR")).ok
    assert not (await world.send(runner, "BuiltinTools.LIST_DIR")).ok


@attempts("the second member of a built-in's enum", open_too=True)
async def by_an_alias(world: World) -> None:
    from agtools_nb import BuiltinTools

    async def start_subagent() -> None:
        world.ran.append(("start_subagent", {}))

    runner = world.runner(start_subagent, policies=[deny(BuiltinTools.INVOKE_SUBAGENT)])
    await world.send(runner, "start_subagent")


# -- servers ------------------------------------------------------------------------------------


@attempts("a call that says it comes from a trusted server")
async def a_forged_server(world: World) -> None:
    from_elsewhere = world.pay(server_name="elsewhere", name="pay2")
    runner = world.runner(world.delete(), from_elsewhere, policies=[allow("trusted/*"), deny_all()])
    await world.send(runner, "delete", server_name="trusted")
    await world.send(runner, "pay2", server_name="trusted")


@attempts("a call of a server's tool that says it comes from none")
async def no_server(world: World) -> None:
    runner = world.runner(world.delete(server_name="s"), policies=[deny("s/*"), allow("delete")])
    await world.send(runner, "delete", server_name=None)


@attempts("a server's tool under the name of a tool that is trusted")
async def a_stranger_with_a_known_name(world: World) -> None:
    stranger = Tool(world.delete().fn, name="view_file", server_name="stranger")
    runner = world.runner(stranger, policies=safe_defaults(), approve=world.says(False))
    await world.send(runner, "view_file")


@attempts("a bare name that allows is not about a server's tool")
async def a_bare_allow(world: World) -> None:
    runner = world.runner(world.delete(server_name="s"), policies=[allow("delete"), deny_all()])
    await world.send(runner, "delete")


@attempts("a bare name that denies is about a server's tool, too")
async def a_bare_deny(world: World) -> None:
    runner = world.runner(world.delete(server_name="s"), policies=[deny("delete"), allow("s/*")])
    await world.send(runner, "delete")


@attempts("a server whose name holds slashes", each=["a/b", "a/b/c", "https://host/mcp"])
async def slashes(world: World, value: str) -> None:
    for target in (f"{value}/delete", f"{value}/*"):
        runner = world.runner(world.delete(server_name=value), policies=[deny(target), allow_all()])
        await world.send(runner, "delete")


@attempts("a server whose name begins like that of a trusted one", each=["a/b", "a/", "ab", "A"])
async def a_servers_neighbour(world: World, value: str) -> None:
    runner = world.runner(world.delete(server_name=value), policies=[allow("a/*"), deny_all()])
    await world.send(runner, "delete")


@attempts(
    "a server's name in look-alike letters", each=["tru\u0455ted", "Trusted", "trusted\u200b"]
)
async def a_servers_double(world: World, value: str) -> None:
    runner = world.runner(
        world.delete(server_name=value), policies=[allow("trusted/*"), deny_all()]
    )
    await world.send(runner, "delete")


@attempts("a server's tool with a slash in its name, at a server with another")
async def two_readings(world: World) -> None:
    # What is allowed is the tool "delete" of the server "a/b".
    policies = [allow("a/b/delete"), deny_all()]
    twin = world.delete(server_name="a")
    twin.remote_name = "b/delete"
    await world.send(world.runner(twin, policies=policies), "delete")


@attempts("a denied tool with a slash in its name")
async def a_deny_with_two_readings(world: World) -> None:
    twin = world.delete(server_name="a")
    twin.remote_name = "b/delete"
    await world.send(world.runner(twin, policies=[deny("a/b/delete")]), "delete")


@attempts("a server's tool that was registered under another name")
async def renamed(world: World) -> None:
    runner = world.runner(policies=[deny("s/delete"), allow_all()])
    runner.register(world.delete(server_name="s"), name="tidy_up")
    await world.send(runner, "tidy_up")


@attempts("a server's tool that was wrapped in another tool")
async def wrapped(world: World) -> None:
    inner = world.delete(server_name="s")
    runner = world.runner(Tool(inner, name="tidy_up"), policies=[deny("s/delete"), allow_all()])
    await world.send(runner, "tidy_up")


@attempts("rules for a server given as an object")
async def a_server_object(world: World) -> None:
    server = SimpleNamespace(name="a/b")
    runner = world.runner(
        world.delete(server_name="a/b"), policies=[deny(server, ["delete"]), allow_all()]
    )
    await world.send(runner, "delete")


# -- what is off, what is guarded ---------------------------------------------------------------


@attempts("a tool that is off", each=["delete", "Delete", "delete\u200b"], open_too=False)
async def off(world: World, value: str) -> None:
    off = CapabilitiesConfig(disabled_tools=["delete"])
    runner = world.runner(world.delete(), capabilities=off, policies=[allow("delete")])
    result = await world.send(runner, value)
    assert result.status == "invalid"
    assert "did you mean" not in (result.error or "")


@attempts(
    "the function behind a tool with rules",
    each=[
        [deny("delete")], [deny_all()], [ask_user("delete", lambda a: False)],
        [deny("delete", when=lambda a: a["path"] == "/x")], [workspace_only("/dev")],
    ],
)  # fmt: skip
async def the_function(world: World, value: Any) -> None:
    tool = world.delete(path_of=lambda args: args["path"])
    runner = world.runner(tool, policies=[*value])
    with contextlib.suppress(UsageError):
        await runner.get_public_callable("delete")("/x")


@attempts("the function behind a tool with hooks")
async def the_function_with_hooks(world: World) -> None:
    hooks = Hooks()
    hooks.before_tool(lambda call: HookResult(allow=False))
    runner = world.runner(world.delete(), hooks=hooks)
    with contextlib.suppress(UsageError):
        await runner.get_public_callable("delete")("/x")


@attempts("a tool that is off, by every other way to a runner's tools")
async def off_everywhere(world: World) -> None:
    runner = world.runner(
        world.delete(), capabilities=CapabilitiesConfig(disabled_tools=["delete"])
    )
    for way in (lambda: runner.execute("delete"), lambda: runner.get_public_callable("delete")()):
        try:
            await way()
        except Exception:
            continue
    async for _ in runner.stream([("delete", {})]):
        pass


@attempts("a tool that is not among those that are on")
async def not_on(world: World) -> None:
    on = CapabilitiesConfig(enabled_tools=["pay"])
    await world.send(world.runner(world.delete(), world.pay(), capabilities=on), "delete")


@attempts("a guarded tool where there are no rules", each=range(4), open_too=False)
async def guarded(world: World, value: int) -> None:
    tool: Any = world.delete(guarded=True)
    ways = [
        lambda runner: runner.register(tool),
        lambda runner: runner.replace(tool),
        lambda runner: runner.register(tool, name="other"),
        lambda runner: runner.register(Tool(tool, name="other")),
    ]
    from agtools_nb import ToolRunner

    runner = ToolRunner(hooks=[], policies=[])
    with pytest.raises(UsageError, match=r"safe_defaults\(\)"):
        ways[value](runner)
    for name in runner.tool_names:
        await world.send(runner, name)
