"""Bridges of Linux in namespaces: a loop with a spanning tree, VLANs, and what a cut does."""

from __future__ import annotations

import subprocess
import time

import polars as pl
import pytest
from graphs import VLANS, flow, graph, link
from harness import Place, knows_vlans
from scenarios import checks

STP = {"bridge": True, "stp": True}
LOOP = (
    link("h1", "s1"),
    link("h2", "s2"),
    link("h3", "s3"),
    link("s1", "s2", "left", rate="50 Mbit/s", delay="1 ms"),
    link("s1", "s3", "right", rate="50 Mbit/s", delay="1 ms"),
    link("s2", "s3", "below", rate="50 Mbit/s", delay="1 ms"),
)
TREE = dict.fromkeys(("s1", "s2", "s3"), STP)
"""s1 is the root, so frames take the links left and right, and below is blocked."""

with_vlans = pytest.mark.skipif(not knows_vlans(), reason="bridges of this machine's kernel know no VLANs")


def shell(user: Place, *lines: str) -> subprocess.CompletedProcess[str]:
    return user.invoke("lab", "shell", *(word for line in lines for word in ("-c", line)))


def test_packets_take_the_spanning_tree_and_keep_their_ids(anyone: Place) -> None:
    run = anyone.run(graph(*LOOP, flow("h2", "h3", bytes="300 kB"), nodes=TREE, name="loop", duration="3 s"))
    assert run.flows["received_bytes"].to_list() == [300_000]
    # What a full queue drops on its first link has no second one.
    packets = run.packets.filter((pl.col("flow") == "f1") & (pl.col("fate") == "delivered"))
    ways = ["left", "left-reverse", "right", "right-reverse"]
    # A bridge floods what it does not know yet, also to where the other end is blocked.
    assert len(packets.filter(~pl.col("link").cast(str).is_in(ways))) <= 4
    packets = packets.filter(pl.col("link").cast(str).is_in(ways))
    # The same packet on both links, in each direction.
    found = packets.group_by("packet").agg(pl.col("link").cast(str).sort()).get_column("link").to_list()
    odd = [way for way in found if way not in (["left-reverse", "right"], ["left", "right-reverse"])]
    assert len(odd) <= 4 < len(found) / 10, odd
    assert checks(run)["conservation"]["verdict"] == "valid"


def test_all_hosts_of_a_loop_answer_and_a_cut_is_mended(user: Place) -> None:
    text = graph(*LOOP, nodes=TREE, name="loop", duration=None)
    done = user.invoke("lab", "up", user.write(text), "--detach")
    assert done.returncode == 0, done.stderr
    try:
        done = shell(user, "pingall", "bridges", "show below")
        assert done.returncode == 0, done.stdout + done.stderr
        states = [line for line in done.stdout.splitlines() if ": to " in line]
        assert len(states) == 9
        assert [line.split(":")[0] for line in states if line.endswith("blocking")] == ["s3-eth3"]
        assert "port s3-eth3 is blocking" in done.stdout
        assert "root" in user.invoke("lab", "exec", "s2", "sh", "-c", "bridge -d link show; echo root").stdout
        done = shell(user, "link s1 s2 down", "why h1 h2")
        assert "down" in done.stdout
        begun = time.monotonic()
        while shell(user, "pingall 0.2").returncode:
            assert time.monotonic() < begun + 60, shell(user, "bridges", "why h1 h2").stdout
            time.sleep(0.2)
        assert "blocking" not in shell(user, "bridges").stdout
    finally:
        user.invoke("lab", "down", "--all")


@with_vlans
def test_a_vlan_keeps_hosts_apart(user: Place) -> None:
    done = user.invoke("lab", "up", user.write(VLANS), "--detach")
    assert done.returncode == 0, done.stderr
    try:
        done = shell(user, "pingall", "bridges")
        assert done.returncode == 0, "the router joins the VLANs: " + done.stdout
        assert "s1-eth3: to s2, forwarding, tagged 10, 20" in done.stdout
        # All in one subnet, by hand: ARP asks, and only who is in the same VLAN hears it.
        for number in (1, 2, 3):
            shell(user, f"h{number} ip address add 10.9.0.{number}/24 dev eth0")
        heard = [user.invoke("lab", "exec", "h1", "ping", "-c1", "-W1", f"10.9.0.{number}") for number in (2, 3)]
        assert [done.returncode for done in heard] == [1, 0]
    finally:
        user.invoke("lab", "down", "--all")


@with_vlans
def test_flows_are_known_behind_tags(anyone: Place) -> None:
    run = anyone.run(VLANS)
    assert run.flows["received_bytes"].to_list() == [200_000, 200_000]
    trunk = run.packets.filter(pl.col("link").cast(str) == "trunk")
    assert set(trunk["flow"].cast(str)) >= {"same", "routed"}
    full = trunk.filter(pl.col("flow") == "same")["size_bytes"].max()
    assert full == 1514 + 4, "a tag is part of a frame"


def test_a_bridge_that_waits_too_long_is_named(here: Place) -> None:
    text = graph(*LOOP, flow("h2", "h3"), nodes=TREE, name="loop", duration="1 s", wait="1 s")
    done = here.invoke("run", here.write(text))
    assert done.returncode == 1
    assert "the bridges have no spanning tree within 1 s\n  eth1 of s1 does not forward yet, " in done.stderr
    assert "topology.wait" in done.stderr


@pytest.mark.skipif(knows_vlans(), reason="this machine's bridges know VLANs")
def test_a_kernel_without_vlans_refuses_them_by_key(here: Place) -> None:
    done = here.invoke("run", here.write(VLANS))
    assert done.returncode == 2
    assert "topology.links.0.vlan = 10: bridges of this machine's kernel know no VLANs" in done.stderr
    assert "CONFIG_BRIDGE_VLAN_FILTERING" in done.stderr


def test_the_simulator_takes_the_same_paths(here: Place) -> None:
    text = graph(*LOOP, flow("h2", "h3", bytes="300 kB"), nodes=TREE, name="loop", duration="3 s")
    run = here.run(text, "--engine", "simulate")
    assert set(run.packets["link"].cast(str)) == {"left", "left-reverse", "right", "right-reverse"}
    vlans = here.run(VLANS, "--engine", "simulate")
    assert vlans.flows["received_bytes"].to_list() == [200_000, 200_000]
