"""The tools that read and write files of a workspace."""

from agtools_nb.builtin.files.creating import create_file_tool
from agtools_nb.builtin.files.editing import edit_file_tool
from agtools_nb.builtin.files.finding import find_file_tool
from agtools_nb.builtin.files.listing import list_directory_tool
from agtools_nb.builtin.files.searching import search_directory_tool
from agtools_nb.builtin.files.viewing import view_file_tool

__all__ = [
    "create_file_tool",
    "edit_file_tool",
    "find_file_tool",
    "list_directory_tool",
    "search_directory_tool",
    "view_file_tool",
]
