"""The approval card: may this call run, with these arguments, and which rule asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from agtools_nb.access import Approval, ApprovalDecision
from agtools_nb.jsonable import shorten
from agtools_nb.views import markup
from agtools_nb.views.asked import AskedView
from agtools_nb.views.base import Scheduler
from agtools_nb.views.form import FormView
from agtools_nb.views.form_tree import same_value
from agtools_nb.views.unseen import show_unseen
from agtools_nb.views.values import preview

ARGUMENTS_LIMIT = 200_000
"""Characters of arguments that are shown; whoever approves is told if there are more."""

ARGUMENT_LEAST = 2_000
"""Characters of one argument that are shown however long those before it are."""

BRIEF_LIMIT = 160
REASON_LIMIT = 2_000


class ApprovalView(AskedView):
    """Asks a person about one call, and shows afterwards what was decided.

    Args:
        scheduler: Where handlers and updates run.
        approval: What is asked.
        settle: Called once with the decision.
        seconds: How long it waits; then it is :meth:`expire` that ends it.
        sent: The arguments as the model sent them, to mark what became of them.
    """

    _view: ClassVar[str] = "approval"

    def __init__(
        self,
        scheduler: Scheduler,
        approval: Approval,
        settle: Callable[[ApprovalDecision], None],
        seconds: float | None = None,
        sent: Mapping[str, Any] | None = None,
    ) -> None:
        self._approval = approval
        self._sent = sent
        self._form: FormView | None = None
        self._refused = ""
        self._decision: ApprovalDecision | None = None
        super().__init__(scheduler, settle, seconds)

    @property
    def approval(self) -> Approval:
        """What is asked."""
        return self._approval

    @property
    def decision(self) -> ApprovalDecision | None:
        """What was decided; ``None`` while nobody has."""
        return self._decision

    @property
    def form(self) -> FormView | None:
        """The form in which the arguments are edited; ``None`` while they are not."""
        return self._form

    def approve(self, *, remember: bool = False) -> None:
        """Approve what the card shows, as the button does. On the main loop only.

        Args:
            remember: Also further calls of the tool under this rule.
        """
        if not self.is_open:
            return
        edited = None
        if self._form is not None:
            if not self._form.is_ready:
                self._form.show_faults()
                self._refused = "These arguments do not fit. Nothing was run."
                self.refresh()
                return
            outgoing = self._form.outgoing
            edited = None if same_value(outgoing, dict(self._approval.arguments)) else outgoing
        self._decide(ApprovalDecision(True, edited, remember=remember))

    def deny(self, reason: str = "") -> None:
        """Deny the call, as the button does. On the main loop only.

        Args:
            reason: Why; the model is told.
        """
        if self.is_open:
            self._decide(ApprovalDecision(False, reason=shorten(reason.strip(), REASON_LIMIT)))

    def _decide(self, decision: ApprovalDecision) -> None:
        self._decision = decision
        self._answer(decision)

    def _end(self, state: Any) -> None:
        form, self._form = self._form, None
        super()._end(state)
        if form is not None:
            form.close()

    # -- from the browser ---------------------------------------------------------------------

    def on_approve(self, content: dict[str, Any]) -> None:
        """Approve was pressed; ``remember``: for this session."""
        self.approve(remember=content.get("remember") is True)

    def on_deny(self, content: dict[str, Any]) -> None:
        """Deny was pressed."""
        reason = content.get("reason")
        self.deny(reason if isinstance(reason, str) else "")

    def on_edit(self, content: dict[str, Any]) -> None:
        """Open the form."""
        if self.is_open and self._form is None:
            arguments = dict(self._approval.arguments)
            self._form = FormView(self._scheduler, self._approval.tool, arguments)
            self.refresh()

    def on_leave(self, content: dict[str, Any]) -> None:
        """Leave the form: the arguments stay what they were."""
        if self.is_open and self._form is not None:
            form, self._form = self._form, None
            self._refused = ""
            form.close()
            self.refresh()

    # -- state --------------------------------------------------------------------------------

    @property
    def _arguments(self) -> Mapping[str, Any]:
        edited = None if self._decision is None else self._decision.arguments
        return self._approval.arguments if edited is None else edited

    def snapshot(self) -> dict[str, Any]:
        """Return what the page draws; see ``widgets/approval/index.js``."""
        approval, call = self._approval, self._approval.call
        return {
            **self._clock_data(),
            "tool": approval.tool.name,
            "about": shorten(approval.tool.description.strip().partition("\n")[0], 300),
            "server": call.server_name,
            "shown": self._shown(),
            "path": None if call.canonical_path is None else str(call.canonical_path),
            "rule": approval.policy.label,
            "reason": shorten(approval.reason, REASON_LIMIT),
            "arguments": self._argument_rows(),
            "brief": self._brief(),
            "form": None if self._form is None else self._form.model_id,
            "refused": self._refused,
            "decision": self._words(),
        }

    def _shown(self) -> str | None:
        """What the tool's author wants people to read."""
        return self._approval.tool.display_text(dict(self._arguments))

    def _brief(self) -> str:
        shown = self._shown()
        text = preview(dict(self._arguments), BRIEF_LIMIT).text if shown is None else shown
        return shorten(" ".join(text.split()), BRIEF_LIMIT)

    def _argument_rows(self) -> list[dict[str, Any]]:
        left, rows = ARGUMENTS_LIMIT, []
        for name, value in self._arguments.items():
            text = preview(value, max(left, ARGUMENT_LEAST))
            left -= len(text.text)
            mark, came = self._mark(name, value)
            rows.append(
                {"name": name, "json": text.text, "note": text.note, "mark": mark, "came": came}
            )
        return rows

    def _mark(self, name: str, value: Any) -> tuple[str, str]:
        """What became of an argument on its way, and what the model sent in its place."""
        asked = self._approval.arguments
        if name not in asked or not same_value(asked[name], value):
            return "edited", ""
        if self._sent is None:
            return "", ""
        if name not in self._sent:
            parameters = {one.name: one for one in self._approval.tool.parameters}
            known = parameters.get(name)
            return ("changed" if known is None or known.required else "default"), ""
        sent = self._sent[name]
        return ("", "") if same_value(sent, value) else ("changed", preview(sent, 80).text)

    def _words(self) -> dict[str, str] | None:
        """What was decided: a word, its kind for the look, and what was said."""
        decision = self._decision
        if self.state == "expired":
            return {"word": "denied", "kind": "denied", "note": "Nobody answered in time."}
        if self.state == "stopped":
            return {"word": "stopped", "kind": "cancelled", "note": "The call was stopped."}
        if decision is None:
            return None
        if not decision.approved:
            return {"word": "denied", "kind": "denied", "note": decision.reason}
        notes = []
        if decision.arguments is not None:
            notes.append("with changed arguments")
        if decision.remember:
            tool, rule = self._approval.tool.name, self._approval.policy.label
            notes.append(f"further calls of {tool} that {rule} asks about run without asking")
        return {"word": "approved", "kind": "ok", "note": "; ".join(notes)}

    # -- static forms -------------------------------------------------------------------------

    def headline(self) -> str:
        """Return the tool, and what was decided."""
        words = self._words()
        return f"{self._approval.tool.name}: {words['word'] if words else 'waits for approval'}"

    def static_html(self) -> str:
        """Return what was asked and what was decided."""
        words, approval = self._words(), self._approval
        said = "waited for approval when this was saved" if words is None else words["word"]
        note = f": {show_unseen(words['note'])}" if words and words["note"] else ""
        rows = [
            [markup.code(show_unseen(name)), markup.code(self._argument_text(name))]
            for name in self._arguments
        ]
        reason = f": {show_unseen(approval.reason)}" if approval.reason else ""
        return markup.tag(
            "div",
            markup.tag("p", markup.tag("strong", approval.tool.name), f" · {said}{note}"),
            markup.table(["argument", "value"], rows),
            markup.tag("p", markup.small(f"asked by {approval.policy.label}{reason}")),
        )

    def static_text(self) -> str:
        """Return what was asked and what was decided, in a line or two."""
        words = self._words()
        said = "waits for approval" if words is None else words["word"]
        note = f": {words['note']}" if words and words["note"] else ""
        return f"{self._approval.tool.name}: {said}{note}\n  {show_unseen(self._brief())}"

    def _argument_text(self, name: str) -> str:
        return show_unseen(preview(self._arguments[name], 2_000).text)
