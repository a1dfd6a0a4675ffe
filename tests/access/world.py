"""A runner with rules, and tools that must not run: what each attempt to get past them is given."""

from __future__ import annotations

import functools
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from agtools_nb import Tool, ToolCall, ToolResult, ToolRunner, allow_all


class World:
    """Notes what ran. Open, its runners have no rules: there the same attempt must get through.

    Args:
        is_open: Whether rules are left out.
    """

    def __init__(self, is_open: bool = False) -> None:
        self.is_open = is_open
        self.ran: list[tuple[str, Any]] = []
        self.asked: list[Any] = []

    def runner(self, *tools: Tool | Callable[..., Any], **options: Any) -> ToolRunner:
        """A runner; with ``policies=``, ``hooks=``, ``capabilities=`` only if not open."""
        if self.is_open:
            for name in ("hooks", "capabilities", "approve"):
                options.pop(name, None)
            options["policies"] = [allow_all()]
        return ToolRunner(tools, **options)

    async def send(
        self, runner: ToolRunner, name: str, args: Any = None, **fields: Any
    ) -> ToolResult:
        """One call, as a model sends it."""
        call = ToolCall(name, {} if args is None else args, **fields)
        return (await runner.process_tool_calls([call]))[0]

    # -- tools that must not run -------------------------------------------------------------

    def delete(self, **options: Any) -> Tool:
        """``delete(path, force=False)``."""

        async def delete(path: str = "/x", force: bool = False) -> str:
            self.ran.append(("delete", {"path": path, "force": force}))
            return "deleted"

        return Tool(delete, **options)

    def pay(self, **options: Any) -> Tool:
        """``pay(amount, to=[])``."""

        async def pay(amount: int = 1, to: list[str] = []) -> str:  # noqa: B006 -- copied by the runner
            self.ran.append(("pay", {"amount": amount, "to": list(to)}))
            return "paid"

        return Tool(pay, **options)

    def read(self, **options: Any) -> Tool:
        """``read(path)``, which says which path it is about."""
        import os

        def path_of(args: Any) -> str | None:
            return os.path.realpath(args["path"])

        async def read(path: str) -> str:
            self.ran.append(("read", {"path": path}))
            return "text"

        return Tool(read, **{"path_of": path_of, **options})

    # -- people ------------------------------------------------------------------------------

    def says(self, answer: Any) -> Callable[[Any], Any]:
        """A handler that gives this answer; what it was asked is noted."""

        def handler(approval: Any) -> Any:
            self.asked.append(approval)
            return answer

        return handler


@dataclass(frozen=True)
class Attempt:
    """One way to get past the rules.

    Attributes:
        name: What is tried.
        run: Tries it in a world, and must leave nothing in ``world.ran``.
        gets_through_without_rules: Whether the same gets through where there are no rules.
    """

    name: str
    run: Callable[[World], Awaitable[None]]
    gets_through_without_rules: bool = True


class Attempts(list[Attempt]):
    """Collects attempts: ``@attempts("what is tried")``, or one a value with ``each=``."""

    def __call__(self, name: str, each: Any = None, *, open_too: bool = True) -> Callable[..., Any]:
        def add(run: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
            if each is None:
                self.append(Attempt(name, run, open_too))
                return run
            for value in each:
                bound = functools.partial(run, value=value)
                # Without addresses: each process that runs tests must give them the same names.
                shown = re.sub(r" at 0x[0-9a-f]+", "", ascii(value))
                self.append(Attempt(f"{name}: {shown}", bound, open_too))
            return run

        return add
