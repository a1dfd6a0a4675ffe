"""A workspace with a canary around it, and the ways out of it that tests try."""

from __future__ import annotations

import os
import shutil
import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CANARY = "canary-3f9c1e7b"
"""Stands in every file outside, and is part of every name there."""

OLD = "text that can be edited"


class Trap:
    """A folder with a workspace in it, and things beside it that nobody may see or touch.

    Attributes:
        outer: The folder around.
        root: The workspace.
        secret: A file outside, whose name has no canary in it.
    """

    def __init__(self, outer: Path) -> None:
        self.outer = outer
        self.root = outer / "ws"
        self.secret = outer / "secret.txt"
        self.root.mkdir()
        _outside(outer)
        _inside(self.root)
        self.links = {**_links(self.root, outer)}
        self._socket = _special(self.root)
        self._before = snapshot(outer)

    def close(self) -> None:
        self._socket.close()

    def rebuild(self) -> None:
        """Make the workspace's own files anew: attempts may have changed them."""
        for name in ("a", "file.txt"):
            path = self.root / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        _inside(self.root)
        for name, target in _nested_links(self.root, self.outer).items():
            (self.root / name).symlink_to(target)

    def escaped(self, result: Any) -> str | None:
        """What got out, if something did."""
        told = f"{result.result!r} {result.error!r} {result.stdout!r}"
        told += "".join(repr(part.data) for part in result.media)
        if CANARY in told:
            return f"it was read or listed: {told[:300]}"
        if "root:x:0:0" in told or "root:*:0:0" in told:
            return "the system's users were read"
        now = snapshot(self.outer)
        if now != self._before:
            changed = {
                key for key in {*now, *self._before} if now.get(key) != self._before.get(key)
            }
            self._before = now
            return f"changed outside: {sorted(changed)}"
        return None


def snapshot(outer: Path) -> dict[str, Any]:
    """All that is outside of the workspace: names, kinds, permissions, content."""
    found: dict[str, Any] = {}
    for folder, folders, files in os.walk(outer):
        if Path(folder) == outer:
            folders[:] = [name for name in folders if name != "ws"]
        for name in [*folders, *files]:
            path = Path(folder, name)
            status = path.lstat()
            content = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
            key = str(path.relative_to(outer))
            found[key] = (status.st_mode, status.st_ino, status.st_nlink, content)
    return found


def _outside(outer: Path) -> None:
    (outer / "secret.txt").write_text(f"{CANARY}\n{OLD}\n")
    for folder in ("secrets", "ws-evil", "wsx"):
        (outer / folder).mkdir()
        (outer / folder / "secret.txt").write_text(f"{CANARY}\n{OLD}\n")
        (outer / folder / f"{CANARY}.txt").write_text(f"{CANARY}\n{OLD}\n")
    (outer / f"{CANARY}-beside.txt").write_text(CANARY)
    (outer / "C:").mkdir()
    (outer / "C:" / "secret.txt").write_text(CANARY)


def _inside(root: Path) -> None:
    (root / "a" / "b").mkdir(parents=True, exist_ok=True)
    for name in ("file.txt", "a/file.txt", "a/b/file.txt"):
        (root / name).write_text(f"inside\n{OLD}\n")


def _links(root: Path, outer: Path) -> dict[str, str]:
    """Links in the workspace that lead out of it, or nowhere; ``name: target``."""
    links = {
        "file-absolute": str(outer / "secret.txt"),
        "file-relative": "../secret.txt",
        "file-roundabout": "a/b/../../../secret.txt",
        "file-over-root": "../ws/../secret.txt",
        "folder-absolute": str(outer / "secrets"),
        "folder-relative": "../secrets",
        "folder-dotted": "./.././secrets/.",
        "sibling": str(outer / "ws-evil"),
        "up": "..",
        "up-twice": "../..",
        "to-system": "/",
        "to-etc": "/etc",
        "to-users": "/etc/passwd",
        "to-proc-root": "/proc/self/root",
        "to-proc-cwd": "/proc/self/cwd",
        "to-proc-fd": "/proc/self/fd",
        "to-environ": "/proc/self/environ",
        "to-dev": "/dev",
        "to-dev-fd": "/dev/fd",
        "to-stdin": "/dev/stdin",
        "to-zero": "/dev/zero",
        "to-null": "/dev/null",
        "dangling-absolute": str(outer / "made-here"),
        "dangling-relative": "../made-here",
        "dangling-deep": "../made/here/too",
        "chain-1": "chain-2",
        "chain-2": "a/../chain-3",
        "chain-3": "../secrets",
        "loop": "loop",
        "loop-1": "loop-2",
        "loop-2": "loop-1",
        "loop-inside": "loop-inside/..",
        "through-secret": "folder-relative/secret.txt",
        "back-in": "../ws/file.txt",
        "back-in-absolute": str(outer / "secrets" / ".." / "ws" / "file.txt"),
        "windows": "..\\secret.txt",
        "e\u0301": "../secrets",
        "spaced ": "../secrets",
        **{f"long-{number}": f"long-{number + 1}" for number in range(50)},
        "long-50": "../secret.txt",
        **_nested_links(root, outer),
    }
    for name, target in links.items():
        path = root / name
        if not path.is_symlink():
            path.symlink_to(target)
    return links


def _nested_links(root: Path, outer: Path) -> dict[str, str]:
    return {
        "a/out": "../../secrets",
        "a/b/up": "../..",
        "a/b/far": "../../..",
        "a/b/out": str(outer / "secret.txt"),
    }


def _special(root: Path) -> socket.socket:
    """Things that are no files: opening one can block, or do something."""
    os.mkfifo(root / "pipe")
    (root / "to-pipe").symlink_to("pipe")
    server = socket.socket(socket.AF_UNIX)
    here = Path.cwd()
    os.chdir(root)  # an address of a socket has room for 107 bytes
    try:
        server.bind("socket")
    finally:
        os.chdir(here)
    return server


def ways_out(trap: Trap) -> Iterator[str]:
    """Paths that lead out, or might on some system or in some program."""
    yield from _upwards(trap)
    yield from _absolute(trap)
    yield from _through_links(trap)
    yield from _WINDOWS
    yield from _UNSEEN
    yield from _DISGUISED
    yield from _SHELL
    yield from ("pipe", "to-pipe", "socket", "pipe/x", "socket/x", "a/../pipe", "./pipe/")
    yield from ("a" * 256, "é" * 128, "x" * 5_000, "../" * 2_000 + "etc/passwd", "a/" * 3_000 + "x")
    yield from (f"{'a/../' * 300}../secret.txt", f"{'./' * 1_000}../secret.txt")


def _upwards(trap: Trap) -> Iterator[str]:
    for depth in range(1, 9):
        yield "../" * depth + "secret.txt"
        yield "../" * depth + "etc/passwd"
        yield "a/b/" + "../" * (depth + 2) + "secret.txt"
    yield from ("..", "../", "../.", ".././", "./..", "a/../..", "a/b/../../..", "..//", ".//..//")
    for start in ("./", "a/../", "a/b/../../", "a/./../", "a//..//", "file.txt/../", "nothing/../"):
        yield f"{start}../secret.txt"
        yield f"{start}../secrets/secret.txt"
    for name in ("ws", "ws-evil", "wsx", "secrets", "C:", "made-here"):
        yield f"../{name}/secret.txt"
        yield f"../ws/../{name}/secret.txt"
    yield from ("../made-by-a-tool.txt", "../ws", "../ws/file.txt", "../ws/../ws/file.txt")


def _absolute(trap: Trap) -> Iterator[str]:
    root, outer = str(trap.root), str(trap.outer)
    for place in ("secret.txt", "secrets", "secrets/secret.txt", "ws-evil/secret.txt", "new.txt"):
        yield f"{outer}/{place}"
        yield f"/{outer}/{place}"
        yield f"//{outer}/{place}"
        yield f"/proc/self/root{outer}/{place}"
        yield f"{root}/../{place}"
        yield f"{root}/a/../../{place}"
    yield from (
        outer,
        f"{root}/..",
        f"{root}-evil",
        f"{root}-evil/secret.txt",
        f"{root}x/secret.txt",
    )
    yield from ("/", "//", "/.", "/..", "/etc", "/etc/passwd", "//etc/passwd", "/./etc/passwd")
    yield from ("/proc", "/proc/self/environ", "/proc/self/cwd", "/proc/1/root/etc/passwd")
    yield from (f"/proc/self/fd/{number}" for number in range(8))
    yield from (f"/dev/{name}" for name in ("fd", "fd/0", "fd/3", "stdin", "null", "zero", "full"))
    yield from ("/dev/random", "/dev/tty", "/dev/stdout", "/dev/shm", "/tmp", "/sys/kernel", "/run")


def _through_links(trap: Trap) -> Iterator[str]:
    for name in trap.links:
        if name.startswith("long-") and name != "long-0":
            continue
        yield name
        yield f"{name}/"
        yield f"{name}/secret.txt"
        yield f"{name}/new-{name.replace('/', '-').strip()}.txt"
        yield f"./a/../{name}/../secret.txt"
        yield f"{trap.root}/{name}/secret.txt"
    yield from ("to-system/etc/passwd", "to-etc/passwd", "to-proc-root/etc/passwd", "to-dev/null")
    yield from (
        "a/b/up/../secret.txt",
        "a/b/up/a/b/up/..",
        "a/b/far/secret.txt",
        "é",
        "é/secret.txt",
    )
    yield from (
        "spaced",
        "spaced/secret.txt",
        "spaced /secret.txt",
        "up/up/up",
        "up/ws/up/secret.txt",
    )


_WINDOWS = (
    *("C:\\Windows\\win.ini", "C:/Windows/win.ini", "C:secret.txt", "c:", "C:", "C:/", "C:\\"),
    *("c:..\\secret.txt", "C:../secret.txt", "C:/../secret.txt", "Z:/secret.txt", "..\\secret.txt"),
    *("..\\..\\secret.txt", "a\\..\\..\\secret.txt", "..\\/secret.txt", "../\\secret.txt", "\\"),
    *("\\secret.txt", "\\\\server\\share\\x", "//server/share/x", "\\\\?\\C:\\x", "\\\\.\\pipe\\x"),
    *("//./COM1", "//?/C:/x", "//?/UNC/server/share", "\\??\\C:\\x", "..\\", "a\\..\\.."),
    *("CON", "NUL", "nul", "AUX", "aux.txt", "COM1", "com1.log", "LPT1", "LPT9.txt", "PRN", "CON."),
    *(
        "con.tar.gz",
        "COM¹",
        "NUL .txt",
        "CONIN$",
        "CONOUT$",
        "a/NUL",
        "a/con.txt",
        "NUL:",
        "NUL::$DATA",
    ),
    *("file.txt::$DATA", "file.txt:stream", "file.txt:stream:$DATA", "a::$INDEX_ALLOCATION/x"),
    *("secret.txt.", "secret.txt ", "...", "....", "....//secret.txt", "..../secret.txt", "... /x"),
    *(
        ".. /secret.txt",
        ".. ./secret.txt",
        ". ./secret.txt",
        "../ secret.txt",
        "a. /x",
        "a./x",
        "../.",
    ),
    *(
        "GLOBALROOT",
        "PROGRA~1",
        "WS~1/../secret.txt",
        "..~1/secret.txt",
        "a:b:c",
        "<>",
        "a|b",
        "a*",
    ),
)

_UNSEEN = (
    *("\0", "../secret.txt\0", "a\0/../../secret.txt", "file.txt\0.png", "\0../secret.txt"),
    *("..\0/secret.txt", "../\0secret.txt", "file.txt\0/../../secret.txt", "a/\0"),
    *("\n../secret.txt", "../secret.txt\n", " ../secret.txt", "\t../secret.txt", "..\r/secret.txt"),
    *(
        "..\n/secret.txt",
        "\r\n../secret.txt",
        "\x7f../secret.txt",
        "\x1b[2J../secret.txt",
        " ",
        "\n",
    ),
    *("..\u00a0/secret.txt", "\u00a0../secret.txt", "..\u2003/secret.txt", "..\u3000/secret.txt"),
    *("..\u200b/secret.txt", "\u200b../secret.txt", ".\u200b./secret.txt", "\ufeff../secret.txt"),
    *("..\u2060/secret.txt", ".\u00ad./secret.txt", "\u202e../secret.txt", "..\u202e/txt.terces"),
    *(
        "\u2066../secret.txt",
        ".\u034f./secret.txt",
        "..\u180e/secret.txt",
        "..\u2028/secret.txt",
        "",
    ),
)

_DISGUISED = (
    *("．．/secret.txt", "‥/secret.txt", "․․/secret.txt", "..／secret.txt", "．．／secret.txt"),
    *("..∕secret.txt", "..⁄secret.txt", "..⧸secret.txt", "..＼secret.txt", "..﹨secret.txt"),
    *("..∖secret.txt", "。。/secret.txt", "｡｡/secret.txt", "．/．．/secret.txt", ".．/secret.txt"),
    *("..\u0301/secret.txt", ".\u0338./secret.txt", "\u0338../secret.txt", "…/secret.txt", "‥"),
    *("%2e%2e/secret.txt", "%2e%2e%2fsecret.txt", "..%2fsecret.txt", "..%5csecret.txt", "%2e%2e"),
    *(
        "..%c0%afsecret.txt",
        "..%252fsecret.txt",
        "%252e%252e/secret.txt",
        "%c0%ae%c0%ae/secret.txt",
    ),
    *(
        "..%00/secret.txt",
        "&#46;&#46;/secret.txt",
        "\\u002e\\u002e/secret.txt",
        "..%u2215secret.txt",
    ),
    *(
        "\udcc0\udcae\udcc0\udcae/secret.txt",
        "\udc2e\udc2e/secret.txt",
        "..\udc2fsecret.txt",
        "\ud800",
    ),
    *(
        "\udcff",
        "../\udcffsecret.txt",
        "﹒﹒/secret.txt",
        "ﬁle.txt",
        "ſecret.txt",
        "ＣＯＮ",
        "Ｃ:/x",
    ),
)

_SHELL = (
    *(
        "~",
        "~/secret.txt",
        "~root",
        "~root/.bashrc",
        "~/../secret.txt",
        "a/~/secret.txt",
        "~+",
        "~-",
    ),
    *("$HOME/secret.txt", "${HOME}", "$PWD/../secret.txt", "%USERPROFILE%", "%SystemRoot%/win.ini"),
    *(
        "`cat ../secret.txt`",
        "$(cat ../secret.txt)",
        "../secret.txt;ls",
        "../secret.txt|cat",
        "|ls",
    ),
    *(
        "file:///etc/passwd",
        "file://localhost/etc/passwd",
        "file:../secret.txt",
        "http://127.0.0.1/x",
    ),
    *(
        "zip://../secret.txt",
        "data:text/plain,x",
        "\\\\?\\GLOBALROOT\\x",
        "-rf",
        "--help",
        "-",
        "@",
    ),
    *("{..,a}/secret.txt", "[.][.]/secret.txt", "*/secret.txt", "../*", "../s*", "?./secret.txt"),
)
