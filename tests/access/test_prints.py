"""What rules, hooks and people's handlers print is theirs: the result holds what the tool prints."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
import warnings
from typing import Any

import pytest

from agtools_nb import (
    Hooks,
    Tool,
    ToolContext,
    ToolResult,
    ToolRunner,
    allow_all,
    ask_user,
    deny,
)


async def choose(ctx: ToolContext, n: int = 1) -> Any:
    print("tool begins")
    answer = await ctx.ask("Which?")
    print("tool ends")
    return answer


def choose_blocking(ctx: ToolContext, n: int = 1) -> Any:
    print("tool begins")
    answer = ctx.ask_blocking("Which?")
    print("tool ends")
    return answer


TOOL = "tool begins\ntool ends\n"


def says(word: str, value: Any = None, kind: str = "sync") -> Any:
    """A function that prints: sync, async, or in a thread."""

    def sync(*given: Any) -> Any:
        print(word)
        print(word, file=sys.stderr)
        return value

    async def later(*given: Any) -> Any:
        sync()
        await asyncio.sleep(0)
        print(word, "later")
        return value

    async def in_thread(*given: Any) -> Any:
        return await asyncio.to_thread(sync)

    return {"sync": sync, "async": later, "thread": in_thread}[kind]


def sent(runner: ToolRunner, name: str, **arguments: Any) -> ToolResult:
    async def main() -> ToolResult:
        return (await runner.process_tool_calls([(name, arguments)]))[0]

    return asyncio.run(asyncio.wait_for(main(), 30))


@pytest.mark.parametrize("kind", ["sync", "async", "thread"])
@pytest.mark.parametrize("tool", [choose, choose_blocking])
def test_everybody_who_is_asked_is_heard(capsys: Any, tool: Any, kind: str) -> None:
    hooks = Hooks()
    events = ("on_session_start", "before_turn", "before_tool", "on_question", "after_tool")
    for event in (*events, "after_turn"):
        getattr(hooks, event)(lambda *given, event=event: says(event, None, kind)())
    runner = ToolRunner(
        [tool],
        policies=[ask_user("*", when=says("when", True, kind))],
        hooks=hooks,
        approve=says("approve", True, kind),
        answer=says("answer", "red", kind),
    )
    runner.before(says("before", None, kind))
    runner.after(says("after", None, kind))
    result = sent(runner, tool.__name__)
    assert (result.result, result.stdout, result.stderr) == ("red", TOOL, "")
    said = capsys.readouterr()
    words = [
        "on_session_start", "before_turn", "before_tool", "when", "approve", "before",
        "on_question", "answer", "after_tool", "after", "after_turn",
    ]  # fmt: skip
    assert [line for line in said.out.splitlines() if not line.endswith(" later")] == words
    assert said.err.splitlines() == words
    assert said.out.count(" later") == (len(words) if kind == "async" else 0)


@pytest.mark.parametrize("tool", [choose, choose_blocking])
def test_a_handler_is_heard_without_rules_and_hooks(capsys: Any, tool: Any) -> None:
    answer = says("answer", "red")
    for runner in (
        ToolRunner([tool], answer=answer),
        ToolRunner([tool], context=ToolContext(answer=answer)),
    ):
        result = sent(runner, tool.__name__)
        assert (result.result, result.stdout) == ("red", TOOL)
        assert capsys.readouterr().out == "answer\n"


def test_a_rule_with_its_own_handler_that_refuses(capsys: Any) -> None:
    runner = ToolRunner([choose], policies=[ask_user("choose", says("no", False))])
    result = sent(runner, "choose")
    assert (result.status, result.stdout, result.stderr) == ("denied", "", "")
    assert capsys.readouterr().out == "no\n"
    runner = ToolRunner([choose], policies=[deny("choose", when=says("when", True))])
    assert (sent(runner, "choose").stdout, capsys.readouterr().out) == ("", "when\n")


def test_a_call_within_a_call_asks_outside_of_both(capsys: Any) -> None:
    hooks = Hooks()
    hooks.before_turn(says("turn"))
    hooks.on_tool_error(says("error"))

    async def inner() -> None:
        print("inner")
        raise ValueError("broken")

    inside = ToolRunner([inner], policies=[ask_user("*")], approve=says("yes", True), hooks=hooks)

    async def outer() -> Any:
        print("outer")
        [result] = await inside.process_tool_calls([("inner", {})])
        print("outer ends")
        return result.stdout

    result = sent(ToolRunner([outer], policies=[allow_all()]), "outer")
    assert (result.result, result.stdout) == ("inner\n", "outer\nouter ends\n")
    assert capsys.readouterr().out == "turn\nyes\nerror\n"


def test_hooks_after_a_call_that_took_too_long_are_heard(capsys: Any) -> None:
    async def slow() -> None:
        print("slow")
        await asyncio.sleep(60)

    def slow_blocking() -> None:
        print("slow")
        time.sleep(0.3)
        print("nobody hears this")

    for fn in (slow, slow_blocking):
        hooks = Hooks()
        hooks.after_tool(says("after"))
        runner = ToolRunner([Tool(fn, timeout=0.05)], hooks=hooks)
        runner.after(says("after, too"))
        result = sent(runner, fn.__name__)
        assert (result.status, result.stdout) == ("error", "slow\n")
        time.sleep(0.4)
        assert capsys.readouterr().out == "after\nafter, too\n"


def test_what_a_handler_warns_of_is_no_warning_of_the_tool() -> None:
    def approve(approval: Any) -> bool:
        warnings.warn("to people", UserWarning, stacklevel=1)
        return True

    async def work() -> None:
        warnings.warn("to the model", UserWarning, stacklevel=1)

    runner = ToolRunner([work], policies=[ask_user("*")], approve=approve)
    with pytest.warns(UserWarning, match="to people") as found:
        result = sent(runner, "work")
    assert len(found) == 1
    assert len(result.warnings) == 1
    assert "to the model" in result.warnings[0]


def test_a_script_shows_the_prompt_before_it_waits_for_the_answer() -> None:
    code = """
import asyncio
from agtools_nb import ToolRunner, ask_user

async def pay(amount: int) -> str:
    print("paid")
    return "done"

def approve(approval):
    print("PROMPT")
    return input("approve? ") == "y"

runner = ToolRunner([pay], policies=[ask_user("pay")], approve=approve)
[result] = asyncio.run(runner.process_tool_calls([("pay", {"amount": 1})]))
print([result.status, result.stdout])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], input="y\n", capture_output=True, text=True, check=True,
        timeout=60,
    )  # fmt: skip
    assert done.stdout == "PROMPT\napprove? ['ok', 'paid\\n']\n"
