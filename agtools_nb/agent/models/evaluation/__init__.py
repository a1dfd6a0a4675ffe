"""How well a model calls tools: 60 requests over 6 tools, and what it made of each.

``test.jsonl`` holds the requests that count. They were written before anything was tried on a
model. ``development.jsonl`` holds 30 others, to try prompts and grammars on.
"""

from agtools_nb.agent.models.evaluation.evaluate import evaluate
from agtools_nb.agent.models.evaluation.report import Evaluation, Outcome
from agtools_nb.agent.models.evaluation.requests import EvaluationRequest, requests
from agtools_nb.agent.models.evaluation.tools import evaluation_tools

__all__ = [
    "Evaluation",
    "EvaluationRequest",
    "Outcome",
    "evaluate",
    "evaluation_tools",
    "requests",
]
