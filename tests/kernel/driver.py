"""A real ipykernel driven as a front end would: cells with ids, interrupts, comms counted."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from queue import Empty
from types import TracebackType
from typing import Any, Self

from jupyter_client.manager import KernelManager


@dataclass
class Ran:
    """What one execution of a cell sent back."""

    status: str = ""
    error: str = ""
    text: str = ""
    shown: list[dict[str, Any]] = field(default_factory=list)
    updated: list[dict[str, Any]] = field(default_factory=list)
    comms: int = 0
    number: int = 0


class Kernel:
    """One kernel process.

    Args:
        setup: Code run first; it must not fail.
    """

    def __init__(self, setup: str = "") -> None:
        self.manager = KernelManager(kernel_name="python3")
        self.manager.start_kernel()
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)
        if setup:
            assert self.run(setup).status == "ok"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        self.manager.cleanup_resources()

    def send(self, code: str, cell: str | None = None) -> str:
        """Queue a cell and return the id of its execution."""
        content = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": True,
        }
        metadata = {} if cell is None else {"cellId": cell}
        message = self.client.session.msg("execute_request", content, metadata=metadata)
        self.client.shell_channel.send(message)
        return str(message["header"]["msg_id"])

    def finish(self, run: str, timeout: float = 60) -> Ran:
        """Collect what a queued cell sent back, up to its end."""
        found = Ran()
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            try:
                message = self.client.get_iopub_msg(timeout=1)
            except Empty:
                continue
            if message["parent_header"].get("msg_id") == run and self._take(found, message):
                break
        else:
            raise TimeoutError("the cell did not end")
        while True:
            reply = self.client.get_shell_msg(timeout=timeout)
            if reply["parent_header"].get("msg_id") == run:
                found.status = reply["content"]["status"]
                return found

    def run(self, code: str, cell: str | None = None, timeout: float = 60) -> Ran:
        """Run a cell to its end."""
        return self.finish(self.send(code, cell), timeout)

    def value(self, expression: str) -> Any:
        """Evaluate an expression in the kernel."""
        ran = self.run(f"print(repr({expression}))")
        assert ran.status == "ok", ran.error
        return eval(ran.text)

    @staticmethod
    def _take(found: Ran, message: dict[str, Any]) -> bool:
        kind, content = message["msg_type"], message["content"]
        if kind == "stream":
            found.text += content["text"]
        elif kind in ("display_data", "execute_result"):
            found.shown.append(content["data"])
        elif kind == "update_display_data":
            found.updated.append(content["data"])
        elif kind == "error":
            found.error = f"{content['ename']}: {content['evalue']}"
        elif kind == "execute_input":
            found.number = content["execution_count"]
        elif kind == "comm_open":
            found.comms += 1
        return kind == "status" and content["execution_state"] == "idle"
