"""``generate_image``: a picture that somebody else makes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from pydantic import Field

from agtools_nb.access.names import BuiltinTools
from agtools_nb.builtin.providers import checked_provider, no_provider, provided
from agtools_nb.define import Tool
from agtools_nb.errors import ToolError, UsageError
from agtools_nb.media import Media

ImageProvider = Callable[[str], Any | Awaitable[Any]]
"""Given what the image is to show; sync or async."""


def generate_image_tool(provider: ImageProvider | None = None) -> Tool:
    """Make the ``generate_image`` tool.

    Args:
        provider: Makes the image: ``provider(prompt)`` returns what ``Media.image`` takes (the
            bytes of a file, a PIL image, a figure), a ``Media``, or a list of these. Sync (it
            runs in a thread) or async. Default: none, and each call says so.

    Raises:
        UsageError: The provider is no function.
    """
    given = checked_provider(provider, "generate_image_tool(provider)")

    async def generate_image(
        prompt: Annotated[
            str, Field(max_length=4_000, pattern=r"\S", description="What it is to show, and how.")
        ],
    ) -> dict[str, Any]:
        """Make an image from a description."""
        if given is None:
            raise no_provider(
                BuiltinTools.GENERATE_IMAGE.value,
                "make images",
                "generate_image_tool(provider), or builtin_tools(..., image=provider), where "
                "provider(prompt) returns the bytes of an image file.",
            )
        made = await provided(given, prompt)
        images = [_image(one) for one in (made if isinstance(made, (list, tuple)) else [made])]
        return {"images": images} if len(images) != 1 else {"image": images[0]}

    return Tool(
        generate_image,
        name=BuiltinTools.GENERATE_IMAGE.value,
        display="Make an image: {prompt}",
    )


def _image(made: Any) -> Media:
    if isinstance(made, Media):
        return made
    try:
        return Media.image(made)
    except UsageError as error:
        raise ToolError(
            "bad_result", f"The image provider returned no image: {error}.", category="author"
        ) from error
