"""A kernel in virtual time against the simulator: both are exact, so the figures are the same on each machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from harness import Place
from scenarios import flow, path
from stages import thorough_after

import dumbbell
from dumbbell.engines.names import VIRTUAL

SCENARIOS = {
    "cubic": path(flow(cc="cubic"), duration="4 s"),
    "reno-loss": path(flow(cc="reno"), duration="4 s", bottleneck='buffer = "1 bdp", loss = "0.5 %"'),
    "bbr": path(flow(cc="bbr"), duration="4 s"),
}
"""20 Mbit/s and 20 ms. The loss takes the same packets under both engines."""
OUTAGE = """
[[events]]
at = "1 s"
link = "bottleneck"
loss = "100 %"

[simulate]
hosts = "virtual"
"""


def test_kernel_and_simulator_agree(here: Place) -> None:
    for name, text in SCENARIOS.items():
        (here.directory / f"{name}.toml").write_text(text.replace('name = "test"', f'name = "{name}"'))
    files = [f"./{name}.toml" for name in SCENARIOS]
    asked = ["--engines", "virtual,simulate", "--kernel", "6.12", "--repeat", "2", "--json"]
    done = here.invoke("agree", *files, *asked, timeout_s=300)
    assert done.returncode in (0, 1), done.stderr
    for found in json.loads(done.stdout):
        name = found["name"]
        assert found["engines"] == ["virtual", "simulate"]
        assert found["refused"] == []
        quantities = {row["measure"]: row for row in found["quantities"] if row["scope"] != "link"}
        goodput, rtt = quantities["total goodput"], quantities["RTT p50"]
        assert goodput["virtual"] > 1, name
        assert goodput["ratio"] == pytest.approx(1, abs=0.03), (name, goodput)
        assert abs(rtt["difference"]) <= max(1.0, 0.05 * rtt["virtual"]), (name, rtt)
    manifests = [json.loads(path.read_text()) for path in here.directory.glob("runs/agree/*/*/manifest.json")]
    assert sorted(one["engine"] for one in manifests) == ["simulate"] * 6 + ["virtual"] * 6


def under_both(text: str, directory: Path) -> Iterator[tuple[str, dumbbell.Run]]:
    """The scenario's run in the kernel, and the simulated one."""
    (directory / "test.toml").write_text(text)
    for engine in (VIRTUAL, "simulate"):
        settings = {"record.packets": True}
        run = dumbbell.run(directory / "test.toml", settings, directory / engine, engine=engine, report=False)
        assert isinstance(run, dumbbell.Run)
        yield engine, run


def told(run: dumbbell.Run) -> dict[str, Any]:
    """The account of its only flow."""
    flow: dict[str, Any] = json.loads((run.directory / "traffic.json").read_text())["flows"][0]
    return flow


def test_timeouts_come_at_the_same_time(tmp_path: Path) -> None:
    """From 252 ms on they wait for a bucket of the timer wheel, 32 ms or more: time 0 is at the start of one."""
    text = path(flow(cc="reno"), rtt="100 ms", duration="5 s") + OUTAGE
    sent = {}
    for engine, run in under_both(text, tmp_path):
        data = run.packets.filter(pl.col("link") == "bottleneck", pl.col("payload_bytes") > 0)
        lost = data.filter(pl.col("arrival_ns") > 1_300_000_000)["arrival_ns"].sort()
        sent[engine] = (lost / 1e6).to_list()
    assert len(sent["simulate"]) >= 3, "several time-outs, each twice as long"
    # A kernel's flow starts some 20 us late: the services of a run wait with a slack of a thousandth of 20 ms.
    assert sent[VIRTUAL] == pytest.approx(sent["simulate"], abs=0.1)


def test_dctcp_whose_first_syn_is_lost_goes_on_as_reno(tmp_path: Path) -> None:
    """Linux asks for ECN once only, and its DCTCP without ECN is Reno by another name: `dctcp-reno`."""
    text = path(flow(cc="dctcp"), duration="4 s", bottleneck='buffer = "1 bdp", loss = "100 %"')
    mended = OUTAGE.replace("1 s", "500 ms").replace("100 %", "0 %")
    for engine, run in under_both(text + mended, tmp_path):
        data = run.packets.filter(pl.col("link") == "bottleneck", pl.col("payload_bytes") > 0)
        assert (told(run)["cc_requested"], told(run)["cc_actual"]) == ("dctcp", "dctcp"), engine
        assert data["arrival_ns"].min() > 1_000_000_000, "the second SYN opens the connection"
        assert data["ecn"].unique().to_list() == ["not-ect"], engine


@pytest.mark.parametrize("cc", thorough_after(1, ["bbr", "reno"]))
def test_memory_for_sending_limits_a_flow_as_long(tmp_path: Path, cc: str) -> None:
    """The path holds three times what the memory does."""
    memory = 'hosts.sysctl = { "net.ipv4.tcp_wmem" = "4096 16384 100000" }'
    text = path(flow(cc=cc), rate="50 Mbit/s", rtt="50 ms", duration="4 s", more=memory)
    limited = {}
    for engine, run in under_both(text, tmp_path):
        limited[engine] = told(run)["sndbuf_limited_us"] / told(run)["busy_us"]
    # The kernel counts ticks of 4 ms, of 4 s.
    assert limited[VIRTUAL] == pytest.approx(limited["simulate"], abs=0.01)
    assert limited[VIRTUAL] > 0.5
