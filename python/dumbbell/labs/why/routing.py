"""Routing daemons: those that do not run, and sessions that are not up."""

from __future__ import annotations

import json
from collections.abc import Iterator

from dumbbell.errors import RunFailed
from dumbbell.labs import daemons
from dumbbell.labs.why.case import Case
from dumbbell.labs.why.finding import Finding


def dead(case: Case) -> Iterator[Finding]:
    """Daemons of routers on the way that do not run. Others forget their routes with zebra, and are started again."""
    for node, own in _daemons(case):
        for name in own:
            if _runs(case, node, name):
                continue
            mends = [f"daemon {node} {name} start"]
            if name == "zebra":
                mends += [f"daemon {node} {one} {do}" for one in own if one != name for do in ("stop", "start")]
            yield Finding(f"{name} does not run in {node}", tuple(mends))


def sessions(case: Case) -> Iterator[Finding]:
    """Sessions of BGP of routers on the way that are not up."""
    for node, own in _daemons(case):
        if "bgpd" in own:
            yield from _sessions(case, node)


def _daemons(case: Case) -> list[tuple[str, list[str]]]:
    known = daemons.routers(case.lab.path)
    return [(node, known[node]) for node in case.nodes if node in known]


def _runs(case: Case, node: str, name: str) -> bool:
    return case.lab[node].run(["vtysh", "-d", name, "-c", "show version"]).returncode == 0


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
