"""The protocols by name: those whose configurations are generated, and those that run with the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dumbbell.routing.protocol import Protocol
from dumbbell.routing.protocols.bfd import Bfd
from dumbbell.routing.protocols.bgp import Bgp
from dumbbell.routing.protocols.isis import Isis
from dumbbell.routing.protocols.ospf import Ospf, Ospf6
from dumbbell.routing.protocols.rip import Rip, RipNg

GENERATED: Final[Mapping[str, Protocol]] = {
    one.name: one for one in (Bfd(), Ospf(), Ospf6(), Isis(), Rip(), RipNg(), Bgp())
}
"""Name -> protocol, in the order in which they stand in a configuration."""

_OWN_ONLY: Final[Mapping[str, str]] = {
    "babel": "babeld",
    "eigrp": "eigrpd",
    "ldp": "ldpd",
    "nhrp": "nhrpd",
    "path": "pathd",
    "pbr": "pbrd",
    "pim": "pimd",
    "pim6": "pim6d",
    "vrrp": "vrrpd",
}

DAEMONS: Final[Mapping[str, str]] = {**{name: one.daemon for name, one in GENERATED.items()}, **_OWN_ONLY}
"""Name of a protocol -> its daemon. Those that are not in `GENERATED` need a configuration of the user's own."""
