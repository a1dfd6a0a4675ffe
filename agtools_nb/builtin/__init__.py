"""Tools that come with the package."""

from agtools_nb.access.names import BuiltinTools
from agtools_nb.builtin.command import run_command_tool
from agtools_nb.builtin.files import (
    create_file_tool,
    edit_file_tool,
    find_file_tool,
    list_directory_tool,
    search_directory_tool,
    view_file_tool,
)
from agtools_nb.builtin.finish import Finished, finish_tool
from agtools_nb.builtin.image import generate_image_tool
from agtools_nb.builtin.make import builtin_tools
from agtools_nb.builtin.question import ask_question_tool
from agtools_nb.builtin.subagent import SubagentTask, start_subagent_tool
from agtools_nb.builtin.tailing import tail_process_tool
from agtools_nb.builtin.url import read_url_content_tool
from agtools_nb.builtin.waiting import sleep_tool
from agtools_nb.builtin.watching import watch_files_tool
from agtools_nb.builtin.web import search_web_tool
from agtools_nb.builtin.workspace import Workspace

__all__ = [
    "BuiltinTools",
    "Finished",
    "SubagentTask",
    "Workspace",
    "ask_question_tool",
    "builtin_tools",
    "create_file_tool",
    "edit_file_tool",
    "find_file_tool",
    "finish_tool",
    "generate_image_tool",
    "list_directory_tool",
    "read_url_content_tool",
    "run_command_tool",
    "search_directory_tool",
    "search_web_tool",
    "sleep_tool",
    "start_subagent_tool",
    "tail_process_tool",
    "view_file_tool",
    "watch_files_tool",
]
