"""Models of providers and of OpenAI-compatible servers, asked over HTTP.

==============  ============================================================================
file            what it holds
==============  ============================================================================
``model``       :class:`HostedModel`
``services``    the providers that are known, their key variables, and what a name means
``asking``      one request: what is sent, and the parts of the answer
``messages``    a conversation as pydantic-ai's messages
``media``       images and files as pydantic-ai's content, or in words
``lines``       pydantic-ai's model objects, with our transport under them
``memory``      answers with signed thoughts, which their provider wants back
``wire``        the transport: the key, sending again, connections
``retry``       when a request that was refused is sent again
``record``      what went over the wire, for people; never with a key in it
``words``       what went wrong, in words
==============  ============================================================================

Only ``model`` and ``services`` are imported with the package. The others import pydantic-ai, which
takes seconds: in a thread, when a model is first asked.
"""

from agtools_nb.agent.models.hosted.model import HostedModel

__all__ = ["HostedModel"]
