"""Progress is told by the token of the call that asked for it, or not at all."""

from __future__ import annotations

import json

from mcp_servers import result_of, started

from agtools_nb import Progress, ToolContext, ToolRunner


async def test_only_with_a_token_and_only_for_that_call() -> None:
    """stream-04: a client asks only if somebody follows, and hears nothing else's token."""
    async with started("raw", "tokens") as server:
        runner = ToolRunner(server.tools(), context=ToolContext())
        # Nobody follows: no token is sent, and what comes all the same is not for the call.
        unfollowed = await result_of(runner, "go")
        assert (unfollowed.status, unfollowed.result) == ("ok", "null")

        seen = [one async for one in runner.stream([("go", {})], progress=True)]
        progress = [one for one in seen if isinstance(one, Progress)]
        assert [(one.done, one.total, one.chunk) for one in progress] == [
            (1, 2, "for you"),
            (2, None, ""),
            (2, None, ""),
        ]
        assert json.loads(seen[-1].result) is not None
        assert seen.index(seen[-1]) == len(seen) - 1
