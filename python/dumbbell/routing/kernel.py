"""The parts of a kernel that some routing daemons cannot do without, and that kernels may lack."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from dumbbell import machine
from dumbbell.command import command
from dumbbell.frozen import dataclass


@dataclass(frozen=True)
class Feature:
    """A part of the kernel."""

    name: str
    options: tuple[str, ...]
    """The symbols of Linux's configuration that bring it."""
    daemons: tuple[str, ...]
    """The daemons that need it."""
    shown_by: Path
    """A file that a kernel with this part has."""
    modules: tuple[str, ...] = ()
    """The modules that bring it to a kernel that has it as modules."""

    @property
    def build(self) -> str:
        """The command that builds a kernel for runs in virtual time with it, called `own`."""
        settings = (word for one in self.options for word in ("--config", f"{one}=y"))
        return command("kernel", "build", *settings, "--name", "own")

    @property
    def fix(self) -> str:
        """The way to it from this machine's kernel."""
        if self.modules and all(machine.has_module(one) for one in self.modules):
            return f"sudo modprobe -a {' '.join(self.modules)}"
        return f"{self.build}; then --engine virtual --kernel own"


FEATURES: Final = (
    Feature("multicast routing", ("IP_MROUTE", "IP_PIMSM_V2"), ("pimd",), Path("/proc/net/ip_mr_vif")),
    Feature("IPv6 multicast routing", ("IPV6_MROUTE", "IPV6_PIMSM_V2"), ("pim6d",), Path("/proc/net/ip6_mr_vif")),
    Feature(
        "MPLS",
        ("MPLS", "MPLS_ROUTING", "LWTUNNEL", "MPLS_IPTUNNEL"),
        ("ldpd", "pathd"),
        Path("/proc/sys/net/mpls"),
        ("mpls_router", "mpls_iptunnel"),
    ),
)
"""All of them. Linux's defaults have the others that daemons use."""


def needed(daemons: Iterable[str]) -> Iterator[tuple[str, Feature]]:
    """A router's daemons that need a part, each with it."""
    return ((daemon, one) for daemon in daemons for one in FEATURES if daemon in one.daemons)
