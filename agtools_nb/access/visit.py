"""A call at the gate: hooks, then rules, then a person, and what is told of its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agtools_nb.access.approval import Approval
from agtools_nb.access.asking import asked, denied
from agtools_nb.access.chain import result_copy
from agtools_nb.access.decision import Decision
from agtools_nb.access.engine import seen
from agtools_nb.access.hooks import HookContext, HookResult
from agtools_nb.access.policy import Policy
from agtools_nb.access.predicate import call_copy
from agtools_nb.arguments import Prepared, edited, is_as_written
from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.context import AnswerHandler, Question, copied, nobody_to_ask
from agtools_nb.define import Tool
from agtools_nb.errors import AgtoolsError, ToolExecutionError, UsageError
from agtools_nb.jsonable import brief_repr, clean_text, jsonable, same_json, shorten
from agtools_nb.run.gate import Admitted, Aside, Prepare
from agtools_nb.run.invoke import maybe_await
from agtools_nb.run.words import ERROR_LIMIT, error_text

if TYPE_CHECKING:
    from agtools_nb.access.access import Access

_MOST_EDITS = 10  # rules that ask in turn, each of whose handlers edits what the other approved
_GO_ON = "Go on without it, or ask the user what to do."
_OTHERWISE = "With other arguments it may run; else go on without it, or ask the user what to do."


class AccessRound:
    """Calls that belong together, as hooks see them: a turn.

    Args:
        access: What decides.
    """

    def __init__(self, access: Access) -> None:
        self.access = access
        self.refusal: AgtoolsError | None = None
        self.session = access.session
        self._turn = access.turn
        # A session that drives its turns tells of them itself.
        self._is_own = access.turn is None

    @property
    def context(self) -> HookContext:
        """The turn that the calls are in."""
        if self._turn is None:
            self._turn = HookContext("turn", self.access.session)
        return self._turn

    def visit(self) -> AccessVisit:
        """One call comes."""
        return AccessVisit(self)

    async def began(self, calls: Sequence[ToolCall]) -> None:
        """Tell of the start; what a hook has against it is kept for each call to answer with."""
        hooks = self.access.hooks
        if not hooks:
            return
        try:
            await self.access.start_session()
            if self._is_own:
                await hooks.turn_begins(tuple(call_copy(call) for call in calls), self.context)
        except AgtoolsError as error:
            self.refusal = error

    async def ended(self, results: Sequence[ToolResult], *, stopped: bool) -> None:
        """Tell of the end."""
        hooks = self.access.hooks
        if not hooks or not self._is_own:
            return
        told = tuple(map(result_copy, results))
        if stopped:
            await hooks.inspect("on_stop", self.context, told)
        await hooks.inspect("after_turn", self.context, told)


class AccessVisit:
    """One call at the gate.

    Args:
        round: The calls it belongs to.
    """

    def __init__(self, round: AccessRound) -> None:  # noqa: A002 -- what it is called elsewhere
        self._round = round
        self._access = round.access
        self._own: HookContext | None = None

    @property
    def context(self) -> HookContext:
        """What hooks keep for this call."""
        if self._own is None:
            self._own = HookContext("operation", self._round.context)
        return self._own

    async def admit(
        self, tool: Tool, call: ToolCall, prepared: Prepared, prepare: Prepare, aside: Aside
    ) -> Admitted:
        """Ask hooks, then rules, then a person.

        Raises:
            DeniedError: One of them refused.
            AgtoolsError: What a hook or a person wrote instead does not fit.
        """
        refusal = self._round.refusal
        if refusal is not None:
            raise denied(call, error_text(refusal), _GO_ON) from refusal
        ready = _Ready(tool, call, prepared, prepare)
        has_consent = await self._ask_hooks(ready)
        await self._ask_rules(ready, aside, has_consent=has_consent)
        return Admitted(ready.prepared, tuple(ready.notes), ready.path)

    async def _ask_hooks(self, ready: _Ready) -> bool:
        """Whether a hook let the call run as it is now, in a person's place."""
        chain, has_consent = self._access.hooks, False
        for hook in chain.of("before_tool"):
            verdict = await chain.judge(hook, ready.seen(), self.context)
            if verdict.modified_args is not None:
                changed = {**ready.arguments, **verdict.modified_args}
                if not same_json(changed, ready.arguments):
                    await ready.change(changed, "a hook")
                has_consent = False  # to something else
            has_consent = has_consent or verdict.allow is True
        return has_consent

    async def _ask_rules(self, ready: _Ready, aside: Aside, *, has_consent: bool) -> None:
        engine = self._access.engine
        if not engine.policies:
            return
        consent_of: Policy | None = None
        wrote: Mapping[str, Any] | None = None
        for _ in range(_MOST_EDITS):
            ready.note_path()
            decision = await engine.decide(ready.call, ready.tool, ready.arguments)
            policy = decision.policy
            if decision.kind == "deny":
                raise _refused(ready.call, decision)
            if decision.kind == "allow" or policy is None or decision.remembered:
                return
            if has_consent or policy is consent_of:
                return
            edit = await self._ask_person(ready, decision, policy, aside)
            if edit is None:
                return
            is_meant = await ready.change(edit, "the person who was asked")
            # Who is shown what a type makes of their words, and writes the same again, means it.
            consent_of = policy if is_meant or same_json(edit, wrote) else None
            wrote = edit
        raise denied(ready.call, "those who were asked went on changing each other's arguments")

    async def _ask_person(
        self, ready: _Ready, decision: Decision, policy: Policy, aside: Aside
    ) -> Mapping[str, Any] | None:
        """Ask a person, who agrees: to the call as it is, or to other arguments."""
        engine = self._access.engine
        handler = engine.handler_of(policy)
        assert handler is not None  # or there would be no engine
        shown = ready.seen()
        approval = Approval(
            call_copy(shown), ready.tool, copied(shown.args), policy, decision.reason
        )
        async with aside():
            answer = await asked(handler, approval)
        edit = answer.arguments
        if edit is not None and same_json(edit, shown.args):
            edit = None
        if edit is None and ready.tool.canonical_path(copied(shown.args)) != shown.canonical_path:
            raise denied(
                ready.call,
                "the path it is about leads elsewhere than when the person was asked about it",
                "Call it again, so that the person sees where the path leads now.",
            )
        if answer.remember and self._access.session is self._round.session:
            engine.remember(policy, ready.tool)  # said of a session that is still there
        return edit

    async def answered(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """Tell hooks of the result, and return the one to answer with."""
        hooks = self._access.hooks
        if not hooks:
            return result
        if result.arguments is not None:
            call = replace(call, args=copied(dict(result.arguments)))
        error = result.exception
        if result.status == "error" and error is not None:
            original = error.__cause__ or error
            text = await hooks.on_tool_error(call, original, self.context)
            if text is not None:
                result = _with_message(result, text)
        await hooks.after_tool(call, result, self.context)
        return result

    def answering(self, handler: AnswerHandler | None) -> AnswerHandler | None:
        """Who answers what the tool asks a person: hooks first."""
        hooks = self._access.hooks
        if not hooks:
            return handler

        async def answer(question: Question) -> Any:
            found = await hooks.on_question(question, self.context)
            if isinstance(found, HookResult):
                if found.allow is False:
                    return None
                raise UsageError(
                    f"an on_question hook returned {brief_repr(found)}; return the answer, None to "
                    "leave it to others, or HookResult(allow=False) to decline"
                )
            if found is not None:
                return found
            if handler is None:
                raise nobody_to_ask()
            return await maybe_await(handler(question))

        return answer


class _Ready:
    """A call and the arguments that it would run with by now."""

    def __init__(self, tool: Tool, call: ToolCall, prepared: Prepared, prepare: Prepare) -> None:
        self.tool = tool
        self.call = call
        self.prepared = prepared
        self.notes: list[str] = []
        self.path: str | None = None
        self._prepare = prepare
        self.note_path()

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments as the tool would get them, not to be changed."""
        return self.prepared.arguments or {}

    def seen(self) -> ToolCall:
        """The call as others are shown it."""
        return seen(self.call, self.tool, self.arguments)

    def note_path(self) -> None:
        """Look where the path that it is about leads now, which is what is judged.

        Raises:
            Exception: What the tool's ``path_of=`` raised.
        """
        if self.tool.path_of is not None:
            self.path = self.tool.canonical_path(jsonable(copied(dict(self.arguments))))

    async def change(self, arguments: Mapping[str, Any], by: str) -> bool:
        """Take other arguments, judged as the model's own are.

        Returns:
            Whether they are as they were written: types made nothing else of them.

        Raises:
            UsageError: They do not fit.
        """
        before = self.prepared
        prepared = await self._prepare(edited(before, arguments))
        if prepared.values is None:
            raise UsageError(
                f"{self.tool.name} was not run: {by} changed its arguments into ones that do not "
                f"fit. {prepared.error or ''}"
            )
        prepared.changes = (*before.changes, *prepared.changes)
        self.prepared = prepared
        self.note_path()
        self.notes.append(f"It ran with other arguments than were sent: {by} changed them.")
        return is_as_written(before, arguments, prepared)


def _refused(call: ToolCall, decision: Decision) -> Exception:
    policy = decision.policy
    assert policy is not None
    if policy.when is None and policy.scope is None and not policy.reason:
        return denied(call, f"the rule {policy.label} refuses every call of it", _GO_ON)
    hint = _GO_ON if policy.when is None and policy.scope is None else _OTHERWISE
    return denied(call, f"the rule {policy.label} refuses it: {decision.reason}", hint)


def _with_message(result: ToolResult, text: str) -> ToolResult:
    """The same failure in a hook's words."""
    words = shorten(clean_text(text), ERROR_LIMIT)
    old = result.exception
    assert old is not None
    exception = ToolExecutionError(
        words, tool_name=old.tool_name, call_id=old.call_id, server_name=old.server_name
    )
    exception.__cause__ = old.__cause__
    return replace(result, error=words, exception=exception)
