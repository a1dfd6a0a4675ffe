"""The environment that programs get: what looks like a secret is not in it."""

from __future__ import annotations

import asyncio
import base64
import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from builtin.trusting import trusting

from agtools_nb.builtin.command import run_command_tool
from agtools_nb.builtin.command.environment import without_secrets

SECRETS = [
    "OPENAI_API_KEY",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_ACCESS_KEY_ID",
    "AWS_SESSION_TOKEN",
    "GITHUB_TOKEN",
    "HF_TOKEN",
    "PGPASSWORD",
    "MYSQL_PWD",
    "DB_PASS",
    "DATABASE_URL",
    "SENTRY_DSN",
    "STRIPE_SK",
    "MONGO_URI",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "SSH_AUTH_SOCK",
    "NPM_AUTH",
    "JUPYTER_TOKEN",
    "KEY",
    "secretKey",
    "dbPassword",
    "SLACK_WEBHOOK_URL",
    "AZURE_STORAGE_CONNECTION_STRING",
    "CI_JOB_JWT",
    "KUBECONFIG",
    "SLACK_WEBHOOK",
    "BEARER",
    "TWINE_USERNAME",
    "HTTP_AUTHORIZATION",
    "PGPASSFILE",
]
PLAIN = [
    "PATH",
    "HOME",
    "LANG",
    "PWD",
    "OLDPWD",
    "KEYBOARD",
    "TOKENIZERS_PARALLELISM",
    "VIRTUAL_ENV",
    "PYTHONPATH",
    "TERM",
    "SHELL",
    "USER",
    "XDG_SESSION_TYPE",
    "LC_ALL",
    "TMPDIR",
    "HTTP_PROXY",
    "MPLBACKEND",
    "CONDA_PREFIX",
    "COMPASS_HOME",
    "AUTHOR",
    "MONKEY",
    "PATHEXT",
    "SYSTEMROOT",
    "SSL_CERT_FILE",
    "GIT_AUTHOR_NAME",
    "DISPLAY",
    "USERNAME",
    "LOGNAME",
    "OPTIONS",
]


def test_what_looks_like_a_secret_is_left_out_of_the_environment() -> None:
    given = dict.fromkeys([*SECRETS, *PLAIN], "x")
    assert sorted(without_secrets(given)) == sorted(PLAIN)
    urls = {"HTTP_PROXY": "http://me:word@proxy:1", "INDEX": "https://t0ken@host/", "A": "a@b"}
    assert without_secrets(urls) == {"A": "a@b"}
    values = {
        "A": "Bearer x1",
        "B": "ghp_" + "a" * 36,
        "C": "AKIA" + "A" * 16,
        "D": "sk-" + "a" * 40,
    }
    plain = {"E": "sk-learn", "F": "bearer of news", "G": "-----", "H": "hf_home"}
    assert without_secrets({**values, **plain}) == plain
    assert without_secrets(given, {"API_KEY": "y"})["API_KEY"] == "y"


@pytest.mark.parametrize(
    "word",
    ["PASS", "PASSWD", "PASSWORD", "PASSWORDS", "PASSPHRASE", "PASSCODE", "PASSFILE", "PWD"],
)
@pytest.mark.parametrize("name", ["{}", "SSH{}", "MY_LDAP{}", "DB_{}", "{}_OF_DB", "DB{}2"])
def test_a_password_is_one_also_at_the_end_of_a_longer_word(word: str, name: str) -> None:
    for given in (name.format(word), name.format(word).lower()):
        assert without_secrets({given: "x"}) == ({given: "x"} if given == "PWD" else {})


def test_words_that_only_end_like_a_password_stay() -> None:
    plain = [
        "BYPASS",
        "COMPASS",
        "QT_COMPASS",
        "bypass_cache",
        "LOWPASS_HZ",
        "PASSENGERS",
        "PASSES",
    ]
    assert sorted(without_secrets(dict.fromkeys(plain, "x"))) == sorted(plain)
    more = ["COMPASS_PASS", "BYPASS_TOKEN", "COMPASSWORD", "XCOMPASS", "GIT_ASKPASS"]
    assert without_secrets(dict.fromkeys(more, "x")) == {}


def pem(kind: str) -> str:
    return f"-----BEGIN {kind}-----\nMIIE\n-----END {kind}-----\n"


@pytest.mark.parametrize(
    "kind",
    [
        "PRIVATE KEY",
        "RSA PRIVATE KEY",
        "EC PRIVATE KEY",
        "OPENSSH PRIVATE KEY",
        "ENCRYPTED PRIVATE KEY",
        "PGP PRIVATE KEY BLOCK",
    ],
)
@pytest.mark.parametrize("before", ["", "a = ", pem("CERTIFICATE"), "x" * 50_000])
def test_a_private_key_counts_wherever_it_stands_in_a_value(kind: str, before: str) -> None:
    text = before + pem(kind)
    encoded = base64.b64encode(pem(kind).encode()).decode()
    as_json = json.dumps({"type": "service_account", "private_key": text})
    for value in (text, as_json, json.dumps(as_json), encoded, json.dumps({"a": encoded})):
        assert without_secrets({"GCP_SA_JSON": value}) == {}


def test_what_is_public_stays() -> None:
    certificate = pem("CERTIFICATE")
    public = {
        "A": certificate,
        "B": pem("PUBLIC KEY"),
        "C": base64.b64encode(certificate.encode()).decode(),
        "D": "PRIVATE KEY",
        "E": '{"private": false}',
    }
    assert without_secrets(public) == public


def test_a_long_value_is_looked_through_at_once() -> None:
    values = [
        "-----BEGIN " * 100_000,
        "-" * 1_000_000,
        "-----BEGIN " + "A " * 500_000,
        "://" * 300_000,
    ]
    began = time.monotonic()
    assert len(without_secrets({str(n): value for n, value in enumerate(values)})) == len(values)
    assert time.monotonic() - began < 5


def test_programs_get_the_environment_without_secrets(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("MY_API_TOKEN", "word")
    monkeypatch.setenv("MY_SETTING", "kept")
    arguments = {"command": [sys.executable, "-c", "import os; print(dict(os.environ))"]}

    async def main() -> str:
        runner = trusting(run_command_tool(tmp_path, environment={"GIVEN_KEY": "meant"}))
        (result,) = await runner.process_tool_calls([("run_command", arguments)])
        return result.result["stdout"]

    text = asyncio.run(main())
    assert "MY_API_TOKEN" not in text
    for part in ("'MY_SETTING': 'kept'", "'GIVEN_KEY': 'meant'", "'NO_COLOR': '1'"):
        assert part in text
