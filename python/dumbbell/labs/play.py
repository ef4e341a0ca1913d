"""A lab's scenario as it is written: its flows with their programs, and its events at their times."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.errors import DumbbellError, InputError
from dumbbell.labs import changes, daemons, traffic

if TYPE_CHECKING:
    from dumbbell.plan.types import Link, LinkChange


def play(lab: Path) -> list[traffic.FlowResult]:
    """Carry out the scenario's flows and events, whose times count from now, and wait for the end of both.

    An event sets its link to what the scenario says, whatever was changed before. Flows and events come up to some ten
    milliseconds late; in a run both are exact. Ctrl-C ends the flows, and no further event comes.

    Raises:
        InputError: the scenario has neither flows nor events.
        RunFailed: a flow or a change was refused, or the lab has ended.
    """
    flows, events = traffic.planned(lab), _events(lab)
    if not flows and not events:
        why = "it has neither [[flows]] nor [[events]]"
        raise InputError("the scenario has nothing to play", why, "add some, or start traffic: traffic h1 h2 cc=bbr")
    with _Events(events) as made:
        results = traffic.run_flows(lab, flows)
        made.wait()
    return results


def _events(lab: Path) -> list[tuple[int, Callable[[], object]]]:
    """The time of each event in ns, and what makes it, in order of time."""
    found: list[tuple[int, Callable[[], object]]] = [
        (at_ns, partial(changes.make, lab, link, keys)) for at_ns, link, keys in _of_links(lab)
    ]
    for one in traffic.plan(lab).get("daemon_events", ()):
        found.append((one["at_ns"], partial(_set, lab, one["router"], one["daemon"], one["up"])))
    return sorted(found, key=lambda pair: pair[0])


def _set(lab: Path, router: str, daemon: str, up: bool) -> None:
    """A daemon is killed or started, unless that was done before."""
    if daemons.states(lab)[router][daemon] != up:
        daemons.change(lab, router, daemon, up)


def _of_links(lab: Path) -> list[tuple[int, Link, dict[str, str]]]:
    """The time of each event in ns, its link from then on, and the keys that the scenario gives."""
    from dumbbell.labs.build import LabScenario
    from dumbbell.plan import wire
    from dumbbell.scenario.file.loading import checked, read
    from dumbbell.scenario.links.changes import timeline

    planned = [wire.change(event) for event in traffic.plan(lab)["events"]]
    if not planned:
        return []
    draft = read(lab / "scenario.toml")
    keys: dict[tuple[int, str], dict[str, str]] = {}
    for one in timeline(checked(draft, LabScenario).events, _end(planned)):
        written = draft.data["events"][one.index]
        if "down_for" in written:
            written = {"up": one.keys.up}
        found = {key: changes.as_text(value) for key, value in written.items() if key not in ("at", "link")}
        keys.setdefault((int(one.at), one.link), {}).update(found)
    return [
        (event.at_ns, event.link, keys.get((event.at_ns, event.link.name), _as_its_cable(event.link)))
        for event in planned
    ]


def _as_its_cable(link: Link) -> dict[str, str]:
    """The keys of a direction that goes down or up with the other one: a cable is pulled as a whole."""
    return {"up": str(link.up).lower(), **({} if link.up else {"carrier": link.carrier})}


def _end(planned: Sequence[LinkChange]) -> int:
    """A time after the last event, ns."""
    return max(event.at_ns for event in planned) + 1


class _Events:
    """A thread that makes changes at their times. Leaving the context ends it."""

    def __init__(self, events: list[tuple[int, Callable[[], object]]]) -> None:
        self._events = events
        self._stop = threading.Event()
        self._failure: DumbbellError | None = None
        self._thread = threading.Thread(target=self._make, name="dumbbell-play", daemon=True)

    def __enter__(self) -> _Events:
        self._begin_ns = time.monotonic_ns()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def wait(self) -> None:
        """Wait until the last one is made. Raises what hindered one."""
        while self._thread.is_alive():
            self._thread.join(0.1)  # Without a limit, Ctrl-C would wait, too.
        if self._failure is not None:
            raise self._failure

    def _make(self) -> None:
        try:
            for at_ns, make in self._events:
                left = self._begin_ns + at_ns - time.monotonic_ns()
                if self._stop.wait(max(0.0, left / 1e9)):
                    return
                make()
        except DumbbellError as error:
            self._failure = error
