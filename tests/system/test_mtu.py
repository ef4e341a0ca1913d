"""A network's MTU over real sockets: TCP's segments, the frames on the link, and a simulator that agrees."""

from __future__ import annotations

import polars as pl
import pytest
from harness import Place
from scenarios import checks, flow, path

import dumbbell

FLOWS = flow(), flow(protocol="udp", rate="1 Mbit/s", start="200 ms"), flow(protocol="ping", payload="100 B")
SIMULATE = ("--engine", "simulate")


def goodput(run: dumbbell.Run) -> float:
    """The goodput of the TCP flow, bit/s."""
    return next(row["goodput_bps"] for row in run.summary["flows"] if row["id"] == "f1")


@pytest.mark.parametrize(
    ("mtu", "mss", "payload", "way"), [(576, 524, 548, "wire"), (9000, 8948, 8972, "wire"), (9000, 8948, 8972, "gso")]
)
def test_packets_fill_the_mtu(mtu: int, mss: int, payload: int, way: str, here: Place) -> None:
    keys = ("--set", f"topology.mtu={mtu}", "--set", f"emulate.path={way}")
    scenario = path(*FLOWS, rate="20 Mbit/s", duration="2500 ms", bottleneck='buffer = "2 bdp"')
    emulated, simulated = here.run(scenario, *keys), here.run(scenario, *keys, *SIMULATE)
    for run in (emulated, simulated):
        # TCP_INFO's tcpi_snd_mss, and the simulator's.
        tcp = run.samples.filter(pl.col("flow") == "f1")["snd_mss_bytes"].drop_nulls()
        assert set(tcp.unique()) == {mss}
        packets = run.packets.filter(pl.col("link") == "bottleneck")
        sizes = dict(packets.group_by("flow").agg(pl.col("size_bytes").max()).iter_rows())
        assert sizes == {"f1": mtu + 14, "f2": payload + 42, "f3": 142}
    found = checks(emulated)
    for name in ("conservation", "packet-log", "ring-drops", "send-errors", "interfaces", "unroutable", "offloads"):
        assert found[name]["verdict"] == "valid", found[name]
    # TCP's share of the link, 19 of 20 Mbit/s in frames; starting takes a tenth of a second or so.
    assert goodput(simulated) == pytest.approx(19e6 * mss / (mss + 66), rel=0.1)
    # A pause of 0.2 s, in which a busy machine runs nothing of ours, costs 8 %.
    assert goodput(emulated) == pytest.approx(goodput(simulated), rel=0.1)
