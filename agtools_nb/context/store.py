"""``Store``: everything of a conversation that lasts, in one file."""

from __future__ import annotations

import os
import threading
import uuid
from pathlib import Path
from types import TracebackType
from typing import Self

from agtools_nb.context.artifacts import Artifacts
from agtools_nb.context.database import Database
from agtools_nb.context.durable import DurableState
from agtools_nb.context.memory import Memory
from agtools_nb.context.state import StateStore
from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr, clean_text


class Store:
    """State, artifacts and memory of one conversation, kept in one SQLite file.

    A write that returned survives the end of the process, however it ends. Opening the file
    again resumes the conversation. One process at a time has it open.

    Make one with :meth:`open`.

    Attributes:
        state: The state that tools share. In a file it keeps JSON values, in memory any.
        conversation_id: Made with the file, and the same ever after.
    """

    def __init__(self, database: Database | None) -> None:
        self._database = database
        self._lock = threading.Lock()
        self.state: StateStore
        if database is None:
            self.state = StateStore()
            self.conversation_id = str(uuid.uuid4())
        else:
            self.state = DurableState(database)
            self.conversation_id = _conversation_id(database)

    @classmethod
    def open(cls, path: str | os.PathLike[str] | None = None) -> Store:
        """Open a file, made if it is not there; opened again in this process, it is the same.

        Args:
            path: The file. ``None`` or ``":memory:"``: in memory, gone with the object.

        Raises:
            UsageError: ``path`` is no path.
            StoreError: The file is damaged, foreign, of a newer version or out of reach. It is
                left as it was, byte for byte.
            StoreInUseError: Another process has it open.
        """
        if path is None or path == ":memory:":
            return cls(None)
        database = Database.open(path)
        try:
            return database.part("store", lambda: cls._of(database))
        except BaseException:
            if not database.has_part("store"):
                database.close()
            raise

    @classmethod
    def _of(cls, database: Database) -> Store:
        made = cls(database)
        for part in ("artifacts", "memory"):
            # What is wrong with its tables shows now, and not in the middle of a call.
            getattr(made, part)
        return made

    @property
    def path(self) -> Path | None:
        """The file; ``None`` in memory."""
        return None if self._database is None else self._database.path

    @property
    def database(self) -> Database:
        """The file, or a database in memory, made when it is first asked for."""
        if self._database is None:
            with self._lock:
                if self._database is None:
                    self._database = Database.open(None)
        return self._database

    @property
    def artifacts(self) -> Artifacts:
        """Files that tools made, by name and version."""
        database = self.database
        return database.part("artifacts", lambda: Artifacts(database))

    @property
    def memory(self) -> Memory:
        """Texts to be found again."""
        database = self.database
        return database.part("memory", lambda: Memory(database))

    def child_state(self, name: str) -> StateStore:
        """Return a state that reads through to :attr:`state` and writes its own.

        Args:
            name: Tells it from others, such as a subagent's name. The same name gives the same
                state, also when the file is opened again.

        Raises:
            UsageError: ``name`` is no text, or empty.
        """
        if not _is_name(name):
            raise UsageError(
                f"a child state's name is text such as 'researcher', not {brief_repr(name)}"
            )
        database, state = self.database, self.state

        def build() -> StateStore:
            if isinstance(state, DurableState):
                return DurableState(database, name, state)
            return StateStore(state)

        return database.part(f"state of {name!r}", build)

    def close(self) -> None:
        """Let other processes open the file. Closing twice is safe."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Store {self.path or 'in memory'}>"


def _is_name(name: object) -> bool:
    # With half a character in it, it has no UTF-8 form and would be another name in the file.
    return isinstance(name, str) and bool(name) and clean_text(name) == name


def _conversation_id(database: Database) -> str:
    with database.transaction():
        database.execute(
            "INSERT OR IGNORE INTO about VALUES ('conversation_id', ?)", (str(uuid.uuid4()),)
        )
        [(found,)] = database.execute("SELECT value FROM about WHERE name = 'conversation_id'")
    return str(found)
