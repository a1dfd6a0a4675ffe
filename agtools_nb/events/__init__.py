"""What happens beside the calls: an inbox, work that outlives its call, subscriptions, triggers."""

from agtools_nb.events.background import Background
from agtools_nb.events.event import Event, SubscriptionEvent
from agtools_nb.events.inbox import Inbox
from agtools_nb.events.records import BackgroundTask, Subscription
from agtools_nb.events.triggers import RunningTrigger, Trigger, every, on_file_change

__all__ = [
    "Background",
    "BackgroundTask",
    "Event",
    "Inbox",
    "RunningTrigger",
    "Subscription",
    "SubscriptionEvent",
    "Trigger",
    "every",
    "on_file_change",
]
