"""``Toolkit``: the tools of a notebook, and everything that shows and runs them."""

from __future__ import annotations

import functools
import importlib
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Unpack, overload

from agtools_nb.access import ApprovalHandler, CapabilitiesConfig, Policies, ToolRunner
from agtools_nb.agent.model import Model
from agtools_nb.agent.wire_form import ChatProvider
from agtools_nb.arguments import learn_to_explain
from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.context import AnswerHandler, Artifacts, Memory, StateStore, Store, ToolContext
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
from agtools_nb.notebook.observers import Counter, Tally, ViewObserver
from agtools_nb.notebook.shutdown import close_at_exit
from agtools_nb.run import Batch, BatchOptions, Call, Journal, RunOptions
from agtools_nb.run.bounds import checked_seconds
from agtools_nb.views.activity import ActivityView
from agtools_nb.views.asked import AskedView
from agtools_nb.views.batch import BatchView
from agtools_nb.views.form import FormView
from agtools_nb.views.inspector import InspectorView
from agtools_nb.views.policies import PoliciesView
from agtools_nb.views.registry import RegistryRow, RegistryView, access_of


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
        policies: Rules on who may call what: ``[deny("delete"), ask_user("*")]``. Default:
            none, and every call runs; tools that are ``guarded`` are refused then.
        capabilities: Which tools are on. Default: all.
        hooks: :class:`Hooks`, objects with methods of their names, or a list of these. The
            session starts with the first calls, and ends with :meth:`close` or the kernel.
        approve: Who is asked where ``ask_user`` names nobody. Default: a card is shown.
        answer: Who answers what tools ask with ``ctx.ask``. Default: the context's own
            handler, else a card is shown.
        approval_timeout: Seconds that a card waits for a person's answer; a call that nobody
            approves in time is denied. ``None``: without end. Default: 300.
        options: How calls are run, as for :class:`ToolRunner`: ``strategy``,
            ``max_concurrency``, ``timeout`` (seconds), ``executor``, ``check_results``.

    Raises:
        UsageError: A bound is out of range, a rule cannot be used, or both ``store`` and
            ``context`` are given.
        StoreError: The store's file cannot be used; it is left as it was.
        StoreInUseError: Another kernel has it open.

    Attributes:
        store: What lasts.
        runner: The :class:`ToolRunner` that holds the tools.
        background: What runs beside the calls: tasks, subscriptions, triggers.
        approve: Who is asked, for agents, too: ``Agent(..., approve=tk.approve)``.
        answer: Who answers, the same: ``Agent(..., answer=tk.answer)``.
    """

    def __init__(
        self,
        *,
        store: str | os.PathLike[str] | Store | None = None,
        context: ToolContext | None = None,
        policies: Policies | None = None,
        capabilities: CapabilitiesConfig | None = None,
        hooks: Any = None,
        approve: ApprovalHandler | None = None,
        answer: AnswerHandler | None = None,
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
        self.approve: ApprovalHandler = self._asking.approve if approve is None else approve
        self.answer: AnswerHandler = self._asking.answer if answer is None else answer
        self.runner = ToolRunner(
            context=context,
            background=self.background,
            policies=policies,
            capabilities=capabilities,
            hooks=hooks,
            approve=self.approve,
            answer=self.answer,
            **options,
        )
        if self.store.path is not None:
            self.journal.record(self.runner)
        close_at_exit(self.background, self._loop, self.runner.close)
        self._ledger = Ledger(self._drop)
        self._lock = threading.Lock()
        self._tallies: dict[str, Tally] = {}
        self._registries: weakref.WeakSet[RegistryView] = weakref.WeakSet()
        self._tables: weakref.WeakSet[PoliciesView] = weakref.WeakSet()
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

    def add(self, *tools: Callable[..., Any] | Tool | Iterable[Callable[..., Any] | Tool]) -> None:
        """Register tools that are made already, one or many: ``tk.add(*builtin_tools())``.

        Args:
            tools: Tools, functions to make tools of, or lists of these.

        Raises:
            DefinitionError: A function cannot be a tool.
            DuplicateToolError: Another cell or module has a tool of that name.
            UsageError: One of them is guarded, and there are no rules.
        """
        scope, file = caller_scope(2), sys._getframe(1).f_code.co_filename
        for given in tools:
            for one in given if isinstance(given, Iterable) else (given,):
                self._admit(one if isinstance(one, Tool) else Tool(one, scope=scope), file)

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

    async def close(self) -> None:
        """End the session: hooks are told, and what was approved for it is asked about again.

        The tools stay, and the next call begins another session. The end of the kernel does it.
        """
        await self.runner.close()

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
        place = Place(is_blocking=True)
        try:
            with asking_in(place):
                results[:] = self._loop.block_on(batch.run(), batch.stop)
        finally:
            place.is_blocking = False  # for what runs on
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

        The toolkit's inbox feeds it: what dispatched calls, subscriptions, triggers and
        ``tk.background.send("...")`` bring is answered. The chat that was made last has it.
        For an agent, which has tools of its own, write ``Chat(agent)``.

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
            lambda: Counter(self._tally, self._refresh),
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

    def policies(self, name: str | Tool | None = None, /, **arguments: Any) -> PoliciesView:
        """Return the rules in order, with a place to type a call and see which rule decides.

        Args:
            name: A tool, or its name, whose call is explained from the start. Default: none.
            arguments: The call's arguments. Nothing is run.
        """
        tool = name.name if isinstance(name, Tool) else name
        engine = self.runner.access.engine
        view = PoliciesView(self._loop, engine, self._all_tools, tool, arguments)
        with self._lock:
            self._tables.add(view)
        return view

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
        counter = Counter(self._tally, self._refresh)
        return self.runner.batch(calls, observers=(counter,), **options)

    def _watched(self, batch: Batch, stop: Callable[[], None] | None) -> BatchView | None:
        if not may_show_another_run():
            return None
        view = BatchView(self._loop, batch.calls, stop)
        batch.watch(ViewObserver(view, batch))
        return view

    def _tally(self, name: str) -> Tally:
        """The counts of a tool; of a name that no tool has, none are kept."""
        if name not in self.tool_names:
            return Tally()
        return self._tallies.setdefault(name, Tally())

    def _rows(self) -> list[RegistryRow]:
        rows = []
        access_to = self.runner.access
        for tool in self._all_tools():
            tally = self._tally(tool.name)
            access = access_of(access_to.engine, tool) if access_to.is_needed else None
            counts = (tally.calls, tally.failures, tally.running, tally.last)
            rows.append(RegistryRow(tool, *counts, access))
        return rows

    def _all_tools(self) -> Sequence[Tool]:
        """The tools, also those that are off."""
        return self.runner.all_tools

    def _admit(self, tool: Tool, file: str) -> Tool:
        taken = any(one.name == tool.name for one in self.runner.all_tools)
        self._ledger.claim(tool, taken=taken, file=file)
        self.runner.replace(tool)
        with self._lock:
            forms = tuple(self._forms)
        for form in forms:
            if form.tool.name == tool.name:
                form.set_tool(tool)
        self._refresh()
        return tool

    def _drop(self, name: str) -> None:
        if any(tool.name == name for tool in self.runner.all_tools):
            self.runner.unregister(name)
            self._tallies.pop(name, None)
            self._refresh()

    def _refresh(self) -> None:
        with self._lock:
            views = (*self._registries, *self._tables)
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


def _import_early() -> None:
    importlib.import_module("agtools_nb.define.schema")
    learn_to_explain()
