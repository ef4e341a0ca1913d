"""The kernel's own links carry what ours carry, in virtual time."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from stages import thorough_after, thorough_but

import dumbbell
from validation.conformance import lots
from validation.conformance.given import judge
from validation.conformance.kernel import (
    BURST_BYTES,
    CASES,
    agreement,
    bucket_ns,
    flow,
    over,
    totals,
)


@pytest.mark.parametrize("cc", thorough_after(1, ["cubic", "reno", "bbr"]))
def test_a_flow_fares_alike_over_the_kernels_link_and_ours(cc: str, tmp_path: Path) -> None:
    """`python -m validation.conformance --against kernel` has whole runs of 10 s."""
    theirs, ours = (over(links, flow(cc, 3), tmp_path) for links in ("kernel", "ours"))
    dropped, goodput = zip(totals(theirs), totals(ours), strict=True)
    assert abs(dropped[0] - dropped[1]) <= 2
    assert goodput[0] == pytest.approx(goodput[1], rel=0.003)
    # The same arrivals through both: the bucket of tokens lets a packet leave so much earlier.
    found = agreement(theirs)
    assert found.packets > 5000
    assert found.drops_theirs > 10
    assert found.other_fates <= 2
    assert -BURST_BYTES * 8 / 50e6 * 1e9 <= found.earliest_ns <= found.latest_ns <= 0


@pytest.mark.parametrize("name", thorough_after(1, ["CoDel", "CoDel, ECN"]))
def test_codel_drops_the_same_packets_if_its_target_allows_for_the_bucket(name: str, tmp_path: Path) -> None:
    case = next(case for case in CASES if case.name == name)
    run = over("kernel", case.scenario(4, tmp_path), tmp_path)
    found = agreement(run, later_ns=bucket_ns(20))
    assert found.drops_theirs + found.marks_theirs >= 5
    assert found.drops_theirs == found.drops_ours
    assert found.other_fates == 0
    assert abs(found.marks_theirs - found.marks_ours) <= 1
    rows = pl.read_parquet(run / "packets.parquet").select(pl.col("fate", "mark").cast(pl.String))
    assert set(case.expects) <= {*rows["fate"], *("marked " + mark for mark in rows["mark"].drop_nulls())}


@pytest.mark.parametrize("name", thorough_after(1, ["drop-tail, packets", "delay line"]))
def test_each_mechanism_drops_as_many(name: str, tmp_path: Path) -> None:
    case = next(case for case in CASES if case.name == name)
    run = over("kernel", case.scenario(2, tmp_path), tmp_path)
    found = agreement(run)
    assert found.drops_theirs > 10
    assert found.drops_theirs == pytest.approx(found.drops_ours, rel=0.05, abs=3)
    fates = pl.read_parquet(run / "packets.parquet")["fate"].cast(pl.String).unique()
    assert set(case.expects) <= set(fates)


def test_losses_are_known_by_what_comes_out(tmp_path: Path) -> None:
    asked = flow("reno", 3)
    asked["topology"]["bottleneck"]["loss"] = ["1 %", {"rate": "2 %", "position": "after-queue"}]
    asked["flows"] = [{"from": "h1", "to": "h2", "protocol": "udp", "rate": "20 Mbit/s"}]
    directory = over("kernel", asked, tmp_path)
    packets = pl.read_parquet(directory / "packets.parquet").filter(pl.col("link") == "bottleneck")
    fates = dict(packets.group_by(pl.col("fate").cast(pl.String)).len().iter_rows())
    assert set(fates) <= {"delivered", "lost-before", "lost-after", "inside"}
    # Six standard deviations of so many packets.
    for fate, share in (("lost-before", 0.01), ("lost-after", 0.02)):
        sd = (share * (1 - share) / len(packets)) ** 0.5
        assert abs(fates[fate] / len(packets) - share) <= 6 * sd


def test_a_run_over_the_kernels_links_is_valid_and_repeats_itself(tmp_path: Path) -> None:
    tables = []
    for number in range(2):
        asked = flow("cubic", 1) | {"emulate": {"links": "kernel"}}
        run = dumbbell.run(asked, directory=tmp_path / str(number), engine="virtual", report=False)
        assert run.verdict == "valid"
        tables.append((run.directory / "packets.parquet").read_bytes())
    assert tables[0] == tables[1]


@pytest.mark.parametrize("name", thorough_after(1, ["FQ-CoDel", "FQ-CoDel, ECN"]))
def test_queues_of_flows_drop_and_mark_as_many(name: str, tmp_path: Path) -> None:
    case = next(case for case in CASES if case.name == name)
    run = over("kernel", case.scenario(4, tmp_path), tmp_path)
    found = agreement(run, later_ns=bucket_ns(20))
    theirs, ours = found.drops_theirs + found.marks_theirs, found.drops_ours + found.marks_ours
    assert theirs >= 5
    assert theirs == pytest.approx(ours, rel=0.1, abs=3)


@pytest.mark.parametrize("name", thorough_but(["RED, ECN", "PIE"], ["RED", "RED, ECN", "PIE", "PIE, ECN"]))
def test_queues_that_draw_lots_obey_their_laws_packet_by_packet(name: str, tmp_path: Path) -> None:
    case = next(case for case in lots.CASES if case.name == name)
    run = lots.over("kernel", case, 4, 1, tmp_path)
    found = lots.given(lots.read(run))
    assert found.happened >= 10
    assert found.impossible == 0
    # Chance is farther away in one of 16,000 seeds; the same seed gives the same run.
    assert abs(found.away) <= 4
    rows = pl.read_parquet(run / "packets.parquet").select(pl.col("fate", "mark").cast(pl.String))
    assert set(case.expects) <= {*rows["fate"], *("marked " + mark for mark in rows["mark"].drop_nulls())}


@pytest.mark.thorough
def test_a_probability_above_one_tells_linuxs_pie_from_the_rfcs(tmp_path: Path) -> None:
    case = next(case for case in lots.CASES if case.name == "PIE, ECN")
    record = lots.read(lots.over("kernel", case, 4, 1, tmp_path))
    traits = lots.without(lots.settled(record))
    for what in ("a probability of 1 at most", "updates every 15 ms"):
        assert judge(record.pie(traits[what])).impossible > 10


@pytest.mark.thorough
def test_jitter_has_the_same_distribution(tmp_path: Path) -> None:
    # Importing it takes a CPU second, in each process of tests that imports this file.
    from scipy.stats import ks_2samp

    asked = flow("reno", 3)
    asked["topology"]["bottleneck"] |= {"jitter": {"distribution": "normal", "mean": "8 ms", "sd": "2 ms"}}
    asked["topology"]["bottleneck"] |= {"reordering": True, "loss": {"rate": "2 %", "position": "after-queue"}}
    asked["flows"] = [{"from": "h1", "to": "h2", "protocol": "udp", "rate": "20 Mbit/s"}]
    delays, lost = [], []
    for links in ("kernel", "ours"):
        packets = pl.read_parquet(over(links, asked, tmp_path) / "packets.parquet").filter(
            pl.col("link") == "bottleneck"
        )
        delays.append((packets["delivery_ns"] - packets["departure_ns"]).drop_nulls().to_numpy())
        lost.append((packets["fate"].cast(pl.String) == "lost-after").mean())
    assert min(map(len, delays)) > 4000
    # Two samples of one distribution are farther apart than this in one of 10,000 cases (Kolmogorov and Smirnov).
    assert ks_2samp(*delays).pvalue > 1e-4
    assert lost[0] == pytest.approx(lost[1], abs=0.015)
