"""From what a model sent to what the function gets."""

from agtools_nb.arguments.coerce import Coerced, coerce
from agtools_nb.arguments.conform import can_explain, learn_to_explain
from agtools_nb.arguments.direct import Validate, direct_validator
from agtools_nb.arguments.parse import parse_arguments
from agtools_nb.arguments.plan import Plan, is_plain, plan_of
from agtools_nb.arguments.prepare import Prepared, prepare, prepare_parsed, unchecked
from agtools_nb.arguments.received import Received, edited, is_as_written, received
from agtools_nb.arguments.validate import validate

__all__ = [
    "Coerced",
    "Plan",
    "Prepared",
    "Received",
    "Validate",
    "can_explain",
    "coerce",
    "direct_validator",
    "edited",
    "is_as_written",
    "is_plain",
    "learn_to_explain",
    "parse_arguments",
    "plan_of",
    "prepare",
    "prepare_parsed",
    "received",
    "unchecked",
    "validate",
]
