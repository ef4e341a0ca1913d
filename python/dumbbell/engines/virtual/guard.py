"""The process outside a kernel.

    python -P -m dumbbell.engines.virtual.guard [OPTION]... --kernel FILE --init FILE DIR
    python -P -m dumbbell.engines.virtual.guard [OPTION]... --kernel FILE --init FILE --qemu FILE --snapshot FILE DIR

To the command it is the helper of a run: orders come on its standard input, events go to its standard output; see
`engines.realm.process`. It confines the kernel, passes orders and events on, and ends the kernel if that stands still.
It imports nothing but the standard library, and has one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from dumbbell import outputs
from dumbbell.engines.virtual import confine, slot
from dumbbell.engines.virtual.guest import Guest, NotStarted, PlanRead, UserMode
from dumbbell.engines.virtual.inside import EVENTS, STDERR
from dumbbell.engines.virtual.log import Log
from dumbbell.engines.virtual.machine import Boot, start
from dumbbell.engines.virtual.standstill import SPIN_S, Standstill, Watch

LOOK_MS: Final = 20
"""Time between two looks for events, which come in a file."""
LOG: Final = Path("logs", "kernel.log")
READS: Final = 64
"""Parts of the kernel's log that are read in one go."""
QUOTED_LINES: Final = 8
_USUAL: Final = ("check_one_sigio failed, errno = 13", "Couldn't determine size of device's file")
"""Ends of lines that a kernel writes each time it starts: it asks for devices that it may not have."""
ROOM: Final = 64 << 20
"""Room in the tmpfs besides the kernel's memory, in bytes."""


class Guard:
    """Carries one run out."""

    def __init__(
        self,
        directory: Path,
        release: str,
        guest: Callable[[PlanRead], Guest],
        spin_s: float,
    ) -> None:
        self._directory, self._release, self._spin_s = directory, release, spin_s
        self._plan = json.loads((directory / "plan.json").read_text(encoding="utf-8"))
        self._guest = guest(self._plan)
        self._offset, self._over, self._failed = 0, False, False
        self._orders = b""
        self._held: list[bytes] = []
        self._memory_bytes = 0

    def run(self) -> int:
        """Carry it out; the exit code."""
        began = time.monotonic()
        cpu, claim = slot.take()
        self._log = Log(self._directory / LOG)
        (self._directory / EVENTS).touch()
        confine.enter(self._directory, self._guest.memory_bytes + ROOM)
        named, self._directory = self._directory, Path(confine.RUN)
        self._guest.prepare(named)
        orders, self._control = os.pipe()
        self._said, says = self._guest.log()
        with claim:
            self._first = start(self._guest.boot, orders, says, [claim.fileno(), *self._guest.keep])
            os.close(orders)
            os.close(says)
            os.set_blocking(self._said, False)
            self._begin()
            code = self._watch()
        self._note_said()
        self._log.end()
        self._relay()
        told = self._finish()
        wall_s = time.monotonic() - began
        if not (self._over or self._failed):
            self.fail(*self._cause(code))
        self._account(wall_s, cpu, told)
        # Only now are all files as they stay.
        tell({"event": "end"})
        return int(self._failed)

    def _finish(self) -> Mapping[str, object]:
        """Facts about the kernel. Without its records the run has failed."""
        try:
            return self._guest.finish()
        except OSError as error:
            why = "\n".join([str(error), *_last_lines(self._directory / LOG)])
            self.fail("the run has no records", why, "if the disk is full, free space; run it again")
            return {}

    def _begin(self) -> None:
        """Let the run begin. If it cannot, the kernel is ended."""
        try:
            self._guest.started()
        except NotStarted as error:
            self._kill()
            self._note_said()
            self.fail(error.what, "\n".join([error.why, *_last_lines(self._directory / LOG)]), error.hint)

    def _watch(self) -> int:
        """Pass on events and orders until the kernel has ended; its exit code."""
        boot = self._guest.boot
        watch = Watch(
            self._first,
            self._spin_s,
            kernel=boot.program if isinstance(boot, Boot) else None,
            algorithms=self._plan.get("algorithms", ()),
        )
        self._stopping = watch.stopping
        poll = select.poll()
        poll.register(sys.stdin.fileno(), select.POLLIN)
        ends = os.pidfd_open(self._first)
        poll.register(ends, select.POLLIN)
        while True:
            ready = dict(poll.poll(LOOK_MS))
            self._note_said()
            if self._relay():
                watch.alive()
            if ends in ready:
                _, status = os.waitpid(self._first, 0)
                return os.waitstatus_to_exitcode(status)
            if sys.stdin.fileno() in ready and not self._obey():
                self._kill()
                sys.exit(1)
            self._note_memory()
            try:
                watch.look()
            except Standstill as found:
                self._kill()
                self.fail(found.what, found.why, found.hint)

    def _obey(self) -> bool:
        """Pass orders on; whether the run goes on."""
        data = os.read(sys.stdin.fileno(), 65536)
        *lines, self._orders = (self._orders + data).split(b"\n")
        for line in lines:
            order = json.loads(line)["order"]
            if order == "stop-now":
                return False
            if order == "stop":
                self._stopping()
            self._held.append(line + b"\n")
        self._hand_over()
        return bool(data)

    def _hand_over(self) -> None:
        """Hand orders to the kernel, once it has said something: what comes before is lost while it boots."""
        while self._held and self._offset:
            self._guest.order(self._held.pop(0), self._control)

    def _kill(self) -> None:
        os.kill(self._first, signal.SIGKILL)

    def _relay(self) -> bool:
        """Pass on the events that have come; whether there were any. The last one is for us."""
        data = self._guest.news(self._offset)
        data = data[: data.rfind(b"\n") + 1]
        self._offset += len(data)
        for line in data.splitlines(keepends=True):
            try:
                kind = json.loads(line)["event"]
            except (ValueError, LookupError, TypeError, RecursionError):
                self._refuse_event(line)
                break
            self._over = self._over or kind == "end"
            self._failed = self._failed or kind == "failed"
            if kind != "end":
                sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
        self._hand_over()
        return bool(data)

    def _refuse_event(self, line: bytes) -> None:
        """End a kernel, which may be a stranger's, that reports something else than dumbbell does in it."""
        with suppress(ProcessLookupError):
            self._kill()
        if not self._failed:
            hint = "take another kernel: dumbbell kernel list shows those that are there"
            self.fail("the kernel reports what is no event", repr(line[:80]), hint)

    def _note_said(self) -> None:
        """Write down what the kernel has said. One that goes on talking is heard again later: orders must not wait."""
        with suppress(BlockingIOError):
            for _ in range(READS):
                if not (data := os.read(self._said, 65536)):
                    break
                self._log.write(data)

    def _note_memory(self) -> None:
        """A kernel gives back no memory, so what it takes now is the most so far."""
        there = os.statvfs(confine.PLACE)
        self._memory_bytes = max(self._memory_bytes, (there.f_blocks - there.f_bfree) * there.f_frsize)

    def _cause(self, code: int) -> tuple[str, str, str]:
        """The error for a kernel that has ended before the run had: what, why, and a hint."""
        said = "\n".join(_last_lines(self._directory / LOG) + _last_lines(self._directory / STDERR))
        if code == 128 + signal.SIGBUS:
            return "the kernel ran out of memory", said, "free memory of this machine, or run fewer at a time"
        number = -code if code < 0 else code - 128
        how = f"killed by {signal.Signals(number).name}" if number > 0 else f"exit code {code}"
        panic = re.search(r"Kernel panic - not syncing: (.*)", said)
        what = f"the kernel panicked: {panic[1]}" if panic else "the kernel ended in mid-run"
        return what, "\n".join(filter(None, [how, said])), f"its log is {LOG} in the run's directory"

    def fail(self, what: str, why: str, hint: str) -> None:
        """Say that the run has failed."""
        self._failed = True
        tell_failure(what, why, hint)

    def _account(self, wall_s: float, cpu: int | None, account: Mapping[str, object]) -> None:
        """Add to `lab.json` what is seen from outside only."""
        file = self._directory / "lab.json"
        try:
            lab = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return  # It has not come so far.
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        emulate = self._plan["emulate"]
        lab["kernel"] = {
            "name": emulate.get("kernel"),
            "version": self._release,
            "sha256": emulate.get("kernel_sha256"),
            "wall_s": wall_s,
            "cpu_s": used.ru_utime + used.ru_stime,
            # The kernel's memory, and what else its process has.
            "memory_bytes": max(self._memory_bytes, used.ru_maxrss << 10),
            "cpu": cpu,
            **account,
        }
        outputs.write(file, json.dumps(lab, indent=2))


def tell(event: Mapping[str, object]) -> None:
    """Pass an event on."""
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


def tell_failure(what: str, why: str, hint: str) -> None:
    """Pass on that the run has failed."""
    tell({"event": "failed", "process": "kernel", "what": what, "why": why, "hint": hint})


def _last_lines(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    # The kernel's levels, `<6>`, tell nothing.
    lines = [line for line in text.splitlines() if not line.endswith(_USUAL)]
    lines = [line[3:] if line[:1] == "<" and line[2:3] == ">" else line for line in lines]
    lines = [line.rstrip() for line in lines if line.strip()]
    # The lines after a panic tell where in the kernel it was.
    panic = next((i for i, line in enumerate(lines) if "Kernel panic" in line), None)
    return lines[-QUOTED_LINES:] if panic is None else lines[panic : panic + QUOTED_LINES]


def main() -> int:
    """Carry out the run of the directory that is named on the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kernel", type=Path, required=True)
    parser.add_argument("--release", default="")
    parser.add_argument("--init", type=Path, required=True)
    parser.add_argument("--links", type=Path)
    parser.add_argument("--qemu", type=Path)
    parser.add_argument("--snapshot", type=Path)
    parser.add_argument("--take", action="append", default=["plan.json"])
    parser.add_argument("--spin-s", type=float, default=SPIN_S)
    parser.add_argument("--no-live", action="store_true")
    parser.add_argument("directory", type=Path)
    options = parser.parse_args()
    # A signal to everybody, as a service manager sends it, must not end the kernel before it has written its records.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    directory, kernel, init = (path.resolve() for path in (options.directory, options.kernel, options.init))

    def guest(plan: PlanRead) -> Guest:
        if options.qemu is not None:
            from dumbbell.engines.virtual.ready import Snapshot
            from dumbbell.kernels.ready import Machine

            return Snapshot(Machine(options.qemu, kernel, init, options.snapshot), options.take)
        return UserMode(kernel, init, options.links and options.links.resolve(), not options.no_live, plan)

    try:
        guard = Guard(directory, options.release, guest, options.spin_s)
    except NotStarted as error:
        tell_failure(error.what, error.why, error.hint)
        return 1
    try:
        return guard.run()
    except OSError as error:
        guard.fail(
            "this machine does not let a kernel be confined", str(error), "`dumbbell doctor` tells what it allows"
        )
        return 1


if __name__ == "__main__":
    sys.exit(main())
