"""Notebook cells that several scenarios start from."""

from __future__ import annotations

SETUP = """\
import asyncio, enum, time
from typing import Literal
from pydantic import BaseModel, Field
from agtools_nb import Toolkit, ToolCall, ToolContext
tk = Toolkit()
"""

# Waiting tools note when they were started and when they were stopped, on the kernel's own clock.
WAITING = """\
began, stopped = [], []

@tk.tool
async def wait(seconds: float) -> str:
    "Wait without blocking anything."
    began.append(time.monotonic())
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        stopped.append(time.monotonic())
        raise
    return f"waited {seconds} s"

@tk.tool
def block(seconds: float) -> str:
    "Block a thread."
    time.sleep(seconds)
    return f"blocked {seconds} s"

@tk.tool
async def fail(reason: str) -> str:
    "Fail at once."
    raise ValueError(reason)
"""

COUNTER = """\
@tk.tool
def count(by: int = 1, *, ctx: ToolContext) -> int:
    "Add to the counter that all tools of this notebook share."
    return ctx.update_state("counter", lambda old: (old or 0) + by)
"""

TRIP = """\
class Pace(enum.Enum):
    SLOW = "slow"
    FAST = "fast"

class Stop(BaseModel):
    "A place on the way."
    place: str
    nights: int = Field(1, ge=0, le=30)

@tk.tool
def plan_trip(
    city: str,
    days: int = 3,
    pace: Pace = Pace.SLOW,
    transport: Literal["train", "boat"] | None = None,
    stops: list[Stop] | None = None,
    note: str | None = None,
) -> dict:
    \"\"\"Plan a trip.

    Args:
        city: Where it starts.
        days: How long it takes, in days.
        pace: How fast to travel.
        transport: How to travel, if it matters.
        stops: Places on the way, in order.
        note: Anything else.
    \"\"\"
    print("planning", city)
    return {"city": city, "days": days, "pace": pace.value, "stops": [stop.place for stop in stops or []]}
"""

# Calls that outlive their answer, and one that says how far it is.
BESIDE = """
closed = []

@tk.tool(mode="dispatched")
async def backup(place: str, seconds: float = 60) -> dict:
    "Copy everything, beside the calls."
    await asyncio.sleep(seconds)
    return {"copied": 1204, "place": place}

@tk.tool
async def prices(symbol: str = "AGT", seconds: float = 0.2):
    "Follow a price."
    try:
        for n in range(1_000):
            yield {"symbol": symbol, "price": 100 + n}
            await asyncio.sleep(seconds)
    finally:
        closed.append(symbol)

@tk.tool
async def download(files: int, seconds: float = 0.05, *, ctx: ToolContext) -> str:
    "Fetch files one by one."
    for n in range(files):
        await ctx.report_progress(n, files, f"part {n}")
        await ctx.emit_progress("log", f"fetching part {n}\\n")
        await asyncio.sleep(seconds)
    await ctx.report_progress(files, files)
    return f"{files} files"

@tk.tool(capture="progress")
def build(modules: int, seconds: float = 0.05) -> str:
    "Print what it compiles."
    for n in range(modules):
        print("compiling module", n)
        time.sleep(seconds)
    return "built"
"""


def batch(name: str, times: int, **arguments: object) -> str:
    """Return the source of a list of equal calls."""
    return f"[ToolCall({name!r}, {arguments!r})] * {times}"


# Tools about which rules say something; `ran` holds what really ran.
RULED = """
from agtools_nb import CapabilitiesConfig, allow, ask_user, deny

def is_forced(arguments):
    return "--force" in arguments["command"]

tk = Toolkit(
    policies=[
        deny("git", when=is_forced, name="no_force", reason="History that others have is not rewritten."),
        ask_user("git", name="confirm_git", reason="Commands change what others see."),
        ask_user("write", reason="Files are yours."),
        deny("delete", reason="Nothing is deleted here."),
        allow("*"),
    ],
    capabilities=CapabilitiesConfig(disabled_tools=["mail"]),
)
ran = []

@tk.tool
async def git(command: list[str], folder: str = ".", seconds: int = 60) -> str:
    "Run git and return what it prints."
    ran.append(["git", command, seconds])
    return "done"

@tk.tool
def write(path: str, text: str, overwrite: bool = False) -> str:
    "Write a file."
    ran.append(["write", path, text])
    return "written"

@tk.tool
def delete(path: str) -> None:
    "Delete a file."

@tk.tool
def mail(to: str) -> None:
    "Send a mail."

@tk.tool(read_only=True)
async def quiz(kind: str = "open", *, ctx: ToolContext) -> str:
    "Ask the person."
    if kind == "one":
        return repr(await ctx.ask("Which colour?", ["red", "green", "blue"]))
    if kind == "several":
        return repr(await ctx.ask("Which files may go?", ["a.txt", "b.txt", "c.txt"], multiple=True, allow_text=True))
    return repr(await ctx.ask("What is the project called?"))
"""
