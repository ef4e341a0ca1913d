"""Configurations of routing daemons that run while the lab's network becomes another.

A daemon gets the difference between what was planned before and what is planned now, as lines of FRRouting's shell.
What its user has typed stays.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from dumbbell.labs import daemons
from dumbbell.labs.configurations import Command, ordered, running
from dumbbell.labs.program import Program

_PATIENCE_S: Final = 30.0
"""Time within which daemons take what they are told."""
_LOOK_S: Final = 0.1
_SHOWN: Final = 3
"""Lines that a message names."""


def configure(lab: Path, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Wait for the daemons of new routers, and give those of others what they have to do now.

    Args:
        lab: the lab's directory.
        before: the plan of before.
        after: the plan of now.

    Returns:
        What FRRouting has refused.
    """
    known, states = _configurations(before), daemons.states(lab)
    refused: list[str] = []
    for router, text in _configurations(after).items():
        removed, added = difference(known.get(router, ""), text)
        said = ""
        if router in known:
            if not removed and not added:
                continue
            said = _tell(lab, router, [*undone(removed), *done(added)])
            if not all(states[router].values()):
                # A daemon that does not run reads its configuration when it is started.
                continue
        if wrong := _wrong(lab, router, removed, added):
            refused.append(f"{router}: FRRouting does not {'; '.join(wrong)}{said and f' ({said})'}")
    return refused


def own(topology: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Routers whose interfaces are others, and whose configuration is its user's own: it stays as it is, which is said.

    Args:
        topology: of the scenario, with its nodes one by one.
        before: the plan of before.
        after: the plan of now.
    """
    known, found = {node["name"]: node for node in before["nodes"]}, list[str]()
    for node in after["nodes"]:
        was = known.get(node["name"])
        if was is None or node["name"] not in with_own(topology):
            continue
        names = [{one["name"] for one in each.get("interfaces") or ()} for each in (was, node)]
        changes = [
            f"{', '.join(sorted(some))} {what}"
            for some, what in ((names[1] - names[0], "is new"), (names[0] - names[1], "is gone"))
            if some
        ]
        if changes:
            said = f"{' and '.join(changes)}; its configuration is yours, and stays as it is"
            found.append(f"{node['name']}: {said}: {node['name']} vtysh")
    return found


def with_own(topology: Mapping[str, Any]) -> set[str]:
    """Routers whose configuration does not follow from the network."""
    return {name for name, keys in topology.get("nodes", {}).items() if keys.get("frr") or keys.get("bare")}


def difference(before: str, after: str) -> tuple[list[Command], list[Command]]:
    """Returns the commands that the next configuration lacks, and those that it has besides, in their order."""
    old, new = ordered(before), ordered(after)
    return [one for one in old if one not in new], [one for one in new if one not in old]


def done(added: Sequence[Command]) -> list[str]:
    """Returns lines of a configuration with these commands."""
    return _lines([(blocks, line) for *blocks, line in added])


def undone(removed: Sequence[Command]) -> list[str]:
    """Returns lines that take commands back, those first that came last."""
    return _lines([(blocks, line.removeprefix("no ") if line.startswith("no ") else f"no {line}")
                   for *blocks, line in reversed(removed)])  # fmt: skip


def _lines(commands: Sequence[tuple[list[str], str]]) -> list[str]:
    lines: list[str] = []
    for blocks, some in groupby(commands, lambda one: one[0]):
        lines += [*blocks, *(line for _, line in some), *(["exit"] * len(blocks))]
    return lines


def _configurations(plan: Mapping[str, Any]) -> dict[str, str]:
    return {node["name"]: node["routing"]["config"] for node in plan["nodes"] if node.get("routing")}


def _tell(lab: Path, router: str, lines: Sequence[str]) -> str:
    """Returns the first complaint of FRRouting's shell."""
    typed = shlex.join(["printf", r"%s\n", *lines])
    with Program(lab, router, f"{typed} | vtysh -f /dev/stdin") as program:
        told = program.wait(_PATIENCE_S)
    return next((one.strip() for one in f"{told.stdout}{told.stderr}".splitlines() if "%" in one), "")


def _wrong(lab: Path, router: str, removed: Sequence[Command], added: Sequence[Command]) -> list[str]:
    """Returns what a router's running configuration still has or lacks after a while."""
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        text = running(lab, router)
        now = set(ordered(text or ""))
        wrong = [] if text is not None else ["answer"]
        wrong += [f"give up `{' / '.join(one)}`" for one in ends(removed) if one in now]
        wrong += [f"take `{' / '.join(one)}`" for one in ends(added) if one not in now]
        if not wrong or time.monotonic() > deadline:
            return wrong[:_SHOWN]
        time.sleep(_LOOK_S)


def ends(commands: Sequence[Command]) -> Iterator[Command]:
    """The commands that are no blocks of others: FRRouting shows a block as long as there is what it is about."""
    blocks = {one[:depth] for one in commands for depth in range(1, len(one))}
    return (one for one in commands if one not in blocks)
