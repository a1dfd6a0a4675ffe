"""Real kernels: one is killed, another goes on where it was; two at once are told so."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from kernel.driver import Kernel

SETUP = """
from agtools_nb import Toolkit, ToolCall, ToolContext
tk = Toolkit(store={path!r})

@tk.tool
def count(ctx: ToolContext) -> int:
    "Count."
    ctx.artifacts.save("log", f"call {{ctx.call_id}}")
    return ctx.update_state("n", lambda n: n + 1, 0)

@tk.tool
def fall(ctx: ToolContext) -> None:
    "Take the kernel along."
    import os
    ctx.set_state("fell", True)
    os.kill(os.getpid(), 9)
"""


def test_a_killed_kernel_loses_nothing_and_the_next_one_goes_on(tmp_path: Path) -> None:
    setup = SETUP.format(path=str(tmp_path / "work.db"))
    with Kernel(setup) as kernel:
        for n in range(1, 4):
            assert kernel.run("r = await tk.call('count'); print(r.unwrap())").text == f"{n}\n"
        kernel.run("tk.memory.add('rivers run'); tk.state.save('three')")
        conversation = kernel.value("tk.store.conversation_id")
        # The cell that makes the toolkit is run again.
        assert kernel.run(setup).status == "ok"
        assert kernel.value("(await tk.call('count')).unwrap()") == 4
        os.kill(kernel.manager.provisioner.process.pid, signal.SIGKILL)
        kernel.manager.provisioner.process.wait()
    with Kernel(setup) as kernel:
        assert kernel.value("tk.store.conversation_id") == conversation
        assert kernel.value("(await tk.call('count')).unwrap()") == 5
        assert kernel.value("[e.result for e in tk.journal.entries()]") == [1, 2, 3, 4, 5]
        assert kernel.value("len(tk.artifacts.versions('log'))") == 5
        assert kernel.value("[h.text for h in tk.memory.search('river')]") == ["rivers run"]
        assert kernel.value("[(s.name, dict(s.values)) for s in tk.state.snapshots]") == [
            ("three", {"n": 3})
        ]
        assert kernel.value(
            "[w.call_id for w in tk.state.history] == [e.call_id for e in tk.journal.entries()]"
        )
        kernel.send("await tk.call('fall')")
        kernel.manager.provisioner.process.wait(60)
    with Kernel(setup) as kernel:
        assert kernel.value("tk.state.get('fell')") is True
        assert kernel.value("[(e.name, e.status) for e in tk.journal.entries(1)]") == [
            ("fall", "interrupted")
        ]


def test_a_second_kernel_is_told_which_one_to_shut_down(tmp_path: Path) -> None:
    setup = SETUP.format(path=str(tmp_path / "work.db"))
    with Kernel(setup) as first:
        process = first.value("__import__('os').getpid()")
        assert first.value("(await tk.call('count')).unwrap()") == 1
        with Kernel() as second:
            refused = second.run(setup)
            assert refused.status == "error"
            assert "StoreInUseError" in refused.error
            assert f"another process ({process}) has the store" in refused.error
            assert first.value("(await tk.call('count')).unwrap()") == 2
            first.run("tk.store.close()")
            assert second.run(setup).status == "ok"
            assert second.value("(await tk.call('count')).unwrap()") == 3
        assert "this store was closed" in str(first.value("(await tk.call('count')).error"))
