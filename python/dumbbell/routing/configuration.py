"""From a network to the configuration of each of its routers."""

from __future__ import annotations

from collections.abc import Mapping

from dumbbell.frozen import dataclass
from dumbbell.routing.model import Network, Prefix, Router
from dumbbell.routing.registry import DAEMONS, GENERATED

STATIC = "staticd"


@dataclass(frozen=True)
class Configuration:
    """A router's daemons, and the text that configures them."""

    text: str
    """The whole `frr.conf`."""
    daemons: tuple[str, ...]
    """All but zebra, in the order in which they are started."""
    expect: tuple[Prefix, ...]
    """The prefixes in its kernel's table besides its own subnets once routing has converged, in order."""


def configurations(network: Network) -> dict[str, Configuration]:
    """Name of a router -> its configuration, for routers that have a protocol or a text of the user's own."""
    expected: dict[str, set[Prefix]] = {}
    for name, protocol in GENERATED.items():
        if any(router.speaks(name) for router in network.routers):
            for router, prefixes in protocol.learned(network).items():
                expected.setdefault(router, set()).update(prefixes)
    with_daemons = [router for router in network.routers if router.protocols or router.own]
    return {one.name: _configuration(one, network, expected.get(one.name, set())) for one in with_daemons}


def _configuration(router: Router, network: Network, expected: set[Prefix]) -> Configuration:
    daemons = tuple(DAEMONS[name] for name in DAEMONS if router.speaks(name))
    if router.own is not None:
        # A text may hold static routes, and FRR's own service always has their daemon, too.
        return Configuration(router.own.text, (STATIC, *daemons), ())
    lines = ["frr defaults traditional", f"hostname {router.name}", "service integrated-vtysh-config"]
    for name, protocol in GENERATED.items():
        if router.speaks(name):
            lines += ["!", *protocol.configure(router, network)]
    return Configuration("\n".join(lines) + "\n", daemons, _ordered(expected))


def _ordered(prefixes: set[Prefix]) -> tuple[Prefix, ...]:
    return tuple(sorted(prefixes, key=lambda prefix: (prefix.version, prefix.network_address.packed, prefix.prefixlen)))


def sections(configurations: Mapping[str, Configuration]) -> str:
    """The configurations one after another, each under its router's name, for people."""
    return "\n".join(f"{name}:\n{one.text}" for name, one in configurations.items())
