"""Every ACK on record: the table against what the kernel tells of the same sockets at the samples."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from harness import Place, place
from scenarios import checks, flow, path

import dumbbell

root = pytest.mark.skipif(
    os.geteuid() != 0 or not Path("/sys/kernel/btf/vmlinux").exists(),
    reason="looking into the kernel takes root, and a kernel with type information",
)

# Tests of one process share the run.
pytestmark = pytest.mark.xdist_group("acks")

real_time = pytest.mark.real_time
"""Tests of the shared run: the clock decides how far its flows get. `test_virtual_acks.py` has an exact one."""

ALGORITHMS = ("reno", "cubic", "bbr", "bbr2", "bbr3")
OURS = ("bbr2", "bbr3")
EQUAL = ("cwnd_packets", "ssthresh_packets", "snd_mss_bytes", "srtt_us", "min_rtt_us", "delivered_ce_packets")


REDUCTIONS = {
    (max(2, cwnd * 717 // 1024), w_max) for cwnd in range(1, 1000) for w_max in (cwnd, cwnd * (1024 + 717) // 2048)
}
"""Threshold and W_max of CUBIC after a loss at each window, in whole packets: 0.7 of it (717 of 1,024), and two at
least; the window, or with fast convergence 0.85 of it (RFC 9438, sections 4.6 and 4.7)."""


@pytest.fixture(scope="module")
def run() -> Iterator[dumbbell.Run]:
    """One flow of each algorithm through one bottleneck."""
    flows = "".join(flow(f"s{i}", f"r{i}", cc=cc) for i, cc in enumerate(ALGORITHMS, 1))
    with place(ordinary=False) as here:
        yield here.run(f"""
name = "acks"
duration = "4 s"
record = {{ acks = true }}
topology = {{ kind = "dumbbell", pairs = 5, rtt = "20 ms", bottleneck = {{ rate = "30 Mbit/s" }} }}
{flows}""")


def rows(run: dumbbell.Run, name: str) -> pl.DataFrame:
    """The flow's rows, and words as text."""
    table = run.acks
    assert table is not None
    words = pl.col("flow", "moment", "ca_state", "bbr_state", "bbr_ack_phase").cast(pl.String)
    return table.with_columns(words).filter(pl.col("flow") == name)


def samples(run: dumbbell.Run, name: str) -> pl.DataFrame:
    return run.samples.with_columns(pl.col("flow", "ca_state").cast(pl.String)).filter(pl.col("flow") == name)


def between_acks(taken: pl.DataFrame, acks: pl.DataFrame, cc: str) -> pl.DataFrame:
    """Samples, each with every row that it can show.

    A sample is the state between two ACKs: that of the row of ours before it, of the kernel's behind it. The clock does
    not tell which: on a busy machine, ACKs come between the time of a sample and its reading. What was delivered and
    acknowledged does.
    """
    side = acks.filter(pl.col("moment") != "close").with_columns(
        sent=pl.col("retransmitted_segments"),
        sent_before=pl.col("retransmitted_segments").shift(1),
        sent_behind=pl.col("retransmitted_segments").shift(-1),
    )
    first, last = ("sent", "sent_behind") if cc in OURS else ("sent_before", "sent")
    side = side.with_columns(sent_first=pl.col(first), sent_last=pl.col(last))
    return taken.with_row_index("sample").join(side, on=["bytes_acked", "delivered_packets"], suffix="_row")


def share(beside: pl.DataFrame, taken: pl.DataFrame, alike: pl.Expr) -> float:
    """Returns the share of samples for which `alike` is true of one of their rows."""
    return beside.filter(alike)["sample"].n_unique() / len(taken)


def moments(run: dumbbell.Run, name: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The flow's rows, and its samples between the first and the last of them."""
    acks = rows(run, name).rename({"snd_una_bytes": "bytes_acked"})
    taken = samples(run, name).filter(pl.col("time_ns").is_between(acks["time_ns"].min(), acks["time_ns"].max()))
    assert len(taken) > 200
    return acks, taken


@root
@real_time
@pytest.mark.parametrize(("name", "cc"), [(f"f{i}", cc) for i, cc in enumerate(ALGORITHMS, 1)])
def test_rows_tell_what_samples_tell(run: dumbbell.Run, name: str, cc: str) -> None:
    acks, taken = moments(run, name)
    beside = between_acks(taken, acks, cc)
    shares = {column: share(beside, taken, pl.col(column).eq_missing(pl.col(f"{column}_row"))) for column in EQUAL}
    # Between two ACKs, a timer finds a loss and sends again.
    by_timer = pl.col("ca_state").is_in(["open", "disorder"]) & pl.col("ca_state_row").is_in(["recovery", "loss"])
    shares["ca_state"] = share(beside, taken, by_timer | (pl.col("ca_state") == pl.col("ca_state_row")))
    sent = pl.col("retransmitted_segments").is_between("sent_first", "sent_last")
    shares["retransmitted_segments"] = share(beside, taken, sent)
    # BBR sends between ACKs, when its pacing timer fires.
    flying, seen = (pl.col(column).cast(pl.Int64) for column in ("bytes_in_flight", "bytes_in_flight_row"))
    shares["bytes_in_flight"] = share(beside, taken, (flying - seen).abs() <= 4 * 1448)
    assert min(shares.values()) > 0.9, shares


@root
@real_time
@pytest.mark.parametrize(("name", "cc"), [(f"f{i}", cc) for i, cc in enumerate(ALGORITHMS, 1)])
def test_each_algorithm_has_rows_of_its_kind(run: dumbbell.Run, name: str, cc: str) -> None:
    acks = rows(run, name)
    moments = set(acks["moment"])
    assert moments == {"after" if cc in OURS else "before", "close"}
    assert set(acks["socket"]) == set(samples(run, name)["socket"]), "the sender's, and no receiver's"
    for column in ("time_ns", "delivered_packets", "snd_una_bytes", "snd_nxt_bytes", "retransmitted_segments"):
        assert acks[column].is_sorted(), column
    assert acks["time_ns"].min() > 0
    assert acks["delivered_packets"].max() >= samples(run, name)["delivered_packets"].max()  # type: ignore[operator]
    acknowledged = acks.filter(pl.col("moment") != "close")
    states = set(acknowledged["bbr_state"].drop_nulls())
    if cc in ("reno", "cubic"):
        assert not states
    else:
        assert acknowledged["bbr_state"].null_count() == 0
        assert "startup" in states
        assert any(state.startswith("probe_bw") for state in states)
        assert ("probe_bw" in states) == (cc == "bbr")
    assert (acknowledged["bbr_ack_phase"].null_count() == 0) == (cc in OURS)


@root
@real_time
def test_the_kernels_cubic_shows_its_curve(run: dumbbell.Run) -> None:
    acks = rows(run, "f2")
    assert acks["cubic_hystart_found"].null_count() == 0
    reduced = acks.filter(pl.col("cubic_w_max_packets").is_not_null())
    assert reduced.height > 100, "it has lost packets"
    # Later the threshold moves alone: HyStart lowers it, and the end of a spurious reduction restores it.
    losses = reduced.filter(pl.col("cubic_w_max_packets") != pl.col("cubic_w_max_packets").shift(1).fill_null(0))
    found = set(losses.select("ssthresh_packets", "cubic_w_max_packets").rows())
    assert found <= REDUCTIONS, found - REDUCTIONS
    growing = reduced.drop_nulls("cubic_k_s")
    assert growing.height > 100
    assert growing["cubic_k_s"].is_between(0, 60).all()
    assert (growing["cubic_origin_packets"] >= growing["cubic_w_max_packets"]).mean() > 0.9  # type: ignore[operator]
    for of in ("f1", "f3", "f4", "f5"):
        assert rows(run, of)["cubic_hystart_found"].null_count() == rows(run, of).height


@root
@real_time
def test_the_kernels_bbr_is_read_as_it_tells_itself(run: dumbbell.Run) -> None:
    acks, taken = moments(run, "f3")
    beside = between_acks(taken, acks, "bbr")
    for column in ("bbr_bw_bps", "bbr_min_rtt_us", "bbr_pacing_gain", "bbr_cwnd_gain"):
        told, read = (pl.col(name).cast(pl.Float64) for name in (column, f"{column}_row"))
        # The kernel gives a bandwidth in whole bytes per second.
        assert share(beside, taken, (told - read).abs() <= 8) > 0.9, column


@root
@real_time
def test_the_verdict_has_seen_it(run: dumbbell.Run) -> None:
    found = checks(run)
    assert found["ack-rows"]["verdict"] == found["ack-coverage"]["verdict"] == "valid", found
    assert not found["ack-coverage"]["measured"].startswith("does not apply")
    assert run.manifest["lab"]["acks"] == {"recorded": True, "why": None}
    assert 0 < run.manifest["cost"]["acks"] < 1
    probe = json.loads((run.directory / "probe.json").read_text())
    assert (probe["rows"], probe["lost_rows"], probe["foreign_rows"]) == (
        run.scan("acks").select(pl.len()).collect().item(),
        0,
        0,
    )


@root
def test_programs_connections_are_recorded(here: Place) -> None:
    iperf3 = flow(command="iperf3 -c {server} -p {port} -t 1 -C reno", server_command="iperf3 -s -1 -p {port}")
    run = here.run(path(iperf3, duration="2 s"))
    acks = rows(run, "f1")
    (data,) = acks.group_by("socket").len().sort("len").tail(1)["len"]
    assert data > 20
    assert set(acks["socket"]) <= set(samples(run, "f1")["socket"]), "iperf3's data and its control, from the client"


def test_without_the_right_samples_serve(ordinary: Place) -> None:
    run = ordinary.run(path(flow()))
    assert run.acks is None
    assert run.manifest["lab"]["acks"]["recorded"] is False
    assert "CAP_BPF" in run.manifest["lab"]["acks"]["why"]
    assert "CAP_BPF" in checks(run)["ack-rows"]["measured"]
    assert len(run.samples) > 50


def test_a_scenario_can_do_without(here: Place) -> None:
    run = here.run(path(flow(), more="record = { acks = false }"))
    assert run.acks is None
    assert not (run.directory / "probe.json").exists()
    assert "record.acks" in run.manifest["lab"]["acks"]["why"]
