"""QUIC flows of real stacks: records like those of TCP, and the same bytes each time in virtual time."""

from __future__ import annotations

import hashlib
from pathlib import Path

import polars as pl
import pytest
from scenarios import flow, path

import dumbbell
from dumbbell.engines.names import VIRTUAL
from dumbbell.engines.realm import quic
from dumbbell.scenario.traffic.kinds.quic import STACKS

pytestmark = pytest.mark.thorough
"""The program of QUIC flows is built by `make quic`, which `make test` does without."""


@pytest.fixture(autouse=True, scope="session")
def stacks() -> None:
    """The program, which `make test-thorough` builds."""
    assert quic.program() is not None, quic.HINT


def run(where: Path, *flows: str) -> dumbbell.Run:
    """A run in virtual time of 3 s, over 10 Mbit/s and 20 ms."""
    where.mkdir()
    file = where / "quic.toml"
    file.write_text(path(*flows, rate="10 Mbit/s", duration="3 s"))
    done = dumbbell.run(file, directory=where / "run", engine=VIRTUAL, report=False)
    assert isinstance(done, dumbbell.Run)
    return done


@pytest.mark.parametrize(
    ("stack", "cc"), [("quinn", "cubic"), ("noq", "bbr3"), ("quiche", "bbr2"), ("s2n", "cubic"), ("s2n", "bbr2")]
)
def test_a_stack_fills_a_path_and_its_records(stack: str, cc: str, tmp_path: Path) -> None:
    done = run(tmp_path / "one", flow(protocol="quic", stack=stack, cc=cc))
    (told,) = done.summary["flows"]
    assert (told["protocol"], told["cc"]) == ("quic", f"{stack}/{cc}")
    assert told["error"] is None
    assert 0.75 < told["goodput_bps"] / 10e6 < 0.97, "headers and the start take some"
    assert told["retransmitted_segments"] is None
    samples = done.samples
    assert samples.height > 250
    base_ms = told["base_rtt_ms"]
    assert samples["min_rtt_us"].drop_nulls().min() / 1000 == pytest.approx(base_ms, abs=2)
    assert base_ms <= told["quic"]["handshake_ms"] < 2 * base_ms, "one round trip, and the time that packets take"
    for column in ("cwnd_packets", "srtt_us", "bytes_in_flight", "received_bytes", "lost_packets"):
        assert samples[column].null_count() < samples.height / 20, column
    # What is in flight is limited by the window, but for what the stack sends in one go.
    late = samples.filter(pl.col("time_ns") > 10**9)
    assert (late["bytes_in_flight"] <= (late["cwnd_packets"] + 20) * late["snd_mss_bytes"]).mean() > 0.95
    assert samples["received_bytes"].is_sorted()


def test_a_flow_of_so_many_bytes_completes(tmp_path: Path) -> None:
    done = run(tmp_path / "one", flow(protocol="quic", stack="quinn", bytes="500 kB"))
    (told,) = done.summary["flows"]
    assert told["received_bytes"] == 500_000
    assert 0.4 < told["fct_s"] < 1.5


def test_a_repeat_has_the_same_bytes(tmp_path: Path) -> None:
    stacks = (("quinn", "cubic"), ("noq", "bbr3"), ("quiche", "bbr2"), ("s2n", "bbr2"))
    flows = [flow(cc="cubic"), *(flow(protocol="quic", stack=stack, cc=cc) for stack, cc in stacks)]
    digests = []
    for name in ("a", "b"):
        done = run(tmp_path / name, *flows)
        files = [done.directory / f"{table}.parquet" for table in ("packets", "samples")]
        digests.append([hashlib.sha256(file.read_bytes()).hexdigest() for file in files])
    assert digests[0] == digests[1]


def test_the_program_has_the_stacks_that_scenarios_may_ask_for() -> None:
    built = quic.program()
    assert built is not None
    assert quic.stacks(built) == STACKS
