"""The owner of a lab: the process that started it, and with which it ends."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Final, NoReturn, Self, TypedDict

from dumbbell import outputs
from dumbbell.engines.events import Event
from dumbbell.engines.orders import Stop
from dumbbell.engines.realm import algorithms
from dumbbell.engines.realm.machine import HELPER
from dumbbell.engines.realm.process import Helper, Ordered, Silent, Wake
from dumbbell.errors import DumbbellError, InputError, Problem, RunFailed, remedy, unwritable
from dumbbell.labs import down, place, services
from dumbbell.labs.agent import listen
from dumbbell.labs.build import LabScenario, plan_of
from dumbbell.labs.outside import check_agreed
from dumbbell.plan import wire
from dumbbell.plan.types import Plan
from dumbbell.scenario.file import writing

_STARTING_S: Final = 120.0
"""Time without an event while the lab is built."""


class Owner:
    """A lab that this process owns. Leaving the context ends it."""

    def __init__(self, scenario: LabScenario, name: str | None = None, agree: bool = False) -> None:
        """A lab that is not up yet, called as its scenario if it gets no `name`.

        Args:
            scenario: of the lab.
            name: of the lab.
            agree: true if the user agrees that it reaches this machine's network, if it does.

        Raises:
            InputError: the scenario or this machine does not allow it, or the user has not agreed.
        """
        self._scenario, self._name = scenario, name or scenario.name
        self._plan, self.planned = plan_of(scenario)
        check_agreed(scenario, agree)
        self._ended = threading.Event()
        self._failure: RunFailed | None = None
        self._turn = threading.Lock()
        self._lock = -1
        self._at_end: Callable[[], None] | None = None

    @property
    def name(self) -> str:
        """The lab's name."""
        return self._name

    @property
    def plan(self) -> Plan:
        """The lab's plan."""
        return self._plan

    def __enter__(self) -> Self:
        """Build it, and wait until it is up.

        Raises:
            InputError: a lab of this name is up.
            RunFailed: it cannot be built.
        """
        try:
            self._start()
        except OSError as error:
            raise _unstarted(self._name, error) from error
        return self

    def _start(self) -> None:
        with ExitStack() as stack:
            self.path, self._lock = place.begin(self._name)
            stack.callback(self._leave)
            try:
                self._write()
            except OSError as error:
                raise unwritable(self.path, error, hint="set XDG_RUNTIME_DIR to a folder with room") from error
            algorithms.prepare(self._plan, self.path)
            with listen(self.path) as socket:
                command = [*HELPER, f"--stay={socket.fileno()}", str(self.path)]
                stderr = self.path / "logs" / "helper.stderr"
                self._helper = stack.enter_context(Helper(command, stderr, self._lock, socket.fileno()))
            self._wake = stack.enter_context(Wake())
            self._await_start()
            self._reader = threading.Thread(target=self._read, name="dumbbell-lab", daemon=True)
            self._reader.start()
            stack.callback(self._stop)
            stack.enter_context(services.started(self.path, self.planned.programs))
            self._stack = stack.pop_all()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it, and remove its directory."""
        self._stack.__exit__(kind, error, trace)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for its end. True if it has ended.

        Raises:
            RunFailed: it did not end because somebody asked it to.
        """
        ended = self._ended.wait(seconds)
        if ended and self._failure is not None:
            raise self._failure
        return ended

    @contextmanager
    def until_end(self, call: Callable[[], None]) -> Iterator[None]:
        """Within, `call` is called by another thread once the lab has ended; not after leaving."""
        with self._turn:
            self._at_end = call
            ended = self._ended.is_set()
        try:
            if ended:
                call()
            yield
        finally:
            with self._turn:
                self._at_end = None

    def _leave(self) -> None:
        """Remove its directory, and free its name. At the end of the lab, so that nobody waits for its owner."""
        with self._turn:
            lock, self._lock = self._lock, -1
        if lock >= 0:
            os.close(lock)
            place.end(self.path)

    def _write(self) -> None:
        outputs.write(self.path / "plan.json", wire.text(self._plan))
        # Some of it is not in the lab's plan: flows and events.
        outputs.write(self.path / "planned.json", wire.text(self.planned))
        writing.write(self._scenario, self.path)

    def _await_start(self) -> None:
        build_ms = 0.0
        while True:
            try:
                event = self._helper.next_event(self._wake, _STARTING_S)
            except Silent:
                why = f"it has said nothing for {_STARTING_S:.0f} s"
                raise RunFailed("the lab does not start", why, "`dumbbell doctor` tests what a lab needs") from None
            if event is None or event["event"] == "end":
                hint = "`dumbbell doctor` tests everything that the lab needs"
                raise RunFailed("the lab ended while it was built", self._helper.ending(), hint)
            if event["event"] == "failed":
                raise _failed(event)
            if event["event"] == "lab":
                build_ms = event["build_ms"]
            if event["event"] == "started":
                facts = {
                    "name": self._name,
                    "scenario": self._scenario.source.name,
                    "file": str(self._scenario.source.folder.absolute() / Path(self._scenario.source.name).name),
                    "owner": os.getpid(),
                    "started": datetime.now(UTC).isoformat(timespec="seconds"),
                    "origin_ns": event["origin_ns"],
                    "build_ms": build_ms,
                }
                outputs.write(self.path / "owned.json", json.dumps(facts))
                return

    def _read(self) -> None:
        """Take events, so that the lab never waits for us; note a failure."""
        failure, ended = None, False
        try:
            while not ended:
                with suppress(Silent):
                    event = self._helper.next_event(self._wake, 3600.0)
                    ended = event is None or event["event"] == "end"
                    if event is None and failure is None:
                        failure = RunFailed("the lab was killed", self._helper.last_words())
                    if event is not None and event["event"] == "failed":
                        failure = failure or _failed(event)
        except (Ordered, DumbbellError, OSError, ValueError):
            pass  # We have closed it.
        self._failure = failure
        self._leave()
        with self._turn:
            self._ended.set()
            if self._at_end is not None:
                self._at_end()

    def _stop(self) -> None:
        if not self._ended.is_set():
            down.keep_record(self.path)
            self._helper.order(Stop())
            if not self._ended.wait(down.PATIENCE_S):
                self._wake.up()
        self._reader.join()


def _unstarted(name: str, error: OSError) -> RunFailed:
    why = f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error)
    hint = remedy(why) or "`dumbbell doctor` tests what a lab needs"
    return RunFailed(f"cannot start the lab {name}", why, hint)


def _failed(event: Event) -> RunFailed:
    return RunFailed(event["what"], event["why"], event["hint"])


def detached(scenario: LabScenario, name: str | None, agree: bool = False) -> Path:
    """Start a lab whose owner is a process of its own, which goes on. Returns the lab's directory once it is up.

    Raises:
        DumbbellError: as `Owner`.
    """
    owner = Owner(scenario, name, agree)
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        ready, say = os.pipe()
        child = os.fork()
    except OSError as error:
        raise _unstarted(owner.name, error) from error
    if child == 0:
        os.close(ready)
        _own(owner, say)
    os.close(say)
    with open(ready, encoding="utf-8") as file:
        said: _OwnerMessage = json.loads(file.read() or "{}")
    if "path" in said:
        return Path(said["path"])
    if "what" not in said:
        raise RunFailed(f"the owner of the lab {owner.name} was killed", "it said nothing", "start the lab again")
    raise (InputError if said["input"] else RunFailed)(said["what"], said["why"], said["hint"])


class _OwnerMessage(TypedDict, total=False):
    """The one message of a lab's owner: where the lab is, or why it is not up."""

    path: str
    what: str
    why: str
    hint: str
    input: bool
    """True for an error of the input."""


def _own(owner: Owner, say: int) -> NoReturn:
    """Own a lab until somebody ends it. The process ends with it."""
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    try:
        with owner:
            os.write(say, json.dumps({"path": str(owner.path)}).encode())
            os.close(say)
            say = -1
            while not owner.wait(0.2) and not ended.is_set():
                pass
    except Exception as error:
        if say >= 0:
            known = error if isinstance(error, DumbbellError) else RunFailed(f"{type(error).__name__}: {error}")
            first: Problem = known.problems[0]
            said = {"what": first.what, "why": first.why, "hint": first.hint, "input": isinstance(error, InputError)}
            os.write(say, json.dumps(said).encode())
    finally:
        os._exit(0)
