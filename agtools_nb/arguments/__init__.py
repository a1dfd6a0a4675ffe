"""From what a model sent to what the function gets."""

from agtools_nb.arguments.coerce import Coerced, coerce
from agtools_nb.arguments.parse import parse_arguments
from agtools_nb.arguments.prepare import Prepared, prepare, unchecked
from agtools_nb.arguments.validate import validate

__all__ = [
    "Coerced",
    "Prepared",
    "coerce",
    "parse_arguments",
    "prepare",
    "unchecked",
    "validate",
]
