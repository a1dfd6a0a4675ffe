"""``HumanView``: a person plays the model, sees what a model is sent, and answers."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agtools_nb.agent.model import ModelRequest
from agtools_nb.agent.models.human import Said
from agtools_nb.agent.wire_form import (
    CHAT_PROVIDERS,
    ChatProvider,
    answer_form,
    read_answer,
    request_form,
)
from agtools_nb.calls import ToolCall
from agtools_nb.define import Tool
from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr, shorten
from agtools_nb.views import markup
from agtools_nb.views.base import Scheduler, View
from agtools_nb.views.form import FormView
from agtools_nb.views.human_request import call_words, request_wire
from agtools_nb.views.values import preview

WIRE_LIMIT = 300_000
"""Characters of a request as JSON that a page is sent."""

LONGEST_ANSWER = 1_000_000
MOST_CALLS = 50
KEPT_TURNS = 100


@dataclass(frozen=True, slots=True)
class PastTurn:
    """A turn that was answered, or was not wanted any more.

    Attributes:
        number: Which turn it was, from 1.
        said: What was answered; ``None`` if it was taken away.
        seconds: How long the person took.
    """

    number: int
    said: Said | None
    seconds: float


class HumanView(View):
    """Shows one request at a time to the person who plays the model.

    Args:
        scheduler: Where handlers and updates run.
        provider: In whose form requests and JSON answers are written.

    Attributes:
        is_hosted: Whether a chat shows it, so that no cell needs to.
    """

    _view = "human"
    _time: Callable[[], float] = staticmethod(time.monotonic)

    def __init__(self, scheduler: Scheduler, provider: ChatProvider = "openai") -> None:
        self._provider: ChatProvider = provider
        self._request: ModelRequest | None = None
        self._settle: Callable[[Said], None] | None = None
        self._turn = 0
        self._asked_at = 0.0
        self._form: FormView | None = None
        self._tray: list[ToolCall] = []
        self._refused = ""
        self._may_insist = False
        self._past: deque[PastTurn] = deque(maxlen=KEPT_TURNS)
        self.is_hosted = False
        super().__init__(scheduler)

    # -- for Python ---------------------------------------------------------------------------

    @property
    def provider(self) -> ChatProvider:
        """In whose form requests and JSON answers are written."""
        return self._provider

    @property
    def request(self) -> ModelRequest | None:
        """What is to be answered; ``None`` if nothing is."""
        return self._request

    @property
    def past(self) -> tuple[PastTurn, ...]:
        """The last 100 turns, oldest first."""
        return tuple(self._past)

    @property
    def form(self) -> FormView | None:
        """The form of the tool that was picked; ``None`` if none was."""
        return self._form

    def ask(self, request: ModelRequest, settle: Callable[[Said], None]) -> None:
        """Show a request. On the main loop only.

        Args:
            request: What a model is sent.
            settle: Called once with the answer.
        """
        self._turn += 1
        self._request, self._settle = request, settle
        self._asked_at = self._time()
        self._refused, self._may_insist = "", False
        self.refresh_now()

    def withdraw(self) -> None:
        """The answer is not wanted any more. On the main loop only."""
        if self._request is not None:
            self._end(None)

    def pick(self, name: str, /, **arguments: Any) -> FormView:
        """Open the form of a tool, as its button does. On the main loop only.

        Raises:
            UsageError: There is no such tool, or nothing is to be answered.
        """
        tool = self._tool(name)
        self._close_form()
        # A model that leaves a text out does not send an empty one.
        self._form = FormView(self._scheduler, tool, arguments, empty_texts=False)
        self._say_no("")
        return self._form

    def answer(self, *calls: ToolCall, text: str = "", raw: Any = None) -> None:
        """Answer with calls, with text, or with both. On the main loop only.

        Raises:
            UsageError: There is nothing in it, or nothing is to be answered.
        """
        if self._request is None:
            raise UsageError("nothing is to be answered now")
        if not calls and not text.strip():
            raise UsageError("an answer is a call or text")
        if not calls and self._request.must_call:
            raise UsageError("this request wants a call: text alone is no answer")
        self._end(Said(text, calls, raw))

    # -- from the browser ---------------------------------------------------------------------

    def on_provider(self, content: dict[str, Any]) -> None:
        """Another provider's form is wanted."""
        if content.get("provider") in CHAT_PROVIDERS:
            self._provider = content["provider"]
            self.refresh()

    def on_pick(self, content: dict[str, Any]) -> None:
        """A tool was picked; ``None``: its form is closed."""
        name = content.get("name")
        if isinstance(name, str) and self._request is not None:
            if self._form is None or self._form.tool.name != name:
                self.pick(name)
        else:
            self._close_form()
            self._say_no("")

    def on_add(self, content: dict[str, Any]) -> None:
        """The call in the form is to be one of several."""
        call = self._call_of_form(insist=content.get("insist") is True)
        if call is not None and len(self._tray) < MOST_CALLS:
            self._tray.append(call)
            self._close_form()
            self._say_no("")

    def on_drop(self, content: dict[str, Any]) -> None:
        """One of several calls is not wanted after all."""
        at = content.get("i")
        if type(at) is int and 0 <= at < len(self._tray):
            del self._tray[at]
            self.refresh()

    def on_call(self, content: dict[str, Any]) -> None:
        """Answer with the calls that were collected, and the one in the form."""
        if self._request is None:
            return
        calls = list(self._tray)
        if self._form is not None:
            call = self._call_of_form(insist=content.get("insist") is True)
            if call is None:
                return
            calls.append(call)
        self._try(calls, _text(content))

    def on_say(self, content: dict[str, Any]) -> None:
        """Answer with text."""
        if self._request is not None:
            self._try([], _text(content))

    def on_json(self, content: dict[str, Any]) -> None:
        """Answer with JSON, in any provider's form."""
        if self._request is None:
            return
        try:
            raw = json.loads(_text(content))
            text, calls = read_answer(raw)
        except RecursionError:
            self._say_no("This is nested too deeply.")
        except UsageError as error:
            self._say_no(str(error))
        except ValueError as error:
            self._say_no(f"This is not JSON: {error}")
        else:
            self._try(calls, text, raw)

    def on_wire(self, content: dict[str, Any]) -> None:
        """The request as JSON is wanted, and an answer to begin with."""
        request = self._request
        if request is None:
            return
        shown = preview(request_form(request, self._provider), WIRE_LIMIT)
        self.post(
            {
                "type": "wire",
                "turn": self._turn,
                "provider": self._provider,
                "request": shown.text,
                "note": shown.note,
                "answer": self._example(request),
            }
        )

    def _try(self, calls: list[ToolCall], text: str, raw: Any = None) -> None:
        try:
            self.answer(*calls, text=text, raw=raw)
        except UsageError as error:
            self._say_no(f"{error}.")

    # -- inside -------------------------------------------------------------------------------

    def _tool(self, name: str) -> Tool:
        tools = () if self._request is None else self._request.tools
        for tool in tools:
            if tool.name == name:
                return tool
        raise UsageError(f"this request offers no tool {brief_repr(name)}")

    def _call_of_form(self, *, insist: bool) -> ToolCall | None:
        """The call in the form; ``None`` if it does not fit, and that was said."""
        form = self._form
        if form is None:
            return None
        if not form.is_ready and not (insist and self._may_insist):
            form.show_faults()
            readable = not any(fault.get("unreadable") for fault in form.snapshot()["faults"])
            self._say_no(
                "These arguments do not fit the tool. A model can send them all the same: see what "
                "it would be told."
                if readable
                else "The JSON text cannot be read.",
                may_insist=readable,
            )
            return None
        return ToolCall(form.tool.name, form.outgoing)

    def _say_no(self, why: str, *, may_insist: bool = False) -> None:
        self._refused, self._may_insist = why, may_insist
        self.refresh()

    def _close_form(self) -> None:
        form, self._form = self._form, None
        if form is not None:
            form.close()

    def _end(self, said: Said | None) -> None:
        settle = self._settle
        self._past.append(PastTurn(self._turn, said, self._time() - self._asked_at))
        self._request = self._settle = None
        self._tray.clear()
        self._refused, self._may_insist = "", False
        self._close_form()
        self.refresh_now()
        if said is not None and settle is not None:
            settle(said)

    def _example(self, request: ModelRequest) -> str:
        """An answer in the provider's form, to be changed."""
        if not request.tools:
            form = answer_form("Hello!", (), self._provider)
        else:
            tool = request.tools[0]
            known = {one.name: None for one in tool.parameters if one.required}
            form = answer_form("", [ToolCall(tool.name, known, "call_1")], self._provider)
        return json.dumps(form, indent=2, ensure_ascii=False)

    # -- state --------------------------------------------------------------------------------

    def snapshot(self) -> dict[str, Any]:
        """Return what the page draws; see ``widgets/human/types.d.ts``."""
        request = self._request
        return {
            "turn": self._turn,
            "asked": None if request is None else request_wire(request, self._provider),
            "provider": self._provider,
            "providers": list(CHAT_PROVIDERS),
            "waited": self._time() - self._asked_at if request is not None else 0.0,
            "form": None if self._form is None else self._form.model_id,
            "tool": None if self._form is None else self._form.tool.name,
            "tray": [call_words(call) for call in self._tray],
            "refused": self._refused,
            "may_insist": self._may_insist,
            "ended": self._ended(),
            "past": [_past_wire(turn) for turn in list(self._past)[-20:]],
        }

    def _ended(self) -> str:
        """What became of the last turn, in a word; ``""`` before there was any."""
        if not self._past:
            return ""
        return "stopped" if self._past[-1].said is None else "answered"

    # -- static -------------------------------------------------------------------------------

    def headline(self) -> str:
        """Return which turn it is, and whether it is to be answered."""
        if self._request is not None:
            return f"turn {self._turn} waits for your answer"
        if not self._past:
            return "no turn yet"
        stopped = sum(turn.said is None for turn in self._past)
        counts = (len(self._past) - stopped, "answered"), (stopped, "stopped")
        words = [f"{markup.plural(n, 'turn')} {what}" for n, what in counts if n]
        return ", ".join(words)

    def static_html(self) -> str:
        """Return what the person answered, turn by turn."""
        rows = [
            [str(turn.number), said_words(turn.said), markup.duration(turn.seconds)]
            for turn in self._past
        ]
        return markup.tag(
            "div",
            markup.tag(
                "p", markup.tag("strong", "A person plays the model"), f" · {self.headline()}"
            ),
            markup.table(("turn", "answer", "took"), rows),
        )

    def static_text(self) -> str:
        """Return what the person answered, turn by turn."""
        lines = [f"A person plays the model: {self.headline()}"]
        lines += [f"  {turn.number}: {said_words(turn.said)}" for turn in self._past]
        return "\n".join(lines)


def said_words(said: Said | None) -> str:
    """What was answered, in a line."""
    if said is None:
        return "(stopped before it was answered)"
    parts = [f"called {call_words(call)}" for call in said.calls]
    if said.text:
        parts.insert(0, f"said {shorten(said.text, 200)!r}")
    return ", ".join(parts)


def _past_wire(turn: PastTurn) -> dict[str, Any]:
    return {
        "number": turn.number,
        "words": shorten(said_words(turn.said), 300),
        "secs": turn.seconds,
        "answered": turn.said is not None,
    }


def _text(content: dict[str, Any]) -> str:
    text = content.get("text")
    return text[:LONGEST_ANSWER] if isinstance(text, str) else ""
