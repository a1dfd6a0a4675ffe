"""Asking a person about a call, and reading what comes back: only a clear yes is one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import NoneType
from typing import Any

from agtools_nb.access.approval import Approval, ApprovalDecision, ApprovalHandler
from agtools_nb.calls import ToolCall
from agtools_nb.context import copied
from agtools_nb.errors import AgtoolsError, DeniedError
from agtools_nb.jsonable import brief_repr, clean_text, shorten
from agtools_nb.run.asked import is_cancelled
from agtools_nb.run.invoke import maybe_await
from agtools_nb.run.words import error_text

_LONGEST_REASON = 2_000
_GO_ON = "Do not try it again in another way; go on without it, or ask the user what to do."


async def asked(handler: ApprovalHandler, approval: Approval) -> ApprovalDecision:
    """Ask, and return what was decided: ``approved`` is true.

    Raises:
        DeniedError: Everything else: no, nothing, an odd value, or the handler failed.
        asyncio.CancelledError: The call was stopped meanwhile.
    """
    try:
        answer: Any = await maybe_await(handler(approval))
    except asyncio.CancelledError as error:
        if is_cancelled():
            raise
        raise _broken(approval, "was cancelled") from error
    except AgtoolsError as error:
        raise denied(approval.call, error_text(error)) from error
    except (Exception, SystemExit, GeneratorExit) as error:
        raise _broken(approval, f"failed ({error_text(error)})") from error
    return _read(approval, answer)


def denied(call: ToolCall, why: str, hint: str = _GO_ON) -> DeniedError:
    """What the model is told of a call that was refused."""
    text = why if why.endswith((".", "!", "?")) else f"{why}."
    return DeniedError(f"{call.name} was not run: {text}", hint=hint)


def _read(approval: Approval, answer: Any) -> ApprovalDecision:
    if answer is True:
        return ApprovalDecision(True)
    if answer is None or answer is False:
        raise _refused(approval, "")
    if not isinstance(answer, ApprovalDecision):
        raise _odd(approval, answer)
    # A handler may have put anything into it.
    fields: tuple[Any, ...] = (answer.approved, answer.remember, answer.reason, answer.arguments)
    approved, remember, reason, arguments = fields
    if not isinstance(approved, bool) or not isinstance(remember, bool):
        raise _odd(approval, answer)
    if not isinstance(reason, str) or not isinstance(arguments, (Mapping, NoneType)):
        raise _odd(approval, answer)
    if not approved:
        raise _refused(approval, reason)
    edited = None if arguments is None else copied(dict(arguments))
    return ApprovalDecision(True, edited, reason, remember)


def _refused(approval: Approval, reason: str) -> DeniedError:
    said = shorten(clean_text(reason).strip(), _LONGEST_REASON)
    why = f"the person who was asked refused it (rule {approval.policy.label})"
    return denied(approval.call, f"{why}: {said}" if said else why)


def _odd(approval: Approval, answer: Any) -> DeniedError:
    return _broken(
        approval,
        f"returned {brief_repr(answer)}, which is neither True, False, None nor a sound "
        "ApprovalDecision",
    )


def _broken(approval: Approval, what: str) -> DeniedError:
    why = (
        f"the rule {approval.policy.label} asks a person, and the handler that asks {what}. That "
        "counts as a refusal, and is for the user to put right"
    )
    return denied(approval.call, why)
