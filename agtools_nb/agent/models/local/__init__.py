"""A language model on this machine's processor: llama.cpp in a process beside the kernel.

==============  ============================================================================
file            what it holds
==============  ============================================================================
``model``       :class:`LocalModel`
``weights``     where the small model is, and how it gets there
``command``     ``python -m agtools_nb fetch-model``
``engine``      the process that computes, as the model sees it
``worker``      the process itself
``prompts``     a conversation as chat messages
``grammar``     what the model may write: calls that fit the tools' schemas, copied words
``choice``      which tool a request is for
``filling``     the arguments of a call, one after the other
``parameters``  a tool's parameters, as far as they can be filled one by one
``mentions``    the words and numbers of a request
==============  ============================================================================
"""

from agtools_nb.agent.models.local.model import LocalModel
from agtools_nb.agent.models.local.weights import fetch

__all__ = ["LocalModel", "fetch"]
