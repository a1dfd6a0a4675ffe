"""Running a program, and ending all that it started."""

from agtools_nb.builtin.command.environment import without_secrets
from agtools_nb.builtin.command.tool import run_command_tool

__all__ = ["run_command_tool", "without_secrets"]
