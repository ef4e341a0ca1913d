"""The effects of links on packets, from the record of each packet to the figures and to the hosts."""

from __future__ import annotations

import polars as pl
import pytest
from harness import Place, assert_enough
from scenarios import checks, flow, link, pace, path

from dumbbell.engines.names import EMULATE, SIMULATE

ALL = """buffer = "20 packets", queue = { kind = "drop-tail", ce_threshold = "10 packets" }, loss = "2 %", \
duplicate = "2 %", corrupt = "2 %", mark = "2 %", reorder = "2 %", jitter = "2 ms", overhead = "4 B" """
SLOWER = """
[[events]]
at = "700 ms"
rate = "5 Mbit/s"

[[events]]
at = "1100 ms"
down_for = "50 ms"
"""
STANDS = ("conservation", "packet-log", "interfaces", "rtt-floor", "udp-hosts", "offloads")


def test_everything_at_once_adds_up(here: Place) -> None:
    stream = flow(protocol="udp", rate="8 Mbit/s", ecn="ect0", stop="1300 ms", id="stream")
    run = here.run(path(flow(cc="cubic"), stream, bottleneck=ALL) + SLOWER)
    assert {name: checks(run)[name]["verdict"] for name in STANDS} == dict.fromkeys(STANDS, "valid")
    assert pace(run).excess_packets <= 1
    assert pace(run).achieved == pytest.approx(1, abs=0.001)
    packets = run.packets.filter(pl.col("link") == "bottleneck")
    bottleneck = link(run)
    fates = dict(packets["fate"].cast(pl.String).value_counts().iter_rows())
    reasons = {fate: count for fate, count in bottleneck["drops_by_reason"].items() if count}
    assert reasons == {fate: count for fate, count in fates.items() if fate.startswith("dropped-")}
    delivered = packets.filter(pl.col("fate") == "delivered")
    counted = {
        "losses": fates.get("lost-before", 0),
        "duplicates": packets["duplicate"].sum(),
        "reordered": delivered["reordered"].count(),
        "corrupted": delivered["corrupted"].sum(),
        "marks": packets.filter(pl.col("departure_ns").is_not_null())["mark"].count(),
    }
    assert {key: bottleneck[key] for key in counted} == counted
    assert set(delivered["reordered"].drop_nulls().cast(pl.String)) <= {"skipped-delay"}
    # The receiver drops what is corrupted, and counts a datagram that comes twice once.
    mine = delivered.filter((pl.col("flow") == "stream") & ~pl.col("corrupted"))
    (found,) = [row for row in run.summary["flows"] if row["id"] == "stream"]
    assert found["udp"]["received_packets"] == mine["packet"].n_unique()
    assert found["udp"]["duplicate_packets"] == len(mine) - mine["packet"].n_unique()
    # The first of two copies to arrive counts, marked or not.
    first = mine.sort("sent_ns", maintain_order=True).unique("packet", keep="first", maintain_order=True)
    assert found["udp"]["ce_packets"] == first.filter(pl.col("ecn") == "ce").height
    marks = set(packets["mark"].drop_nulls().cast(pl.String))
    kinds = (set(reasons), marks) == ({"dropped-tail", "dropped-down"}, {"threshold", "random"})
    happened = {**counted, "ce_packets": found["udp"]["ce_packets"]}
    assert_enough(run, kinds and all(happened.values()), (happened, reasons, marks))


@pytest.mark.parametrize("engine", [EMULATE, SIMULATE])
def test_utilisation_and_pace_follow_a_trace(here: Place, engine: str) -> None:
    """A rate that halves each 100 ms and begins again, kept busy all the time."""
    steps = '{ steps = [["0 s", "20 Mbit/s"], ["100 ms", "10 Mbit/s"], ["200 ms", "5 Mbit/s"]], period = "300 ms" }'
    scenario = path(flow(protocol="udp", rate="25 Mbit/s"), bottleneck='buffer = "20 packets"')
    run = here.run(scenario.replace('rate = "20 Mbit/s"', f"rate = {steps}"), "--engine", engine)
    assert pace(run).achieved == pytest.approx(1, abs=0.001)
    assert checks(run)["rate"]["measured"].endswith("of its rate, which changes")
    if engine == SIMULATE:
        # Busy from the first datagram on. A sender that lags leaves the link idle for a moment.
        assert link(run)["utilisation"] == pytest.approx(1, rel=0.001)
    rows = run.links.filter(pl.col("link") == "bottleneck")
    # The capacity of 1.5 s: five rounds of 250, 125 and 62.5 kB.
    assert rows.filter(pl.col("time_ns") == 1_500_000_000)["capacity_bytes"].item() == 5 * 437_500
