"""``Agent``: a model with tools, rules, subagents and triggers, ready to talk."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Protocol, Self

from agtools_nb.access import (
    ApprovalHandler,
    BuiltinTools,
    CapabilitiesConfig,
    Policies,
)
from agtools_nb.agent.given import as_store, listed
from agtools_nb.agent.happenings import Happening, Reply
from agtools_nb.agent.messages import Message
from agtools_nb.agent.model import Model
from agtools_nb.agent.models.choosing import as_model
from agtools_nb.agent.own_runner import background_of
from agtools_nb.agent.session import Session
from agtools_nb.agent.spawning import Spawning, Surroundings, ended_by_finish
from agtools_nb.agent.subagents import Subagent, checked_subagents
from agtools_nb.builtin.finish import finish_tool
from agtools_nb.builtin.subagent import start_subagent_tool
from agtools_nb.context import AnswerHandler, Store, ToolContext
from agtools_nb.define import Tool
from agtools_nb.define.tool import caller_scope
from agtools_nb.errors import UsageError
from agtools_nb.events import Event, Trigger
from agtools_nb.jsonable import brief_repr
from agtools_nb.media import Media

_LEFT_OUT = (BuiltinTools.START_SUBAGENT, BuiltinTools.FINISH)
_REMINDER = (
    "That was text only. The conversation ends with a call of finish, whose arguments are the "
    "outcome; call it now."
)


class ToolServer(Protocol):
    """Where an agent gets tools from, such as an MCP server."""

    async def connect(self) -> None:
        """Reach it."""

    def tools(self, taken: Iterable[str] = ()) -> Iterable[Tool]:
        """Its tools, once it is connected; none has a name that is taken."""

    async def close(self) -> None:
        """Leave it. Twice does no harm."""


class Agent:
    """A model that talks with you and calls tools.

    ::

        async with Agent([forecast], model=model) as agent:
            reply = await agent.chat("Will it rain in Oslo?")

    Everything is checked when it is made and when it starts; after that, what goes wrong is
    part of a :class:`Reply`, never silence.

    Args:
        tools: Tools, or functions to make tools of.
        model: Who answers: anything with ``respond(request)``, or a name such as
            ``"openai:gpt-4.1-mini"`` of a hosted model (extra ``models``).
        system_instructions: What the model is told before everything else.
        policies: Rules on who may call what. Default: none; then no tool that writes is allowed.
        capabilities: Which built-in tools it has, and which of ``tools`` are on. Default: no
            built-in tools, and all of ``tools``. ``CapabilitiesConfig()``: all built-in ones.
        hooks: :class:`Hooks`, objects with methods of their names, or a list of these.
        subagents: Agents that it may hand tasks to.
        triggers: What sends it messages by itself: ``every(60, "Look again")``.
        mcp_servers: Servers whose tools it has, too; connected when it starts.
        response_schema: What it must end with: a type such as a pydantic model, or a JSON Schema
            of an object. The model brings it with ``finish``, and it is ``reply.output``.
        workspace: The folder of the built-in tools. Default: the working directory.
        builtin_options: What ``builtin_tools`` takes besides: ``search=``, ``image=``, ``shell=``.
        name: What people call it. Default ``"agent"``.
        store: Where conversation, state and artifacts last: a :class:`Store` or its path, such
            as ``"work.db"``. Default: in memory.
        approve: Who is asked where ``ask_user`` names nobody. In a notebook ``tk.approve`` of a
            toolkit asks by cards, which stand in the agent's ``Chat``.
        answer: Who answers what tools ask a person. In a notebook ``tk.answer``, the same way.
        max_turns: Most answers of the model to one message. Default 20.
        token_budget: Most tokens of the whole conversation. Default: no bound.
        time_budget: Longest time for one message, in seconds. Default: no bound.
        max_repairs: How often in a row the model may send calls that do not fit. Default 3.

    Raises:
        DefinitionError: A function cannot be a tool.
        DuplicateToolError: Two tools have one name.
        UsageError: A rule asks and there is nobody to be asked, a tool that writes has no rules,
            both lists of ``capabilities`` are given, a subagent or a bound is wrong, or
            ``model`` is none.

    Attributes:
        session: The conversation.
        runner: Runs the calls.
        name: What people call it.
        subagents: Agents that it may hand tasks to.
    """

    def __init__(
        self,
        tools: Iterable[Tool | Callable[..., Any]] = (),
        model: Model | str | None = None,
        system_instructions: str | None = "",
        policies: Policies | None = None,
        capabilities: CapabilitiesConfig | None = None,
        hooks: Any = None,
        subagents: Iterable[Subagent] = (),
        triggers: Iterable[Trigger] = (),
        mcp_servers: Iterable[ToolServer] = (),
        response_schema: Any = None,
        *,
        workspace: str | os.PathLike[str] = ".",
        builtin_options: Mapping[str, Any] | None = None,
        name: str = "agent",
        store: Store | str | os.PathLike[str] | None = None,
        approve: ApprovalHandler | None = None,
        answer: AnswerHandler | None = None,
        max_turns: int = 20,
        token_budget: int | None = None,
        time_budget: float | None = None,
        max_repairs: int = 3,
    ) -> None:
        self.name = name
        self.subagents = checked_subagents(
            listed("subagents", subagents, "Subagent(...)", "subagents=[Subagent(...)]")
        )
        self._triggers = listed("triggers", triggers, "triggers", "triggers=[every(60, 'Look')]")
        self._servers = _checked_servers(mcp_servers)
        self._is_started = False
        if not (capabilities is None or isinstance(capabilities, CapabilitiesConfig)):
            raise UsageError(
                f"capabilities={brief_repr(capabilities)} must be a CapabilitiesConfig, such as "
                "CapabilitiesConfig(enabled_tools=['view_file'])"
            )
        given = listed("tools", tools, "tools and functions", "Agent([my_tool], model)")
        store = as_store(store)
        self._exit = AsyncExitStack()
        surroundings = Surroundings(
            workspace, builtin_options or {}, policies, hooks, approve, answer
        )
        self._spawning = Spawning(self.subagents, surroundings, lambda: self.session)
        runner = surroundings.runner(background_of(store), capabilities)
        scope = caller_scope(2)
        own = [one if isinstance(one, Tool) else Tool(one, scope=scope) for one in given]
        own_names = [tool.name for tool in own]
        for tool in (*own, *self._built_in(surroundings, capabilities, response_schema, own_names)):
            runner.register(tool)
        self.session = Session(
            as_model(_given(model)),
            runner,
            system_instructions=system_instructions,
            store=store,
            max_turns=max_turns,
            token_budget=token_budget,
            time_budget=time_budget,
            max_repairs=max_repairs,
            ending=ended_by_finish,
            reminder="" if response_schema is None else _REMINDER,
        )
        self.runner = self.session.runner
        self.runner.set_context(ToolContext(self.session, store=store, agent_name=name))

    def _built_in(
        self,
        surroundings: Surroundings,
        capabilities: CapabilitiesConfig | None,
        response_schema: Any,
        own_names: Iterable[str],
    ) -> list[Tool]:
        finish = finish_tool(response_schema)
        if response_schema is not None and capabilities and not capabilities.allows(finish.name):
            raise UsageError(
                "response_schema needs the tool finish, and capabilities have it off; enable "
                "BuiltinTools.FINISH, or leave response_schema out"
            )
        found: list[Tool] = []
        if capabilities is not None:
            apart = (BuiltinTools.START_SUBAGENT, BuiltinTools.FINISH)
            found = surroundings.builtin(capabilities, without=(*apart, *own_names))
        is_on = capabilities is not None and capabilities.allows(finish.name)
        if response_schema is not None or (is_on and finish.name not in own_names):
            found.append(finish)
        if self.subagents:
            known = {one.name: one.description for one in self.subagents}
            found.append(start_subagent_tool(self._spawning.start, known))
        return found

    # -- talking ------------------------------------------------------------------------------

    @property
    def model(self) -> Model:
        """Who answers; another one may be set between two messages."""
        return self.session.model

    @model.setter
    def model(self, model: Model | str) -> None:
        self.session.model = as_model(model)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that the model sees."""
        return self.runner.tools

    @property
    def conversation_id(self) -> str | None:
        """Id of the conversation; ``None`` once the agent has ended."""
        return self.session.conversation_id

    @property
    def is_idle(self) -> bool:
        """Whether it waits for a message."""
        return self.session.is_idle

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation, oldest first."""
        return self.session.messages

    async def chat(self, text: str, media: Media | Iterable[Any] = ()) -> Reply:
        """Say something, and wait until the model is done with it. See :meth:`Session.chat`."""
        return await self.session.chat(text, media)

    def stream(
        self, text: str, media: Media | Iterable[Any] = ()
    ) -> AsyncGenerator[Happening, None]:
        """Say something, and follow what happens. See :meth:`Session.stream`."""
        return self.session.stream(text, media)

    def send(self, message: Any) -> Event:
        """Put a message into the inbox; a started agent answers it. See :meth:`Session.send`."""
        return self.session.send(message)

    async def cancel(self) -> None:
        """Stop what is being answered, subagents included. See :meth:`Session.cancel`."""
        await self.session.cancel()

    async def wait_for_idle(self, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """Wait until everything has been answered. See :meth:`Session.wait_for_idle`."""
        await self.session.wait_for_idle(timeout)

    # -- starting and ending -------------------------------------------------------------------

    async def start(self) -> None:
        """Connect to servers, check rules and tools, and begin to take messages and triggers.

        Started already, it only goes on to take messages.

        Raises:
            UsageError: Rules and tools do not fit, or it has ended.
            ServerError: A server cannot be reached.
        """
        if self._is_started:
            self.session.start()
            return
        self._is_started = True
        try:
            for server in self._servers:
                await server.connect()
                self._exit.push_async_callback(server.close)
                for tool in server.tools(self.runner.tool_names):
                    self.runner.register(tool)
            self._spawning.check(self.runner)
            self.session.start()
            for trigger in self._triggers:
                self.session.background.add_trigger(trigger)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """End: what runs is stopped, hooks are told, servers are left. Twice does no harm."""
        try:
            await self.session.close()
        finally:
            await self._exit.aclose()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<Agent {self.name}: {', '.join(self.runner.tool_names) or 'no tools'}>"


def _given(model: Any) -> Any:
    if model is not None:
        return model
    raise UsageError(
        "an Agent needs a model: model=ScriptedModel([...]) for a script, or the name of a hosted "
        "one, such as model='openai:...'"
    )


def _checked_servers(given: Any) -> tuple[ToolServer, ...]:
    example = "mcp_servers=[MCPServer(...)]"
    found = listed("mcp_servers", given, "servers", example)
    for one in found:
        if not all(callable(getattr(one, do, None)) for do in ("connect", "tools", "close")):
            raise UsageError(f"mcp_servers: {brief_repr(one)} is no server; write {example}")
    return found
