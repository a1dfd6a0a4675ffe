"""What a server's tool returned, as a Python value with media in it.

=====================================  ====================================================
in the result                          value
=====================================  ====================================================
one block of text                      that text
several blocks                         a list of them, in their order
nothing                                ``None``
``structuredContent``                  itself, where the text says the same or the tool has an
                                       output schema (then the text is printed); else both, as
                                       ``{"structured": ..., "text": ...}``
image, audio, embedded file            :class:`Media`
link to a resource                     :class:`Media` with its address; nothing is fetched
embedded text                          ``{"uri": ..., "text": ...}``
``isError``                            a :class:`ToolError` with the text
=====================================  ====================================================
"""

from __future__ import annotations

import base64
import binascii
import json
import sys
from typing import Any

from mcp_types import (
    AudioContent,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from agtools_nb.errors import ToolError, UsageError
from agtools_nb.mcp.text import ERROR, cleaned, one_line
from agtools_nb.media import Media
from agtools_nb.media.sniff import UNKNOWN, mime_type_of

MAX_BLOCKS = 1_000


def value_of(result: CallToolResult, *, server: str, tool: str, has_schema: bool) -> Any:
    """Return what a call's result says, as a tool of ours would return it.

    Args:
        result: The result.
        server: The server's name.
        tool: The tool's own name there.
        has_schema: Whether the tool says what its structured results are like.

    Raises:
        ToolError: It says that the tool failed.
    """
    blocks = [_block(block) for block in result.content[:MAX_BLOCKS]]
    left_out = len(result.content) - len(blocks)
    if left_out:
        blocks.append(f"[{left_out:,} more parts are left out]")
    if result.is_error:
        raise _failure(blocks, server, tool)
    if result.structured_content is None:
        return blocks[0] if len(blocks) == 1 else blocks or None
    return _structured(result.structured_content, blocks, has_schema)


def _structured(content: Any, blocks: list[Any], has_schema: bool) -> Any:
    media = [block for block in blocks if isinstance(block, Media)]
    rest = [block for block in blocks if not isinstance(block, Media)]
    if rest and not _says_the_same(rest, content):
        if has_schema:
            # What was promised is what is returned; the rest is still shown, beside it.
            sys.stdout.write("\n".join(map(_shown, rest)) + "\n")
        else:
            content = {"structured": content, "text": rest[0] if len(rest) == 1 else rest}
    if not media:
        return content
    inline = [_inline(one) for one in media if one.data is not None]
    files = [_file(one) for one in media if one.data is None]
    value = {"response": content, "inline_data": inline, "file_data": files}
    return {key: item for key, item in value.items() if key == "response" or item}


def _says_the_same(texts: list[Any], content: Any) -> bool:
    """Whether blocks of text only repeat what is structured, as servers do for older clients."""
    inner = content.get("result") if isinstance(content, dict) and len(content) == 1 else content
    read = [_read(text) for text in texts]
    first = read[0] if len(read) == 1 else read
    said = [first, read, texts, texts[0] if len(texts) == 1 else texts]
    return any(_equal(one, other) for one in said for other in (content, inner))


def _equal(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same; for Python, ``True`` is 1 as well."""
    return bool(one == other) and json.dumps(one, sort_keys=True) == json.dumps(
        other, sort_keys=True
    )


def _read(text: Any) -> Any:
    try:
        return json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        return text


def _shown(block: Any) -> str:
    return block if isinstance(block, str) else json.dumps(block, ensure_ascii=False)


def _failure(blocks: list[Any], server: str, tool: str) -> ToolError:
    texts = [_shown(block) for block in blocks if not isinstance(block, Media)]
    text = cleaned("\n".join(texts), ERROR).strip()
    return ToolError(
        "tool_failed",
        text or f"{one_line(tool)} failed, and the MCP server {server!r} does not say why.",
        category="mcp",
    )


def _block(block: Any) -> Any:
    if isinstance(block, TextContent):
        return block.text
    if isinstance(block, (ImageContent, AudioContent)):
        return _media(block.data, block.mime_type, "")
    if isinstance(block, ResourceLink):
        return _link(block)
    assert isinstance(block, EmbeddedResource)
    resource = block.resource
    if isinstance(resource, TextResourceContents):
        return {"uri": resource.uri, "text": resource.text}
    name = resource.uri.rsplit("/", 1)[-1]
    return _media(resource.blob, resource.mime_type, one_line(name))


def _media(data: str, mime_type: str | None, name: str) -> Media | str:
    try:
        content = base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError):
        return f"[{one_line(mime_type or 'a file')}: its data are no base64 text]"
    if not content:
        return f"[{one_line(mime_type or 'a file')}: it is empty]"
    try:
        return Media(mime_type or mime_type_of(content), content, name=name)
    except UsageError:  # it names no type
        return Media(mime_type_of(content), content, name=name)


def _link(link: ResourceLink) -> Media | str:
    try:
        return Media.file(link.uri, link.mime_type, one_line(link.title or link.name))
    except UsageError:
        pass
    try:
        return Media.file(link.uri, UNKNOWN, one_line(link.title or link.name))
    except UsageError:
        return f"[a link to {one_line(link.uri)}]"


def _inline(media: Media) -> dict[str, Any]:
    return {"data": media.data, "mime_type": media.mime_type, "display_name": media.name}


def _file(media: Media) -> dict[str, Any]:
    return {"file_uri": media.uri, "mime_type": media.mime_type, "display_name": media.name}
