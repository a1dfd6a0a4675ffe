"""A person is asked about a call: who waits for that, what runs, and what the model is told."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from agtools_nb import (
    Approval,
    ApprovalDecision,
    ArgumentsError,
    Background,
    DeniedError,
    Store,
    Strategy,
    Tool,
    ToolCall,
    ToolContext,
    ToolExecutionError,
    ToolResult,
    ToolRunner,
    allow,
    allow_all,
    ask_user,
    deny,
)
from agtools_nb.run import Journal


async def delete(path: str, force: bool = False) -> str:
    return f"deleted {path} {force}"


async def read(path: str) -> str:
    return f"read {path}"


class Person:
    """Answers when told to: ``await person.asked(n)``, ``person.says(answer)``."""

    def __init__(self) -> None:
        self.approvals: list[Approval] = []
        self._answers: list[asyncio.Future[Any]] = []
        self.left = 0

    async def __call__(self, approval: Approval) -> Any:
        self.approvals.append(approval)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._answers.append(answer)
        try:
            return await answer
        except asyncio.CancelledError:
            self.left += 1
            raise

    async def asked(self, count: int = 1) -> None:
        while len(self.approvals) < count:
            await asyncio.sleep(0)

    def says(self, answer: Any, which: int = 0) -> None:
        self._answers[which].set_result(answer)


def run(coroutine: Any) -> Any:
    return asyncio.run(asyncio.wait_for(coroutine, 30))


async def sent(runner: ToolRunner, name: str, /, **arguments: Any) -> ToolResult:
    return (await runner.process_tool_calls([(name, arguments)]))[0]


# -- what is shown, and what runs ----------------------------------------------------------------


def test_what_a_handler_is_given() -> None:
    """policy-02: rules and people see the arguments as the tool will get them."""
    seen: list[Approval] = []

    def approve(approval: Approval) -> bool:
        seen.append(approval)
        return True

    rules = [ask_user("delete", reason="it is gone for good")]
    tool = Tool(delete)
    runner = ToolRunner([tool], policies=rules, approve=approve)
    call = ToolCall("delete", '{"path": "/x", "force": "true"}', id="7", server_name="forged")
    [result] = run(runner.process_tool_calls([call]))
    assert result.result == "deleted /x True"
    [approval] = seen
    assert approval.arguments == {"path": "/x", "force": True}
    assert approval.call == ToolCall("delete", {"path": "/x", "force": True}, "7")
    assert (approval.tool, approval.policy) == (tool, rules[0])
    assert approval.reason == "it is gone for good"
    assert result.server_name is None


def test_defaults_are_shown() -> None:
    runner = ToolRunner([delete], policies=[deny("delete", when=lambda a: a["force"] is False)])
    assert run(sent(runner, "delete", path="/x")).status == "denied"
    assert run(sent(runner, "delete", path="/x", force="TRUE")).ok


def test_which_answers_let_it_run() -> None:
    """policy-01: only True (or a decision) runs it; False and None deny; the rest is a bug."""

    def status(answer: Any) -> str:
        runner = ToolRunner([delete], policies=[ask_user("delete", lambda a: answer)])
        return run(sent(runner, "delete", path="/x")).status

    assert [status(v) for v in (True, ApprovalDecision(True))] == ["ok", "ok"]
    values = [False, None, "no", "n", 0, "yes", 1, ApprovalDecision(False)]
    assert [status(value) for value in values] == ["denied"] * len(values)


def test_edited_arguments_are_judged_and_run() -> None:
    decision = ApprovalDecision(True, arguments={"path": "/y", "force": "true"})
    asked: list[Approval] = []

    def approve(approval: Approval) -> ApprovalDecision:
        asked.append(approval)
        return decision

    runner = ToolRunner([delete], policies=[ask_user("*")], approve=approve)
    result = run(sent(runner, "delete", path="/x"))
    assert result.result == "deleted /y True"
    assert result.arguments == {"path": "/y", "force": True}
    assert [change.pointer for change in result.coercions] == ["/force"]
    assert result.notes == (
        "It ran with other arguments than were sent: the person who was asked changed them.",
    )
    assert len(asked) == 1


def test_edited_arguments_that_do_not_fit() -> None:
    answer = ApprovalDecision(True, arguments={"paht": "/y"})
    runner = ToolRunner([delete], policies=[ask_user("*", lambda a: answer)])
    result = run(sent(runner, "delete", path="/x"))
    assert result.status == "error"
    assert "the person who was asked changed its arguments into ones that do not fit" in (
        result.error or ""
    )
    assert "paht" in (result.error or "")


def test_arguments_given_back_as_they_were_are_no_change() -> None:
    runner = ToolRunner(
        [delete],
        policies=[ask_user("*", lambda a: ApprovalDecision(True, arguments=a.arguments))],
    )
    assert run(sent(runner, "delete", path="/x")).notes == ()


def test_a_call_that_does_not_fit_is_not_asked_about() -> None:
    person = Person()
    runner = ToolRunner([delete], policies=[ask_user("*", person)])
    result = run(sent(runner, "delete", force="maybe"))
    assert (result.status, person.approvals) == ("invalid", [])
    assert isinstance(result.exception.__cause__, ArgumentsError)  # type: ignore[union-attr]


# -- words ---------------------------------------------------------------------------------------


def words(rules: Any, **arguments: Any) -> str:
    runner = ToolRunner([delete], policies=rules)
    result = run(sent(runner, "delete", path="/x", **arguments))
    assert result.status == "denied"
    assert isinstance(result.exception, ToolExecutionError)
    assert isinstance(result.exception.__cause__, DeniedError)
    return result.error or ""


def test_what_the_model_is_told() -> None:
    """policy-04: a denial is final and says why; nobody is asked."""
    go_on = " Go on without it, or ask the user what to do."
    assert words([deny("delete"), ask_user("*", Person())]) == (
        f"delete was not run: the rule deny('delete') refuses every call of it.{go_on}"
    )
    assert words([deny("delete", reason="never here", name="no deleting")]) == (
        f"delete was not run: the rule no deleting refuses it: never here.{go_on}"
    )
    assert words([deny("*", when=lambda a: True)]).startswith(
        "delete was not run: the rule deny('*') refuses it: its condition holds. With other"
    )
    assert "failed (KeyError: 'x'), which counts as holding" in words(
        [deny("*", when=lambda a: a["x"])]
    )
    assert words([ask_user("*", lambda a: False)]).startswith(
        "delete was not run: the person who was asked refused it (rule ask_user('*')). Do not try"
    )
    assert "(rule ask_user('*')): not on a Friday." in words(
        [ask_user("*", lambda a: ApprovalDecision(False, reason="not on a Friday"))]
    )
    assert "returned 'yes', which is neither True, False, None" in words(
        [ask_user("*", lambda a: "yes")]
    )


def test_an_allow_never_asks() -> None:
    """policy-04: what is allowed runs without a question."""
    runner = ToolRunner([delete], policies=[allow("delete"), ask_user("*", Person())])
    assert run(sent(runner, "delete", path="/x")).ok


# -- who waits for it ----------------------------------------------------------------------------


class Watcher:
    """Notes what happens in a batch."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def call_started(self, index: int, call: ToolCall, prepared: Any) -> None:
        self.events.append(f"{call.name} {index} begins")

    def call_finished(self, index: int, result: ToolResult) -> None:
        self.events.append(f"{result.name} {index} {result.status}")

    async def seen(self, count: int) -> None:
        while len(self.events) < count:
            await asyncio.sleep(0)


@pytest.mark.parametrize("most", [None, 1])
def test_only_the_call_that_is_asked_about_waits(most: int | None) -> None:
    """policy-05: the others run at once, also if one call at a time may run."""

    async def main() -> None:
        person, watcher = Person(), Watcher()
        rules = [allow("read"), ask_user("delete", person)]
        runner = ToolRunner([read, delete], policies=rules, max_concurrency=most)
        calls = [("delete", {"path": "/x"}), ("read", {"path": "/a"}), ("read", {"path": "/b"})]
        task = asyncio.ensure_future(runner.batch(calls, observers=[watcher]).run())
        await person.asked()
        await watcher.seen(4)
        assert watcher.events == ["read 1 begins", "read 1 ok", "read 2 begins", "read 2 ok"]
        person.says(False)
        results = await task
        assert [result.status for result in results] == ["denied", "ok", "ok"]
        assert [approval.call.name for approval in person.approvals] == ["delete"]

    run(main())


class Slow:
    """Counts how many of its calls run at once."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self.gate = asyncio.Event()

    async def work(self, n: int) -> int:
        self.now += 1
        self.most = max(self.most, self.now)
        await self.gate.wait()
        for _ in range(3):
            await asyncio.sleep(0)
        self.now -= 1
        return n


@pytest.mark.parametrize("most", [1, 2, 5])
def test_who_was_asked_about_takes_a_place_again(most: int) -> None:
    async def main() -> None:
        person, slow = Person(), Slow()
        rules = [ask_user("work", person, when=lambda a: a["n"] % 2 == 0)]
        runner = ToolRunner([slow.work], policies=rules, max_concurrency=most)
        batch = runner.batch([("work", {"n": n}) for n in range(12)])
        task = asyncio.ensure_future(batch.run())
        await person.asked(
            min(6, most)
        )  # each of the others holds a place by now, or waits for one
        for which in range(len(person.approvals)):
            person.says(True, which)
        for _ in range(20):
            await asyncio.sleep(0)
        slow.gate.set()
        answered = len(person.approvals)
        while not task.done():
            for which in range(answered, len(person.approvals)):
                person.says(True, which)
            answered = len(person.approvals)
            await asyncio.sleep(0)
        assert [result.result for result in await task] == list(range(12))
        assert slow.most <= most

    run(main())


@pytest.mark.parametrize("most", [1, 2])
def test_a_stream_goes_on(most: int) -> None:
    async def main() -> None:
        person, slow = Person(), Slow()
        slow.gate.set()
        rules = [ask_user("work", person, when=lambda a: a["n"] == 0)]
        runner = ToolRunner([slow.work], policies=rules, max_concurrency=most)
        found: list[int] = []
        async for result in runner.stream([("work", {"n": n}) for n in range(6)]):
            found.append(result.index)
            if len(found) == 5:
                person.says(True)
        assert sorted(found) == list(range(6))
        assert found[-1] == 0
        assert slow.most <= most

    run(main())


def test_thinking_is_not_the_tools_time(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> ToolResult:
        person = Person()
        runner = ToolRunner([Tool(read, timeout=0.05)], policies=[ask_user("read", person)])
        task = asyncio.ensure_future(sent(runner, "read", path="/x"))
        await person.asked()
        await asyncio.sleep(0.2)
        person.says(True)
        return await task

    before = time.time()
    result = run(main())
    assert result.ok
    assert result.duration < time.time() - before - 0.19
    assert result.started_at >= before + 0.15


@pytest.mark.parametrize("said", [False, ValueError("no")])
@pytest.mark.parametrize("in_stream", [False, True])
def test_thinking_is_not_the_time_of_a_call_that_is_denied(said: Any, in_stream: bool) -> None:
    async def main() -> ToolResult:
        async def person(approval: Approval) -> bool:
            await asyncio.sleep(0.3)
            if isinstance(said, Exception):
                raise said
            return False

        runner = ToolRunner([read], policies=[ask_user("read", person)])
        if not in_stream:
            return await sent(runner, "read", path="/x")
        return [one async for one in runner.stream([("read", {"path": "/x"})])][0]

    before = time.time()
    result = run(main())
    assert result.status == "denied"
    assert 0 <= result.duration < time.time() - before - 0.29


def test_a_blocking_function_waits_without_a_thread() -> None:
    async def main() -> None:
        person = Person()

        def wipe() -> str:
            return "wiped"

        runner = ToolRunner([wipe], policies=[ask_user("wipe", person)])
        before = len(__import__("threading").enumerate())
        task = asyncio.ensure_future(sent(runner, "wipe"))
        await person.asked()
        assert len(__import__("threading").enumerate()) == before
        person.says(True)
        assert (await task).result == "wiped"

    run(main())


@pytest.mark.parametrize("strategy", list(Strategy))
def test_strategies(strategy: Strategy) -> None:
    runner = ToolRunner(
        [Tool(read, read_only=True), delete],
        policies=[ask_user("delete", lambda a: a.arguments["path"] != "/no")],
        strategy=strategy,
    )
    calls = [("delete", {"path": "/no"}), ("read", {"path": "/a"}), ("delete", {"path": "/x"})]
    results = run(runner.process_tool_calls(calls))
    assert [result.status for result in results] == ["denied", "ok", "ok"]


# -- stopped while a person thinks ---------------------------------------------------------------


def test_stopping_a_batch_ends_the_question() -> None:
    async def main() -> None:
        person = Person()
        runner = ToolRunner([delete], policies=[ask_user("*", person)], max_concurrency=1)
        batch = runner.batch([("delete", {"path": f"/{n}"}) for n in range(3)])
        task = asyncio.ensure_future(batch.run())
        await person.asked(3)
        batch.stop()
        results = await task
        assert [result.status for result in results] == ["cancelled"] * 3
        assert person.left == 3

    run(main())


def test_cancelling_whoever_waits_ends_the_question() -> None:
    async def main() -> None:
        for start in (
            lambda runner: runner.execute("delete", path="/x"),
            lambda runner: runner.process_tool_calls([("delete", {"path": "/x"})]),
        ):
            person = Person()
            runner = ToolRunner([delete], policies=[ask_user("*", person)])
            task = asyncio.ensure_future(start(runner))
            await person.asked()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert person.left == 1

    run(main())


# -- for the session -----------------------------------------------------------------------------


def test_approved_for_the_session() -> None:
    asked: list[Approval] = []

    def approve(approval: Approval) -> ApprovalDecision:
        asked.append(approval)
        return ApprovalDecision(True, remember=True)

    rules = [deny("delete", when=lambda a: a["path"] == "/"), ask_user("*")]
    runner = ToolRunner([delete, read], policies=rules, approve=approve)
    assert run(sent(runner, "delete", path="/a")).ok
    assert run(sent(runner, "delete", path="/b", force=True)).ok
    assert run(sent(runner, "delete", path="/")).status == "denied"
    assert len(asked) == 1
    assert run(sent(runner, "read", path="/a")).ok
    assert len(asked) == 2
    run(runner.close())
    assert run(sent(runner, "delete", path="/a")).ok
    assert len(asked) == 3


# -- what else there is --------------------------------------------------------------------------


def test_the_path_of_a_call(tmp_path: Path) -> None:
    """Rules, hooks and people see where a call really leads, whatever it says of itself."""
    (tmp_path / "link").symlink_to(tmp_path / "real")
    seen: list[str | None] = []

    def path_of(arguments: Any) -> Path:
        return Path(arguments["path"]).resolve()

    def when(call: ToolCall) -> bool:
        seen.append(call.canonical_path)
        return True

    def approve(approval: Approval) -> bool:
        seen.append(approval.call.canonical_path)
        return True

    runner = ToolRunner(
        [Tool(read, path_of=path_of)], policies=[ask_user("read", approve, when=when)]
    )
    runner.before(lambda call, arguments: seen.append(call.canonical_path))
    call = ToolCall("read", {"path": str(tmp_path / "link")}, canonical_path="/forged")
    [result] = run(runner.process_tool_calls([call]))
    assert result.ok
    assert seen == [str(tmp_path / "real")] * 3


def test_a_path_that_cannot_be_told_without_rules() -> None:
    def path_of(arguments: Any) -> str:
        raise OSError("gone")

    result = run(sent(ToolRunner([Tool(read, path_of=path_of)]), "read", path="/x"))
    assert (result.status, result.error) == ("error", "OSError: gone")


@pytest.mark.parametrize("mode", ["dispatched", "long_running"])
def test_work_is_decided_on_before_it_starts(mode: str) -> None:
    async def main() -> None:
        ran: list[str] = []

        async def build(name: str) -> str:
            ran.append(name)
            return name

        options: dict[str, Any] = (
            {"mode": "dispatched"} if mode == "dispatched" else {"long_running": True}
        )
        background, person = Background(), Person()
        runner = ToolRunner(
            [Tool(build, **options)],
            background=background,
            policies=[ask_user("build", person), allow_all()],
        )
        task = asyncio.ensure_future(sent(runner, "build", name="a"))
        await person.asked()
        assert (ran, background.tasks) == ([], ())
        person.says(ApprovalDecision(True, arguments={"name": "b"}))
        assert (await task).ok
        while not ran:
            await asyncio.sleep(0)
        assert ran == ["b"]
        task = asyncio.ensure_future(sent(runner, "build", name="c"))
        await person.asked(2)
        person.says(False, 1)
        assert (await task).status == "denied"
        assert (ran, len(background.tasks)) == (["b"], 1)
        await background.close()

    run(main())


def test_a_subscription_is_decided_on_before_it_starts() -> None:
    async def main() -> None:
        async def ticks(name: str) -> Any:
            yield name

        background = Background()
        rules = [ask_user("ticks", lambda a: ApprovalDecision(True, arguments={"name": "b"}))]
        runner = ToolRunner([ticks], background=background, policies=rules)
        assert (await sent(runner, "ticks", name="a")).result == "b"
        await background.close()

    run(main())


def test_the_journal_has_what_was_denied_and_what_ran(tmp_path: Path) -> None:
    with Store.open(tmp_path / "work.db") as store:
        journal = Journal.of(store.database)
        rules = [
            deny("delete", when=lambda a: a["force"]),
            ask_user("delete", lambda a: ApprovalDecision(True, arguments={"path": "/y"})),
        ]
        runner = ToolRunner([delete], policies=rules)
        journal.record(runner)
        calls = [("delete", {"path": "/x", "force": True}), ("delete", {"path": "/x"})]
        run(runner.process_tool_calls(calls))
        entries = {entry.status: entry.arguments for entry in journal.entries()}
        assert entries == {
            "denied": {"path": "/x", "force": True}, "ok": {"path": "/y", "force": False}
        }  # fmt: skip


def test_a_tool_that_says_it_was_denied_has_failed() -> None:
    async def refuses() -> None:
        raise DeniedError("no", hint="go")

    runner = ToolRunner([refuses], policies=[allow_all()])
    result = run(sent(runner, "refuses"))
    assert (result.status, result.error) == ("error", "no go")


def test_scopes_come_first() -> None:
    person = Person()
    runner = ToolRunner(
        [Tool(read, scopes=["files"])], context=ToolContext(), policies=[ask_user("*", person)]
    )
    result = run(sent(runner, "read", path="/x"))
    assert "needs the scope 'files'" in (result.error or "")
    assert person.approvals == []
