"""Sets of rules for the usual cases."""

from __future__ import annotations

import os
from collections.abc import Sequence

from agtools_nb.access.approval import ApprovalHandler
from agtools_nb.access.names import BuiltinTools
from agtools_nb.access.policy import Policy, allow, ask_user, deny
from agtools_nb.access.scope import PathScope


def allow_all() -> Policy:
    """Let everything run that no more exact rule is about."""
    return allow("*", name="allow_all")


def deny_all(reason: str = "") -> Policy:
    """Refuse everything that no more exact rule is about.

    Args:
        reason: Why, for the model.
    """
    return deny("*", name="deny_all", reason=reason)


def safe_defaults(handler: ApprovalHandler | None = None) -> tuple[Policy, ...]:
    """Let the built-in tools run that only read, and ask about every other call.

    Own functions are asked about, too; ``allow("name")`` beside it lets one run.

    Args:
        handler: Who is asked. Default: the runner's ``approve=``; in a notebook a card is shown.
    """
    read = [allow(tool, name="safe_defaults") for tool in BuiltinTools.read_only()]
    # A person is asked in any case: once is enough.
    read.append(allow(BuiltinTools.ASK_QUESTION, name="safe_defaults"))
    return (*read, ask_user("*", handler, name="safe_defaults"))


def confirm_run_command(handler: ApprovalHandler | None = None) -> tuple[Policy, ...]:
    """Ask about each command that is to be run, and let everything else run.

    Args:
        handler: As for :func:`safe_defaults`.
    """
    return (
        ask_user(BuiltinTools.RUN_COMMAND, handler, name="confirm_run_command"),
        allow("*", name="confirm_run_command"),
    )


def workspace_only(
    folders: Sequence[str | os.PathLike[str]] | str | os.PathLike[str],
) -> Policy:
    """Refuse calls about a path outside of some folders. It comes before every other rule.

    It is about tools that say which path a call is about (``path_of=``), as the built-in ones
    do: ``..`` and links are followed to where they lead. A call of such a tool whose path
    cannot be told is refused. What a command or your own function opens by itself it cannot
    know; ask about those.

    Args:
        folders: One or more folders, which must be there.

    Raises:
        UsageError: There is none, or one is no folder.
    """
    given = [folders] if isinstance(folders, (str, os.PathLike)) else folders
    scope = PathScope.of(given)
    listed = ", ".join(str(folder) for folder in scope.folders)
    return Policy(
        "deny", "*", name="workspace_only", reason=f"paths must be inside of {listed}", scope=scope
    )
