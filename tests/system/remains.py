"""The traces of a run on the machine, and the traces that are left later."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
from harness import Live

_NAMESPACE = re.compile(r"[a-z]+:\[\d+\]")


class Footprint:
    """Processes and namespaces of one run, noted while it is going on.

    Other programs of the machine make namespaces too, so those of the run are noted by their inodes instead of counting
    all. A namespace without processes may live on in the kernel, held by a socket that is still closing, where nothing
    in /proc shows it. But a veth pair lives exactly as long as the namespaces of both its ends: we hold the core's
    open, and when its links are gone, all hosts are gone, too.
    """

    def __init__(self, live: Live) -> None:
        self.parts = [psutil.Process(live.process.pid), *psutil.Process(live.process.pid).children(recursive=True)]
        links = {link for part in self.parts for link in namespaces(part.pid)}
        self.namespaces = links - namespaces(os.getpid())
        init = live.part("db-init").pid
        self._core = os.open(f"/proc/{init}/ns/net", os.O_RDONLY)
        self._user = os.open(f"/proc/{init}/ns/user", os.O_RDONLY)

    def remains(self) -> list[str]:
        """Each thing of the run that is still there; the core's network namespace, which we hold, aside."""
        left = [f"process {name}" for name in map(_running, self.parts) if name]
        left += [f"link {name}" for name in self._links()]
        ours = {os.getpid()}
        for pid in (pid for pid in psutil.pids() if pid not in ours):
            left += [f"namespace {link} of process {pid}" for link in namespaces(pid) & self.namespaces]
        return left

    def _links(self) -> list[str]:
        enter = ["nsenter", f"--net=/proc/self/fd/{self._core}"]
        if os.geteuid() != 0:
            enter += [f"--user=/proc/self/fd/{self._user}", "--preserve-credentials"]
        shown = subprocess.run(
            [*enter, "ip", "-oneline", "link"],
            pass_fds=(self._core, self._user),
            capture_output=True,
            text=True,
            check=True,
        )
        names = [line.split(": ")[1] for line in shown.stdout.splitlines()]
        return [name for name in names if "@" in name]

    def close(self) -> None:
        """Let go of the core."""
        os.close(self._core)
        os.close(self._user)


@contextmanager
def footprint(live: Live) -> Iterator[Footprint]:
    """The run's footprint."""
    found = Footprint(live)
    try:
        yield found
    finally:
        found.close()


def outside() -> dict[str, str]:
    """The machine's state outside of labs: mounts, interfaces, named namespaces."""
    ip = {what: subprocess.check_output(["ip", "-oneline", *what.split()], text=True) for what in ("link", "netns")}
    return {"mounts": Path("/proc/self/mountinfo").read_text(), **ip}


def lives(process: psutil.Process) -> bool:
    """Whether a process is not over, even while we look."""
    with suppress(psutil.NoSuchProcess):
        # A process that nobody waited for yet is a line in a table, nothing more.
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def _running(process: psutil.Process) -> str | None:
    """A process's number and name; none if it is over."""
    with suppress(psutil.NoSuchProcess):
        return f"{process.pid} {process.name()}" if lives(process) else None
    return None


def namespaces(pid: int) -> set[str]:
    """Namespaces that a process is in or holds a descriptor of."""
    found = set()
    for folder in ("ns", "fd"):
        # Processes end while we look, and the user may not look at others' processes.
        with suppress(OSError):
            for entry in os.scandir(f"/proc/{pid}/{folder}"):
                with suppress(OSError):
                    found.add(os.readlink(entry.path))
    return {link for link in found if _NAMESPACE.fullmatch(link)}
