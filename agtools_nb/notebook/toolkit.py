"""``Toolkit``: the tools of a notebook, and everything that shows and runs them."""

from __future__ import annotations

import functools
import importlib
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Unpack, overload

from agtools_nb.agent.model import Model
from agtools_nb.agent.wire_form import ChatProvider
from agtools_nb.arguments import Prepared, learn_to_explain
from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.context import Artifacts, Memory, Progress, StateStore, Store, ToolContext
from agtools_nb.define import Tool
from agtools_nb.define.tool import caller_scope
from agtools_nb.errors import UsageError
from agtools_nb.events import Background, Inbox
from agtools_nb.notebook import display
from agtools_nb.notebook.asking import APPROVAL_SECONDS, Asking, BatchAsked, Place, asking_in
from agtools_nb.notebook.cells import Ledger
from agtools_nb.notebook.chat import Chat, chat_with
from agtools_nb.notebook.display import Results
from agtools_nb.notebook.kernel_loop import KernelLoop
from agtools_nb.notebook.live_output import may_show_another_run, show_view, update_outputs_of
from agtools_nb.notebook.live_run import LiveRun, ShownRun
from agtools_nb.notebook.shutdown import close_at_exit
from agtools_nb.run import Batch, BatchOptions, Call, Journal, RunOptions, ToolRunner
from agtools_nb.run.bounds import checked_seconds
from agtools_nb.views.activity import ActivityView
from agtools_nb.views.asked import AskedView
from agtools_nb.views.batch import BatchView
from agtools_nb.views.form import FormView
from agtools_nb.views.inspector import InspectorView
from agtools_nb.views.registry import RegistryRow, RegistryView


@dataclass(slots=True)
class _Tally:
    """What became of the calls of one tool."""

    calls: int = 0
    failures: int = 0
    running: int = 0
    last: ToolResult | None = None


class Toolkit:
    """The tools of a notebook: registered from cells, shown as widgets, run on the kernel's loop.

    As the last line of a cell it shows the registry.

    Args:
        store: The SQLite file, such as ``"work.db"``, that keeps state, artifacts, memory,
            inbox and every call, made if it is not there. Opening it again, also after a
            kernel that was killed, resumes the conversation; its state takes JSON values.
            Default: in memory, for any values; calls are not written down.
        context: What tools that ask for a ``ToolContext`` are given. Default: a
            new one, with the store's state.
        approval_timeout: Seconds that a card waits for a person's answer; a call that nobody
            approves in time is denied. ``None``: without end. Default: 300.
        options: How calls are run, as for :class:`ToolRunner`: ``strategy``,
            ``max_concurrency``, ``timeout`` (seconds), ``executor``, ``check_results``.

    Raises:
        UsageError: A bound is out of range, or both ``store`` and ``context`` are given.
        StoreError: The store's file cannot be used; it is left as it was.
        StoreInUseError: Another kernel has it open.

    Attributes:
        store: What lasts.
        runner: The :class:`ToolRunner` that holds the tools.
        background: What runs beside the calls: tasks, subscriptions, triggers.
    """

    def __init__(
        self,
        *,
        store: str | os.PathLike[str] | Store | None = None,
        context: ToolContext | None = None,
        approval_timeout: float | None = APPROVAL_SECONDS,
        **options: Unpack[RunOptions],
    ) -> None:
        self._loop = KernelLoop()
        self._asking = Asking(self._loop, checked_seconds(approval_timeout), self._refresh)
        self.store = _store_of(store, context)
        self.background = Background.of(
            self.store.database, conversation_id=self.store.conversation_id
        )
        if context is None:
            context = ToolContext(self.background, store=self.store)
        self.runner = ToolRunner(context=context, background=self.background, **options)
        if self.store.path is not None:
            self.journal.record(self.runner)
        close_at_exit(self.background, self._loop)
        self._ledger = Ledger(self._drop)
        self._lock = threading.Lock()
        self._tallies: dict[str, _Tally] = {}
        self._registries: weakref.WeakSet[RegistryView] = weakref.WeakSet()
        self._forms: weakref.WeakSet[FormView] = weakref.WeakSet()
        display.install()
        # The first call and the first form would wait for these; a cell is read in the meantime.
        threading.Thread(target=_import_early, daemon=True).start()

    @property
    def context(self) -> ToolContext:
        """What tools that ask for a context are given.

        Raises:
            UsageError: It was taken away with ``runner.set_context(None)``.
        """
        if self.runner.context is None:
            raise UsageError("this toolkit has no context: tk.runner.set_context(ToolContext())")
        return self.runner.context

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools, in the order a model sees them."""
        return self.runner.tools

    @property
    def tool_names(self) -> tuple[str, ...]:
        """Their names, in the same order."""
        return self.runner.tool_names

    @property
    def state(self) -> StateStore:
        """The state that the tools share."""
        return self.context.state

    @property
    def artifacts(self) -> Artifacts:
        """Files that tools made, by name and version."""
        return self.store.artifacts

    @property
    def memory(self) -> Memory:
        """Texts to be found again."""
        return self.store.memory

    @property
    def journal(self) -> Journal:
        """Every call of the conversation, as it began and as it ended.

        Raises:
            UsageError: The toolkit has no file to keep it in.
        """
        if self.store.path is None:
            raise UsageError("this toolkit keeps no journal of its calls: Toolkit(store='work.db')")
        return Journal.of(self.store.database)

    @property
    def inbox(self) -> Inbox:
        """Where results of dispatched calls, values of subscriptions and messages arrive."""
        return self.background.inbox

    @overload
    def tool(self, fn: Callable[..., Any] | Tool, /) -> Tool: ...
    @overload
    def tool(
        self, fn: None = None, /, **options: Any
    ) -> Callable[[Callable[..., Any] | Tool], Tool]: ...
    def tool(self, fn: Callable[..., Any] | Tool | None = None, /, **options: Any) -> Any:
        """Make a tool of a function and register it: ``@tk.tool``, ``@tk.tool(read_only=True)``.

        Running the cell again replaces its tools; a tool that the edited cell no
        longer defines disappears. The options are those of :func:`agtools_nb.tool`.

        Raises:
            DefinitionError: The function cannot be a tool.
            DuplicateToolError: Another cell or module has a tool of that name.
        """
        scope = caller_scope(2)
        file = sys._getframe(1).f_code.co_filename

        def register(given: Callable[..., Any] | Tool) -> Tool:
            if isinstance(given, Tool) and options:
                raise UsageError(
                    f"{given.name} is a tool already; give {', '.join(options)} where it is made"
                )
            made = given if isinstance(given, Tool) else Tool(given, scope=scope, **options)
            return self._admit(made, file)

        return register if fn is None else register(fn)

    def remove(self, name: str) -> None:
        """Remove a tool.

        Raises:
            UnknownToolError: There is none of that name.
        """
        self.runner.unregister(name)
        self._ledger.forget(name)
        self._tallies.pop(name, None)
        self._refresh()

    def form(self, name: str | Tool, /, **arguments: Any) -> FormView:
        """Return a form for a tool's arguments, with a Run button.

        Args:
            name: The tool, or its name.
            arguments: What the form starts with. Default: every field unset.

        Raises:
            UnknownToolError: There is none of that name.
        """
        tool = self.runner.tool(name.name if isinstance(name, Tool) else name)
        running: list[Batch] = []

        async def run(given: dict[str, Any]) -> ToolResult:
            batch = self._batch([ToolCall(tool.name, given)])
            running.append(batch)
            try:
                with asking_in(Place(view, BatchAsked(batch))):
                    return (await batch.run())[0]
            finally:
                running.remove(batch)
                # The form takes the result in first.
                self._loop.later(0.2, functools.partial(update_outputs_of, view))

        def stop() -> None:
            for batch in running:
                batch.stop()

        view = FormView(self._loop, tool, arguments, run, stop)
        with self._lock:
            self._forms.add(view)
        return view

    def call(self, name: str | Tool, /, **arguments: Any) -> LiveRun[ToolResult]:
        """Start one call on the kernel's loop: ``result = await tk.call("convert", value="3")``.

        Returns:
            A handle; ``await`` gives the :class:`ToolResult`. A failure is a
            result with an ``error``, never an exception.
        """
        call = ToolCall(name.name if isinstance(name, Tool) else name, arguments)
        return self._start([call], lambda results: results[0])

    def run(self, calls: Iterable[Call], **options: Unpack[BatchOptions]) -> LiveRun[Results]:
        """Start a batch of calls on the kernel's loop, all at once unless told otherwise.

        Args:
            calls: ``ToolCall`` objects, ``(name, arguments)`` pairs, or dicts as
                providers send them.
            options: ``strategy``, ``max_concurrency`` and ``timeout`` (seconds for each
                call), in place of the toolkit's own.

        Returns:
            A handle; ``await`` gives one :class:`ToolResult` a call, in call order.

        Raises:
            UsageError: A bound is out of range.
        """
        return self._start(calls, lambda results: results, **options)

    def call_sync(self, name: str | Tool, /, **arguments: Any) -> ToolResult:
        """Run one call while the cell waits. See :meth:`run_sync`."""
        return self.run_sync([ToolCall(name.name if isinstance(name, Tool) else name, arguments)])[
            0
        ]

    def run_sync(self, calls: Iterable[Call], **options: Unpack[BatchOptions]) -> Results:
        """Run a batch while the cell waits: the twin of :meth:`run` for code without ``await``.

        It has no Stop button, because the kernel takes no clicks while a cell
        blocks; interrupting the kernel stops it.
        """
        batch = self._batch(calls, **options)
        shown = ShownRun(self._watched(batch, stop=None))
        shown.show()
        results = Results()
        display.mark_shown(results)
        try:
            with asking_in(Place(is_blocking=True)):
                results[:] = self._loop.block_on(batch.run(), batch.stop)
        finally:
            shown.finish()
        return results

    @property
    def waiting(self) -> tuple[AskedView, ...]:
        """The cards that wait for an answer, to be shown again if their page is gone."""
        return self._asking.waiting

    def chat(
        self,
        model: Model | str,
        *,
        title: str = "",
        provider: ChatProvider = "openai",
        **options: Any,
    ) -> Chat:
        """Return a conversation of a model with these tools, to be looked at and to take part in.

        As the last line of a cell it shows itself: type into it. From a cell:
        ``reply = await chat.say("Will it rain in Oslo?")``. With the toolkit's ``store=`` it
        goes on where it was.

        Args:
            model: Who answers: anything with ``respond(request)``, such as ``HumanModel()``, or
                a name, such as ``"openai:gpt-..."``.
            title: What stands above it. Default: the model's name.
            provider: In whose form the page shows a turn's request if the model does not tell.
            options: As for :class:`Session`: ``system_instructions``, ``messages``,
                ``max_turns``, ``token_budget``, ``time_budget``, ``max_repairs``.

        Raises:
            UsageError: ``model`` is no model, or a bound is out of range.
        """
        return chat_with(
            self,
            model,
            lambda: _Counter(self._tally, self._refresh),
            title=title,
            provider=provider,
            **options,
        )

    def inspect(self) -> InspectorView:
        """Return a live view of the state: values, and which call changed what and when."""
        return InspectorView(self._loop, self.state, "State")

    def activity(self) -> ActivityView:
        """Return a live view of running tasks and subscriptions, to be cancelled, and the inbox."""
        return ActivityView(self._loop, self.background)

    def registry(self) -> RegistryView:
        """Return a live view of the tools, as the toolkit itself shows on the last line."""
        view = RegistryView(self._loop, self._rows)
        with self._lock:
            self._registries.add(view)
        return view

    def _ipython_display_(self) -> None:
        show_view(self.registry())

    def __repr__(self) -> str:
        return f"<Toolkit: {', '.join(self.tool_names) or 'no tools'}>"

    def _start(
        self,
        calls: Iterable[Call],
        pick: Callable[[Results], Any],
        **options: Unpack[BatchOptions],
    ) -> LiveRun[Any]:
        batch = self._batch(calls, **options)
        shown = ShownRun(self._watched(batch, batch.stop))
        place = Place(shown.view, BatchAsked(batch, shown.view))
        return LiveRun(batch, shown, self._loop, pick, place)

    def _batch(self, calls: Iterable[Call], **options: Unpack[BatchOptions]) -> Batch:
        counter = _Counter(self._tally, self._refresh)
        return self.runner.batch(calls, observers=(counter,), **options)

    def _watched(self, batch: Batch, stop: Callable[[], None] | None) -> BatchView | None:
        if not may_show_another_run():
            return None
        view = BatchView(self._loop, batch.calls, stop)
        batch.watch(_ViewObserver(view, batch))
        return view

    def _tally(self, name: str) -> _Tally:
        """The counts of a tool; of a name that no tool has, none are kept."""
        if name not in self.tool_names:
            return _Tally()
        return self._tallies.setdefault(name, _Tally())

    def _rows(self) -> list[RegistryRow]:
        rows = []
        for tool in self.tools:
            tally = self._tally(tool.name)
            rows.append(RegistryRow(tool, tally.calls, tally.failures, tally.running, tally.last))
        return rows

    def _admit(self, tool: Tool, file: str) -> Tool:
        self._ledger.claim(tool, taken=tool.name in self.tool_names, file=file)
        self.runner.replace(tool)
        with self._lock:
            forms = tuple(self._forms)
        for form in forms:
            if form.tool.name == tool.name:
                form.set_tool(tool)
        self._refresh()
        return tool

    def _drop(self, name: str) -> None:
        if name in self.tool_names:
            self.runner.unregister(name)
            self._tallies.pop(name, None)
            self._refresh()

    def _refresh(self) -> None:
        with self._lock:
            views = tuple(self._registries)
        for view in views:
            view.refresh()


def _store_of(store: str | os.PathLike[str] | Store | None, context: ToolContext | None) -> Store:
    """What a toolkit keeps things in.

    Raises:
        UsageError: It is said twice.
        StoreError: Its file cannot be used.
    """
    if store is not None and context is not None:
        raise UsageError(
            "give Toolkit either a store or a context: "
            "Toolkit(context=ToolContext(store=Store.open('work.db')))"
        )
    if isinstance(store, Store):
        return store
    if context is not None and context.store is not None:
        return context.store
    return Store.open(store)


class _Counter:
    """Counts the calls of one batch, for the registry."""

    def __init__(self, tally: Callable[[str], _Tally], refresh: Callable[[], None]) -> None:
        self._tally = tally
        self._refresh = refresh
        self._running: set[int] = set()

    def call_started(self, index: int, call: ToolCall, prepared: Prepared) -> None:
        self._running.add(index)
        self._tally(call.name).running += 1
        self._refresh()

    def call_finished(self, index: int, result: ToolResult) -> None:
        tally = self._tally(result.name)
        tally.calls += 1
        tally.failures += result.status in ("error", "invalid")
        tally.running -= index in self._running
        tally.last = result
        self._refresh()


class _ViewObserver:
    """Hands what happens in a batch to its view."""

    def __init__(self, view: BatchView, batch: Batch) -> None:
        self._view = view
        self._batch = batch

    def call_started(self, index: int, call: ToolCall, prepared: Prepared) -> None:
        tool, arguments = self._batch.attempts[index].tool, prepared.arguments or {}
        shown = None if tool is None else tool.display_text(arguments)
        self._view.call_started(index, call, arguments, prepared.changes, shown)

    def call_progress(self, index: int, progress: Progress) -> None:
        self._view.call_progress(index, progress)

    def call_finished(self, index: int, result: ToolResult) -> None:
        self._view.call_finished(index, result)


def _import_early() -> None:
    importlib.import_module("agtools_nb.define.schema")
    learn_to_explain()
