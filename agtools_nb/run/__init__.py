"""Running calls: one, or many at once."""

from agtools_nb.run.batch import Batch, Observer, ProgressObserver
from agtools_nb.run.journal import Journal, JournalEntry
from agtools_nb.run.numbering import Call, as_call
from agtools_nb.run.runner import Runner
from agtools_nb.run.setting import BatchOptions, RunOptions
from agtools_nb.run.strategy import Strategy

__all__ = [
    "Batch",
    "BatchOptions",
    "Call",
    "Journal",
    "JournalEntry",
    "Observer",
    "ProgressObserver",
    "RunOptions",
    "Runner",
    "Strategy",
    "as_call",
]
