"""Hooks: what each kind is given and may decide, in which order, and what they keep."""

from __future__ import annotations

import asyncio
import functools
import logging
from typing import Any, Optional

import pytest

from agtools_nb import (
    DeniedError,
    HookContext,
    HookResult,
    Hooks,
    Question,
    StateStore,
    ToolCall,
    ToolContext,
    ToolError,
    ToolResult,
    ToolRunner,
    UsageError,
    ask_user,
    deny,
)
from agtools_nb.define.cell import Cell


async def add(a: int, b: int = 0) -> int:
    return a + b


async def fail(a: int = 0) -> int:
    raise ValueError("broken")


def run(coroutine: Any) -> Any:
    return asyncio.run(asyncio.wait_for(coroutine, 30))


async def sent(runner: ToolRunner, name: str = "add", /, **arguments: Any) -> ToolResult:
    return (await runner.process_tool_calls([(name, arguments)]))[0]


class Recorder:
    """A class with every kind of hook; notes what happens."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def on_session_start(self) -> None:
        self.events.append("session starts")

    async def on_session_end(self, context: HookContext) -> None:
        self.events.append(f"session ends ({context.level})")

    def before_turn(self, message: Any) -> None:
        self.events.append(f"turn begins: {[call.name for call in message]}")

    async def after_turn(self, answer: Any) -> None:
        self.events.append(f"turn ends: {[result.status for result in answer]}")

    async def before_tool(self, call: ToolCall, context: HookContext) -> None:
        self.events.append(f"before {call.name} {call.args} ({context.level})")

    def after_tool(self, call: ToolCall, result: ToolResult) -> None:
        self.events.append(f"after {call.name} {call.args}: {result.status}")

    def on_tool_error(self, call: ToolCall, error: BaseException) -> str:
        self.events.append(f"error of {call.name}: {error!r}")
        return f"{call.name} does not work today"

    def on_question(self, question: Question) -> None:
        self.events.append(f"question: {question.text}")

    def on_stop(self, results: Any, context: HookContext) -> None:
        self.events.append(f"stopped: {[result.status for result in results]} ({context.level})")


# -- when ----------------------------------------------------------------------------------------


def test_a_session_from_start_to_end() -> None:
    recorder = Recorder()
    runner = ToolRunner([add, fail], hooks=recorder)

    async def main() -> None:
        first, second = await runner.process_tool_calls([("add", {"a": "1"}), ("fail", {})])
        assert first.result == 1
        assert (second.error, second.status) == ("fail does not work today", "error")
        assert second.exception is not None
        assert second.exception.message == "fail does not work today"
        assert isinstance(second.exception.__cause__, ValueError)
        assert await runner.execute("add", a=2) == 2
        await runner.close()
        await runner.close()

    run(main())
    assert recorder.events == [
        "session starts",
        "turn begins: ['add', 'fail']",
        "before add {'a': 1, 'b': 0} (operation)",
        "after add {'a': 1, 'b': 0}: ok",
        "before fail {'a': 0} (operation)",
        "error of fail: ValueError('broken')",
        "after fail {'a': 0}: error",
        "turn ends: ['ok', 'error']",
        "turn begins: ['add']",
        "before add {'a': 2, 'b': 0} (operation)",
        "after add {'a': 2, 'b': 0}: ok",
        "turn ends: ['ok']",
        "session ends (session)",
    ]


def test_what_is_refused_or_does_not_fit_is_told_of_afterwards() -> None:
    recorder = Recorder()
    runner = ToolRunner([add], hooks=recorder, policies=[deny("add")])
    run(runner.process_tool_calls([("add", {"a": 1}), ("add", {"a": "x"}), ("nope", {})]))
    assert {event for event in recorder.events if event.startswith(("before", "after"))} == {
        "before add {'a': 1, 'b': 0} (operation)",
        "after add {'a': 1, 'b': 0}: denied",
        "after add {'a': 'x'}: invalid",
        "after nope {}: invalid",
    }


def test_stopped() -> None:
    recorder = Recorder()

    async def main() -> None:
        begun = asyncio.Event()

        async def wait(n: int) -> None:
            begun.set()
            await asyncio.Event().wait()

        runner = ToolRunner([wait], hooks=recorder)
        batch = runner.batch([("wait", {"n": 1})])
        task = asyncio.ensure_future(batch.run())
        await begun.wait()
        batch.stop()
        await task
        task = asyncio.ensure_future(runner.execute("wait", n=2))
        begun.clear()
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        stream = runner.stream([("wait", {"n": 3})])
        begun.clear()
        reader = asyncio.ensure_future(anext(stream))
        await begun.wait()
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reader

    run(main())
    assert [event for event in recorder.events if "before" not in event][1:] == [
        "turn begins: ['wait']",
        "after wait {'n': 1}: cancelled",
        "stopped: ['cancelled'] (turn)",
        "turn ends: ['cancelled']",
        "turn begins: ['wait']",
        "after wait {'n': 2}: cancelled",
        "stopped: [] (turn)",
        "turn ends: []",
        "turn begins: []",
        "stopped: [] (turn)",
        "turn ends: []",
    ]


def test_stopped_before_it_began() -> None:
    async def main() -> None:
        asked = asyncio.Event()
        hooks = Hooks()

        @hooks.before_turn
        async def hook(message: Any) -> None:
            asked.set()
            await asyncio.Event().wait()

        runner = ToolRunner([add], hooks=hooks)
        batch = runner.batch([("add", {"a": 1})])
        task = asyncio.ensure_future(batch.run())
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert [result and result.status for result in batch.results] == ["cancelled"]

    run(main())


def test_the_session_starts_once() -> None:
    started: list[int] = []
    hooks = Hooks()

    @hooks.on_session_start
    async def hook() -> None:
        started.append(1)
        await asyncio.sleep(0)

    runner = ToolRunner([add], hooks=hooks)

    async def main() -> None:
        await asyncio.gather(*(sent(runner, a=n) for n in range(5)))

    run(main())
    assert started == [1]


def test_somebody_drives_the_turns() -> None:
    recorder = Recorder()
    runner = ToolRunner([add], hooks=recorder)

    async def main() -> None:
        await runner.access.before_turn([ToolCall("the message")])
        await sent(runner, a=1)
        await sent(runner, a=2)
        await runner.access.stopped()
        await runner.access.after_turn([])
        await sent(runner, a=3)

    run(main())
    assert [event for event in recorder.events if "before" not in event] == [
        "session starts",
        "turn begins: ['the message']",
        "after add {'a': 1, 'b': 0}: ok",
        "after add {'a': 2, 'b': 0}: ok",
        "stopped: [] (turn)",
        "turn ends: []",
        "turn begins: ['add']",
        "after add {'a': 3, 'b': 0}: ok",
        "turn ends: ['ok']",
    ]


def test_a_turn_that_is_refused() -> None:
    hooks = Hooks()
    hooks.before_turn(lambda message: HookResult(allow=False, message="not on a Sunday"))
    runner = ToolRunner([add], hooks=hooks)
    result = run(sent(runner, a=1))
    assert result.status == "denied"
    assert result.error is not None
    assert result.error.startswith("add was not run: not on a Sunday. Go on without it")
    with pytest.raises(DeniedError, match=r"^not on a Sunday\.$"):
        run(runner.access.before_turn("hello"))


# -- deciding and changing -----------------------------------------------------------------------


def test_the_first_denial_ends_the_chain() -> None:
    hooks, asked = Hooks(), []

    @hooks.before_tool
    def first(call: ToolCall) -> HookResult:
        asked.append("first")
        return HookResult(allow=False, message="no")

    @hooks.before_tool
    def second(call: ToolCall) -> None:
        asked.append("second")

    result = run(sent(ToolRunner([add], hooks=[hooks, Recorder()]), a=1))
    assert (result.status, asked) == ("denied", ["first"])
    assert result.error is not None
    assert result.error.startswith("add was not run: no.")


def test_changed_arguments_are_judged_and_seen_by_those_who_come_later() -> None:
    hooks = Hooks()
    seen: list[Any] = []

    @hooks.before_tool
    async def change(call: ToolCall) -> HookResult:
        return HookResult(modified_args={"b": "2"})

    @hooks.before_tool
    def look(call: ToolCall) -> None:
        seen.append(call.args)

    def approve(approval: Any) -> bool:
        seen.append(approval.arguments)
        return True

    runner = ToolRunner([add], hooks=hooks, policies=[ask_user("add")], approve=approve)
    result = run(sent(runner, a="1"))
    assert (result.result, result.arguments) == (3, {"a": 1, "b": 2})
    assert seen == [{"a": 1, "b": 2}] * 2
    assert [change.pointer for change in result.coercions] == ["/a", "/b"]
    assert result.notes == ("It ran with other arguments than were sent: a hook changed them.",)


def test_a_hook_answers_in_a_persons_place() -> None:
    hooks = Hooks()
    hooks.before_tool(lambda call: HookResult(allow=call.args["a"] == 1 or None))
    asked: list[Any] = []
    runner = ToolRunner([add], hooks=hooks, policies=[ask_user("*", asked.append)])
    assert run(sent(runner, a=1)).ok
    assert asked == []
    assert run(sent(runner, a=2)).status == "denied"
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (False, "returned False; it must return None or a HookResult"),
        (HookResult(allow="no"), "it must return None or a HookResult"),  # type: ignore[arg-type]
        (HookResult(modified_args={"a": "x"}), "a hook changed its arguments into ones that do"),
    ],
)
def test_what_a_hook_must_not_return(answer: Any, why: str) -> None:
    hooks = Hooks()
    hooks.before_tool(lambda call: answer)
    result = run(sent(ToolRunner([add], hooks=hooks), a=1))
    assert result.status in ("denied", "error")
    assert why in (result.error or "")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("oops"), "hook 'hook' failed (ValueError: oops). This is for the user"),
        (ToolError("code", "Try later."), "add was not run: Try later. Do not try it again"),
    ],
)
def test_a_hook_before_that_fails_refuses(error: Exception, words: str) -> None:
    def hook(call: ToolCall) -> None:
        raise error

    hook.__qualname__ = "hook"
    hooks = Hooks()
    hooks.before_tool(hook)
    result = run(sent(ToolRunner([add], hooks=hooks), a=1))
    assert result.status == "denied"
    assert words in (result.error or "")


def test_a_hook_after_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        def after_tool(self, call: ToolCall, result: ToolResult) -> None:
            raise ValueError("oops")

        def after_turn(self, answer: Any) -> None:
            raise SystemExit

        def on_tool_error(self, call: ToolCall, error: Exception) -> None:
            raise asyncio.CancelledError

        def on_session_end(self) -> None:
            raise KeyError("x")

    runner = ToolRunner([add, fail], hooks=[Broken(), Recorder()])

    async def main() -> None:
        assert (await sent(runner, a=1)).result == 1
        assert (await sent(runner, "fail")).error == "fail does not work today"
        await runner.close()

    with caplog.at_level(logging.ERROR, "agtools_nb"):
        run(main())
    assert [record.getMessage() for record in caplog.records] == [
        "a hook after_tool failed",
        "a hook after_turn failed",
        "a hook on_tool_error was cancelled",
        "a hook after_tool failed",
        "a hook after_turn failed",
        "a hook on_session_end failed",
    ]


def test_a_failure_stays_one() -> None:
    hooks = Hooks()

    @hooks.after_tool
    def better(call: ToolCall, result: ToolResult) -> ToolResult:
        result.status, result.error = "ok", None
        return result

    hooks.on_tool_error(lambda call, error: ToolResult("fail", result=1))
    hooks.on_tool_error(lambda call, error: "it is raining")
    result = run(sent(ToolRunner([fail], hooks=hooks), "fail"))
    assert (result.status, result.error, result.result) == ("error", "it is raining", None)


# -- questions -----------------------------------------------------------------------------------


async def choose(context: ToolContext) -> Any:
    return await context.ask("Which?", ["red", "blue"])


@pytest.mark.parametrize(
    ("hook", "expected"),
    [("red", "red"), (None, "blue"), (HookResult(allow=False), None)],
)
def test_who_answers_a_question(hook: Any, expected: Any) -> None:
    hooks = Hooks()
    hooks.on_question(lambda question: hook)

    async def answer(question: Question) -> str:
        return "blue"

    for runner in (
        ToolRunner([choose], context=ToolContext(), hooks=hooks, answer=answer),
        ToolRunner([choose], context=ToolContext(answer=answer), hooks=hooks, answer=print),
    ):
        assert run(sent(runner, "choose")).unwrap() == expected


@pytest.mark.parametrize("hook", ["green", HookResult(), HookResult(allow=True), 5])
def test_a_hook_that_answers_something_else(hook: Any) -> None:
    hooks = Hooks()
    hooks.on_question(lambda question: hook)
    result = run(sent(ToolRunner([choose], context=ToolContext(), hooks=hooks), "choose"))
    assert result.status == "error"


def test_a_hook_for_questions_that_fails_is_named() -> None:
    hooks = Hooks()

    @hooks.on_question
    def colours(question: Question) -> str:
        raise KeyError("no colours")

    asked: list[Question] = []
    runner = ToolRunner([choose], hooks=hooks, context=ToolContext(answer=asked.append))
    error = run(sent(runner, "choose")).error or ""
    assert "the on_question hook " in error
    assert "colours' failed (KeyError: 'no colours')" in error
    assert "answer=" not in error
    assert asked == []

    def handler(question: Question) -> str:
        raise KeyError("nobody")

    runner = ToolRunner([choose], hooks=Hooks(), answer=handler)
    assert "(answer=) failed: KeyError: 'nobody'" in (run(sent(runner, "choose")).error or "")


def test_a_question_with_nobody_to_answer() -> None:
    for runner in (
        ToolRunner([choose], context=ToolContext()),
        ToolRunner([choose], context=ToolContext(), hooks=Hooks()),
    ):
        assert "nobody here to answer" in (run(sent(runner, "choose")).error or "")


def test_the_runners_handler_answers_without_hooks() -> None:
    runner = ToolRunner([choose], context=ToolContext(), answer=lambda question: "red")
    assert run(sent(runner, "choose")).result == "red"


# -- what hooks keep -----------------------------------------------------------------------------


def test_state_is_read_from_above_and_written_below() -> None:
    hooks = Hooks()
    seen: list[Any] = []

    @hooks.on_session_start
    def start(context: HookContext) -> None:
        context.state.set("user", "Ada")
        context.state.set("calls", 0)

    @hooks.before_turn
    def turn(message: Any, context: HookContext) -> None:
        seen.append(("turn", context.state.snapshot()))
        context.state.set("calls", 10)

    @hooks.before_tool
    def before(call: ToolCall, context: HookContext) -> None:
        context.state.update("calls", lambda count: count + 1)

    @hooks.after_tool
    def after(call: ToolCall, result: ToolResult, context: HookContext) -> None:
        seen.append((call.id, context.state.snapshot()))
        assert context.parent is not None
        assert context.parent.state.get("calls") == 10

    runner = ToolRunner([add], hooks=hooks)

    async def main() -> None:
        calls = [ToolCall("add", {"a": 1}, id=name) for name in ("x", "y")]
        await runner.process_tool_calls(calls)
        await runner.process_tool_calls(calls[:1])
        await runner.close()
        await runner.process_tool_calls(calls[:1])

    run(main())
    fresh = ("turn", {"user": "Ada", "calls": 0})
    in_call = {"user": "Ada", "calls": 11}
    x, y = ("x", in_call), ("y", in_call)
    assert seen == [fresh, x, y, fresh, x, fresh, x]


def test_hooks_and_tools_share_no_state() -> None:
    """Tested both ways: neither sees what the other wrote."""
    hooks = Hooks()
    seen: list[Any] = []

    async def note(context: ToolContext) -> Any:
        found = context.get_state("secret", "nothing")
        context.set_state("mine", "of the tool")
        return found

    @hooks.before_tool
    def before(call: ToolCall, context: HookContext) -> None:
        context.state.set("secret", "of the hook")

    @hooks.after_tool
    def after(call: ToolCall, result: ToolResult, context: HookContext) -> None:
        seen.append(context.state.get("mine", "nothing"))

    state = StateStore()
    runner = ToolRunner([note], context=ToolContext(state=state), hooks=hooks)
    assert run(sent(runner, "note")).result == "nothing"
    assert seen == ["nothing"]
    assert state.snapshot() == {"mine": "of the tool"}


def test_a_hook_knows_its_call_again_however_many_run() -> None:
    hooks = Hooks()

    @hooks.before_tool
    async def before(call: ToolCall, context: HookContext) -> None:
        context.state.set("id", call.id)
        await asyncio.sleep(0)

    @hooks.after_tool
    async def after(call: ToolCall, result: ToolResult, context: HookContext) -> None:
        assert context.state.get("id") == call.id
        same.append(call.id)

    same: list[Any] = []
    runner = ToolRunner([add], hooks=hooks)
    run(runner.process_tool_calls([("add", {"a": n}) for n in range(50)]))
    assert len(set(same)) == 50


def test_a_hook_cannot_change_what_the_model_is_answered_with() -> None:
    async def listed(a: list[int]) -> dict[str, list[int]]:
        return {"a": a}

    hooks = Hooks()

    @hooks.after_tool
    def spoil(call: ToolCall, result: ToolResult) -> None:
        result.result["a"].append("spoiled")
        result.arguments["a"].append("spoiled")  # type: ignore[index]
        result.error = "spoiled"

    @hooks.after_turn
    def spoil_all(results: tuple[ToolResult, ...]) -> None:
        results[0].result["a"].append("spoiled")

    found = run(sent(ToolRunner([listed], hooks=hooks), "listed", a=[1]))
    assert (found.result, found.arguments, found.error) == ({"a": [1]}, {"a": [1]}, None)


def test_a_hook_that_calls_the_session_it_is_told_of_is_refused() -> None:
    hooks = Hooks()
    runner = ToolRunner([add], hooks=hooks)
    found: list[ToolResult] = []

    @hooks.on_session_start
    async def warm_up() -> None:
        found.append(await asyncio.wait_for(sent(runner, a=1), 5))

    assert run(sent(runner, a=2)).result == 2
    assert [one.status for one in found] == ["denied"]
    assert "an on_session_start hook called a tool of the session" in (found[0].error or "")


def test_a_hook_may_call_another_session_as_its_own_starts() -> None:
    hooks = Hooks()
    other = ToolRunner([add], hooks=Hooks())
    found: list[Any] = []

    @hooks.on_session_start
    async def warm_up() -> None:
        found.append((await sent(other, a=1)).result)

    assert run(sent(ToolRunner([add], hooks=hooks), a=2)).result == 2
    assert found == [1]


def test_the_function_behind_a_tool_is_not_given_past_hooks() -> None:
    hooks = Hooks()
    runner = ToolRunner([add], hooks=hooks)
    assert runner.get_public_callable("add") is add
    hooks.before_tool(lambda call: None)
    with pytest.raises(UsageError, match=r"a before_tool hook .* use await runner.execute\('add'"):
        runner.get_public_callable("add")


# -- what hooks are ------------------------------------------------------------------------------


def test_decorators_keep_the_function() -> None:
    hooks = Hooks()

    def hook(call: ToolCall) -> None: ...

    assert hooks.before_tool(hook) is hook
    assert repr(hooks) == "<Hooks: 1 before_tool>"


GUARDS = """
for banned in ("add", "other"):
    @hooks.before_tool
    def _(call, context, banned=banned):
        return HookResult(allow=False) if call.name == banned else None
"""


def test_a_guard_of_the_same_name_is_one_more_guard() -> None:
    hooks = Hooks()
    exec(GUARDS, {"__name__": "__main__", "hooks": hooks, "HookResult": HookResult})
    assert repr(hooks) == "<Hooks: 2 before_tool>"
    assert run(sent(ToolRunner([add], hooks=hooks), a=1)).status == "denied"


@pytest.mark.parametrize("ids", [("a", "a"), (None, None)], ids=["with ids", "without"])
def test_a_cell_that_is_run_again_replaces_its_hooks(
    ids: tuple[str | None, str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks = Hooks()
    code = (
        "@hooks.before_tool\ndef no_drafts(call): ...\n@hooks.before_tool\ndef other(call): ...\n"
        "@hooks.before_tool\ndef other(call): ..."
    )
    for number, cell_id in enumerate(ids):
        cell = Cell(cell_id, f"run {number}", number)
        monkeypatch.setattr("agtools_nb.access.hooks.running_cell", lambda cell=cell: cell)
        namespace: dict[str, Any] = {"__name__": "__main__", "hooks": hooks}
        exec(code, namespace)
    found = tuple(hooks.of("before_tool"))
    assert [hook.__name__ for hook in found] == ["no_drafts", "other", "other"]
    assert found[0] is namespace["no_drafts"]
    assert found[2] is namespace["other"]


@pytest.mark.parametrize(("first", "second"), [("a", "b"), (None, "b"), ("a", None)])
def test_another_cell_replaces_no_hooks(
    first: str | None, second: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks = Hooks()
    for number, cell_id in enumerate((first, second)):
        cell = Cell(cell_id, f"run {number}", number)
        monkeypatch.setattr("agtools_nb.access.hooks.running_cell", lambda cell=cell: cell)
        exec(GUARDS, {"__name__": "__main__", "hooks": hooks, "HookResult": HookResult})
    assert repr(hooks) == "<Hooks: 4 before_tool>"


def test_hooks_that_are_added_later() -> None:
    hooks = Hooks()
    runner = ToolRunner([add], hooks=hooks)
    assert run(sent(runner, a=1)).ok
    hooks.before_tool(lambda call: HookResult(allow=False))
    assert run(sent(runner, a=1)).status == "denied"


def test_a_class_derived_from_hooks() -> None:
    class Mine(Hooks):
        def before_tool(self, call: ToolCall) -> HookResult:  # type: ignore[override]
            return HookResult(allow=False, message="mine")

    hooks = Mine()
    hooks.after_tool(lambda call, result: None)
    assert "mine" in (run(sent(ToolRunner([add], hooks=[hooks]), a=1)).error or "")


class NoHooks:
    def run(self) -> None: ...


class ASlip:
    def before_tools(self, call: ToolCall) -> None: ...


class TooMany:
    def before_tool(self, call: ToolCall, context: HookContext, more: int) -> None: ...


@pytest.mark.parametrize(
    ("hooks", "why"),
    [
        (Recorder, "give an object, Recorder(), not the class itself"),
        ([NoHooks()], "has no hooks; give Hooks(), or an object with methods among on_session"),
        (ASlip(), "ASlip.before_tools is no hook; did you mean 'before_tool'?"),
        (TooMany(), "before_tool: .* cannot be called .* it is given .call, context."),
        (5, "has no hooks"),
        ("before_tool", "has no hooks"),
    ],
)
def test_what_is_no_hook_is_refused(hooks: Any, why: str) -> None:
    with pytest.raises(UsageError, match=why.replace("()", r"\(\)")):
        ToolRunner([add], hooks=hooks)


def with_limit(call: ToolCall, limit: int = 5) -> Any:
    return limit


def with_context(call: ToolCall, where: HookContext | None = None) -> Any:
    return where


def in_text(call: ToolCall, where: "Optional[HookContext]" = None) -> Any:  # noqa: UP037, UP045
    return where


def after_a_default(call: ToolCall, limit: int = 5, context: Any = None) -> Any:
    assert limit == 5
    return context


def of_unknown(call: ToolCall, limit: "Nowhere" = 5) -> Any:  # type: ignore[name-defined]  # noqa: F821, UP037
    return limit


class WithMethod:
    def guard(self, call: ToolCall, limit: int = 5, *rest: Any) -> Any:
        return (limit, *rest) if rest else limit

    def told(self, call: ToolCall, limit: int = 5, where: HookContext | None = None) -> Any:
        return where if limit == 5 else limit


@pytest.mark.parametrize(
    ("hook", "gets_context"),
    [
        (with_limit, False), (lambda call, limit=5: limit, False), (of_unknown, False),
        (lambda call, *, context=5: context, False), (WithMethod().guard, False),
        (functools.partial(lambda call, ctx: ctx, ctx=5), False),
        (with_context, True), (in_text, True), (after_a_default, True), (WithMethod().told, True),
        (lambda call, ctx=None: ctx, True), (lambda call, context=None: context, True),
        (lambda call, anything: anything, True), (lambda *given: given[1], True),
        (lambda call, *rest: rest[0], True),
        (functools.partial(lambda limit, call, c: c, 5), True),
    ],
)  # fmt: skip
def test_a_parameter_with_a_default_keeps_it_unless_it_asks_for_the_context(
    hook: Any, gets_context: bool
) -> None:
    found: list[Any] = []
    hooks = Hooks()
    made = functools.wraps(hook)(lambda *a, **k: found.append(hook(*a, **k)))
    hooks.before_tool(made)
    result = run(sent(ToolRunner([add], hooks=hooks), a=1))
    assert result.ok, result.error
    [value] = found
    assert isinstance(value, HookContext) if gets_context else value == 5


@pytest.mark.parametrize("hook", [5, lambda: None, lambda a, b, c: None, lambda *, call: None])
def test_a_decorator_refuses_what_cannot_be_called_so(hook: Any) -> None:
    with pytest.raises(UsageError, match=r"^before_tool: "):
        Hooks().before_tool(hook)
