"""The child process that holds the engine: JSON lines in, JSON lines out.

Run as a file, so that it imports nothing but the engine. It is a process of its own because
the engine holds Python's lock while it loads, may abort on a damaged file, starts threads that
spin, and answers to signals; none of that belongs into a notebook's kernel.

The first line names the model: ``{"path", "folder", "context", "slots", "threads"}``. Then in:

- ``{"id", "do": "complete" | "chat", "body"}``
- ``{"id", "do": "score", "shared", "jobs": [[slot, prompt, text], ...]}``; ``shared`` is how all
  the prompts begin
- ``{"id", "do": "tokens", "texts"}``
- ``{"do": "stop", "id"}``

Out: ``{"ready": {...}}`` or ``{"failed"}`` once; then ``{"id", "text"}`` as it is written, and last
``{"id", "done": {...}}`` or ``{"id", "error"}``.
"""

from __future__ import annotations

import http.client
import json
import os
import queue
import secrets
import shutil
import sys
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

LONGEST_SCORED = 48
"""Tokens of a text that are scored; what a request is about shows in its beginning."""


def main() -> None:
    """Load the model that the first line names, then do what the lines say until they end."""
    out = _own_stdout()
    asked: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    settings = json.loads(sys.stdin.readline())
    try:
        engine = Engine(settings)
    except Exception as error:
        out({"failed": f"{type(error).__name__}: {error}"})
        return
    out({"ready": engine.about})
    threading.Thread(target=_read, args=(asked, engine), daemon=True).start()
    while True:
        job = asked.get()
        try:
            out({"id": job["id"], "done": engine.do(job, out)})
        except Exception as error:
            out({"id": job["id"], "error": _told(error)})


def _own_stdout() -> Callable[[dict[str, Any]], None]:
    """Keep standard output for us: what the engine prints goes to standard error."""
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def out(line: dict[str, Any]) -> None:
        stream.write(json.dumps(line) + "\n")
        stream.flush()

    return out


def _read(asked: queue.SimpleQueue[dict[str, Any]], engine: Engine) -> None:
    """Take in lines beside the work, so that it can be stopped; end with whoever sends them."""
    for line in sys.stdin:
        job = json.loads(line)
        if job["do"] == "stop":
            engine.stopped.add(job["id"])
        else:
            asked.put(job)
    shutil.rmtree(engine.folder, ignore_errors=True)
    os._exit(0)  # the engine's threads would go on


class Engine:
    """llama.cpp with one model.

    Args:
        settings: ``path``, ``folder`` (for scratch), ``context`` (tokens), ``slots``, ``threads``.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        import xllamacpp

        if not xllamacpp.json_schema_to_grammar({}).startswith("%llguidance"):
            raise RuntimeError("this build of xllamacpp lacks LLGuidance, which makes the grammars")
        params = xllamacpp.CommonParams()
        params.model.path = settings["path"]
        params.n_ctx = settings["context"]
        params.n_parallel = settings["slots"]
        params.kv_unified = True
        params.cpuparams.n_threads = settings["threads"]
        params.cpuparams_batch.n_threads = settings["threads"]
        params.n_batch = params.n_ubatch = 256  # a stop is noticed between batches
        params.cache_ram_mib = 0  # slots keep their prompts; more than that is not needed
        params.verbosity = 1
        params.warmup = False
        params.ui = False
        params.endpoint_slots = False
        # The engine always opens a port on the loopback: nobody else on the machine may use it.
        self._key = secrets.token_hex(32)
        params.api_keys = [self._key]
        self.folder = settings["folder"]
        params.slot_save_path = self.folder + os.sep
        self._saved: dict[str, str] = {}
        self._begun: dict[int, str] = {}
        self._server = xllamacpp.Server(params)
        self.stopped: set[int] = set()
        self.about = {"engine": f"xllamacpp {xllamacpp.__version__}"}

    def do(self, job: dict[str, Any], out: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
        """Do one thing and return what came of it."""
        kind = job["do"]
        if kind == "tokens":
            return {"tokens": [self._tokens(text) for text in job["texts"]]}
        if kind == "score":
            return self._score(job)
        return self._generate(job, out)

    def _generate(
        self, job: dict[str, Any], out: Callable[[dict[str, Any]], None]
    ) -> dict[str, Any]:
        heard = Heard(lambda text: out({"id": job["id"], "text": text}), self._is_stopped(job))
        body = {**job["body"], "stream": True, "return_progress": True}
        body["stream_options"] = {"include_usage": True}
        ask = (
            self._server.handle_chat_completions
            if job["do"] == "chat"
            else self._server.handle_completions
        )
        ask(body, heard)
        return heard.result()

    def _score(self, job: dict[str, Any]) -> dict[str, Any]:
        """Log probability of each text after its prompt, one token after the other.

        The grammar names tokens, not letters: letter by letter the sampler would take paths
        through the text that no tokenizer takes, and their probabilities say nothing.
        """
        scores, usage = [], [0, 0]
        is_stopped = self._is_stopped(job)
        for slot, prompt, text in job["jobs"]:
            if is_stopped():
                break
            self._begin(slot, job["shared"])
            tokens = self._tokens(text)[:LONGEST_SCORED]
            body = {"prompt": prompt, "max_tokens": len(tokens), "temperature": 0, "logprobs": 1}
            grammar = "%llguidance {}\nstart: " + " ".join(f"<[{token}]>" for token in tokens)
            found = self._server.handle_completions({**body, "grammar": grammar, "id_slot": slot})
            _raise(found)
            written = found["choices"][0]["logprobs"]["content"][: len(tokens)]
            scores.append(sum(token["logprob"] for token in written))
            usage[0] += found["usage"]["prompt_tokens"]
            usage[1] += found["usage"]["completion_tokens"]
        return {"scores": scores, "usage": usage}

    def _begin(self, slot: int, shared: str) -> None:
        """Let a slot begin with what all prompts share: computed once, and copied."""
        if self._begun.get(slot) == shared:
            return
        if shared not in self._saved:
            body = {"prompt": shared, "max_tokens": 1, "id_slot": slot}
            _raise(self._server.handle_completions(body))
            name = f"{len(self._saved)}.kv"
            self._post(f"/slots/{slot}?action=save", {"filename": name})
            self._saved[shared] = name
        else:
            self._post(f"/slots/{slot}?action=restore", {"filename": self._saved[shared]})
        self._begun[slot] = shared

    def _tokens(self, text: str) -> list[int]:
        return list(self._post("/tokenize", {"content": text})["tokens"])

    def _post(self, path: str, content: dict[str, Any]) -> dict[str, Any]:
        """Ask what only the engine's own server can be asked."""
        address = urlsplit(self._server.listening_address)
        connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=60)
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        connection.request("POST", path, json.dumps(content), headers)
        found: dict[str, Any] = json.loads(connection.getresponse().read())
        connection.close()
        if "error" in found:
            raise RefusedError(found["error"])
        return found

    def _is_stopped(self, job: dict[str, Any]) -> Callable[[], bool]:
        return lambda: job["id"] in self.stopped


class Heard:
    """Takes in the engine's stream; being called returns whether it shall stop.

    Args:
        told: Told of each piece of text.
        is_stopped: Whether nobody waits any more.
    """

    def __init__(self, told: Callable[[str], None], is_stopped: Callable[[], bool]) -> None:
        self._told = told
        self._is_stopped = is_stopped
        self._usage = [0, 0]
        self._reason = "end"
        self._error: Any = None

    def __call__(self, chunk: dict[str, Any]) -> bool:
        """Take in one chunk."""
        if "error" in chunk or "choices" not in chunk:
            self._error = chunk
            return True
        if chunk.get("usage"):
            usage = chunk["usage"]
            self._usage = [usage["prompt_tokens"], usage["completion_tokens"]]
        for choice in chunk["choices"]:
            text = choice.get("text") or (choice.get("delta") or {}).get("content")
            if text:
                self._told(text)
            if choice.get("finish_reason") == "length":
                self._reason = "length"
        return self._is_stopped()

    def result(self) -> dict[str, Any]:
        """What is told at the end."""
        if self._error is not None:
            _raise(self._error)
        return {"usage": self._usage, "reason": self._reason}


class RefusedError(Exception):
    """The engine's own error."""


def _raise(found: dict[str, Any]) -> None:
    if "choices" not in found:
        raise RefusedError(found.get("error", found))


def _told(error: Exception) -> Any:
    if isinstance(error, RefusedError):
        return error.args[0]
    return {"type": type(error).__name__, "message": str(error)}


if __name__ == "__main__":
    main()
