"""Blocking twins in the very round of the loop in which asyncio is patched."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import asyncio
from agtools_nb.notebook.kernel_loop import KernelLoop

kernel, seen = KernelLoop(), []

async def answer():
    await asyncio.sleep(0)
    return 42

def block():
    seen.append(kernel.block_on(answer(), lambda: None))

async def main():
    loop = asyncio.get_running_loop()
    kernel.soon(lambda: None)
    # All in one round: the blocking call runs those after it, which the round has counted.
    for what in (block, seen.clear, block, lambda: None, lambda: None):
        loop.call_soon(what)
    for _ in range(5):
        await asyncio.sleep(0.001)

asyncio.run(main())
print(seen)
"""


def test_other_work_of_the_same_round_does_not_end_the_loop() -> None:
    """The kernel died of it: ``IndexError: pop from an empty deque``."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "42" in done.stdout
