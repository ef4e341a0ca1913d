"""Routing daemons of a lab that are killed and started."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from dumbbell import outputs
from dumbbell.errors import InputError, RunFailed
from dumbbell.frozen import dataclass
from dumbbell.labs.agent import ask

FILE: Final = "daemons.jsonl"


@dataclass(frozen=True)
class DaemonChange:
    """A daemon was killed or started."""

    time_ns: int
    """Since the lab's start."""
    router: str
    daemon: str
    up: bool
    """True if the daemon was started, false if it was killed."""


def changes(lab: Path) -> list[DaemonChange]:
    """All changes so far, in order of time."""
    try:
        lines = (lab / FILE).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    return [DaemonChange(**json.loads(line)) for line in lines]


def routers(lab: Path) -> dict[str, list[str]]:
    """The daemons of each router that has some."""
    plan = json.loads((lab / "plan.json").read_text(encoding="utf-8"))
    return {node["name"]: ["zebra", *node["routing"]["daemons"]] for node in plan["nodes"] if node.get("routing")}


def states(lab: Path) -> dict[str, dict[str, bool]]:
    """Router -> daemon -> whether it runs, of routers with daemons."""
    found = {router: dict.fromkeys(own, True) for router, own in routers(lab).items()}
    for change in changes(lab):
        found[change.router][change.daemon] = change.up
    return found


def change(lab: Path, router: str, daemon: str, up: bool) -> None:
    """Kill a daemon, as a crash does, or start it with its configuration.

    Raises:
        InputError: there is no such daemon.
        RunFailed: the lab has ended, or refuses it: the daemon is already so.
    """
    known = states(lab)
    if daemon not in known.get(router, ()):
        have = [f"{name}: {', '.join(own)}" for name, own in known.items() if name == router or router not in known]
        why = "; ".join(have) or "no router of this lab has any"
        raise InputError(f"router {router} has no daemon {daemon}", why, "daemon r1 bgpd stop, for example")
    told = ask(lab, {"do": "change-daemon", "router": router, "daemon": daemon, "up": up})["event"]
    if told["event"] != "daemon-changed":
        raise RunFailed(told["what"], told["why"], told["hint"])
    made = DaemonChange(told["at_ns"], router, daemon, up)
    if known[router][daemon] == up:  # It had died by itself, and nobody knows when.
        return
    outputs.append(lab / FILE, json.dumps(made.__dict__) + "\n")
