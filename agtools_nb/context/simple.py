"""``SimpleToolContext``: a context for trying out a tool, with no session around it."""

from __future__ import annotations

import uuid
from collections.abc import Iterable

from agtools_nb.context.questions import AnswerHandler
from agtools_nb.context.state import StateStore
from agtools_nb.context.store import Store
from agtools_nb.context.tool_context import ToolContext


class SimpleToolContext(ToolContext):
    """What a tool is given in a test, a script or a harness: ``my_tool(SimpleToolContext("me"))``.

    There is no session: :meth:`send` raises, :attr:`conversation_id` is ``None``. Unless a
    store is given, there are no artifacts and nothing is remembered.

    Args:
        name: Who calls; it is the :attr:`agent_name`.
        session_id: Default ``""``.
        user_id: Default ``"anonymous"``.
        function_call_id: Id of the call. Default: a new one.
        invocation_id: Id of the turn that it belongs to. Default: a new one.
        state: The state. Default: the store's, else a new, empty one.
        scopes: What is granted. Default: nothing.
        store: Where artifacts and memory are. Default: nowhere.
        answer: Who answers what tools ask. Default: nobody.

    Attributes:
        invocation_id: As given, or made.
    """

    def __init__(
        self,
        name: str,
        *,
        session_id: str = "",
        user_id: str = "anonymous",
        function_call_id: str | None = None,
        invocation_id: str | None = None,
        state: StateStore | None = None,
        scopes: Iterable[str] = (),
        store: Store | None = None,
        answer: AnswerHandler | None = None,
    ) -> None:
        super().__init__(
            state=state,
            scopes=scopes,
            user_id=user_id,
            session_id=session_id,
            agent_name=name,
            store=store,
            answer=answer,
        )
        self.call_id = str(uuid.uuid4()) if function_call_id is None else function_call_id
        self.invocation_id = str(uuid.uuid4()) if invocation_id is None else invocation_id
