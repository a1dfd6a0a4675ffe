"""Arguments: what a rule sees is what the tool gets, however it was sent."""

from __future__ import annotations

import asyncio
import dataclasses
import enum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from access.world import Attempts, World
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
)

from agtools_nb import Tool, ToolCall, allow, allow_all, deny, deny_all, workspace_only

attempts = Attempts()


@attempts(
    "force=True in other forms",
    each=[
        {"force": True}, {"force": "true"}, {"force": "TRUE"}, '{"force": true}',
        '{"force": "true"}', '"{\\"force\\": true}"', '{"force": false, "force": true}',
        b'{"force": true}', ' {"force": true} ',
    ],
)  # fmt: skip
async def forced(world: World, value: Any) -> None:
    rules = [deny("delete", when=lambda a: a["force"] is True), allow("delete")]
    await world.send(world.runner(world.delete(), policies=rules), "delete", value)


@attempts("a large amount in other forms", each=[100, "100", 100.0, "100.0", '{"amount": 1e2}'])
async def paid(world: World, value: Any) -> None:
    args = value if isinstance(value, str) and value.startswith("{") else {"amount": value}
    rules = [deny("pay", when=lambda a: a["amount"] >= 100), allow("pay")]
    result = await world.send(world.runner(world.pay(), policies=rules), "pay", args)
    assert result.status in ("denied", "invalid", "ok")
    world.ran = [one for one in world.ran if one[1]["amount"] >= 100] or (
        [("pay", "invalid")] if world.is_open and result.status == "invalid" else []
    )


@attempts("a default that nobody sent")
async def by_default(world: World) -> None:
    async def wipe(everything: bool = True) -> None:
        world.ran.append(("wipe", everything))

    rules = [deny("wipe", when=lambda a: a.get("everything") is True), allow("wipe")]
    await world.send(world.runner(wipe, policies=rules), "wipe", {})


@attempts("null for a default, left out")
async def by_null(world: World) -> None:
    async def wipe(everything: bool = True) -> None:
        world.ran.append(("wipe", everything))

    rules = [deny("wipe", when=lambda a: a["everything"])]
    runner = world.runner(wipe, policies=rules, omit_nulls=True)
    await world.send(runner, "wipe", {"everything": None})


@attempts("an object as JSON text")
async def an_object_as_text(world: World) -> None:
    async def wipe(options: dict[str, bool]) -> None:
        world.ran.append(("wipe", options))

    rules = [deny("wipe", when=lambda a: a["options"]["all"])]
    await world.send(world.runner(wipe, policies=rules), "wipe", {"options": '{"all": true}'})


class Mode(enum.Enum):
    SOFT = "soft"
    HARD = "hard"


@attempts("an enum by its text")
async def an_enum(world: World) -> None:
    async def wipe(mode: Mode) -> None:
        world.ran.append(("wipe", mode))

    rules = [deny("wipe", when=lambda a: a["mode"] == "hard")]
    await world.send(world.runner(wipe, policies=rules), "wipe", {"mode": "hard"})


class Force(BaseModel):
    force: bool
    path: str = ""


def is_forced(arguments: Force) -> bool:
    return arguments.force


def is_forced_call(call: ToolCall) -> bool:
    return dict(call.args)["force"] is True  # type: ignore[arg-type]


@attempts("a rule that is given a model, or the call", each=[is_forced, is_forced_call])
async def by_model(world: World, value: Any) -> None:
    rules = [deny("delete", when=value), allow("delete")]
    await world.send(world.runner(world.delete(), policies=rules), "delete", '{"force": "true"}')


Tidy = Annotated[str, StringConstraints(to_lower=True, strip_whitespace=True)]
Without = Annotated[str, AfterValidator(lambda text: text.replace("@", ""))]


class Tidied(BaseModel):
    path: str
    force: bool = True

    @field_validator("path")
    @classmethod
    def tidy(cls, path: str) -> str:
        return path.strip()


@dataclasses.dataclass
class Listed:
    path: str = "secret"


class Aliased(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    path: str = Field("", alias="Pfad")


@attempts(
    "a value that its type makes another of",
    each=[
        (Tidy, " SECRET "), (Without, "sec@ret"), (Tidied, {"path": " secret "}),
        (list[Tidy], ["a", "Secret"]), (Listed, {}), (Aliased, {"path": "secret"}),
    ],
)  # fmt: skip
async def made_another(world: World, value: Any) -> None:
    kind, sent = value

    async def wipe(what: Any) -> None:
        world.ran.append(("wipe", what))

    wipe.__annotations__["what"] = kind
    rules = [deny("wipe", when=is_about_the_secret)]
    await world.send(world.runner(wipe, policies=rules), "wipe", {"what": sent})


def is_about_the_secret(arguments: dict[str, Any]) -> bool:
    what = arguments["what"]
    return "secret" in (what.values() if isinstance(what, dict) else [what, *what])


@attempts("a default inside of a model that nobody sent", each=[{"path": "a"}, '{"path": "a"}'])
async def a_nested_default(world: World, value: Any) -> None:
    async def wipe(what: Tidied) -> None:
        world.ran.append(("wipe", what))

    rules = [deny("wipe", when=lambda a: a["what"].get("force") is True)]
    await world.send(world.runner(wipe, policies=rules), "wipe", {"what": value})


# -- conditions that fail or meddle --------------------------------------------------------------


def raises(error: BaseException) -> Any:
    def condition(arguments: dict[str, Any]) -> bool:
        raise error

    return condition


def raises_later(error: BaseException) -> Any:
    async def condition(arguments: dict[str, Any]) -> bool:
        await asyncio.sleep(0)
        raise error

    return condition


class Undecided:
    def __bool__(self) -> bool:
        raise ValueError("neither")


class Amount(BaseModel):
    amount: list[int]


def asks_for_something_else(arguments: Amount) -> bool:
    return False


FAILING = [
    raises(ValueError("no")), raises(KeyError("x")), raises(SystemExit()), raises(GeneratorExit()),
    raises(asyncio.CancelledError()), raises_later(RuntimeError("later")),
    raises_later(asyncio.CancelledError()), lambda a: Undecided(), lambda a: a["missing"],
    asks_for_something_else,
]  # fmt: skip


@attempts("a condition that fails, of a rule that denies", each=FAILING)
async def a_deny_that_fails(world: World, value: Any) -> None:
    rules = [deny("delete", when=value), allow("delete")]
    result = await world.send(world.runner(world.delete(), policies=rules), "delete")
    assert world.is_open or "which counts as holding" in (result.error or "")


@attempts("a condition that fails, of a rule that allows", each=FAILING)
async def an_allow_that_fails(world: World, value: Any) -> None:
    # With nothing behind it, with a door that stands open behind it, and with one that is shut.
    for behind in ([], [allow_all()], [deny_all()]):
        rules = [allow("delete", when=value), *behind]
        await world.send(world.runner(world.delete(), policies=rules), "delete")


def clears(arguments: dict[str, Any]) -> bool:
    arguments.clear()
    arguments["force"] = False
    return False


def sweetens(call: ToolCall) -> bool:
    call.args.clear()  # type: ignore[union-attr]
    return False


def calms(arguments: Force) -> bool:
    arguments.force = False
    return False


@attempts("a condition that changes what the next one sees", each=[clears, sweetens, calms])
async def a_condition_that_meddles(world: World, value: Any) -> None:
    rules = [deny("delete", when=value), deny("delete", when=lambda a: a["force"])]
    await world.send(world.runner(world.delete(), policies=rules), "delete", {"force": True})


def raises_the_amount(arguments: dict[str, Any]) -> bool:
    is_small = arguments["amount"] < 10 and not arguments["to"]
    arguments["amount"] = 1_000
    arguments["to"].append("thief")
    return is_small


@attempts("a condition that changes what runs", open_too=False)
async def a_condition_that_raises_the_amount(world: World) -> None:
    rules = [allow("pay", when=raises_the_amount), deny_all()]
    await world.send(world.runner(world.pay(), policies=rules), "pay", {"amount": 5})
    assert world.ran == [("pay", {"amount": 5, "to": []})]
    world.ran.clear()


@attempts("arguments that change while an async condition thinks", open_too=False)
async def changed_meanwhile(world: World) -> None:
    sent: dict[str, Any] = {"amount": 5, "to": ["a"]}

    async def is_small(arguments: dict[str, Any]) -> bool:
        sent["amount"] = 1_000
        sent["to"].append("thief")
        await asyncio.sleep(0)
        return arguments["amount"] < 10

    rules = [allow("pay", when=is_small), deny_all()]
    await world.send(world.runner(world.pay(), policies=rules), "pay", sent)
    assert world.ran == [("pay", {"amount": 5, "to": ["a"]})]
    world.ran.clear()


# -- paths ---------------------------------------------------------------------------------------


def folders(folder: str) -> tuple[Path, Path]:
    """A workspace and what is beside it."""
    inside, outside = Path(folder) / "ws", Path(folder) / "ws-other"
    inside.mkdir()
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (inside / "link").symlink_to(outside)
    (inside / "loop").symlink_to(inside / "loop")
    return inside, outside


@attempts(
    "a path that leads out",
    each=["../ws-other/secret", "link/secret", "/etc/passwd", "./x/../../ws-other/secret", "//etc"],
)
async def out(world: World, value: str) -> None:
    with TemporaryDirectory() as folder:
        inside, _ = folders(folder)
        rules = [workspace_only(inside), allow("read"), allow_all()]
        runner = world.runner(world.read(), policies=rules)
        await world.send(runner, "read", {"path": str(inside / value)})


@attempts("a path that the call itself says is inside")
async def a_forged_path(world: World) -> None:
    with TemporaryDirectory() as folder:
        inside, outside = folders(folder)
        runner = world.runner(world.read(), policies=[workspace_only([inside])])
        await world.send(
            runner, "read", {"path": str(outside / "secret")}, canonical_path=str(inside / "fine")
        )


def no_path(args: Any) -> None:
    return None


def a_broken_path(args: Any) -> str:
    raise OSError("no such thing")


def half_a_path(args: Any) -> str:
    return "x\0y"


@attempts("a path that cannot be told", each=[no_path, a_broken_path, half_a_path])
async def no_known_path(world: World, value: Any) -> None:
    with TemporaryDirectory() as folder:
        inside, _ = folders(folder)
        broken = world.is_open and value is not no_path
        tool = world.read(path_of=None if broken else value)
        runner = world.runner(tool, policies=[workspace_only(inside), allow("read")])
        await world.send(runner, "read", {"path": str(inside / "fine")})


@attempts("a link that the tool itself does not follow")
async def a_link_left_alone(world: World) -> None:
    with TemporaryDirectory() as folder:
        inside, _ = folders(folder)
        tool = world.read(path_of=lambda args: args["path"])
        runner = world.runner(tool, policies=[workspace_only(inside)])
        await world.send(runner, "read", {"path": str(inside / "link" / "secret")})


@attempts("a workspace that is swapped for a link to elsewhere")
async def a_swapped_workspace(world: World) -> None:
    with TemporaryDirectory() as folder:
        inside, outside = folders(folder)
        runner = world.runner(world.read(), policies=[workspace_only(inside)])
        for name in ("link", "loop"):
            (inside / name).unlink()
        inside.rmdir()
        inside.symlink_to(outside)
        await world.send(runner, "read", {"path": str(inside / "secret")})


@attempts("a function's own tool, by another signature")
async def by_kwargs(world: World) -> None:
    async def wipe(**options: bool) -> None:
        world.ran.append(("wipe", options))

    rules = [deny("wipe", when=lambda a: a.get("all") is True)]
    await world.send(world.runner(Tool(wipe), policies=rules), "wipe", {"all": "true"})
