"""Agents with the tools of MCP servers."""

from __future__ import annotations

import pytest
from mcp_servers import started

from agtools_nb import Agent, ScriptedModel, ServerError, deny, tool
from agtools_nb.mcp import MCPServer


async def test_an_agent_has_the_tools_of_its_servers_and_leaves_them() -> None:
    servers = [started("named", one, "look", f"see_{one}", name=one) for one in ("left", "right")]
    model = ScriptedModel([[("look", {}), ("see_right", {}), ("see_left", {})], "ok"])
    rules = [deny("left/see_left", reason="not there")]
    agent = Agent(model=model, mcp_servers=servers, policies=rules)
    with pytest.warns(UserWarning, match="right"):
        await agent.start()
    assert agent.runner.tool_names == ("look", "see_left", "right_look", "see_right")
    reply = await agent.chat("Look")
    await agent.close()
    look, right, left = reply.results
    assert "look of left" in str(look.result)
    assert (right.server_name, left.status) == ("right", "denied")
    assert "not there" in (left.error or "")
    assert not any(server.is_connected for server in servers)


async def test_a_server_that_cannot_be_reached_ends_the_start_and_leaves_the_others() -> None:
    good = started("named", "good", "look", name="good")
    bad = MCPServer("bad", command=["/no/such/program"])
    agent = Agent(model=ScriptedModel(["x"]), mcp_servers=[good, bad])
    with pytest.raises(ServerError, match="bad"):
        await agent.start()
    assert not good.is_connected
    assert agent.conversation_id is None


async def test_a_tool_of_ones_own_keeps_its_name() -> None:
    @tool
    def look() -> str:
        """Look."""
        return "own"

    server = started("named", "eyes", "look", name="eyes")
    agent = Agent([look], ScriptedModel([("look", {}), "ok"]), mcp_servers=[server])
    with pytest.warns(UserWarning, match="eyes"):
        await agent.start()
    assert (await agent.chat("Look")).results[0].result == "own"
    await agent.close()
