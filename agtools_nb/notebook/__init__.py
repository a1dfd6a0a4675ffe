"""The notebook-friendly wrapper: tools from cells, shown and run on the kernel's loop."""

from agtools_nb.notebook.toolkit import Toolkit

__all__ = ["Toolkit"]
