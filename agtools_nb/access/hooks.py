"""``Hooks``: functions that look on, decide and change, as calls and turns come and go."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from agtools_nb.access.predicate import without_none
from agtools_nb.context import StateStore
from agtools_nb.define.annotations import MISSING, Annotations
from agtools_nb.define.cell import Cell, is_rerun, running_cell
from agtools_nb.define.signature import unwrapped
from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr

Hook = TypeVar("Hook", bound=Callable[..., Any])

EVENTS: dict[str, tuple[str, ...]] = {
    "on_session_start": (),
    "on_session_end": (),
    "before_turn": ("message",),
    "after_turn": ("answer",),
    "before_tool": ("call",),
    "after_tool": ("call", "result"),
    "on_tool_error": ("call", "error"),
    "on_question": ("question",),
    "on_stop": ("results",),
}
"""What each kind of hook is given; a parameter more is given the :class:`HookContext`."""


class HookContext:
    """What hooks know of where they are: the session, a turn in it, or a call in that.

    Attributes:
        level: ``"session"``, ``"turn"`` or ``"operation"`` (a call).
    """

    def __init__(
        self,
        level: Literal["session", "turn", "operation"] = "session",
        parent: HookContext | None = None,
    ) -> None:
        self.level = level
        self._parent = parent
        self._state: StateStore | None = None

    @property
    def state(self) -> StateStore:
        """What hooks keep here: it reads what the level above holds, and its writes stay here.

        It is never the store of the tools.
        """
        if self._state is None:
            self._state = StateStore(None if self._parent is None else self._parent.state)
        return self._state

    @property
    def parent(self) -> HookContext | None:
        """The level above; ``None`` for the session."""
        return self._parent

    def __repr__(self) -> str:
        return f"<HookContext of the {self.level}>"


@dataclass(frozen=True, slots=True)
class HookResult:
    """What a hook decides.

    Attributes:
        allow: ``False`` refuses the call (or the turn), and no later hook is asked. ``True``
            lets it run without a question to a person, where the rules would ask; rules and
            later hooks that refuse still do. Default ``None``: no opinion.
        message: Why it refuses, for the model.
        modified_args: Arguments to put in the place of those of the same names; the others
            stay. The whole is coerced and validated again.
    """

    allow: bool | None = None
    message: str = ""
    modified_args: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class _Added:
    """A hook, and the run of a cell that added it."""

    hook: Callable[..., Any]
    cell: Cell | None

    def gives_way_to(self, other: _Added) -> bool:
        """Whether the other one is this one, as its cell defines it when it is run again.

        One guard must not be lost because another one has its name.
        """
        if self.cell is None or not is_rerun(self.cell, other.cell):
            return False
        names = [
            (getattr(one.hook, "__module__", None), getattr(one.hook, "__qualname__", None))
            for one in (self, other)
        ]
        module, name = names[0]
        # Without ids of cells, a name that is no name says nothing.
        is_name = str(name).isidentifier() and (self.cell.id is not None or name != "_")
        return names[0] == names[1] and module is not None and is_name


class Hooks:
    """A set of hooks, added as decorators; each may be sync or async.

    ::

        hooks = Hooks()

        @hooks.before_tool
        def no_drafts(call):
            if call.args.get("path", "").endswith(".draft"):
                return HookResult(allow=False, message="drafts are private")

        runner = ToolRunner(tools, hooks=hooks)

    A hook takes what its kind is given and, if it has one parameter more, the
    :class:`HookContext`. A parameter with a default keeps that, unless it is named ``context``
    or ``ctx``, or annotated as a :class:`HookContext`.

    Instead of decorators, a class may have methods of these names; give ``hooks=`` an object of
    it. Running a cell of a notebook again puts its functions in the place of those of the same
    names that it added before. Otherwise two of one name are two hooks: in one run of a cell, in
    two cells, in a module.

    What hooks print is shown as any print is; the results of calls hold what their tools print.

    A hook is asked before the call's own time begins: a ``timeout`` does not count what a hook
    takes, so let a slow one bound itself, with ``asyncio.timeout``.

    What came before a call (``before_turn``, ``before_tool``, ``on_session_start``) and raises
    refuses it; what comes after it and raises is logged, and changes nothing.
    """

    def __init__(self) -> None:
        self._found: dict[str, list[_Added]] = {event: [] for event in EVENTS}

    def on_session_start(self, hook: Hook) -> Hook:
        """Look on as the session starts, with its first turn.

        Nothing runs in the session before it returns: calls that the hook itself makes of it
        are refused.
        """
        return self._add("on_session_start", hook)

    def on_session_end(self, hook: Hook) -> Hook:
        """Look on as the session ends."""
        return self._add("on_session_end", hook)

    def before_turn(self, hook: Hook) -> Hook:
        """Decide on a turn: ``hook(message)`` returns ``None`` or a :class:`HookResult`.

        The message is what the turn is about; for a batch of calls by itself, the calls.
        """
        return self._add("before_turn", hook)

    def after_turn(self, hook: Hook) -> Hook:
        """Look on after a turn: ``hook(answer)``; for a batch of calls by itself, its results."""
        return self._add("after_turn", hook)

    def before_tool(self, hook: Hook) -> Hook:
        """Decide on a call, or change its arguments: ``hook(call)``.

        It is given a copy of the call, whose ``args`` are the arguments as the tool will get
        them, and returns ``None`` or a :class:`HookResult`; anything else refuses the call.
        """
        return self._add("before_tool", hook)

    def after_tool(self, hook: Hook) -> Hook:
        """Look on after a call: ``hook(call, result)``, also if it was refused or stopped.

        The result is a copy, lists and dicts in it as well; other objects that the tool
        returned, such as a data frame, are not copied: leave them as they are.
        """
        return self._add("after_tool", hook)

    def on_tool_error(self, hook: Hook) -> Hook:
        """Say what the model is told of a tool that failed: ``hook(call, error)``.

        The first hook that returns text decides; with ``None`` the message stays. The call has
        failed in any case.
        """
        return self._add("on_tool_error", hook)

    def on_question(self, hook: Hook) -> Hook:
        """Answer what a tool asks a person: ``hook(question)`` returns an answer, or ``None``.

        The first hook that answers does it in the person's place;
        ``HookResult(allow=False)`` declines.
        """
        return self._add("on_question", hook)

    def on_stop(self, hook: Hook) -> Hook:
        """Look on as calls were stopped before they ended: ``hook(results)``."""
        return self._add("on_stop", hook)

    def of(self, event: str) -> Iterable[Callable[..., Any]]:
        """The hooks of a kind, in the order in which they were added."""
        return tuple(added.hook for added in self._found[event])

    def _add(self, event: str, hook: Hook) -> Hook:
        checked_hook(event, hook)
        found, new = self._found[event], _Added(hook, running_cell())
        for place, added in enumerate(found):
            if added.gives_way_to(new):
                found[place] = new
                return hook
        found.append(new)
        return hook

    def __repr__(self) -> str:
        counts = [f"{len(found)} {event}" for event, found in self._found.items() if found]
        return f"<Hooks: {', '.join(counts) or 'none'}>"


def arguments_of(
    event: str, hook: Callable[..., Any], given: Sequence[Any], context: Any
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What a hook is called with, by place and by name: the context only if it takes it.

    Args:
        event: The kind of hook.
        hook: The hook.
        given: What its kind is given.
        context: The context.
    """
    try:
        parameters = inspect.signature(hook).parameters.values()
    except (TypeError, ValueError):  # a function of C that says nothing of itself
        return tuple(given), {}
    more = [one for one in parameters if one.kind in _BY_PLACE][len(EVENTS[event]) :]
    if not more:
        takes_rest = any(one.kind is _REST for one in parameters)
        return (*given, context) if takes_rest else tuple(given), {}
    if more[0].default is MISSING:
        return (*given, context), {}
    meant = next((one for one in more if _is_for_context(hook, one)), None)
    if meant is None:
        return tuple(given), {}
    if meant is more[0]:
        return (*given, context), {}
    return tuple(given), {meant.name: context}  # what stands before it keeps its default


def _is_for_context(hook: Callable[..., Any], parameter: inspect.Parameter) -> bool:
    """Whether a parameter says that it takes the context, by its name or its annotation."""
    if parameter.name in _NAMES or parameter.annotation is MISSING:
        return parameter.name in _NAMES
    annotations = Annotations(unwrapped(hook), "a hook", None, lenient=True)
    kind = without_none(annotations.resolve(parameter.name, parameter.annotation))
    return isinstance(kind, type) and issubclass(kind, HookContext)


def checked_hook(event: str, hook: Any) -> None:
    """Refuse what cannot be called as a hook of this kind.

    Raises:
        UsageError: It cannot.
    """
    if not callable(hook):
        raise UsageError(f"{event}: {brief_repr(hook)} is no function")
    given = EVENTS[event]
    try:
        signature = inspect.signature(hook)
    except (TypeError, ValueError):
        return
    values, named = arguments_of(event, hook, given, "context")
    try:
        signature.bind(*values, **named)
    except TypeError as error:
        raise UsageError(
            f"{event}: {brief_repr(hook)} cannot be called ({error}); it is given "
            f"({', '.join([*given, 'context'])}), the context only if it takes it"
        ) from None


def methods_of(owner: Any) -> dict[str, Callable[..., Any]]:
    """The hooks among the methods of an object, by kind.

    Raises:
        UsageError: There is none, or the name of one looks like a slip.
    """
    if isinstance(owner, type) or not hasattr(type(owner), "__dict__"):
        raise UsageError(f"hooks=[...]: give an object, {owner.__name__}(), not the class itself")
    found = {}
    for event in EVENTS:
        method = getattr(owner, event, None)
        if method is None or _is_decorator(owner, event):
            continue
        checked_hook(event, method)
        found[event] = method
    if isinstance(owner, Hooks):
        return found
    for name in dir(owner):
        close = difflib.get_close_matches(name, EVENTS, 1, 0.85)
        if close and name not in EVENTS and callable(getattr(owner, name)):
            raise UsageError(
                f"hooks=[...]: {type(owner).__name__}.{name} is no hook; did you mean {close[0]!r}?"
            )
    if not found:
        raise UsageError(
            f"hooks=[...]: {brief_repr(owner)} has no hooks; give Hooks(), or an object with "
            f"methods among {', '.join(EVENTS)}"
        )
    return found


def _is_decorator(owner: Any, event: str) -> bool:
    """Whether it is what adds hooks, and not a hook that a class derived from Hooks has."""
    return isinstance(owner, Hooks) and getattr(type(owner), event) is getattr(Hooks, event)


_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_REST = inspect.Parameter.VAR_POSITIONAL
_NAMES = ("context", "ctx")
