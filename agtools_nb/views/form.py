"""``FormView``: a tool's arguments as a form. Python holds them; the page draws and asks."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

import traitlets

from agtools_nb.arguments import Prepared, prepare
from agtools_nb.calls import Fault, ToolCall, ToolResult
from agtools_nb.define import Tool
from agtools_nb.jsonable import shorten
from agtools_nb.views import markup
from agtools_nb.views.base import Scheduler
from agtools_nb.views.form_edits import EditRefusedError, apply
from agtools_nb.views.form_place import put
from agtools_nb.views.form_plan import plan_form
from agtools_nb.views.form_preview import marked_lines, remarks
from agtools_nb.views.form_tree import (
    Node,
    node_of,
    parse_json,
    same_value,
    sends,
    text_faults,
    value_of,
)
from agtools_nb.views.form_unions import Plan
from agtools_nb.views.form_wire import left_empty, wire_tree, with_values
from agtools_nb.views.form_words import json_of
from agtools_nb.views.hosting import HostView
from agtools_nb.views.result import body_html, call_detail, headline_html, result_text
from agtools_nb.views.values import preview

RESULT_LIMIT = 40_000
"""Characters of a result that the page is sent."""

_CLIENTS = 16
"""Pages whose edits are remembered, to tell each what it already has."""

Run = Callable[[dict[str, Any]], Awaitable[ToolResult]]


class FormView(HostView):
    """A form for one tool: fill it, see what the tool will get, run it.

    Each field is unset, null or a value, and an empty text is a value. Nothing is sent that
    nobody set, with one exception, shown before it happens: when a form that started blank
    is *run*, a required text that was left empty is sent as ``""``, and a required constant
    as its one value. A form that was given arguments (here, by :attr:`arguments` or as JSON)
    runs exactly those. In a form with ``empty_texts=False`` a text that nobody set is missing.

    Args:
        scheduler: Where handlers and runs go.
        tool: Whose arguments these are.
        arguments: What the form shows first. Default: nothing is set.
        run: Runs the tool on arguments as they came; ``None``: there is no Run button.
        stop: Cancels what ``run`` started; ``None``: there is no Stop button.
        empty_texts: Whether a required text that was left alone is sent as ``""``. Default
            ``True``.
    """

    _view = "form"
    plan = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        scheduler: Scheduler,
        tool: Tool,
        arguments: Mapping[str, Any] | None = None,
        run: Run | None = None,
        stop: Callable[[], None] | None = None,
        *,
        empty_texts: bool = True,
    ) -> None:
        self._tool = tool
        self._run, self._stop = run, stop
        self._empty_texts = empty_texts
        self._form_lock = threading.RLock()
        self._plan: Plan = plan_form(tool.input_schema)
        self._root = node_of(dict(arguments or {}))
        self._blank = not arguments
        self._attempted = bool(arguments)
        self._typed_json: str | None = None
        self._json_fault = ""
        self._seen: dict[str, int] = {}
        self._running = False
        self._result: ToolResult | None = None
        self._ran_with: dict[str, Any] | None = None
        self._cleared: Node | None = None
        self._cached: Prepared | None = None
        super().__init__(scheduler)

    @traitlets.default("plan")
    def _default_plan(self) -> dict[str, Any]:
        return self._plan.wire()

    # -- for Python ---------------------------------------------------------------------------

    @property
    def tool(self) -> Tool:
        """The tool whose form this is."""
        return self._tool

    @property
    def arguments(self) -> dict[str, Any]:
        """What is set in the form, exactly; a fresh copy. Assigning replaces all of it."""
        with self._form_lock:
            found: dict[str, Any] = json.loads(json.dumps(value_of(self._root)))
        return found

    @arguments.setter
    def arguments(self, arguments: Mapping[str, Any]) -> None:
        with self._form_lock:
            self._root = node_of(dict(arguments), self._root)
            self._blank, self._attempted = False, True
            self._changed()

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]

    def __setitem__(self, name: str, value: Any) -> None:
        with self._form_lock:
            fields = self._plan.resolve(self._plan.root)
            node = node_of(value, self._root.entries.get(name))
            put({"fields": fields.get("fields", [])}, self._root, name, node)
            self._changed()

    def __delitem__(self, name: str) -> None:
        with self._form_lock:
            if name not in self._root.entries or not sends(self._root.entries[name]):
                raise KeyError(name)
            del self._root.entries[name]
            self._changed()

    def __contains__(self, name: object) -> bool:
        return name in self.arguments

    def __iter__(self) -> Iterator[str]:
        return iter(self.arguments)

    @property
    def prepared(self) -> Prepared:
        """What running the form now would give the tool: coerced, with what does not fit."""
        with self._form_lock:
            if self._cached is None:
                self._cached = prepare(self._tool, self.outgoing)
            return self._cached

    @property
    def outgoing(self) -> dict[str, Any]:
        """What Run sends: what is set, and required texts that a blank form left empty."""
        with self._form_lock:
            return with_values(value_of(self._root), self._left())

    @property
    def is_ready(self) -> bool:
        """Whether the arguments fit, and everything that was typed can be read."""
        with self._form_lock:
            return self.prepared.ok and not self._text_faults()

    def show_faults(self) -> None:
        """Mark also what is merely missing, as after a run."""
        with self._form_lock:
            self._attempted = True
            self.refresh()

    @property
    def result(self) -> ToolResult | None:
        """What the last run came to; ``None`` before the first has ended."""
        return self._result

    def set_tool(self, tool: Tool) -> None:
        """Show the form of ``tool`` instead, as after its cell ran again. What is set stays."""
        with self._form_lock:
            self._tool = tool
            self._plan = plan_form(tool.input_schema)
            self.plan = self._plan.wire()
            self._changed()

    # -- from the browser ---------------------------------------------------------------------

    def on_edit(self, content: dict[str, Any]) -> None:
        """Change one field, as :func:`agtools_nb.views.form_edits.apply` takes it."""
        if content.get("op") == "json" and content.get("path") == []:
            self.on_json(content)  # a root that has no fields of its own
            return
        with self._form_lock:
            self._note(content)
            if self._json_fault:  # the fields do not show what was typed as JSON: first decide
                self._tell_seen()
                return
            value, drawn = value_of(self._root), self._drawn()
            try:
                apply(self._plan, self._root, content)
            except EditRefusedError as refused:
                where = {"client": content.get("client"), "path": content.get("path")}
                self.post({"type": "refused", "text": str(refused), **where})
            if drawn == self._drawn():  # as on leaving a field: nothing to draw anew
                self._tell_seen()
                return
            same = same_value(value, value_of(self._root))
            self._changed(typed_json=self._typed_json if same else None)

    def on_json(self, content: dict[str, Any]) -> None:
        """Take the JSON tab's text; what does not parse stays as it was typed."""
        text = content.get("text")
        if not isinstance(text, str):
            return
        with self._form_lock:
            self._note(content)
            fault = ""
            try:
                value = parse_json(text) if text.strip() else {}
                if not isinstance(value, dict):
                    fault = 'not an object: the arguments are {"name": value, ...}'
                elif not same_value(value, value_of(self._root)):
                    self._root = node_of(value, self._root)
                    self._blank, self._attempted = False, True
            except ValueError as error:
                fault = str(error)
            self._changed(typed_json=text, fault=fault)

    def on_discard(self, content: dict[str, Any]) -> None:
        """Drop JSON text that does not parse; the last good arguments stay."""
        with self._form_lock:
            self._note(content)
            self._changed()

    def on_clear(self, content: dict[str, Any]) -> None:
        """Unset everything; until the next change it can be taken back."""
        with self._form_lock:
            self._note(content)
            cleared = self._root
            self._root = Node("object", id=cleared.id)
            self._blank, self._attempted = True, False
            self._changed(cleared=cleared)

    def on_undo(self, content: dict[str, Any]) -> None:
        """Bring back what was cleared; it runs as it is then."""
        with self._form_lock:
            self._note(content)
            if self._cleared is not None:
                self._root, self._blank = self._cleared, False
                self._changed()

    def on_run(self, content: dict[str, Any]) -> None:
        """Run the tool on what the form holds, unless it runs or holds text that is not JSON."""
        if self._run is None:
            return
        with self._form_lock:
            self._note(content)
            self._attempted = True
            start = not self._running and not self._text_faults()
            self._running = self._running or start
            arguments = self.outgoing
            self.refresh()
        if start:
            self._scheduler.spawn(self._run_once(self._run, arguments))

    def on_stop(self, content: dict[str, Any]) -> None:
        """Cancel the run."""
        self._note(content)
        self._tell_seen()
        if self._running and self._stop is not None:
            self._stop()

    async def _run_once(self, run: Run, arguments: dict[str, Any]) -> None:
        result: ToolResult | None = None
        began, clock = time.time(), time.perf_counter()
        try:
            result = await run(json.loads(json.dumps(arguments)))
        except asyncio.CancelledError:
            result = ToolResult(
                self._tool.name,
                error="The call was stopped before it ended.",
                status="cancelled",
                started_at=began,
                duration=time.perf_counter() - clock,
            )
            raise
        except Exception as error:  # whatever fails here has no cell to fail in
            self._show_problem(error)
        finally:
            with self._form_lock:
                self._running = False
                self._result, self._ran_with = result, arguments
            self.refresh()

    # -- state --------------------------------------------------------------------------------

    def cards_changed(self) -> None:
        """A card came, or was answered: the run waits for a person, or goes on."""
        super().cards_changed()
        self.refresh()

    def _note(self, content: Mapping[str, Any]) -> None:
        """Remember how far a page's edits have come."""
        client, seq = content.get("client"), content.get("seq")
        if isinstance(client, str) and len(client) < 64 and type(seq) is int:
            self._seen.pop(client, None)
            self._seen[client] = seq
            while len(self._seen) > _CLIENTS:
                del self._seen[next(iter(self._seen))]

    def _tell_seen(self) -> None:
        self.post({"type": "seen", "seen": dict(self._seen)})

    def _changed(
        self, typed_json: str | None = None, fault: str = "", cleared: Node | None = None
    ) -> None:
        self._typed_json, self._json_fault = typed_json, fault
        self._cached, self._cleared = None, cleared
        self.refresh()

    def _drawn(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return wire_tree(self._plan, self._root), self._left()

    def _left(self) -> dict[str, Any]:
        if not self._blank:
            return {}
        return dict(left_empty(self._plan, self._root, texts=self._empty_texts))

    def _text_faults(self) -> list[tuple[str, str]]:
        return [*text_faults(self._root), *([("", self._json_fault)] if self._json_fault else [])]

    def snapshot(self) -> dict[str, Any]:
        """Return what the page draws; see ``widgets/form/types.d.ts``."""
        with self._form_lock:
            arguments, outgoing = value_of(self._root), self.outgoing
            prepared, left = self.prepared, self._left()
            shown_json = self._typed_json
            return {
                "tool": {"name": self._tool.name, "about": shorten(self._tool.description, 4_000)},
                "seen": dict(self._seen),
                "tree": wire_tree(self._plan, self._root),
                "left": list(left),
                "json": json_of(arguments, indent=2) if shown_json is None else shown_json,
                "json_fault": self._json_fault,
                "faults": self._faults(prepared),
                "came": marked_lines(outgoing, remarks(prepared, left, came=True)),
                "gets": marked_lines(prepared.arguments, remarks(prepared, left, came=False)),
                "gets_note": self._gets_note(outgoing, prepared),
                "ok": self.is_ready,
                "can_undo": self._cleared is not None,
                "can_run": self._run is not None,
                "can_stop": self._stop is not None,
                "running": self._running,
                "asking": any(card.is_open for card in self.cards),
                "result": self._result_wire(),
            }

    def _gets_note(self, outgoing: dict[str, Any], prepared: Prepared) -> str:
        """Return what is to be said of the arguments as the tool gets them, or would."""
        if self._text_faults():
            return "not run: the JSON text cannot be read"
        if prepared.ok:
            return "the same" if same_value(outgoing, prepared.arguments) else ""
        missing = all(fault.got == "nothing" for fault in prepared.faults)
        why = "required arguments are missing" if missing else "the arguments do not fit"
        return f"not run: {why}"

    def _faults(self, prepared: Prepared) -> list[dict[str, Any]]:
        """What is wrong, place by place. What is merely still missing is ``quiet`` at first."""
        found: list[dict[str, Any]] = [
            {"at": at, "text": text, "unreadable": True} for at, text in self._text_faults()
        ]
        for fault in prepared.faults:
            wire: dict[str, Any] = {"at": fault.pointer, "text": _short(fault)}
            if fault.got == "nothing":
                wire |= {"missing": True, "quiet": not self._attempted}
            found.append(wire)
        return found

    def _result_wire(self) -> dict[str, Any] | None:
        result = self._result
        if result is None:
            return None
        call = ToolCall(result.name, self._ran_with or {})
        detail = call_detail(call, result.arguments, result.coercions, result, RESULT_LIMIT)
        stale = self._ran_with is not None and (
            bool(self._text_faults()) or not same_value(self._ran_with, self.outgoing)
        )
        return {**detail, "status": result.status, "duration": result.duration, "stale": stale}

    # -- static forms -------------------------------------------------------------------------

    def headline(self) -> str:
        """Return the tool's name and what is set, as a call is written."""
        with self._form_lock:
            values = value_of(self._root)
        inside = ", ".join(f"{name}={preview(value, 30).text}" for name, value in values.items())
        return f"{self._tool.name}({inside})"

    def static_html(self) -> str:
        """Return the arguments as a table, with the result of the last run."""
        with self._form_lock:
            arguments, prepared = value_of(self._root), self.prepared
        rows = []
        for parameter in self._tool.parameters:
            name = parameter.name
            value: markup.Html = markup.small("unset")
            if name in arguments:
                value = markup.code(preview(arguments[name], 500).text)
            rows.append(
                [
                    [markup.code(name), " *" if parameter.required else ""],
                    parameter.type_text,
                    value,
                    shorten(parameter.description, 200),
                ]
            )
        parts = [
            markup.tag("p", markup.tag("strong", self._tool.name), " · form"),
            markup.table(["argument", "type", "value", "meaning"], rows)
            or markup.tag("p", "It takes no arguments."),
        ]
        if arguments and prepared.arguments is not None and prepared.changes:
            got = preview(prepared.arguments, 2_000).text
            parts.append(markup.tag("p", "The tool gets ", markup.code(got)))
        parts.append(self.cards_html())
        if self._result is not None:
            parts += [headline_html(self._result), body_html(self._result)]
        return markup.tag("div", *parts)

    def static_text(self) -> str:
        """Return the arguments as JSON, with the result of the last run."""
        lines = [f"form of {self._tool.name}: {preview(self.arguments, 2_000).text}"]
        lines += self.cards_text()
        if self._result is not None:
            lines.append(result_text(self._result))
        return "\n".join(lines)


def _short(fault: Fault) -> str:
    """A fault's sentence without the place, beside which it is shown."""
    if fault.got == "nothing":
        return f"required: {fault.expected}"
    return shorten(fault.message.removeprefix(f"{fault.pointer}: "), 500)
