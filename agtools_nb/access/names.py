"""``BuiltinTools``: the names of the tools that come with the package, and sets of them."""

from __future__ import annotations

from enum import StrEnum


class BuiltinTools(StrEnum):
    """Names of the built-in tools. A member is its name: ``BuiltinTools.FINISH == "finish"``.

    Wherever a tool's name is wanted (policies, capabilities), a member does as well.

    Attributes:
        LIST_DIR: What is in a folder.
        SEARCH_DIR: Search the text of files (grep).
        FIND_FILE: Find files by their names.
        VIEW_FILE: Read a file.
        CREATE_FILE: Write a new file.
        EDIT_FILE: Replace text in a file.
        RUN_COMMAND: Run a program.
        ASK_QUESTION: Ask the person at the notebook.
        START_SUBAGENT: Hand a task to another agent.
        INVOKE_SUBAGENT: The same member as ``START_SUBAGENT``.
        GENERATE_IMAGE: Make an image.
        SEARCH_WEB: Search the web.
        READ_URL_CONTENT: Read a web page.
        FINISH: End the conversation, with its outcome.
    """

    LIST_DIR = "list_directory"
    SEARCH_DIR = "search_directory"
    FIND_FILE = "find_file"
    VIEW_FILE = "view_file"
    CREATE_FILE = "create_file"
    EDIT_FILE = "edit_file"
    RUN_COMMAND = "run_command"
    ASK_QUESTION = "ask_question"
    START_SUBAGENT = "start_subagent"
    INVOKE_SUBAGENT = "start_subagent"  # one tool has one name, or a rule could miss it
    GENERATE_IMAGE = "generate_image"
    SEARCH_WEB = "search_web"
    READ_URL_CONTENT = "read_url_content"
    FINISH = "finish"

    @classmethod
    def read_only(cls) -> list[BuiltinTools]:
        """The tools that only read inside of the workspace, and ``FINISH``."""
        return [cls.LIST_DIR, cls.SEARCH_DIR, cls.FIND_FILE, cls.VIEW_FILE, cls.FINISH]

    @classmethod
    def file_tools(cls) -> list[BuiltinTools]:
        """The tools that read or write one file: ``VIEW_FILE``, ``CREATE_FILE``, ``EDIT_FILE``."""
        return [cls.VIEW_FILE, cls.CREATE_FILE, cls.EDIT_FILE]

    @classmethod
    def path_scoped_tools(cls) -> list[BuiltinTools]:
        """The tools that take a path, and whose calls have a ``canonical_path``."""
        return [cls.LIST_DIR, cls.SEARCH_DIR, cls.FIND_FILE, *cls.file_tools()]

    @classmethod
    def all_tools(cls) -> list[BuiltinTools]:
        """Every built-in tool."""
        return list(cls)

    @classmethod
    def none(cls) -> list[BuiltinTools]:
        """No tool at all."""
        return []
