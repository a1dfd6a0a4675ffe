"""A toolkit with rules and hooks: it is a session, from its first call to the end of its process."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import weakref
from typing import Any

import pytest

from agtools_nb import (
    ApprovalDecision,
    CapabilitiesConfig,
    DuplicateToolError,
    Hooks,
    Toolkit,
    UsageError,
    allow,
    allow_all,
    ask_user,
    deny,
)


def add(a: int, b: int = 0) -> int:
    return a + b


def test_rules_and_hooks() -> None:
    hooks, events = Hooks(), []
    hooks.on_session_start(lambda: events.append("starts"))
    hooks.on_session_end(lambda: events.append("ends"))
    tk = Toolkit(
        policies=[deny("add", when=lambda args: args["b"] > 9), ask_user("add"), allow_all()],
        approve=lambda approval: ApprovalDecision(approval.arguments["a"] != 0, remember=True),
        hooks=hooks,
    )
    tk.tool(add)

    async def main() -> None:
        assert (await tk.call("add", a="1")).result == 1
        assert (await tk.call("add", a=0)).result == 0  # approved for the session
        await tk.close()
        first, second = await tk.run([("add", {"a": 0}), ("add", {"a": 1, "b": 10})])
        assert (first.status, second.status) == ("denied", "denied")
        await tk.close()

    asyncio.run(main())
    assert events == ["starts", "ends"] * 2


def test_tools_that_are_off_keep_their_names() -> None:
    tk = Toolkit(capabilities=CapabilitiesConfig(disabled_tools=["add"]))
    tk.tool(add)
    assert tk.tools == ()
    assert [tool.name for tool in tk.runner.all_tools] == ["add"]

    def other() -> None: ...

    other.__name__ = "add"
    scope: dict[str, Any] = {"tk": tk, "__name__": "elsewhere"}
    code = compile("@tk.tool\ndef add(): ...", "another file", "exec")
    with pytest.raises(DuplicateToolError):
        exec(code, scope)
    tk.remove("add")
    assert tk.runner.all_tools == ()


def test_a_guarded_tool() -> None:
    tk = Toolkit()
    with pytest.raises(UsageError, match=r"policies=safe_defaults\(\)"):
        tk.tool(guarded=True)(add)
    assert tk.tools == ()
    tk = Toolkit(policies=[allow("add")])
    tk.tool(guarded=True)(add)
    assert tk.tool_names == ("add",)


def test_a_toolkit_that_nobody_holds_goes() -> None:
    def used() -> weakref.ref[Any]:
        tk = Toolkit(policies=[allow_all()], hooks=Hooks())
        tk.tool(add)
        return weakref.ref(tk.background)

    background = used()
    for _ in range(3):
        gc.collect()
    assert background() is None


SCRIPT = """
from agtools_nb import Hooks, Toolkit
hooks = Hooks()
hooks.on_session_end(lambda context: print("the session of", context.state.get("n"), "calls ends"))
hooks.after_tool(lambda call, result, context: context.parent.parent.state.update("n", lambda n: n + 1, 0))
tk = Toolkit(hooks=hooks)
@tk.tool
def add(a: int): return a
tk.call_sync("add", a=1)
tk.call_sync("add", a=2)
"""


def test_the_end_of_the_process_ends_the_session() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.endswith("the session of 2 calls ends\n"), done.stderr
