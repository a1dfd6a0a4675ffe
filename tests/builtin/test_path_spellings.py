"""However a path is spelled, a rule about the place it leads to holds."""

from __future__ import annotations

import tempfile
from pathlib import Path

from builtin.file_tools import call
from hypothesis import given
from hypothesis import strategies as st

from agtools_nb import ToolCall, ToolRunner, allow, deny
from agtools_nb.builtin import create_file_tool, view_file_tool


@given(
    dots=st.lists(st.sampled_from(["", ".", "in/..", "link"]), max_size=4),
    end=st.sampled_from(["", "/", "/.", "//", "/./", "/..", "/../keys.env"]),
    absolute=st.booleans(),
)
def test_no_spelling_of_a_path_goes_round_a_rule(dots: list[str], end: str, absolute: bool) -> None:
    """A rule on ``canonical_path`` meets every call that would read the file."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        (root / "in").mkdir()
        (root / "link").symlink_to(".")
        (root / "keys.env").write_text("hunter2")

        def is_secret(call: ToolCall) -> bool:
            return str(call.canonical_path).endswith(".env")

        rules = [deny("view_file", when=is_secret), allow("*")]
        runner = ToolRunner([view_file_tool(root), create_file_tool(root)], policies=rules)
        path = "/".join([*dots, "keys.env"]).lstrip("/") + end
        path = f"{root}/{path}" if absolute else path
        result = call(runner, "view_file", path=path)
        assert result.status in ("denied", "error")
        assert result.status == "denied" or end
        made = call(runner, "create_file", path=path, content="x", overwrite=True)
        assert made.ok == (end == "")
