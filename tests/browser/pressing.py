"""Pressing what other views still push about."""

from __future__ import annotations

from playwright.sync_api import Locator, expect


def press(place: Locator, name: str) -> None:
    """Press a button once it stands still."""
    settled(place.get_by_role("button", name=name, exact=True)).click()


def settled(place: Locator) -> Locator:
    """Wait until nothing above moves it any more: on a busy machine views are drawn one by one."""
    expect(place).to_be_enabled()
    place.scroll_into_view_if_needed()
    seen: list[object] = []
    for _ in range(200):
        seen.append(place.bounding_box())
        if len(seen) > 10 and all(box == seen[-1] for box in seen[-10:]):
            break
        place.page.wait_for_timeout(50)
    return place
