"""Running calls: one, or many at once."""

from agtools_nb.run.batch import Batch, Observer
from agtools_nb.run.runner import ToolRunner, as_call

__all__ = ["Batch", "Observer", "ToolRunner", "as_call"]
