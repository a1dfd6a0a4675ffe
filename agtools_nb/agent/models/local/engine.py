"""The engine as the model sees it: a child process that is asked, streams, and can be stopped."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import weakref
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from agtools_nb.agent.messages import NO_USAGE, Usage
from agtools_nb.errors import ModelError
from agtools_nb.jsonable import shorten

TOOL_SLOTS, VALUE_SLOTS = range(1, 9), range(9, 14)
"""Slots, each of which keeps the last prompt computed: for each tool weighed, for each value.

Slot 0 is the conversation's.
"""

_WORKER = Path(__file__).with_name("worker.py")
_LINES_KEPT = 12


@dataclass(frozen=True, slots=True)
class Settings:
    """How the engine is started.

    Attributes:
        path: The GGUF file.
        context: Tokens that it has room for, all slots together.
        threads: Threads that compute.
    """

    path: str
    context: int
    threads: int


@dataclass(slots=True)
class Cost:
    """Tokens of the steps of one answer, as the engine counted them.

    Attributes:
        usage: The sum.
    """

    usage: Usage = NO_USAGE

    def add(self, done: dict[str, Any]) -> None:
        """One more step."""
        self.usage += Usage(*done.get("usage", (0, 0)))


class RefusedError(Exception):
    """The engine did not do what it was asked.

    Attributes:
        kind: Its own name of the fault, such as ``"exceed_context_size_error"``.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


Line = dict[str, Any]
Hear = Callable[[Line], None]


class Engine:
    """A running engine. It is started when first asked, and ends with its owner.

    It belongs to no event loop: any number of them may ask, one thing is done at a time.

    Args:
        settings: How it is started.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.about: dict[str, Any] = {}
        self._numbers = itertools.count(1)
        self._child: Child | None = None
        self._lock = threading.Lock()
        self._tokens: dict[str, list[int]] = {}

    @property
    def is_running(self) -> bool:
        """Whether the process is there."""
        return self._child is not None and self._child.is_alive

    async def start(self) -> None:
        """Start it unless it runs, and wait until the model is loaded.

        Raises:
            ModelError: The library is missing, or the file cannot be loaded.
        """
        if self.is_running and self.about:
            return
        await asyncio.get_running_loop().run_in_executor(None, self._start)

    def _start(self) -> None:
        with self._lock:
            if self.is_running and self.about:
                return
            require_library()
            if self._child is not None:
                self._child.end()  # it died: what it leaves is cleared away
            child = Child(self.settings)
            self._child, self.about = child, {}
            first = child.first_line()
            if "ready" not in first:
                said = child.end()
                raise ModelError(_why_not_loaded(self.settings.path, first, said))
            self.about = first["ready"]
            weakref.finalize(self, child.end)
            child.listen()

    async def generate(self, kind: str, body: dict[str, Any], cost: Cost) -> AsyncGenerator[str]:
        """Have text written, piece by piece. Leaving the loop stops it.

        Args:
            kind: ``"complete"`` or ``"chat"``.
            body: The engine's own request.
            cost: Where the tokens are counted.

        Raises:
            RefusedError: The engine does not do this.
            ModelError: It ended.
        """
        async with contextlib.aclosing(self._ask({"do": kind, "body": body})) as lines:
            async for line in lines:
                if "text" in line:
                    yield line["text"]
                else:
                    cost.add(line["done"])
                    if line["done"]["reason"] == "length":
                        raise RefusedError("length", "the answer came to its longest")

    async def write(self, body: dict[str, Any], cost: Cost) -> str:
        """Have a prompt completed, all of it at once. Raises as :meth:`generate`."""
        async with contextlib.aclosing(self.generate("complete", body, cost)) as pieces:
            return "".join([piece async for piece in pieces])

    async def score(
        self, shared: str, jobs: Sequence[tuple[int, str, str]], cost: Cost
    ) -> list[float]:
        """Log probability of each text after its prompt: ``(slot, prompt, text)``.

        Args:
            shared: How all the prompts begin; computed once.
            jobs: What is scored.
            cost: Where the tokens are counted.
        """
        done = await self._done({"do": "score", "shared": shared, "jobs": jobs})
        cost.add(done)
        return list(done["scores"])

    async def tokens(self, texts: Iterable[str]) -> list[list[int]]:
        """The tokens of each text."""
        wanted = list(texts)
        missing = [text for text in dict.fromkeys(wanted) if text not in self._tokens]
        if missing:
            done = await self._done({"do": "tokens", "texts": missing})
            if len(self._tokens) > 20_000:
                self._tokens.clear()
            self._tokens.update(zip(missing, done["tokens"], strict=True))
            return await self.tokens(wanted)
        return [self._tokens[text] for text in wanted]

    async def _done(self, job: Line) -> Line:
        async with contextlib.aclosing(self._ask(job)) as lines:
            async for line in lines:
                if "done" in line:
                    return dict(line["done"])
        raise ModelError("the engine ended without an answer")

    async def _ask(self, job: Line) -> AsyncGenerator[Line]:
        await self.start()
        child = self._child
        assert child is not None
        number = next(self._numbers)
        loop, lines = asyncio.get_running_loop(), asyncio.Queue[Line]()

        def hear(line: Line) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
                loop.call_soon_threadsafe(lines.put_nowait, line)

        child.send({**job, "id": number}, number, hear)
        is_done = False
        try:
            while not is_done:
                line = await lines.get()
                is_done = "text" not in line
                if "error" in line:
                    error = line["error"]
                    raise RefusedError(
                        str(error.get("type", "error")), str(error.get("message", error))
                    )
                if "ended" in line:
                    self.about = {}
                    raise ModelError(f"the engine of {self.settings.path} ended: {line['ended']}")
                yield line
        finally:
            if not is_done:
                child.stop(number)

    def close(self) -> None:
        """End the process and give back its memory. Asked again, it starts again."""
        with self._lock:
            child, self._child, self.about = self._child, None, {}
        if child is not None:
            child.end()


class Child:
    """The process, and the threads that read what it says."""

    def __init__(self, settings: Settings) -> None:
        # Where it keeps what it computed once; it empties it, too, should this process be killed.
        self._folder = tempfile.mkdtemp(prefix="agtools-model-")
        begun = {
            "folder": self._folder,
            "path": settings.path,
            "context": settings.context,
            "slots": VALUE_SLOTS.stop,
            "threads": settings.threads,
        }
        self._process = subprocess.Popen(  # noqa: S603 -- our own file, in our own interpreter
            [sys.executable, "-P", str(_WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            # An interrupt of the kernel is not meant for it: the kernel says what to stop.
            start_new_session=True,
        )
        self._hearers: dict[int, Hear] = {}
        self._lock = threading.Lock()
        self._said: deque[str] = deque(maxlen=_LINES_KEPT)
        self._readers = [threading.Thread(target=self._keep_errors, daemon=True)]
        self._readers[0].start()
        self._write(begun)

    @property
    def is_alive(self) -> bool:
        """Whether it runs."""
        return self._process.poll() is None

    def first_line(self) -> Line:
        """What it says of its start; empty if it ended without a word."""
        line = _pipe(self._process.stdout).readline()
        return dict(json.loads(line)) if line else {}

    def listen(self) -> None:
        """Hand on from now on what it says."""
        self._readers.append(threading.Thread(target=self._hear, daemon=True))
        self._readers[-1].start()

    def send(self, line: Line, number: int, hear: Hear) -> None:
        """Ask for something; ``hear`` is told of each line of the answer, on another thread."""
        with self._lock:
            self._hearers[number] = hear
        if not self._write(line):
            self._forget(number)
            hear({"ended": self._words()})

    def stop(self, number: int) -> None:
        """Nobody waits for this any more."""
        self._forget(number)
        self._write({"do": "stop", "id": number})

    def end(self) -> str:
        """End it, wait for it, and return the last that it wrote on standard error."""
        with contextlib.suppress(OSError):
            _pipe(self._process.stdin).close()
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for reader in self._readers:
            reader.join(2)
        for pipe in (self._process.stdout, self._process.stderr):
            _pipe(pipe).close()
        shutil.rmtree(self._folder, ignore_errors=True)
        return self._words()

    def _write(self, line: Line) -> bool:
        try:
            with self._lock:
                pipe = _pipe(self._process.stdin)
                pipe.write(json.dumps(line) + "\n")
                pipe.flush()
        except (OSError, ValueError):  # it ended, or was closed
            return False
        return True

    def _hear(self) -> None:
        for text in _pipe(self._process.stdout):
            line = json.loads(text)
            number = line["id"]
            with self._lock:
                hear = self._hearers.get(number)
            if hear is not None:
                if "text" not in line:
                    self._forget(number)
                hear(line)
        self._readers[0].join(2)  # the last words say why
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(2)
        with self._lock:
            waiting = list(self._hearers.values())
            self._hearers.clear()
        for hear in waiting:
            hear({"ended": self._words()})

    def _forget(self, number: int) -> None:
        with self._lock:
            self._hearers.pop(number, None)

    def _keep_errors(self) -> None:
        self._said.extend(iter(_pipe(self._process.stderr)))

    def _words(self) -> str:
        return shorten("".join(self._said).strip() or "it said nothing", 2_000)


def require_library() -> None:
    """Check that the engine's library is installed; it is not imported here.

    Raises:
        ModelError: It is not.
    """
    if importlib.util.find_spec("xllamacpp") is None:
        raise ModelError(
            "xllamacpp, which runs local models, is not installed in this environment: "
            "pip install 'agtools_nb[local]'"
        )


def usable_cores() -> int:
    """Processor cores that this process may use, as far as the system tells."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    with contextlib.suppress(OSError, ValueError):  # a container's share, as on Binder
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        if quota != "max":
            cores = min(cores, max(1, int(quota) // int(period)))
    return cores


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


def _why_not_loaded(path: str, first: Line, said: str) -> str:
    lines = [
        line.partition(" E ")[2] for line in said.splitlines() if "error loading model" in line
    ]
    why = lines[0] if lines else f"{first.get('failed', 'the engine ended')}; {said}"
    return f"{path} could not be loaded: {shorten(why, 1_000)}"
