"""Keys come from the environment, and go nowhere but to the server they are for."""

from __future__ import annotations

import copy
import json
import logging
import pickle
import traceback
from typing import Any

import pytest
from agent.hosted.cases import (
    ANTHROPIC,
    CASES,
    OPENAI,
    SECRET,
    VARIABLE,
    Case,
    add,
    asking,
    happened,
    parts,
    raws,
    talk,
)
from agent.hosted.server import Answer, serving
from agent.hosted.shapes import chat
from hypothesis import given
from hypothesis import strategies as st

from agtools_nb.agent.models.hosted import HostedModel
from agtools_nb.agent.models.hosted.record import HIDDEN, Hiding
from agtools_nb.errors import ModelError, UsageError

each = pytest.mark.parametrize("case", CASES, ids=str)
HEADERS = {"anthropic": "x-api-key", "google-gla": "x-goog-api-key"}
ALL_HEADERS = {"authorization", "x-api-key", "x-goog-api-key", "api-key"}


@each
async def test_the_key_goes_into_one_header_and_nowhere_else(case: Case) -> None:
    async with serving(case.answer("Hi.")) as server:
        await parts(case.model(server), asking("Hi", tools=(add,)))
        [asked] = server.asked
    header = HEADERS.get(case.form, "authorization")
    assert ALL_HEADERS & asked.headers.keys() == {header}
    expected = f"Bearer {SECRET}" if header == "authorization" else SECRET
    assert asked.headers[header] == expected
    assert SECRET not in asked.path + json.dumps(asked.body)


@each
async def test_a_server_of_ones_own_is_sent_no_key(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor anything else that the environment holds for the provider."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(name, SECRET)
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "org-SECRET-9f8e7d")
    async with serving(case.answer("Hi.")) as server:
        await parts(case.model(server, key_variable=None), asking("Hi"))
        [asked] = server.asked
    assert ALL_HEADERS & asked.headers.keys() == set()
    assert "SECRET" not in json.dumps(asked.headers)


@pytest.mark.parametrize(
    ("name", "variable", "address"),
    [
        ("openai:gpt-test", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
        ("anthropic:claude-test", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
        ("google-gla:gemini-test", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
        ("google-gla:gemini-test", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
    ],
)
async def test_a_providers_own_variables(
    name: str, variable: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = next(one for one in CASES if one.form == name.partition(":")[0])
    monkeypatch.setenv(variable, f"  {SECRET}\n")
    async with serving(case.answer("Hi.")) as server:
        monkeypatch.setenv(address, server.url + case.base)
        reply = await talk(HostedModel(name)).chat("Hi")
        assert SECRET in server.asked[0].headers[HEADERS.get(case.form, "authorization")]
    assert reply.text == "Hi."


async def test_a_new_key_is_used_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(chat("Hi."), chat("Hi.")) as server:
        model = OPENAI.model(server)
        await parts(model, asking("Hi"))
        monkeypatch.setenv(VARIABLE, "sk-another-key")
        await parts(model, asking("Hi"))
        assert server.asked[1].headers["authorization"] == "Bearer sk-another-key"


def everything_of(value: Any) -> str:
    """A value's text, its parts' text, and so on: as far as a curious person can print."""
    seen: dict[int, Any] = {}
    texts: list[str] = []
    todo = [value]
    while todo and len(seen) < 20_000:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen[id(one)] = one
        texts.append(repr(one)[:10_000])
        if isinstance(one, dict):
            todo += [*one.keys(), *one.values()]
        elif isinstance(one, (list, tuple, set)):
            todo += list(one)
        elif hasattr(one, "__dict__"):
            todo.append(vars(one))
    return "\n".join(texts)


@each
async def test_no_object_holds_the_key(case: Case) -> None:
    async with serving(case.answer("Hi.", calls=[("c1", "add", "{}")]), case.answer("Ho.")) as s:
        model = case.model(s)
        session = talk(model)
        told = await happened(session, "Hi")
    assert SECRET not in everything_of(model)
    assert SECRET not in everything_of(model._lines[0].model)
    assert SECRET not in everything_of(told)
    assert SECRET not in json.dumps(session.export())
    assert raws(told)[0].request["body"]
    assert SECRET.encode() not in pickle.dumps(model)


async def test_a_model_is_copied_and_pickled_without_what_it_has_open() -> None:
    async with serving(chat("Hi."), chat("Hi."), chat("Hi.")) as server:
        model = OPENAI.model(server)
        await parts(model, asking("Hi"))
        for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            assert repr(other) == repr(model)
            await parts(other, asking("Hi"))


ECHOES = [
    Answer(status=401, body={"error": {"message": f"Wrong key: {SECRET}."}}),
    Answer(status=401, body=f"Wrong key: {SECRET}".encode()),
    Answer(status=400, headers={"x-request": SECRET}, body={"detail": SECRET}),
    Answer([{"error": {"message": f"Wrong key: {SECRET}.", "code": 401}}]),
    Answer([b"data: " + SECRET.encode() + b"\n\n"]),
    Answer([{"choices": [{"delta": {"content": f"Your key is {SECRET}."}}]}]),
    Answer(headers={"content-type": f"text/{SECRET}"}, body=SECRET.encode()),
]


@each
@pytest.mark.parametrize("answer", ECHOES, ids=range(len(ECHOES)))
async def test_a_key_that_comes_back_is_not_shown(case: Case, answer: Answer) -> None:
    async with serving(answer) as server:
        session = talk(case.model(server))
        told = await happened(session, "Hi")
        found = everything_of(told) + json.dumps(session.export())
    assert SECRET not in found
    assert told[-1].reason == "model_error"


async def test_a_model_that_says_the_key_does_not_get_it_into_the_conversation() -> None:
    pieces = [SECRET[:7], SECRET[7:]]
    async with serving(chat(f"It is {SECRET}.", *pieces)) as server:
        reply = await talk(OPENAI.model(server)).chat("What is my key?")
    assert reply.text.startswith("It is [key].")


async def test_a_key_in_a_message_is_not_in_the_raw_view() -> None:
    """The conversation has it, for somebody wrote it; the raw view does not show it once more."""
    async with serving(chat("Hi.")) as server:
        found = await parts(OPENAI.model(server), asking(f"My key is {SECRET}"))
        assert SECRET in json.dumps(server.last)
    assert SECRET not in repr([part for part in found if hasattr(part, "response")])


async def test_errors_show_no_frame_that_saw_the_request() -> None:
    answer = Answer(status=401, body={"error": {"message": "No."}})
    async with serving(answer) as server:
        with pytest.raises(ModelError) as caught:
            await parts(ANTHROPIC.model(server), asking("Hi"))
    error = caught.value
    assert error.__cause__ is None
    assert error.__context__ is None
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    assert SECRET not in everything_of([dict(frame.f_locals) for frame in frames[1:]])


def test_a_missing_key_says_what_to_set() -> None:
    with pytest.raises(UsageError, match=r"OPENAI_API_KEY is not set.*getpass") as caught:
        HostedModel("openai:gpt-test")
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    with pytest.raises(UsageError, match="GOOGLE_API_KEY or GEMINI_API_KEY is not set"):
        HostedModel("google-gla:gemini-test")
    with pytest.raises(UsageError, match="MY_KEY is not set"):
        HostedModel("qwen3", base_url="http://localhost:1/v1", key_variable="MY_KEY")


async def test_a_key_that_went_missing_is_a_reply_that_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with serving() as server:
        session = talk(OPENAI.model(server))
        monkeypatch.delenv(VARIABLE)
        reply = await session.chat("Hi")
    assert reply.reason == "model_error"
    assert f"{VARIABLE} is not set" in reply.detail


@pytest.mark.parametrize("key", ["sk-a\nb: c", "clé-secrète", "two words"])
def test_what_can_be_no_key_is_refused_without_being_shown(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(UsageError, match="what OPENAI_API_KEY holds is no key") as caught:
        HostedModel("openai:gpt-test")
    assert key not in str(caught.value)


def test_a_key_in_the_wrong_place_is_refused_without_being_shown() -> None:
    places: list[dict[str, Any]] = [
        {"key_variable": SECRET},
        {"base_url": f"http://me:{SECRET}@localhost/v1"},
        {"base_url": f"http://localhost/v1?key={SECRET}"},
        {"settings": {"extra_headers": {"authorization": SECRET}}},
        {"settings": {"extra_body": {"key": SECRET}}},
    ]
    for place in places:
        with pytest.raises(UsageError) as caught:
            HostedModel("qwen3", **{"base_url": "http://localhost:1/v1", **place})
        assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "key", ["gsk_abcdef123456", "hf_AbCdEf", "xai_1", "sk_live_1", "r8_x", "Token", "ключ"]
)
@pytest.mark.parametrize("name", ["qwen3", "openai:gpt-test"])
def test_a_key_that_could_be_a_name_is_not_shown_either(name: str, key: str) -> None:
    with pytest.raises(UsageError, match="never the key") as caught:
        HostedModel(name, base_url="http://localhost:1/v1", key_variable=key)
    assert key not in everything_of([str(caught.value), caught.value.__context__])


async def test_a_variable_in_small_letters_counts_if_it_is_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("my_key", "abc-123-abc-123")
    async with serving(chat("Hi.")) as server:
        reply = await talk(OPENAI.model(server, key_variable="my_key")).chat("Hi")
        assert server.asked[0].headers["authorization"] == "Bearer abc-123-abc-123"
    assert reply.text == "Hi."


@given(st.data())
def test_a_key_is_hidden_however_the_bytes_come(data: st.DataObject) -> None:
    key = data.draw(st.text("ab-", min_size=8, max_size=12))
    texts = data.draw(st.lists(st.one_of(st.just(key), st.text("ab-c", max_size=9)), max_size=6))
    sent = "".join(texts).encode()
    hiding, shown, at = Hiding(key), b"", 0
    while at < len(sent):
        size = data.draw(st.integers(1, 9))
        shown += hiding(sent[at : at + size])
        at += size
    shown += hiding(b"", last=True)
    assert shown == sent.replace(key.encode(), HIDDEN)


def test_without_a_key_nothing_is_held_back() -> None:
    assert Hiding(None)(b"abc") == b"abc"
    assert Hiding("short")(b"short") == b"short"
    assert repr(Hiding(SECRET)) == "<Hiding>"


@pytest.fixture(autouse=True)
def _quiet(_log_is_clean: None, caplog: pytest.LogCaptureFixture) -> None:
    """What a server sends back is in httpcore's own log before it comes to us."""
    caplog.set_level(logging.INFO, logger="httpcore2")
