"""Routing daemons: those that do not run, sessions that are not up, and configurations that somebody has changed."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from dumbbell.counts import count
from dumbbell.errors import RunFailed
from dumbbell.labs import configurations, daemons, routers
from dumbbell.labs.configurations import Command
from dumbbell.labs.why.case import Case
from dumbbell.labs.why.finding import Finding

_SHOWN: Final = 3
"""Lines of a configuration that a reason names."""


def dead(case: Case) -> Iterator[Finding]:
    """Daemons of routers on the way that do not run. Others forget their routes with zebra, and are started again."""
    known = daemons.routers(case.lab.path)
    for node, names in case.dead.items():
        for name in names:
            mends = [f"daemon {node} {name} start"]
            if name == "zebra":
                others = [one for one in known[node] if one not in names]
                mends += [f"daemon {node} {one} {do}" for one in others for do in ("stop", "start")]
            yield Finding(f"{name} does not run in {node}", tuple(mends))


def sessions(case: Case) -> Iterator[Finding]:
    """Sessions of BGP of routers on the way that are not up."""
    known = daemons.routers(case.lab.path)
    for node, names in case.dead.items():
        if "bgpd" in known[node] and "bgpd" not in names:
            yield from _sessions(case, node)


def typed(case: Case) -> Iterator[Finding]:
    """Routers on the way whose running configuration is not that of the scenario: filters, areas, timers, neighbours.

    A router that was started without a configuration has none to be held to, nor has one without some of its daemons.
    """
    for node, names in case.dead.items():
        planned = case.network.planned[node]["routing"]["config"]
        text = None if names or not configurations.commands(planned) else configurations.running(case.lab.path, node)
        if text is None:
            continue
        added, lacking = routers.difference(text, planned)
        if added or lacking:
            said = [f"it {does} {_named(some)}" for does, some in (("has", added), ("lacks", lacking)) if some]
            mend = shlex.join(["vtysh", *_orders(["configure terminal", *_again(planned, added, lacking)])])
            yield Finding(f"{node}'s configuration is not the scenario's: {', and '.join(said)}", (f"{node} {mend}",))


def _orders(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield from ("-c", line)


def _named(commands: Sequence[Command]) -> str:
    """The first of some commands, without the blocks that they stand in if those are among them."""
    ends = list(routers.ends(commands))
    more = f", and {count(len(ends) - _SHOWN, 'more line')}" if len(ends) > _SHOWN else ""
    return ", ".join(f"`{' / '.join(one)}`" for one in ends[:_SHOWN]) + more


def _again(planned: str, added: Sequence[Command], lacking: Sequence[Command]) -> list[str]:
    """The lines that make a configuration the planned one. Without one command FRRouting may forget others of the same
    subject, such as those of a neighbour: all of these are given again."""
    subjects = {_subject(one) for one in lacking}
    return [
        *routers.undone(added),
        *routers.done([one for one in configurations.ordered(planned) if _subject(one) in subjects]),
    ]


def _subject(command: Command) -> tuple[str, ...]:
    """The outermost block of a command, and what the command begins with: `router bgp 1`, `neighbor 10.0.0.2`."""
    return command[0] if len(command) > 1 else "", *command[-1].removeprefix("no ").split()[:2]


def _sessions(case: Case, node: str) -> Iterator[Finding]:
    try:
        found = json.loads(case.lab[node].vtysh("show bgp summary json"))
    except (RunFailed, ValueError):
        return
    for family in ("ipv4Unicast", "ipv6Unicast"):
        known = found.get(family, {})
        for peer, state in known.get("peers", {}).items():
            if (":" in peer) == (case.ip == 6) and state.get("state") != "Established":
                said = f"{node}'s session of BGP with {peer} is not up: {state.get('state')}"
                orders = ("configure terminal", f"router bgp {known['as']}", f"no neighbor {peer} shutdown")
                mend = " ".join([node, "vtysh", *(f"-c '{order}'" for order in orders)])
                yield Finding(said, (mend,) if "Admin" in str(state.get("state")) else ())
