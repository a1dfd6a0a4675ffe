"""``as_model``: the model that a name or an object stands for."""

from __future__ import annotations

from typing import Any

from agtools_nb.agent.model import Model
from agtools_nb.agent.models.hosted import HostedModel
from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr


def as_model(model: Any) -> Model:
    """Return the model that ``model`` stands for.

    Args:
        model: A model, which is returned as it is; or a name: ``"openai:gpt-..."``,
            ``"anthropic:claude-..."`` or ``"google-gla:gemini-..."``, see :class:`HostedModel`.

    Raises:
        UsageError: It stands for none, or the model's library or key is not there.
    """
    if isinstance(model, str):
        return HostedModel(model)
    if callable(getattr(model, "respond", None)) and not isinstance(model, type):
        return model  # type: ignore[no-any-return]
    raise UsageError(
        f"{brief_repr(model)} is no model: it has no respond(request). Give a name such as "
        "'openai:gpt-...', or for a script ScriptedModel([...])"
    )
