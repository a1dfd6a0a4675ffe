"""Fresh environments: run a command, make one, install into it, ask what its views show."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

# Constructs each view as the notebook would, and reports what its front end gets.
SHOW_VIEWS = """
import hashlib, json
import agtools_nb
from agtools_nb import Toolkit
from agtools_nb import HumanModel, Question, ScriptedModel, ask_user
from agtools_nb.access import Approval, PolicyEngine
from agtools_nb.calls import ToolCall
from agtools_nb.context.state import StateStore
from agtools_nb.events import Background
from agtools_nb.views.activity import ActivityView
from agtools_nb.views.approval import ApprovalView
from agtools_nb.views.base import DirectScheduler
from agtools_nb.views.batch import BatchView
from agtools_nb.views.card import CardView
from agtools_nb.views.form import FormView
from agtools_nb.views.inspector import InspectorView
from agtools_nb.views.policies import PoliciesView
from agtools_nb.views.question import QuestionView
from agtools_nb.views.registry import RegistryView

tk = Toolkit()

@tk.tool
def double(x: int) -> int:
    "Double a number."
    return 2 * x

scheduler = DirectScheduler()
call = ToolCall("double", {"x": 1}, "c1")
approval = Approval(call, double, {"x": 1}, ask_user("double"), "to be sure")
views = {
    "registry": RegistryView(scheduler, lambda: []),
    "card": CardView(scheduler, double),
    "form": FormView(scheduler, double, None, None, None),
    "batch": BatchView(scheduler, [], None),
    "inspector": InspectorView(scheduler, StateStore(), "state"),
    "activity": ActivityView(scheduler, Background()),
    "approval": ApprovalView(scheduler, approval, print),
    "question": QuestionView(scheduler, Question("Which?"), print),
    "policies": PoliciesView(scheduler, PolicyEngine(), lambda: [double]),
    "chat": tk.chat(ScriptedModel([])),
    "human": HumanModel().view,
}
digest = lambda text: hashlib.sha256(text.encode()).hexdigest()
shown = {}
for name, view in views.items():
    shown[f"{name}.js"] = digest(view._esm)
    shown[f"{name}.css"] = digest(view._css)
print(json.dumps({"file": agtools_nb.__file__, "shown": shown}))
"""


def run(
    command: Sequence[str | Path],
    cwd: Path,
    environment: Mapping[str, str] | None = None,
    seconds: float = 600,
) -> str:
    """Run a command to its end and return what it printed to standard output.

    Raises:
        AssertionError: It failed or took longer than ``seconds``; ends with all it printed.
    """
    inherited = {
        key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")
    }
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**inherited, **(environment or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    words = " ".join(map(str, command))
    assert done.returncode == 0, (
        f"{words[:300]} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
    )
    return done.stdout


def fresh_venv(folder: Path) -> Path:
    """Make an empty virtual environment and return its Python."""
    run([sys.executable, "-m", "venv", folder], folder.parent)
    return folder / "bin" / "python"


def pip_install(python: Path, *requirements: str | Path, cwd: Path) -> None:
    """Install into the environment of ``python``; pip's cache shares downloads between environments."""
    run(
        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements],
        cwd,
    )


def shown_views(python: Path, cwd: Path) -> dict[str, Any]:
    """Return where ``agtools_nb`` was imported from, and the SHA-256 of each view's ``_esm`` and ``_css``."""
    report: dict[str, Any] = json.loads(run([python, "-I", "-c", SHOW_VIEWS], cwd))
    return report


def tracked_files(repo: Path, *under: str) -> list[str]:
    """Return the files that git tracks, as paths relative to the repository."""
    return [name for name in run(["git", "ls-files", "-z", "--", *under], repo).split("\0") if name]


def copy_tracked(repo: Path, target: Path) -> Path:
    """Copy what git tracks, as it stands on the disk: what a clone would hold once it is committed."""
    for name in tracked_files(repo):
        if (repo / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(repo / name, target / name)
    return target
