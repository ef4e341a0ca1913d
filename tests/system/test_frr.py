"""FRR itself reads the configurations that are generated, and names the line of one that it does not understand."""

from __future__ import annotations

import os
from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from graphs import flow, graph, link
from stages import thorough_after

from dumbbell.engines.realm import routing
from dumbbell.kernels import Kernel
from dumbbell.plan.expand import expand
from dumbbell.plan.types import Plan
from dumbbell.routing import configurations, frr, kernel
from dumbbell.routing.model import Network
from dumbbell.routing.registry import GENERATED
from dumbbell.scenario.file.loading import load
from dumbbell.scenario.model import Scenario
from tests.unit.routed import bgp, network

LINKS = [("r1", "r2"), ("r2", "r3"), ("r1", "r3")]


def texts(of: Network) -> dict[str, str]:
    return {name: one.text for name, one in configurations(of).items()}


@pytest.mark.parametrize("timers", thorough_after(1, ["fast", "standard"]))
@pytest.mark.parametrize("protocol", [name for name in GENERATED if name not in ("bfd", "bgp")])
def test_interior_protocols(protocol: str, timers: str) -> None:
    keys = {name: {"protocols": ("bfd", protocol), "timers": timers} for name in ("r1", "r2", "r3")}
    made = texts(network(keys, LINKS, ["r1"], ipv6=True))
    assert len(made) == 3
    assert frr.complaints(made) == []


def test_bgp_with_policies_reflectors_and_ipv6() -> None:
    keys: dict[str, Any] = {
        "r1": bgp(64512, also=("ospf",), clients=frozenset({"r2"})),
        "r2": bgp(64512, also=("ospf", "bfd"), relations={"r3": "customer"}),
        "r3": bgp(4200000000, also=("bfd",), relations={"r2": "provider"}, networks=(ip_network("2001:db8::/48"),)),
    }
    assert frr.complaints(texts(network(keys, LINKS, ["r1", "r3"], ipv6=True))) == []


def test_the_line_that_is_wrong_is_named_in_each_text() -> None:
    found = frr.complaints(
        {
            "r1": "router bgp 100\n neighbor 10.0.0.2 remote-as 200\n",
            "r2": "router bgp 200\n neighbour 10.0.0.1 remote-as 100\n network 10.1.0.0/16\n",
            "r3": "interface eth0\n ip ospf area 0\nexit\nrouter ospf\n ospf router-id nonsense\n",
        }
    )
    assert [(one.router, one.line, one.text) for one in found] == [
        ("r2", 2, "neighbour 10.0.0.1 remote-as 100"),
        ("r3", 5, "ospf router-id nonsense"),
    ]
    assert all(one.said for one in found)


def test_a_block_is_left_where_the_text_leaves_it() -> None:
    """`mpls ldp` is a setting of OSPF, too, shortened: only `exit` says which one is meant."""
    blocks = "router ospf\n exit\nmpls ldp\n router-id 10.0.0.1\n address-family ipv4\n  interface eth0\n  exit\n"
    assert frr.complaints({"r1": f"{blocks}  interface eth1\n  exit\n exit-address-family\nexit\n"}) == []


LONG = "!" * 4095
HOSTILE = [
    "exit\nping 127.0.0.1", "ex\nping 127.0.0.1", " quit \nping 127.0.0.1", "q\ntraceroute 127.0.0.1",
    "exit\nmtrace 10.0.0.1", "router bgp 1\nexit\nexit\nping 127.0.0.1", "end\nexit\nping 127.0.0.1",
    f"{LONG}exit\nping 127.0.0.1", "exit\0 here\nping 127.0.0.1", "\x0bexit\x0cping 127.0.0.1",
    "exit\r\nping 127.0.0.1", "exit\ncopy /etc/passwd running-config", "exit\nwrite file", "output file {out}",
    "outp fi {out}", "router bgp 1\n output file {out}", "exit\noutput file {out}", f"{LONG}output file {{out}}",
    "output\0\noutput file {out}", "exit\npi 127.0.0.1", "exit\ntr 127.0.0.1", "exit\nwr file", "exit\n\tmtr 10.0.0.1",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_a_check_starts_nothing_and_writes_nothing(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """FRR's shell carries out its own commands where it should only check them."""
    programs, marker, out = tmp_path / "bin", tmp_path / "started", tmp_path / "out"
    programs.mkdir()
    for name in ("ping", "traceroute", "mtracebis", "ssh", "sh"):
        (programs / name).write_text(f"#!/bin/bash\n: > {marker}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    (found,) = frr.complaints({"r1": "router bgp 100\n", "r2": text.replace("{out}", str(out))})
    assert found.router == "r2"
    assert not marker.exists()
    assert not out.exists()
    assert "root:" not in found.said


def test_daemons_that_are_not_there_are_named() -> None:
    assert frr.lacking(("zebra", "bgpd")) == []
    assert frr.lacking(("zebra", "nosuchd")) == ["nosuchd"]


@pytest.mark.parametrize(
    ("protocol", "said"),
    [("ldp", "has no MPLS, which ldpd needs"), ("pim", "has no multicast routing, which pimd needs")],
)
@pytest.mark.parametrize("has", [False, True])
def test_a_part_of_the_kernel_that_a_daemon_needs_is_named(
    protocol: str, said: str, has: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path if has else tmp_path / "none"
    monkeypatch.setattr(kernel, "FEATURES", [replace(one, shown_by=file) for one in kernel.FEATURES])
    told = [one.text() for one in routing.check_routers(*own(protocol, tmp_path, monkeypatch))]
    assert len(told) == (0 if has else 1)
    assert all(f"this machine's kernel {said}" in text and "topology.nodes.r1.routing" in text for text in told)


@pytest.mark.parametrize(
    ("config", "lacking"),
    [
        ("CONFIG_MPLS=y\nCONFIG_MPLS_ROUTING=y\nCONFIG_LWTUNNEL=y\nCONFIG_MPLS_IPTUNNEL=y\n", ""),
        (
            "CONFIG_MPLS=y\n# CONFIG_MPLS_ROUTING is not set\nCONFIG_LWTUNNEL=y\n",
            "MPLS_ROUTING=y, CONFIG_MPLS_IPTUNNEL=y",
        ),
    ],
)
def test_in_virtual_time_the_kernel_of_the_run_counts(
    config: str, lacking: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "FEATURES", [replace(one, shown_by=tmp_path) for one in kernel.FEATURES])
    (tmp_path / "config").write_text(config)
    guest = Kernel("6.12", "6.12", tmp_path, "", (), (), (), settings=tmp_path / "config")
    told = [one.text() for one in routing.check_routers(*own("ldp", tmp_path, monkeypatch), guest)]
    assert len(told) == (1 if lacking else 0)
    assert all(f"the kernel 6.12 has no MPLS (CONFIG_{lacking}), which ldpd needs" in text for text in told)
    assert all("hint: dumbbell kernel build --config MPLS=y" in text for text in told)


def own(protocol: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Scenario, Plan]:
    """A router that has one protocol, and its own configuration."""
    monkeypatch.chdir(folder)
    Path("r1.conf").write_text("hostname r1\n")
    nodes = {"r1": {"routing": [protocol], "frr": "r1.conf"}}
    Path("my.toml").write_text(graph(link("h1", "r1"), link("r1", "h2"), flow("h1", "h2"), nodes=nodes))
    scenario = load("my.toml")
    return scenario, expand(scenario)
