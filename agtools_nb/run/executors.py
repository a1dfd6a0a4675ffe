"""Blocking functions on any ``concurrent.futures.Executor``: process pools, Dask, ipyparallel.

What goes there and comes back is bytes, pickled and read inside a ``try`` on either
side: a function that the other side cannot find would else break the whole pool. A
``ThreadPoolExecutor`` shares this process and takes the function as it is.
"""

from __future__ import annotations

import asyncio
import contextvars
import importlib
import inspect
import io
import pickle
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from typing import Any
from warnings import catch_warnings

from agtools_nb.context import ToolContext
from agtools_nb.define import Tool
from agtools_nb.define.stateful import StatefulTool
from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr, safe_repr
from agtools_nb.run.capture import CallOutput, current_output
from agtools_nb.run.threads import Outcome
from agtools_nb.run.warned import warning_text


class SentCall:
    """One call on an executor.

    Args:
        executor: Where it runs.
        tool: What runs.
        function: Its function with all arguments, for an executor in this process.
        args: Positional arguments, as Python values.
        kwargs: Keyword arguments, as Python values.
        output: Takes what it printed and warned of elsewhere.

    Raises:
        UsageError: The function or its arguments cannot be sent there.
    """

    def __init__(
        self,
        executor: Executor,
        tool: Tool,
        function: Callable[[], Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        output: CallOutput,
    ) -> None:
        self._executor = executor
        self._tool = tool
        self._output = output
        self.is_local = isinstance(executor, ThreadPoolExecutor)
        if self.is_local:
            self._job: Callable[[], Any] = partial(
                contextvars.copy_context().run, _outcome_of, function
            )
        else:
            self._job = partial(_run_elsewhere, self._packed(args, kwargs))

    async def outcome(self) -> Outcome:
        """Run it and return what came of it.

        Raises:
            UsageError: It did not get there, or its result did not get back.
            asyncio.CancelledError: The waiting task was cancelled; the call is taken
                off the executor if it has not begun.
        """
        try:
            sent: Future[Any] = self._executor.submit(self._job)
            answer = await asyncio.wrap_future(sent)
        except asyncio.CancelledError:
            raise
        except (BrokenExecutor, RuntimeError) as error:
            raise UsageError(
                f"{self._tool.name} cannot run on {self._where}, which takes no calls any more "
                f"({type(error).__name__}: {error}). Give the runner a new executor."
            ) from error
        except Exception as error:
            raise self._problem(error) from error
        if self.is_local:
            return answer  # type: ignore[no-any-return]
        return self._unpacked(answer)

    def _packed(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bytes:
        if isinstance(self._tool, StatefulTool):
            raise UsageError(
                f"{self._tool.name} shares its state with other calls, and {self._where} would "
                "give it a copy. Run it in threads: executor=None."
            )
        for value in (*args, *kwargs.values()):
            if isinstance(value, ToolContext):
                raise UsageError(
                    f"{self._tool.name} asks for a ToolContext, which cannot leave this process, "
                    f"and was to run on {self._where}. Run it in threads: executor=None."
                )
        try:
            return _pickled((_Reference.to(self._tool.fn), tuple(args), dict(kwargs)))
        except Exception as error:
            raise self._problem(error) from error

    def _unpacked(self, answer: Any) -> Outcome:
        stdout, stderr, warned, sent, payload = answer
        self._output.write("stdout", stdout)
        self._output.write("stderr", stderr)
        for text in warned:
            self._output.warn(text)
        if not sent:
            raise UsageError(f"{self._tool.name} cannot run on {self._where}: {payload}")
        try:
            value, error = pickle.loads(payload)  # noqa: S301 -- from a worker of the user's own
        except Exception as problem:
            raise UsageError(
                f"what {self._tool.name} returned on {self._where} cannot be read here "
                f"({type(problem).__name__}: {problem}). Return plain data."
            ) from problem
        return Outcome(value, error)

    @property
    def _where(self) -> str:
        return type(self._executor).__name__

    def _problem(self, error: Exception) -> UsageError:
        return UsageError(
            f"{self._tool.name} cannot run on {self._where} ({type(error).__name__}: {error}). "
            "A function can be sent to another process if it stands at the top level of a module "
            "that can be imported there, and its arguments can be pickled; with cloudpickle "
            "installed (pip install cloudpickle), one from a notebook cell can, too. Or run it in "
            "threads: executor=None."
        )


class _Reference:
    """The function of a tool, found again on the other side.

    ``@tool`` puts a tool under the function's own name, where ``pickle`` looks for the
    function and refuses what it finds.
    """

    def __init__(self, module: str, path: str) -> None:
        self.module = module
        self.path = path

    @classmethod
    def to(cls, fn: Any) -> Any:
        """A reference that leads to ``fn``, or ``fn`` itself where none does."""
        module, path = getattr(fn, "__module__", None), getattr(fn, "__qualname__", None)
        if not isinstance(module, str) or not isinstance(path, str):
            return fn
        if module == "__main__" and _cloudpickle() is not None:
            # A cell's function is sent whole: a worker may be older than the cell.
            return fn
        reference = cls(module, path)
        try:
            return reference if reference.found() is fn else fn
        except (ImportError, AttributeError):
            return fn

    def found(self) -> Any:
        target: Any = importlib.import_module(self.module)
        for name in self.path.split("."):
            target = getattr(target, name)
        return target.fn if isinstance(target, Tool) else target


def _pickled(value: Any) -> bytes:
    cloudpickle = _cloudpickle()
    if cloudpickle is not None:
        return cloudpickle.dumps(value)  # type: ignore[no-any-return]
    return pickle.dumps(value)


def _cloudpickle() -> Any:
    """The library that can send what stands in a cell; Dask and ipyparallel bring it."""
    try:
        return importlib.import_module("cloudpickle")
    except ImportError:
        return None


def _outcome_of(function: Callable[[], Any]) -> Outcome:
    try:
        return Outcome(function(), None)
    except BaseException as error:  # SystemExit too is this call's own outcome
        return Outcome(None, error)


def _run_elsewhere(payload: bytes) -> tuple[str, str, list[str], bool, Any]:
    """In the other process: run it. Returns output, warnings, whether it ran, and the outcome."""
    # A forked process has been told that it is inside a call of the other one.
    current_output.set(None)
    stdout, stderr = io.StringIO(), io.StringIO()
    try:
        fn, args, kwargs = pickle.loads(payload)  # noqa: S301 -- from the user's own process
        function = fn.found() if isinstance(fn, _Reference) else fn
    except Exception as error:
        why = f"it cannot be found there ({type(error).__name__}: {error})"
        return "", "", [], False, why
    job = partial(_followed, partial(function, *args, **kwargs))
    with redirect_stdout(stdout), redirect_stderr(stderr), catch_warnings(record=True) as warned:
        outcome = _outcome_of(job)
    texts = [warning_text(w.message, w.category, w.filename, w.lineno) for w in warned]
    return stdout.getvalue(), stderr.getvalue(), texts, True, _packed_outcome(outcome)


def _followed(function: Callable[[], Any]) -> Any:
    """A value followed to its end where it can be: neither kind can be sent back."""
    value = function()
    if inspect.isgenerator(value):
        return list(value)
    return asyncio.run(value) if inspect.iscoroutine(value) else value


def _packed_outcome(outcome: Outcome) -> bytes:
    try:
        packed = _pickled((outcome.value, outcome.error))
        pickle.loads(packed)  # noqa: S301 -- some errors can be written but not read again
    except Exception as problem:
        what = brief_repr(outcome.value) if outcome.error is None else safe_repr(outcome.error)
        text = f"its outcome cannot be sent back ({type(problem).__name__}: {problem}): {what}"
        return pickle.dumps((None, UsageError(text)))
    return packed
