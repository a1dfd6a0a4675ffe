"""What rules, hooks and people see is what the tool gets: what its types make of arguments."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime as dt
import enum
import itertools
from decimal import Decimal
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    HttpUrl,
    RootModel,
    SecretStr,
    StringConstraints,
    field_serializer,
    field_validator,
)
from typing_extensions import TypedDict

from agtools_nb import (
    Approval,
    ApprovalDecision,
    HookResult,
    Hooks,
    Tool,
    ToolResult,
    ToolRunner,
    ask_user,
)
from agtools_nb.arguments import prepare, received

Lower = Annotated[str, StringConstraints(to_lower=True, strip_whitespace=True)]
Hundredfold = Annotated[int, AfterValidator(lambda n: n * 100)]


class Opts(BaseModel):
    path: str = "x"
    force: bool = True


class Stripped(BaseModel):
    path: str

    @field_validator("path")
    @classmethod
    def strip(cls, path: str) -> str:
        return path.strip()


class Renamed(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    path: str = Field("x", alias="Pfad")


class Chosen(BaseModel):
    path: str = Field("x", validation_alias=AliasChoices("first", "second"))


class Open(BaseModel, extra="allow"):
    path: str = ""


class Lying(BaseModel):
    path: str
    hidden: str = Field("secret", exclude=True)

    @field_serializer("path")
    def lie(self, path: str) -> str:
        return "harmless"


@dataclasses.dataclass
class Record:
    path: str = "x"
    inner: Opts = dataclasses.field(default_factory=Opts)


class Row(TypedDict, total=False):
    path: Lower
    n: int


class Paths(RootModel[list[Lower]]):
    pass


class Mode(enum.Enum):
    HARD = "hard"


class Own:
    def __init__(self, text: str) -> None:
        self.text = text


def of(kind: Any) -> Tool:
    """A tool whose parameter ``p`` has this type."""

    async def take(p: Any) -> str:
        return repr(p)

    take.__annotations__["p"] = kind
    return Tool(take)


def shown(made: Tool, arguments: dict[str, Any]) -> Any:
    return received(made, prepare(made, arguments)).arguments


@pytest.mark.parametrize(
    ("kind", "sent", "seen"),
    [
        (Lower, " SECRET ", "secret"),
        (Hundredfold, 3, 300),
        (Stripped, {"path": " secret "}, {"path": "secret"}),
        (Opts, {}, {"path": "x", "force": True}),
        (Opts, {"force": "false"}, {"path": "x", "force": False}),
        (list[Opts], [{}], [{"path": "x", "force": True}]),
        (dict[str, Opts], {"a": {}}, {"a": {"path": "x", "force": True}}),
        (Record, {}, {"path": "x", "inner": {"path": "x", "force": True}}),
        (Renamed, {"Pfad": "a"}, {"Pfad": "a"}),
        (Renamed, {}, {"Pfad": "x"}),
        (Chosen, {"second": "a"}, {"first": "a"}),
        (Open, {"more": [1]}, {"path": "", "more": [1]}),
        (Lying, {"path": "secret"}, {"path": "secret", "hidden": "secret"}),
        (Row, {"path": "A"}, {"path": "a"}),
        (Paths, ["A"], ["a"]),
        (set[str], ["b", "a", "b"], ["b", "a"]),
        (Mode, "hard", "hard"),
        (dict[int, Lower], {"1": "A"}, {"1": "a"}),
        (tuple[Lower, int], ["A", 1], ["a", 1]),
        (Opts | None, None, None),
        (SecretStr, "key", "key"),
        (bytes, "abc", "abc"),
        (Decimal, 5, 5),
        (Decimal, "5.0", "5.0"),
        (dt.datetime, "2024-01-01T00:00:00+00:00", "2024-01-01T00:00:00Z"),
        (HttpUrl, "http://EXAMPLE.com", "http://example.com/"),
        (Annotated[str, AfterValidator(Own)], "text", "text"),
        (list[Annotated[str, AfterValidator(Own)]], ["text"], ["text"]),
        (float, 2**53 + 1, float(2**53)),
    ],
    ids=lambda value: str(value).partition(" at 0x")[0],
)
def test_what_a_type_makes_of_a_value(kind: Any, sent: Any, seen: Any) -> None:
    [found] = shown(of(kind), {"p": sent}).values()
    assert found == seen
    assert type(found) is type(seen)


@pytest.mark.filterwarnings("ignore:The 'validation_alias' attribute")
def test_a_parameter_stands_under_the_key_of_its_schema() -> None:
    def take(
        a: Annotated[Lower, Field(validation_alias=AliasChoices("first", "second"))],
        b: Lower = "b",
        **rest: Lower,
    ) -> None: ...

    made = Tool(take)
    assert [*made.input_schema["properties"]] == ["first", "b"]
    assert shown(made, {"more": "M", "second": "A"}) == {"more": "m", "first": "a", "b": "b"}


def test_a_default_that_is_made_for_each_call_is_seen_before_it_runs() -> None:
    numbers = itertools.count(1)
    runner = ToolRunner([numbered(numbers)], hooks=Hooks())
    seen: list[Any] = []
    runner.before(lambda call, arguments: seen.append(arguments))
    [result] = asyncio.run(runner.process_tool_calls([("take", {})]))
    assert (seen, result.result, result.arguments) == ([{"n": 1}], 1, {"n": 1})


def numbered(numbers: itertools.count[int]) -> Tool:
    def take(n: int = Field(default_factory=lambda: next(numbers))) -> int:
        return n

    return Tool(take)


IDEMPOTENT = [of(kind) for kind in (Lower, Opts, Stripped, Renamed, Record, Row, Paths, Chosen)]
PLACES = st.dictionaries(
    st.sampled_from(["path", "force", "Pfad", "first", "second", "n", "inner"]),
    st.text("aB ", max_size=3) | st.booleans() | st.integers(0, 3),
    max_size=3,
)


@given(
    st.sampled_from(IDEMPOTENT),
    st.text("aB ", max_size=3) | PLACES | st.lists(st.text("aB ", max_size=2), max_size=3),
)
def test_what_is_seen_is_read_as_what_the_tool_gets(made: Tool, sent: Any) -> None:
    first = received(made, prepare(made, {"p": sent}))
    if first.values is None:
        return
    second = received(made, prepare(made, first.arguments))
    assert second.values == first.values
    assert second.arguments == first.arguments


# -- approvals -------------------------------------------------------------------------------------


async def pay(n: Hundredfold, to: Lower = "alice") -> str:
    """Pay."""
    return f"{n} to {to}"


class Person:
    """Gives these answers in turn, and keeps what it was shown."""

    def __init__(self, *answers: Any) -> None:
        self.answers = [*answers]
        self.saw: list[Any] = []

    def __call__(self, approval: Approval) -> Any:
        self.saw.append(dict(approval.arguments))
        return self.answers.pop(0)


def paid(person: Person, arguments: Any, **options: Any) -> ToolResult:
    runner = ToolRunner([pay], policies=[ask_user("pay")], approve=person, **options)
    return asyncio.run(runner.process_tool_calls([("pay", arguments)]))[0]


def test_what_was_approved_is_not_validated_again() -> None:
    person = Person(True)
    result = paid(person, {"n": 3, "to": "BOB"})
    assert person.saw == [{"n": 300, "to": "bob"}]
    assert result.result == "300 to bob"
    assert result.arguments == person.saw[0]


def test_what_a_person_left_as_it_was_is_what_they_saw() -> None:
    person = Person(ApprovalDecision(True, {"n": 300, "to": "carol"}))
    result = paid(person, {"n": 3, "to": "BOB"})
    assert result.result == "300 to carol"
    assert len(person.saw) == 1


def test_who_writes_what_a_type_makes_something_else_of_is_asked_again() -> None:
    person = Person(ApprovalDecision(True, {"n": 5, "to": "bob"}), False)
    result = paid(person, {"n": 3, "to": "bob"})
    assert person.saw == [{"n": 300, "to": "bob"}, {"n": 500, "to": "bob"}]
    assert result.status == "denied"


@pytest.mark.parametrize("second", [True, ApprovalDecision(True, {"n": 5, "to": "bob"})])
def test_who_then_agrees_or_says_the_same_again_means_it(second: Any) -> None:
    person = Person(ApprovalDecision(True, {"n": 5, "to": "bob"}), second)
    assert paid(person, {"n": 3, "to": "bob"}).result == "500 to bob"


@pytest.mark.parametrize(
    ("sent", "edit"),
    [(1, True), (1, 1.0), (True, 1), ([1], [True]), ({"a": 0}, {"a": False}), (0.0, 0)],
    ids=lambda value: str(value).partition(" at 0x")[0],
)
def test_an_edit_to_what_python_thinks_equal_is_one(sent: Any, edit: Any) -> None:
    async def show(x: Any) -> str:
        return repr(x)

    runner = ToolRunner(
        [show],
        policies=[ask_user("show")],
        approve=lambda approval: ApprovalDecision(True, {"x": edit}),
    )
    [result] = asyncio.run(runner.process_tool_calls([("show", {"x": sent})]))
    assert result.result == repr(edit)
    assert "changed them" in result.notes[0]


def test_a_hook_changes_one_argument_and_the_others_stay_what_they_were() -> None:
    hooks = Hooks()
    seen: list[Any] = []

    @hooks.before_tool
    def to_carol(call: Any) -> HookResult:
        seen.append(call.args)
        return HookResult(modified_args={"to": "CAROL"})

    person = Person(True)
    assert paid(person, {"n": 3}, hooks=hooks).result == "300 to carol"
    assert seen == [{"n": 300, "to": "alice"}]
    assert person.saw == [{"n": 300, "to": "carol"}]
