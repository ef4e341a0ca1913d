"""FRRouting as this machine has it: its daemons, and its own check of a configuration."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from dumbbell.core import core
from dumbbell.errors import RunFailed
from dumbbell.frozen import dataclass

PACKAGE: Final = "install FRRouting: on Debian, sudo apt-get install frr; dumbbell needs none of its services"
_SHELL: Final = "vtysh"
_TIMEOUT_S: Final = 60.0
_SHOWN: Final = 80
"""Characters of a line that are shown."""
_SAID: Final = re.compile(r"^line (?P<line>\d+): (?P<said>.*)$")


@dataclass(frozen=True)
class Complaint:
    """FRR's complaint about a line of a configuration."""

    router: str
    line: int
    """From 1."""
    text: str
    """The line."""
    said: str


def lacking(daemons: tuple[str, ...]) -> list[str]:
    """The daemons, and the shell, that this machine lacks."""
    missing = [name for name in daemons if core.routing_daemon(name) is None]
    return [*missing, *([] if shutil.which(_SHELL) else [_SHELL])]


def version() -> str | None:
    """`FRRouting 8.4.4`, as this machine has it; `None` if it has none."""
    if (zebra := core.routing_daemon("zebra")) is None:
        return None
    done = subprocess.run([zebra, "--version"], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    return f"FRRouting {done.stdout.splitlines()[0].split()[-1]}" if done.stdout else None


def complaints(texts: Mapping[str, str]) -> list[Complaint]:
    """The lines that FRR does not understand, at most one for each router.

    Args:
        texts: router -> `frr.conf`.

    Raises:
        RunFailed: FRR's shell cannot be run.
    """
    # A check of all texts in one go takes a single process. FRR stops at the first line that it does not understand.
    found: list[Complaint] = []
    rest = dict(texts)
    while rest and (first := _first(rest)) is not None:
        found.append(first)
        del rest[first.router]
    return found


_CARRIED_OUT: Final = ("copy", "mtrace", "output", "ping", "ssh", "start-shell", "telnet", "traceroute", "write")
"""First words of lines that the shell carries out. Outside of all blocks `exit` leads to its prompt.

They may be abbreviated. No setting of a daemon begins with one."""
_LONGEST: Final = 2_000
"""Bytes of a line. FRR takes what is beyond 4,095 for the next one."""


def _is_no_setting(line: str) -> bool:
    """True if FRR's shell would carry out a line, or read it as another one, in place of checking it."""
    first = next(iter(line.split()), "")
    is_carried_out = first != "" and any(word.startswith(first) for word in _CARRIED_OUT)
    return is_carried_out or "\0" in line or len(line.encode()) > _LONGEST


def _first(texts: Mapping[str, str]) -> Complaint | None:
    lines = [(router, number, line) for router, text in texts.items() for number, line in _numbered(text)]
    for router, number, line in lines:
        if _is_no_setting(line):
            return Complaint(router, number, line.strip()[:_SHOWN], "it is no line of a configuration")
    with tempfile.TemporaryDirectory(prefix="dumbbell-frr-") as folder:
        # FRR looks for a file of its own beside the checked one, and may not read the machine's.
        Path(folder, "vtysh.conf").touch()
        file = Path(folder, "frr.conf")
        file.write_text("".join(f"{line}\n" for *_, line in lines), encoding="utf-8")
        command = [shutil.which(_SHELL) or _SHELL, "--config_dir", folder, "--dryrun", "--inputfile", str(file)]
        try:
            # The text may be a stranger's: the shell finds no program to start, and writes no file elsewhere.
            ok, said = core.run_helper(command, folder, {"PATH": folder}, confined=True)
        except OSError as error:
            raise RunFailed("cannot check the routers' configurations", str(error), PACKAGE) from error
    for line_said in said.splitlines():
        if (match := _SAID.match(line_said)) is not None:
            router, number, line = lines[int(match["line"]) - 1]
            return Complaint(router, number, line.strip(), match["said"].removeprefix("% ").strip())
    if not ok:
        raise RunFailed("cannot check the routers' configurations", said.strip(), PACKAGE)
    return None


def _numbered(text: str) -> list[tuple[int, str]]:
    # A text may end inside a block: the next one begins outside.
    return [*enumerate(text.splitlines(), 1), (len(text.splitlines()), "end")]
