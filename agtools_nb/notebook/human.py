"""``HumanModel`` in a notebook: its person sits at the page."""

from __future__ import annotations

import asyncio

from agtools_nb.agent.model import ModelRequest
from agtools_nb.agent.models import human
from agtools_nb.agent.models.human import Said
from agtools_nb.agent.wire_form import ChatProvider
from agtools_nb.errors import ModelError
from agtools_nb.notebook import display
from agtools_nb.notebook.asking import HEARTBEAT_SECONDS
from agtools_nb.notebook.cells import running_cell
from agtools_nb.notebook.kernel_loop import KernelLoop
from agtools_nb.notebook.live_output import show_view, update_outputs_of
from agtools_nb.notebook.surroundings import in_cell, in_voila, nobody_here
from agtools_nb.views.human import HumanView


class HumanModel(human.HumanModel):
    """A model that you play: you see what a model is sent, and answer in its place.

    ::

        tk.chat(HumanModel())                             # beside the conversation
        await Session(HumanModel("anthropic"), tk.runner).chat("Hello")    # below the cell

    You answer with calls (pick a tool, fill its form), with text, or with JSON as a provider's
    model would. Where no person can answer (a script, nbclient, a Voila page that waits for its
    cells), a request is refused at once.

    Args:
        provider: In whose form you see requests: ``"openai"``, ``"openai-responses"``,
            ``"anthropic"``, ``"gemini"`` or ``"ollama"``. The page can change it.
        name: What it is called. Default ``"human"``.

    Raises:
        UsageError: There is no such provider.

    Attributes:
        view: What shows the requests.
    """

    def __init__(self, provider: ChatProvider = "openai", *, name: str = "human") -> None:
        super().__init__(provider, desk=self, name=name)
        display.install()
        self._loop = KernelLoop()
        self.view = HumanView(self._loop, provider)
        self._shown_in = ""
        self._lock = asyncio.Lock()

    @property
    def provider(self) -> ChatProvider:
        """In whose form requests are seen."""
        return self.view.provider

    async def ask(self, request: ModelRequest) -> Said:
        """Show a request, and wait for what the person says; one at a time.

        Raises:
            ModelError: Nobody can answer here.
        """
        _refuse_where_nobody_is()
        async with self._lock:
            self._show()
            loop = asyncio.get_running_loop()  # need not be the kernel's
            answer: asyncio.Future[Said] = loop.create_future()

            def settle(said: Said) -> None:
                loop.call_soon_threadsafe(_set, answer, said)

            self._loop.soon(lambda: self.view.ask(request, settle))
            try:
                while not answer.done():
                    await asyncio.wait({answer}, timeout=HEARTBEAT_SECONDS)
                return answer.result()
            finally:
                self._loop.soon(self._after)

    def _after(self) -> None:
        self.view.withdraw()  # if it was not answered
        update_outputs_of(self.view)

    def _show(self) -> None:
        """Show the view in the running cell, unless a chat shows it already."""
        cell = running_cell()
        if self.view.is_hosted or cell is None or cell.run == self._shown_in or not in_cell():
            return
        self._ipython_display_()

    def _ipython_display_(self) -> None:
        cell = running_cell()
        self._shown_in = "" if cell is None else cell.run
        show_view(self.view)


def _refuse_where_nobody_is() -> None:
    why = nobody_here()
    if why is None and in_voila() and in_cell():
        why = (
            "a Voila page comes up only when its cells have ended. Show tk.chat(HumanModel()) as "
            "a cell's last line, and talk to it on the page"
        )
    elif why is not None:
        why = f"{why}. Use ScriptedModel([...]) there"
    if why is not None:
        raise ModelError(f"HumanModel has nobody to ask: {why}")


def _set(answer: asyncio.Future[Said], said: Said) -> None:
    if not answer.done():
        answer.set_result(said)
