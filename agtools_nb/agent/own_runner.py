"""The runner of one conversation: what a person gave, or a twin of it with a context of its own."""

from __future__ import annotations

import copy
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agtools_nb.access import ToolRunner
from agtools_nb.context import StateStore, Store, ToolContext
from agtools_nb.errors import UsageError
from agtools_nb.events import Background
from agtools_nb.jsonable import brief_repr

if TYPE_CHECKING:
    from agtools_nb.agent.session import Session


class OwnRunner:
    """A twin of a runner for one conversation, which follows what that runner is given later.

    Without one, two conversations with the same runner would see each other's values: there is
    one context to a runner.

    Args:
        origin: Gives the runner whose tools and hooks these are.
        context: What tools are given.
        background: Takes care of what outlives its call.
        takes_context: Whether a context that the origin is given later is taken over.
    """

    def __init__(
        self,
        origin: Callable[[], ToolRunner],
        context: ToolContext,
        background: Background,
        *,
        takes_context: bool = True,
    ) -> None:
        self._origin = origin
        self._own_context = context
        self._takes_context = takes_context
        self._lock = threading.Lock()
        first = origin()
        self._tools = first.all_tools
        self._hooks = first._setting.before, first._setting.after
        self._context = first.context
        self._runner = first.twin(context, background)

    def __call__(self) -> ToolRunner:
        """The twin, with what its origin was given meanwhile."""
        origin = self._origin()
        with self._lock:
            self._follow(origin)
        return self._runner

    def _follow(self, origin: ToolRunner) -> None:
        tools, own = origin.all_tools, self._runner
        if tools != self._tools:
            old = {tool.name: tool for tool in self._tools}
            new = {tool.name: tool for tool in tools}
            for name, tool in old.items():
                # What was put in its place here stays.
                if name not in new and any(one is tool for one in own.all_tools):
                    own.unregister(name)
            for name, tool in new.items():
                # What comes with a tool is made for each background anew.
                if old.get(name) is not tool and not origin._companions.made(tool):
                    own.replace(tool)
            self._tools = tools
        setting, (before, after) = origin._setting, self._hooks
        if (setting.before, setting.after) != (before, after):
            mine = own._setting
            own._set(
                before=(*mine.before, *setting.before[len(before) :]),
                after=(*mine.after, *setting.after[len(after) :]),
            )
            self._hooks = setting.before, setting.after
        if self._takes_context and origin.context is not self._context:
            own.set_context(origin.context or self._own_context)
            self._context = origin.context
        own.strategy, own.max_concurrency = origin.strategy, origin.max_concurrency


def set_up(
    session: Session, runner: Any, store: Store | None, background: Background
) -> Callable[[], ToolRunner]:
    """What gives the runner of a session, which is the person's own where that has all it needs.

    Args:
        session: The conversation.
        runner: What was given for it, checked.
        store: Where it lasts.
        background: The runner's, or one made for the session.
    """
    if runner is None:
        made = ToolRunner(context=ToolContext(session, store=store), background=background)
        return lambda: made
    if runner.context is not None and runner.background is not None:
        return lambda: runner
    context = runner.context or ToolContext(session, store=store)
    return OwnRunner(lambda: runner, context, background)


def forked(session: Session, origin: Callable[[], ToolRunner], background: Background) -> OwnRunner:
    """What gives the runner of a fork: the same tools, and a context that is much the same.

    Identity, scopes, artifacts and memory are those of the original, or its tools would fail;
    the state is a copy.

    Args:
        session: The fork.
        origin: Gives the runner of the original.
        background: The fork's.
    """
    before = origin().context
    if before is None:
        context = ToolContext(session)
    else:
        # A copy, for a context may be of a class of one's own, which tools ask for.
        context = copy.copy(before)
        context._conversation = weakref.ref(session)
        context.state = StateStore()
        for key, value in before.state.snapshot().items():
            context.state.set(key, value)
    return OwnRunner(origin, context, background, takes_context=False)


def background_for(runner: Any, store: Store | None) -> Background:
    """The background that a session of this runner has.

    Raises:
        UsageError: ``runner`` is none, or has a background without an inbox.
    """
    if runner is None:
        return background_of(store)
    if not isinstance(runner, ToolRunner):
        inner = isinstance(getattr(runner, "runner", None), ToolRunner)
        hint = "of a toolkit, give tk.runner" if inner else "write ToolRunner([a_tool])"
        raise UsageError(f"runner={brief_repr(runner)} is no ToolRunner; {hint}")
    background = runner.background
    if background is None:
        return background_of(store)
    if isinstance(background, Background):
        return background
    raise UsageError(
        f"the runner's background is {brief_repr(background)}; a session needs a Background, "
        "whose inbox feeds it: ToolRunner(tools, background=Background())"
    )


def background_of(store: Store | None) -> Background:
    """The background of a store, or one in memory."""
    if store is None:
        return Background()
    return Background.of(store.database, conversation_id=store.conversation_id)
