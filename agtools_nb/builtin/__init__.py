"""Tools that come with the package."""

from agtools_nb.access.names import BuiltinTools
from agtools_nb.builtin.files import (
    create_file_tool,
    edit_file_tool,
    find_file_tool,
    list_directory_tool,
    search_directory_tool,
    view_file_tool,
)
from agtools_nb.builtin.tailing import tail_process_tool
from agtools_nb.builtin.waiting import sleep_tool
from agtools_nb.builtin.watching import watch_files_tool
from agtools_nb.builtin.workspace import Workspace

__all__ = [
    "BuiltinTools",
    "Workspace",
    "create_file_tool",
    "edit_file_tool",
    "find_file_tool",
    "list_directory_tool",
    "search_directory_tool",
    "sleep_tool",
    "tail_process_tool",
    "view_file_tool",
    "watch_files_tool",
]
