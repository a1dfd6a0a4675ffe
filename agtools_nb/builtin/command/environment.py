"""The environment that a started program gets."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

# Whole words of a name, so that KEYBOARD, AUTHOR and TOKENIZERS_PARALLELISM stay.
_SECRET = re.compile(
    r"(^|_)(API|ACCESS|ACCOUNT|AUTH|DEPLOY|ENCRYPTION|MASTER|PRIVATE|SECRET|SIGNING|SSH)?KEYS?(_|$)"
    r"|(^|_)(\w*TOKENS?|\w*SECRETS?|CREDENTIALS?|CREDS?"
    r"|AUTH|AUTHORIZATION|BEARER|COOKIES?|OTP|TOTP|WEBHOOKS?|\w+_USERNAME|SESSION|SALT|DSN|PAT|JWT|SK|SIGNATURE|CONNECTION_STRING|CONN_STR|NETRC)(_|$)"
    # SSHPASS and LDAPPASSWD are words of their own. So are these, which hide nothing; a list
    # that misses one costs a program that variable, and no list costs somebody a password.
    r"|(^|_)(?!(BAND|BY|COM|ENCOM|HIGH|LOW|OVER|SUR|TRES|UNDER)PASS(_|$))"
    r"[^_]*(PASS(WD|WORDS?|PHRASES?|CODES?|FILE)?|PWD)[0-9]*(_|$)"
    r"|_URI$|(DATABASE|DB|REDIS|AMQP|BROKER|WEBHOOK)_URL$",
    re.IGNORECASE,
)
# Programs find each other, their files and their language by these.
_KEPT = frozenset({"PWD", "OLDPWD", "XDG_SESSION_TYPE", "SESSION_MANAGER", "TERM_SESSION_ID"})
# Sockets through which others sign, log in or give orders to the whole machine.
_SOCKETS = frozenset(
    {
        "DBUS_SESSION_BUS_ADDRESS",
        "DOCKER_HOST",
        "GPG_AGENT_INFO",
        "KUBECONFIG",
        "SSH_AGENT_PID",
        "SSH_AUTH_SOCK",
    }
)
_SECRET_VALUE = re.compile(
    r"(Bearer|Basic) \S|(gh[opsur]|github_pat|glpat|xox[abeoprs]|hf"
    r"|npm|pypi|sk|rk|pk_live)[-_]\w{16}|(AKIA|ASIA)[0-9A-Z]{16}|AIza[\w-]{35}"
    r"|eyJ[\w-]+\.eyJ[\w-]+\.|https://hooks\.\w"
)
# Anywhere in a value: keys come in JSON, after their certificates, and in Base64 (the second one
# is "-----BEGIN ", but for certificates, which are public).
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY|LS0tLS1CRUdJTi(?!BDRVJU)"
    r"|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY|PuTTY-User-Key-File-"
)
_USER_IN_URL = re.compile(r"://[^/\s@]+@")


def without_secrets(
    environment: Mapping[str, str] | None = None, extra: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The environment less what looks like a secret.

    Left out are variables with a word such as ``KEY``, ``TOKEN``, ``SECRET``, ``PASSWORD`` or
    ``CREDENTIALS`` in their names, addresses of databases, the sockets of agents that sign for
    their user, and each value that is a URL with a user's name in it, begins like the keys that
    well-known services give out, or holds the head of a private key. It is a sieve for what lies
    about by habit, not a wall: a program still reads every file that this process may read.

    Args:
        environment: Default: that of this process.
        extra: What is put in afterwards, as it is.
    """
    given = os.environ if environment is None else environment
    kept = {name: value for name, value in given.items() if not _is_secret(name, value)}
    return {**kept, **(extra or {})}


def _is_secret(name: str, value: str) -> bool:
    if name in _KEPT:
        return False
    return (
        name.upper() in _SOCKETS
        or _SECRET.search(name) is not None
        or _USER_IN_URL.search(value[:10_000]) is not None
        or _PRIVATE_KEY.search(value) is not None
        or _SECRET_VALUE.match(value[:10_000].strip()) is not None
    )
