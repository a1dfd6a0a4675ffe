"""``Workspace``: a folder, and ways to read and write in it that cannot lead out of it."""

from agtools_nb.builtin.workspace.faults import fault_of, outside
from agtools_nb.builtin.workspace.reading import Contents
from agtools_nb.builtin.workspace.text import can_be_given, shown_name
from agtools_nb.builtin.workspace.walking import Found, Walk
from agtools_nb.builtin.workspace.workspace import Entry, Workspace

__all__ = [
    "Contents",
    "Entry",
    "Found",
    "Walk",
    "Workspace",
    "can_be_given",
    "fault_of",
    "outside",
    "shown_name",
]
