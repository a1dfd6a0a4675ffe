"""``cancel_subscription``: the tool by which a model ends a subscription."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from pydantic import Field

from agtools_nb.define import Tool
from agtools_nb.events.records import Subscription

NAME = "cancel_subscription"


def cancel_tool(cancel: Callable[[str], Awaitable[Subscription]]) -> Tool:
    """Make the ``cancel_subscription`` tool.

    Args:
        cancel: Closes the subscription of an id.
    """

    async def cancel_subscription(
        subscription_id: Annotated[
            str, Field(description="The subscription_id that the call answered with.")
        ],
    ) -> dict[str, Any]:
        """End a subscription: it sends no more events. Ending it twice does no harm."""
        record = await cancel(subscription_id)
        return {"subscription_id": record.id, "status": record.status, "events": record.events}

    return Tool(
        cancel_subscription,
        name=NAME,
        passive=True,
        display="End subscription {subscription_id}",
    )
