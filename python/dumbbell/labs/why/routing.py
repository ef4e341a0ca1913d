"""Routing daemons: those that do not run, and sessions that are not up."""

from __future__ import annotations

import json
from collections.abc import Iterator

from dumbbell.errors import RunFailed
from dumbbell.labs import daemons
from dumbbell.labs.why.case import Case
from dumbbell.labs.why.finding import Finding


def routing(case: Case) -> Iterator[Finding]:
    """Daemons of routers on the way that do not run; sessions of BGP, and neighbours of OSPF, that are not up."""
    own = daemons.routers(case.lab.path)
    for node in case.nodes:
        if node not in own:
            continue
        dead = [name for name in own[node] if not _runs(case, node, name)]
        for name in dead:
            yield Finding(f"{name} does not run in {node}", (f"daemon {node} {name} start",))
        if "zebra" in dead:
            continue
        if "bgpd" in own[node] and "bgpd" not in dead:
            yield from _sessions(case, node)


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
