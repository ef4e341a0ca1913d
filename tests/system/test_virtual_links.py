"""Links inside the kernel's process carry what the emulator's process carries: the same packets, the same fates."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from scenarios import flow, path
from stages import thorough_after

import dumbbell
from dumbbell import kernels
from dumbbell.engines.virtual.engine import VirtualEngine
from dumbbell.errors import InputError
from validation.conformance.cases import CASES
from validation.conformance.compare import compare

IN_A_PROCESS = VirtualEngine(links=None)
SAME_US = 100
"""The emulator's process reads the clock several times for each packet; a reading takes 256 ns of virtual time."""


def scenario(seconds: int, kernel: str = kernels.DEFAULT, **keys: str) -> dict[str, Any]:
    """One flow of bulk data."""
    return tomllib.loads(path(flow(**keys), duration=f"{seconds} s")) | {"emulate": {"kernel": kernel}}


def packets(run: dumbbell.Run) -> pl.DataFrame:
    """Packets in the order in which they entered. Sequence numbers count from the first of each flow and link."""
    table = pl.read_parquet(run.directory / "packets.parquet")
    first = pl.col("tcp_seq").cast(pl.Int64).first().over("link", "flow")
    return table.with_columns((pl.col("tcp_seq").cast(pl.Int64) - first) % 2**32).sort("packet", "link")


@pytest.mark.parametrize(("kernel", "cc"), thorough_after(1, [("6.12", "cubic"), ("6.12", "reno"), ("6.1", "cubic")]))
def test_the_same_packets_cross_the_same_links(tmp_path: Path, kernel: str, cc: str) -> None:
    try:
        kernels.find(kernel)
    except InputError as error:
        assert kernel != kernels.DEFAULT
        pytest.skip(f"{error}: make kernel KERNEL={kernel} builds it")
    asked = scenario(5, kernel, cc=cc)
    inside = dumbbell.run(asked, directory=tmp_path / "inside", engine=VirtualEngine(), report=False)
    process = dumbbell.run(asked, directory=tmp_path / "process", engine=IN_A_PROCESS, report=False)
    assert inside.verdict == process.verdict == "valid"
    ours, theirs = packets(inside), packets(process)
    # The run ends for both at the same time, not with the same packet.
    rows = min(len(ours), len(theirs))
    assert rows > 1000
    assert abs(len(ours) - len(theirs)) <= 5
    ours, theirs = ours[: rows - 50], theirs[: rows - 50]
    what = ["link", "flow", "packet", "size_bytes", "payload_bytes", "tcp_seq", "fate", "ecn"]
    assert ours.select(what).equals(theirs.select(what))
    for time in ("arrival_ns", "departure_ns", "sent_ns"):
        assert (ours[time] - theirs[time]).abs().max() <= 1000 * SAME_US, time


def test_an_algorithm_that_paces_by_the_clock_gets_as_much(tmp_path: Path) -> None:
    """BBR measures time: a microsecond moves its packets, so they are not the same ones."""
    received = []
    for engine in (VirtualEngine(), IN_A_PROCESS):
        run = dumbbell.run(scenario(5, cc="bbr"), directory=tmp_path / str(len(received)), engine=engine, report=False)
        table = packets(run).filter(pl.col("fate").cast(pl.String) == "delivered")
        received.append(table["payload_bytes"].sum())
    assert received[0] == pytest.approx(received[1], rel=0.005)


@pytest.mark.parametrize("name", thorough_after(2, ["drop-tail, bytes", "FQ-CoDel", "rate in steps", "DualPI2"]))
def test_a_kernels_own_links_are_the_models_packet_by_packet(name: str, tmp_path: Path) -> None:
    """`python -m validation.conformance --engine virtual` has all mechanisms."""
    case = next(case for case in CASES if case.name == name)
    run = dumbbell.run(case.scenario(3, tmp_path), directory=tmp_path, engine=VirtualEngine(), report=False)
    found = compare(run.directory)
    assert found.equal, found
    assert found.packets > 1000
    assert set(case.expects) <= set(found.fates), found.fates


def test_lateness_is_less_than_a_step_of_the_clock_or_two(tmp_path: Path) -> None:
    run = dumbbell.run(scenario(2), directory=tmp_path, engine=VirtualEngine(), report=False)
    table = pl.read_parquet(run.directory / "packets.parquet").drop_nulls("sent_ns")
    late = table["sent_ns"] - table["delivery_ns"]
    assert 0 <= late.min() <= late.max() <= 1024


def test_the_kernel_samples_on_the_grid(tmp_path: Path) -> None:
    run = dumbbell.run(scenario(2), directory=tmp_path, engine=VirtualEngine(), report=False)
    times = pl.read_parquet(run.directory / "samples.parquet")["time_ns"][:-1]
    assert ((times % 10_000_000) < 1024).all()
    assert (times.diff().drop_nulls() > 9_000_000).all()
