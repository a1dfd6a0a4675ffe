"""A call that is ready, shown to all who can refuse it: scopes, the gate, hooks of the runner."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from agtools_nb.arguments import (
    Prepared,
    can_explain,
    learn_to_explain,
    prepare,
    received,
    unchecked,
)
from agtools_nb.context import AnswerHandler, copied
from agtools_nb.define import Tool
from agtools_nb.errors import DeniedError
from agtools_nb.run.asked import ask_before, check_scopes
from agtools_nb.run.gate import Aside, Passage
from agtools_nb.run.judged import note_judged
from agtools_nb.run.setting import Setting

if TYPE_CHECKING:
    from agtools_nb.run.attempt import Attempt


async def cleared(attempt: Attempt, tool: Tool, prepared: Prepared) -> Prepared:
    """What a call may run with, once all who can refuse it were asked.

    Raises:
        DeniedError: Rules, hooks or people refused it.
        AgtoolsError: A scope is missing, or a hook of the runner refused it or failed.
    """
    setting = attempt.setting
    check_scopes(tool, setting.context)
    if setting.validate and (setting.gate is not None or setting.before):
        attempt.prepared = prepared = received(tool, prepared)
    if tool.path_of is not None:
        attempt.is_about(tool.canonical_path(prepared.arguments or {}))
    if setting.gate is not None:
        prepared = await _admitted(attempt, tool, prepared)
    await ask_before(setting.before, tool, attempt.call, prepared.arguments)
    return prepared


def check_path(attempt: Attempt, tool: Tool) -> None:
    """Refuse a call whose path leads elsewhere by now than where it was judged.

    To be asked right before the function runs: it may have waited for others, which moved a link.

    Raises:
        DeniedError: It does.
        Exception: What the tool's ``path_of=`` raised.
    """
    passage = attempt.passage
    if passage is None or tool.path_of is None:
        return
    if attempt.setting.gate is None:
        note_judged(tool.path_of, None)
        return
    arguments = {} if attempt.prepared is None else attempt.prepared.arguments or {}
    if tool.canonical_path(arguments) == passage.path:
        # It can still be made to lead elsewhere, until the tool opens it: the tool looks, too.
        note_judged(tool.path_of, passage.path)
        return
    passage.is_denied = True
    raise DeniedError(
        f"{tool.name} was not run: the path it is about leads elsewhere than when it was judged; "
        "what ran before it may have moved a link.",
        hint="Call it again, so that it is judged where the path leads now.",
    )


async def _admitted(attempt: Attempt, tool: Tool, prepared: Prepared) -> Prepared:
    setting = attempt.setting
    assert setting.gate is not None
    passage = attempt.passage
    if passage is None:
        passage = attempt.passage = Passage()
    visit = passage.visit
    if visit is None:
        visit = passage.visit = setting.gate.round().visit()
    again = partial(_prepared_again, setting, tool)
    stops = _stops()
    try:
        aside = partial(_off_the_clock, attempt, passage.aside)
        admitted = await visit.admit(tool, attempt.call, prepared, again, aside)
    except DeniedError:
        passage.is_denied = True
        raise
    if _stops() > stops:
        # It was stopped while somebody was asked, who went on regardless.
        raise asyncio.CancelledError
    if tool.path_of is not None:
        attempt.is_about(admitted.path)
    attempt.admitted(admitted.prepared, admitted.notes)
    return admitted.prepared


@asynccontextmanager
async def _off_the_clock(attempt: Attempt, aside: Aside) -> AsyncIterator[None]:
    """Within it a person thinks: that is no time of a call that is refused or stopped, either."""
    since = time.perf_counter()
    try:
        async with aside():
            yield
    finally:
        attempt.leave_out(time.perf_counter() - since)


def _stops() -> int:
    """How often somebody asked the current task to stop."""
    task = asyncio.current_task()
    return 0 if task is None else task.cancelling()


async def _prepared_again(setting: Setting, tool: Tool, raw: Any) -> Prepared:
    """Other arguments made ready, as the model's own are."""
    args = copied(raw)
    if not setting.validate:
        return unchecked(args)
    if not can_explain():
        await setting.threads.run(learn_to_explain)
    return received(tool, prepare(tool, args, omit_nulls=setting.omit_nulls))


def answering(attempt: Attempt, own: AnswerHandler | None) -> AnswerHandler | None:
    """Who answers what the tool asks: hooks, then the context's own handler, or the runner's."""
    handler = attempt.setting.answer if own is None else own
    visit = attempt.visit
    return handler if visit is None else visit.answering(handler)
