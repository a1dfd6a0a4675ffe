"""From a name to a model: what is known, what is refused, and what is not imported."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from agent.hosted.cases import SECRET, VARIABLE, talk
from agent.hosted.server import serving
from agent.hosted.shapes import chat

from agtools_nb.agent import ScriptedModel
from agtools_nb.agent.models.choosing import as_model
from agtools_nb.agent.models.hosted import HostedModel
from agtools_nb.errors import UsageError

URL = "http://localhost:1/v1"


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, SECRET)


@pytest.mark.parametrize(
    "name",
    [
        "openai:gpt-5", "openai-chat:gpt-5", "openai-responses:gpt-5", "anthropic:claude-x",
        "google-gla:gemini-x", "google:gemini-x", "openai:ft:gpt-4o:me::1", " openai:gpt-5 ",
    ],
)  # fmt: skip
def test_a_name_is_a_model(name: str) -> None:
    model = as_model(name)
    assert isinstance(model, HostedModel)
    assert model.name == name.strip()
    assert repr(model) == f"<HostedModel {name.strip()}>"


def test_a_model_is_itself() -> None:
    model = ScriptedModel(["Hi."])
    assert as_model(model) is model


@pytest.mark.parametrize("name", ["gpt-5", "llama3.2:3b", "openai", "mistral:large", "test"])
def test_an_unknown_provider_is_refused_with_what_there_is(name: str) -> None:
    with pytest.raises(UsageError, match=r"'openai:gpt-\.\.\.'.*base_url="):
        as_model(name)


@pytest.mark.parametrize("name", ["", " ", "openai:", "anthropic: "])
def test_no_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="openai:gpt"):
        as_model(name)


@pytest.mark.parametrize("thing", [None, 3, HostedModel, ScriptedModel, object(), ["openai:x"]])
def test_what_is_no_model_is_refused(thing: Any) -> None:
    with pytest.raises(UsageError, match="is no model"):
        as_model(thing)


@pytest.mark.parametrize("name", ["qwen3", "llama3.2:3b", "org/model:free", "openai:gpt-oss"])
async def test_any_server_by_its_address(name: str) -> None:
    async with serving(chat("Hi.")) as server:
        model = HostedModel(name, base_url=f"{server.url}/v1/")
        assert repr(model) == f"<HostedModel {name} at {server.url}/v1>"
        reply = await talk(model).chat("Hi")
        assert server.asked[0].path == "/v1/chat/completions"
        assert server.last["model"] == name.removeprefix("openai:")
    assert reply.text == "Hi."


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"base_url": "localhost:8000"}, "is no address"),
        ({"base_url": "ftp://localhost/v1"}, "is no address"),
        ({"base_url": "http://"}, "is no address"),
        ({"base_url": "http://a b/"}, "is no address"),
        ({"base_url": "http://[::1/"}, "is no address"),
        ({"base_url": "http://localhost:99999/"}, "is no address"),
        ({"base_url": 8000}, "must be an address"),
        ({"base_url": f"{URL}#a"}, "more than an address"),
        ({"key_variable": "not a name"}, "name of an environment variable"),
        ({"key_variable": 3}, "name of an environment variable"),
        ({"temperature": "hot"}, "temperature='hot' must be a number"),
        ({"temperature": True}, "temperature=True must be a number"),
        ({"temperature": float("nan")}, "temperature=nan must be"),
        ({"max_tokens": 0}, "max_tokens=0 must be a whole number of at least 1"),
        ({"max_tokens": 1.5}, "max_tokens=1.5 must be a whole number"),
        ({"timeout": 0}, "timeout=0 must be"),
        ({"max_retries": -1}, "max_retries=-1 must be"),
        ({"settings": ["top_p"]}, "must be a dict"),
        ({"settings": {"timeout": 3}}, "may not have 'timeout'"),
        ({"settings": {"tool_choice": "required"}}, "may not have 'tool_choice'"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        HostedModel("qwen3", **{"base_url": URL, **options})


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("openai:gpt-5", "pydantic_ai"),
        ("openai:gpt-5", "openai"),
        ("anthropic:claude-x", "anthropic"),
        ("google-gla:gemini-x", "google.genai"),
    ],
)
def test_a_missing_library_says_what_to_install(
    name: str, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(UsageError, match=r'pip install "agtools_nb\[models\]"'):
        as_model(name)


def test_the_package_and_a_model_import_no_library() -> None:
    code = (
        "import sys, agtools_nb.agent\n"
        "from agtools_nb.agent.models.choosing import as_model\n"
        "as_model('openai:gpt-5'), as_model('anthropic:x'), as_model('google-gla:y')\n"
        "heavy = ('pydantic_ai', 'openai', 'anthropic', 'google.genai', 'httpx2', 'httpx')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_variable_of_the_tests_is_no_providers() -> None:
    with pytest.raises(UsageError, match=f"{VARIABLE}X is not set"):
        HostedModel("openai:gpt-5", key_variable=f"{VARIABLE}X")
