"""Tools that come with the package."""

from agtools_nb.builtin.tailing import tail_process_tool
from agtools_nb.builtin.waiting import sleep_tool
from agtools_nb.builtin.watching import watch_files_tool

__all__ = [
    "sleep_tool",
    "tail_process_tool",
    "watch_files_tool",
]
