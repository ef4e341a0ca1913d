"""The real command in a new directory, as root or as an ordinary user."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from proof import not_proven

import dumbbell
from dumbbell.analysis.rules import timing
from dumbbell.engines.realm import bridges

ORDINARY = 54321
"""Nobody's id: an ordinary user needs no entry in /etc/passwd, and none is left behind."""

TIMING = {rule.name for rule in timing.RULES}
"""The checks that a busy machine can fail."""

# The checkout and the interpreter may lie where only root can go. The user gets a view of them at another place, in a
# mount namespace that ends with the command. Each step replaces the process: the command keeps the first one's pid.
_VIEW = """
view=$1 user=$5 && mount --bind "$2" "$view/package" && mount --bind "$3" "$view/site" &&
mount --bind "$4" "$view/python" && shift 5 && exec setpriv --reuid="$user" --regid="$user" --clear-groups "$@"
"""


@dataclass(frozen=True)
class Place:
    """A user's working directory, and the command in it."""

    directory: Path
    becomes_ordinary: bool
    uid: int = ORDINARY
    """The ordinary user's."""

    def command(self, *args: str) -> list[str]:
        """The words that run `dumbbell ARGS` as this user."""
        return self.python("-m", "dumbbell", *args)

    def python(self, *args: str) -> list[str]:
        """The words that run `python ARGS` as this user, with this checkout."""
        if not self.becomes_ordinary:
            return [sys.executable, *args]
        view = self.directory / ".view"
        package, site = Path(dumbbell.__file__).parents[1], sysconfig.get_path("purelib")
        python = view / "python" / "bin" / Path(sys.executable).resolve().name
        for name in ("package", "site", "python"):
            (view / name).mkdir(parents=True, exist_ok=True)
        environment = ["env", f"PYTHONPATH={view}/package:{view}/site", f"HOME={self.directory}"]
        sources = [str(view), str(package), site, sys.base_prefix, str(self.uid)]
        run = [*environment, str(python), *args]
        return ["unshare", "--mount", "sh", "-c", _VIEW, "sh", *sources, *run]

    def write(self, text: str) -> str:
        """Write a scenario file; its name."""
        (self.directory / "scenario.toml").write_text(text, encoding="utf-8")
        return "./scenario.toml"

    def invoke(self, *args: str, timeout_s: float = 180) -> subprocess.CompletedProcess[str]:
        """Run `dumbbell ARGS` to its end."""
        return subprocess.run(
            self.command(*args), cwd=self.directory, capture_output=True, text=True, timeout=timeout_s, check=False
        )

    def run(self, scenario: str, *args: str) -> dumbbell.Run:
        """Run a scenario's text. The verdict is not looked at: the machine may be loaded."""
        done = self.invoke("run", self.write(scenario), "--quiet", *args)
        assert done.returncode in (0, 3), done.stderr
        return dumbbell.open(self.directory / done.stdout.splitlines()[-1].removesuffix("/report.html"))

    def measure(self, scenario: str, *args: str) -> dumbbell.Run:
        """Run a scenario whose figures the clock decides. A run that the machine was too busy for proves nothing."""
        run = self.run(scenario, *args)
        if reason := too_busy(run):
            not_proven(reason)
        return run

    @contextmanager
    def running(self, scenario: str, *args: str, stage: str = "running") -> Iterator[Live]:
        """A command whose traffic has begun. It is ended, at the latest, with the context."""
        with self.starting(scenario, *args) as live:
            said = f"\n{stage}\n"
            until(lambda: said in live.output() or live.process.poll() is not None, 120, "the traffic's begin")
            assert live.process.poll() is None, live.output()
            yield live

    @contextmanager
    def starting(self, scenario: str, *args: str) -> Iterator[Live]:
        """A command that has just been started. It is ended, at the latest, with the context."""
        output = self.directory / "output"
        with output.open("wb") as file:
            process = subprocess.Popen(
                self.command("run", self.write(scenario), *args), cwd=self.directory, stdout=file, stderr=file
            )
        live = Live(process, output, self.directory / "runs")
        try:
            yield live
        finally:
            process.kill()
            process.wait()

    def runs(self) -> list[str]:
        """Names of the directories below `runs`, hidden ones included."""
        return sorted(path.name for path in (self.directory / "runs").iterdir() if path.is_dir())


@dataclass(frozen=True)
class Live:
    """A running command."""

    process: subprocess.Popen[bytes]
    _output: Path
    runs: Path

    def output(self) -> str:
        """The output so far, stderr included."""
        return self._output.read_text(encoding="utf-8")

    def part(self, name: str) -> psutil.Process:
        """One of the run's processes: command, helper, db-init, db-emulator, db-traffic or db-probe."""
        command = psutil.Process(self.process.pid)
        if name == "command":
            return command
        if name == "helper":
            (helper,) = command.children()
            return helper
        (found,) = [child for child in command.children(recursive=True) if child.name() == name]
        return found

    def pause(self, name: str, seconds: float) -> None:
        """Stop a process for a while."""
        process = self.part(name)
        process.send_signal(signal.SIGSTOP)
        try:
            time.sleep(seconds)
        finally:
            process.send_signal(signal.SIGCONT)

    def end(self, timeout_s: float = 60) -> int:
        """Wait for its end; the exit code."""
        return self.process.wait(timeout_s)

    def result(self) -> dumbbell.Run:
        """Wait for its end, and open its run."""
        assert self.end() in (0, 3), self.output()
        # Earlier ones of the same plan have a number behind a dot.
        (run,) = [path for path in self.runs.iterdir() if path.is_dir() and "." not in path.name]
        return dumbbell.open(run)


@contextmanager
def place(ordinary: bool, uid: int = ORDINARY) -> Iterator[Place]:
    """A fresh working directory; gone with the context."""
    # Only pytest's user can enter pytest's own directory.
    directory = Path(tempfile.mkdtemp(prefix="dumbbell-system-"))
    becomes_ordinary = ordinary and os.geteuid() == 0
    if becomes_ordinary:
        os.chown(directory, uid, uid)
    try:
        yield Place(directory, becomes_ordinary, uid)
    finally:
        shutil.rmtree(directory)


def knows_vlans() -> bool:
    """Whether bridges of this machine's kernel know VLANs."""
    return bridges.FILTERS in bridges.SYMBOLS.read_text(encoding="utf-8", errors="replace")


def runtime_of(user: Place) -> Path:
    """A runtime directory for `XDG_RUNTIME_DIR`: the user's labs are apart from all others."""
    path = user.directory / "runtime"
    path.mkdir(mode=0o700)
    if user.becomes_ordinary:
        os.chown(path, user.uid, user.uid)
    return path


@contextmanager
def place_of(who: str) -> Iterator[Place]:
    """A fresh working directory of `root` or of an `ordinary` user."""
    if who == "root" and os.geteuid() != 0:
        pytest.skip("only root can run this as root; the case of an ordinary user runs")
    with place(ordinary=who == "ordinary") as fresh:
        yield fresh


def inside(pid: int) -> list[str]:
    """The words before a command that is to run in the network namespace of process `pid`."""
    enter = ["nsenter", f"--target={pid}", "--net"]
    return enter if os.geteuid() == 0 else [*enter, "--user", "--preserve-credentials"]


def until(condition: Callable[[], bool], seconds: float, what: str) -> None:
    """Wait for `condition`, in vain after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.02)


def assert_enough(run: dumbbell.Run, enough: bool, happened: object) -> None:
    """Asserts that enough happened in a run for its exact checks to mean something, which come before this.

    Where the machine was too busy for the run, that is not proven instead: the clock decides how much happens.

    Args:
        run: Run in real time.
        enough: False if too little happened.
        happened: What the failure prints.
    """
    if not enough and (reason := too_busy(run)):
        not_proven(f"{happened}: {reason}")
    assert enough, happened


def too_busy(run: dumbbell.Run) -> str:
    """Returns why a run is invalid if only checks of timing say so, and nothing otherwise."""
    reasons = [reason for reason in run.summary["reasons"] if reason["verdict"] == "invalid"]
    if not {reason["check"] for reason in reasons} <= TIMING:
        return ""
    return "; ".join(f"{reason['check']}: {reason['measured']}" for reason in reasons)
