"""People: only a clear yes is one, and what was approved is what runs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import numpy as np
from access.world import Attempts, World

from agtools_nb import (
    Approval,
    ApprovalDecision,
    Background,
    Tool,
    ToolCall,
    ToolError,
    allow,
    allow_all,
    ask_user,
    deny,
    deny_all,
    workspace_only,
)
from agtools_nb.define import Turn

attempts = Attempts()

ODD = [
    "no", "n", 0, "yes", "y", "True", 1, 1.0, [], [True], {}, {"approved": True}, object(), Ellipsis,
    True.__class__, np.bool_(True), SimpleNamespace(approved=True), ApprovalDecision, lambda: True,
    ApprovalDecision(1), ApprovalDecision("yes"), ApprovalDecision(None),
    ApprovalDecision(True, remember="yes"), ApprovalDecision(True, arguments="{}"),
    ApprovalDecision(True, arguments=[("force", True)]), ApprovalDecision(True, reason=5),
]  # fmt: skip


@attempts("an answer that is no answer", each=ODD)
async def odd(world: World, value: Any) -> None:
    runner = world.runner(world.delete(), policies=[ask_user("delete")], approve=world.says(value))
    result = await world.send(runner, "delete")
    assert world.is_open or "for the user to put right" in (result.error or "")


@attempts(
    "a no", each=[None, False, ApprovalDecision(False), ApprovalDecision(False, remember=True)]
)
async def no(world: World, value: Any) -> None:
    runner = world.runner(
        world.delete(), policies=[ask_user("delete"), allow_all()], approve=world.says(value)
    )
    await world.send(runner, "delete")
    await world.send(runner, "delete")


async def later(answer: Any) -> Any:
    await asyncio.sleep(0)
    return answer


@attempts("an odd answer that comes later", each=["yes", 1, None])
async def odd_later(world: World, value: Any) -> None:
    async def handler(approval: Approval) -> Any:
        return await later(value)

    await world.send(
        world.runner(world.delete(), policies=[ask_user("*")], approve=handler), "delete"
    )


@attempts("an answer that has to be awaited twice")
async def twice(world: World) -> None:
    async def handler(approval: Approval) -> Any:
        return asyncio.get_running_loop().create_future()

    runner = world.runner(world.delete(), policies=[ask_user("*")], approve=handler)
    await world.send(runner, "delete")


@attempts(
    "a handler that fails",
    each=[
        ValueError("broken"), SystemExit(1), GeneratorExit(), asyncio.CancelledError(),
        ToolError("x", "y"), StopIteration(), TimeoutError(),
    ],
)  # fmt: skip
async def failing(world: World, value: BaseException) -> None:
    def handler(approval: Approval) -> bool:
        raise value

    runner = world.runner(world.delete(), policies=[ask_user("delete", handler)])
    await world.send(runner, "delete")


class Sneaky(ApprovalDecision):
    """Says no when it is looked at first, and yes after that, or the other way round."""

    @property
    def approved(self) -> Any:  # type: ignore[override]
        looks.append(None)
        return "yes" if len(looks) == 1 else True

    @approved.setter
    def approved(self, value: Any) -> None:
        pass


looks: list[None] = []


@attempts("a decision that changes between two looks")
async def sneaky(world: World) -> None:
    looks.clear()
    answer = object.__new__(Sneaky)
    for name, given in (("arguments", None), ("reason", ""), ("remember", False)):
        object.__setattr__(answer, name, given)
    runner = world.runner(world.delete(), policies=[ask_user("delete")], approve=world.says(answer))
    await world.send(runner, "delete")


# -- what was approved is what runs ---------------------------------------------------------------


def only(world: World, *expected: tuple[str, Any]) -> None:
    """What ran is what was approved; anything else stays noted."""
    if world.ran == list(expected):
        world.ran.clear()


@attempts("a handler that changes what it was shown", open_too=False)
async def meddling(world: World) -> None:
    def handler(approval: Approval) -> bool:
        approval.arguments["amount"] = 1_000  # type: ignore[index]
        approval.arguments["to"].append("thief")
        approval.call.args["amount"] = 1_000  # type: ignore[index,call-overload]
        return True

    runner = world.runner(world.pay(), policies=[ask_user("pay", handler)])
    await world.send(runner, "pay", {"amount": 5})
    only(world, ("pay", {"amount": 5, "to": []}))


@attempts("the sender changes the arguments while a person thinks", open_too=False)
async def changed_by_the_sender(world: World) -> None:
    sent: dict[str, Any] = {"amount": 5, "to": ["a"]}
    asked, answered = asyncio.Event(), asyncio.Event()

    async def handler(approval: Approval) -> bool:
        asked.set()
        await answered.wait()
        return True

    async def meddle() -> None:
        await asked.wait()
        sent["amount"] = 1_000
        sent["to"].append("thief")
        answered.set()

    runner = world.runner(world.pay(), policies=[ask_user("pay", handler)])
    await asyncio.gather(world.send(runner, "pay", sent), meddle())
    only(world, ("pay", {"amount": 5, "to": ["a"]}))


@attempts("another call changes the arguments of an explicit schema", open_too=False)
async def changed_without_a_model(world: World) -> None:
    from agtools_nb import ToolWithSchema

    async def send_money(**given: Any) -> None:
        world.ran.append(("send_money", given))

    schema = {"type": "object", "properties": {"to": {"type": "array"}}}
    tool = ToolWithSchema(send_money, schema)
    sent: dict[str, Any] = {"to": [["a"]]}

    async def handler(approval: Approval) -> bool:
        sent["to"][0].append("thief")
        sent["amount"] = 1_000
        approval.arguments["to"][0].append("thief")
        await asyncio.sleep(0)
        return True

    runner = world.runner(tool, policies=[ask_user("send_money", handler)])
    await world.send(runner, "send_money", sent)
    only(world, ("send_money", {"to": [["a"]]}))


@attempts("unchecked arguments changed while a person thinks", open_too=False)
async def changed_without_checks(world: World) -> None:
    sent: dict[str, Any] = {"amount": 5, "to": ["a"]}

    async def handler(approval: Approval) -> bool:
        sent["to"].append("thief")
        await asyncio.sleep(0)
        return True

    runner = world.runner(world.pay(), policies=[ask_user("pay", handler)], validate=False)
    await world.send(runner, "pay", sent)
    only(world, ("pay", {"amount": 5, "to": ["a"]}))


@attempts("edited arguments that a rule denies", each=[True, "true", "TRUE"])
async def edited_into_a_deny(world: World, value: Any) -> None:
    answer = ApprovalDecision(True, arguments={"path": "/x", "force": value})
    rules = [deny("delete", when=lambda a: a["force"] is True), ask_user("delete")]
    runner = world.runner(world.delete(), policies=rules, approve=world.says(answer))
    await world.send(runner, "delete", {"force": False})


@attempts("edited arguments that do not fit", each=[{"amount": "much"}, {"other": 1}, {"to": 5}])
async def edited_into_nothing(world: World, value: Any) -> None:
    runner = world.runner(
        world.pay(),
        policies=[ask_user("pay")],
        approve=world.says(ApprovalDecision(True, arguments=value)),
    )
    await world.send(runner, "pay")


@attempts("edited arguments that another rule asks about")
async def edited_into_another_question(world: World) -> None:
    rules = [
        ask_user("pay", lambda a: ApprovalDecision(True, arguments={"amount": 500}), when=is_small),
        ask_user("pay", world.says(False), when=lambda a: a["amount"] >= 100),
    ]
    await world.send(world.runner(world.pay(), policies=rules), "pay", {"amount": 5})


def is_small(arguments: dict[str, Any]) -> bool:
    return arguments["amount"] < 100


@attempts("two people who change each other's arguments without end")
async def ping_pong(world: World) -> None:
    rules = [
        ask_user("pay", lambda a: ApprovalDecision(True, arguments={"amount": 500}), when=is_small),
        ask_user("pay", lambda a: ApprovalDecision(True, arguments={"amount": 5})),
    ]
    await world.send(world.runner(world.pay(), policies=rules), "pay", {"amount": 5})


@attempts("a path that is swapped for a link while a person thinks")
async def swapped(world: World) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "a").write_text("shown")
        (folder / "b").write_text("secret")

        def handler(approval: Approval) -> bool:
            (folder / "a").unlink()
            (folder / "a").symlink_to(folder / "b")
            return True

        runner = world.runner(world.read(), policies=[ask_user("read", handler)])
        await world.send(runner, "read", {"path": str(folder / "a")})


@attempts(
    "a path that is swapped for a link between its judgement and its turn",
    each=["turn", "turn of a thread", "hook", "beside"],
    open_too=False,  # whoever judges paths looks again
)
async def swapped_before_its_turn(world: World, value: str) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "a").write_text("shown")
        (folder / "b").write_text("secret")

        async def swap() -> None:
            await asyncio.sleep(0.02)
            (folder / "a").unlink()
            (folder / "a").symlink_to(folder / "b")

        def read_now(path: str) -> None:
            world.ran.append(("read", path))

        def real(arguments: Any) -> str:
            return str(Path(arguments["path"]).resolve())

        first = Tool(swap)
        second = world.read(mode="dispatched" if value == "beside" else "inline")
        if value == "turn of a thread":
            second = Tool(read_now, name="read", path_of=real)
        runner = world.runner(
            first, second, policies=[workspace_only(folder)], background=Background()
        )
        calls = [ToolCall("swap"), ToolCall("read", {"path": str(folder / "a")})]
        if value == "hook":
            runner.before(lambda call, arguments: swap() if call.name == "read" else None)
            calls = calls[1:]
        else:
            first.turn = second.turn = Turn()
        result = (await runner.process_tool_calls(calls))[-1]
        if value == "beside":
            assert result.ok
            await asyncio.sleep(0.1)
        else:
            assert result.status == "denied"
            assert "leads elsewhere than when it was judged" in (result.error or "")


@attempts("a yes for a session that has ended meanwhile", open_too=False)
async def for_another_session(world: World) -> None:
    asked, answered = asyncio.Event(), asyncio.Event()

    async def handler(approval: Approval) -> Any:
        world.asked.append(approval)
        asked.set()
        await answered.wait()
        return ApprovalDecision(len(world.asked) == 1, remember=True)

    runner = world.runner(world.delete(), policies=[ask_user("delete")], approve=handler)
    first = asyncio.ensure_future(world.send(runner, "delete"))
    await asked.wait()
    await runner.close()
    answered.set()
    assert (await first).ok
    world.ran.clear()
    assert (await world.send(runner, "delete")).status == "denied"
    assert len(world.asked) == 2


@attempts("a yes that comes after the batch was stopped")
async def too_late(world: World) -> None:
    asked = asyncio.Event()

    async def handler(approval: Approval) -> bool:
        asked.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return True  # as if nothing had been
        return False

    runner = world.runner(world.delete(), policies=[ask_user("delete", handler)])
    batch = runner.batch([("delete", {})])
    task = asyncio.ensure_future(batch.run())
    if not world.is_open:
        await asked.wait()
        batch.stop()
    await task


# -- what was approved for the session --------------------------------------------------------------

ALWAYS = ApprovalDecision(True, remember=True)


async def approved(world: World, runner: Any, name: str = "delete") -> None:
    """Have a call of the tool approved for the session, and note it no more."""
    await world.send(runner, name)
    world.ran.clear()
    world.asked.clear()


class Once:
    """Approves the first call for the session, and refuses every later one."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, approval: Approval) -> ApprovalDecision:
        self.asked += 1
        return ALWAYS if self.asked == 1 else ApprovalDecision(False)


@attempts("another tool under the same rule")
async def for_another_tool(world: World) -> None:
    runner = world.runner(world.delete(), world.pay(), policies=[ask_user("*")], approve=Once())
    await approved(world, runner)
    await world.send(runner, "pay")


@attempts("another rule about the same tool")
async def under_another_rule(world: World) -> None:
    rules = [ask_user("delete", when=lambda a: a["force"]), ask_user("delete")]
    runner = world.runner(world.delete(), policies=rules, approve=Once())
    await approved(world, runner)
    await world.send(runner, "delete", {"force": True})


@attempts("another rule that looks the same")
async def under_a_twin(world: World) -> None:
    rules = [ask_user("delete", when=lambda a: a["force"]), ask_user("delete", when=lambda a: True)]
    runner = world.runner(world.delete(), policies=rules, approve=Once())
    await approved(world, runner)
    await world.send(runner, "delete", {"force": True})


@attempts("another tool that took the name")
async def after_a_change(world: World) -> None:
    runner = world.runner(world.pay(name="delete"), policies=[ask_user("*")], approve=Once())
    await approved(world, runner)
    runner.replace(world.delete())
    await world.send(runner, "delete")


@attempts("the next session")
async def in_the_next_session(world: World) -> None:
    runner = world.runner(world.delete(), policies=[ask_user("*")], approve=Once())
    await approved(world, runner)
    await runner.close()
    await world.send(runner, "delete")


@attempts("another runner with the same rules")
async def in_another_runner(world: World) -> None:
    rules, handler = [ask_user("*")], Once()
    tool = world.delete()
    await approved(world, world.runner(tool, policies=rules, approve=handler))
    await world.send(world.runner(tool, policies=rules, approve=handler), "delete")


@attempts("another conversation with the same tools and rules")
async def in_a_twin(world: World) -> None:
    runner = world.runner(world.delete(), policies=[ask_user("*")], approve=Once())
    await approved(world, runner)
    await world.send(runner.twin(), "delete")


@attempts("a rule that denies, after an approval for the session")
async def a_deny_still_holds(world: World) -> None:
    rules = [deny("delete", when=lambda a: a["force"]), ask_user("delete")]
    runner = world.runner(world.delete(), policies=rules, approve=world.says(ALWAYS))
    await approved(world, runner)
    await world.send(runner, "delete", {"force": "true"})


@attempts("a refusal is not remembered as an approval")
async def refused_and_remembered(world: World) -> None:
    runner = world.runner(
        world.delete(),
        policies=[ask_user("*")],
        approve=world.says(ApprovalDecision(False, remember=True)),
    )
    await world.send(runner, "delete")
    await world.send(runner, "delete")


# -- whom a word is for ------------------------------------------------------------------------------


@attempts("an approval for one call of a batch")
async def one_of_many(world: World) -> None:
    def handler(approval: Approval) -> bool:
        return approval.arguments["path"] == "/fine"

    runner = world.runner(world.delete(), policies=[ask_user("delete", handler)])
    calls = [("delete", {"path": path}) for path in ("/fine", "/etc", "/fine", "/usr")]
    await runner.process_tool_calls(calls)
    world.ran = [one for one in world.ran if one[1]["path"] != "/fine"]


@attempts("an approval under an id that is used twice")
async def one_id_for_two(world: World) -> None:
    from agtools_nb import ToolCall

    def handler(approval: Approval) -> bool:
        return approval.arguments["path"] == "/fine"

    runner = world.runner(world.delete(), policies=[ask_user("delete", handler)])
    await runner.process_tool_calls(
        [ToolCall("delete", {"path": path}, id="1") for path in ("/fine", "/etc")]
    )
    world.ran = [one for one in world.ran if one[1]["path"] != "/fine"]


@attempts("an exact deny, when everything else was approved")
async def a_deny_is_final(world: World) -> None:
    rules = [ask_user("*"), deny("delete")]
    runner = world.runner(world.delete(), policies=rules, approve=world.says(True))
    await world.send(runner, "delete")
    assert world.asked == []


@attempts("the order in which rules were given", each=range(6))
async def order(world: World, value: int) -> None:
    import itertools

    rules = [allow("delete"), deny("delete"), ask_user("delete")]
    given = list(itertools.permutations(rules))[value]
    runner = world.runner(world.delete(), policies=given, approve=world.says(True))
    await world.send(runner, "delete")


@attempts("a more exact rule", each=["s/delete", "s/*", "*"])
async def more_exact(world: World, value: str) -> None:
    order = ["delete", "s/delete", "s/*", "*"]
    looser = order[order.index(value) :]
    runner = world.runner(
        world.delete(server_name="s"),
        policies=[*map(allow, looser), deny(order[order.index(value) - 1])],
    )
    await world.send(runner, "delete")


@attempts("a tool that nobody named, where everything is denied")
async def by_default(world: World) -> None:
    runner = world.runner(Tool(world.delete()), world.pay(), policies=[deny_all(), allow("pay")])
    await world.send(runner, "delete")
