"""Hooks that cells add: running a cell again replaces its own, and none is lost."""

from __future__ import annotations

from kernel.driver import Kernel

SETUP = """
from agtools_nb import HookResult, Hooks, Toolkit
hooks = Hooks()
tk = Toolkit(hooks=hooks)

@tk.tool
async def zap() -> str:
    "Zap."
    return "zapped"
"""
GUARDS = """
@hooks.before_tool
def _(call):
    return HookResult(allow=False, message="guard one")

@hooks.before_tool
def _(call):
    return None
"""
ZAP = "((await tk.call('zap')).status, repr(hooks))"


def test_cells_and_their_hooks() -> None:
    with Kernel(SETUP) as kernel:
        kernel.run(GUARDS, cell="a")
        assert kernel.value(ZAP) == ("denied", "<Hooks: 2 before_tool>")
        kernel.run(GUARDS, cell="a")
        assert kernel.value(ZAP) == ("denied", "<Hooks: 2 before_tool>")
        kernel.run(GUARDS.replace("allow=False", "allow=None"), cell="a")
        assert kernel.value(ZAP) == ("ok", "<Hooks: 2 before_tool>")
        kernel.run(GUARDS, cell="b")
        assert kernel.value(ZAP) == ("denied", "<Hooks: 4 before_tool>")
