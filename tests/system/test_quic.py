"""QUIC flows of real stacks: records like those of TCP, and the same bytes each time in virtual time and simulated."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest
from scenarios import flow, path

import dumbbell
from dumbbell.comparison.parts import split
from dumbbell.comparison.studies import compare
from dumbbell.engines.names import SIMULATE, VIRTUAL
from dumbbell.quic.build import build
from dumbbell.quic.program import NAME, VARIABLE, program, to_get
from dumbbell.quic.program import stacks as stacks_of
from dumbbell.scenario.traffic.kinds.quic import STACKS

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.thorough
"""The program of QUIC flows is built by `make quic`, which `make test` does without."""


@pytest.fixture(autouse=True, scope="session")
def stacks() -> None:
    """The program, which `make test-thorough` builds."""
    assert program() is not None, to_get()


def run(
    where: Path, *flows: str, rate: str = "10 Mbit/s", duration: str = "3 s", engine: str = VIRTUAL
) -> dumbbell.Run:
    """A run in virtual time, or of another engine, over 20 ms."""
    where.mkdir()
    file = where / "quic.toml"
    file.write_text(path(*flows, rate=rate, duration=duration))
    done = dumbbell.run(file, directory=where / "run", engine=engine, report=False)
    assert isinstance(done, dumbbell.Run)
    return done


both = pytest.mark.parametrize("engine", [VIRTUAL, SIMULATE])


@both
@pytest.mark.parametrize(
    ("stack", "cc"), [("quinn", "cubic"), ("noq", "bbr3"), ("quiche", "bbr2"), ("s2n", "cubic"), ("s2n", "bbr2")]
)
def test_a_stack_fills_a_path_and_its_records(stack: str, cc: str, engine: str, tmp_path: Path) -> None:
    done = run(tmp_path / "one", flow(protocol="quic", stack=stack, cc=cc), engine=engine)
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


def test_the_least_rtt_of_a_long_path_is_the_path_s(tmp_path: Path) -> None:
    """Stacks guess 333 ms before the first ACK (RFC 9002, section 6.2.2), and two take that for a minimum."""
    file = tmp_path / "long.toml"
    file.write_text(path(*each_stack(), duration="5 s"))
    done = dumbbell.run(file, "topology.rtt=600 ms", directory=tmp_path / "run", engine=SIMULATE, report=False)
    assert [told["cc"].split("/")[0] for told in done.summary["flows"]] == list(STACKS)
    for told in done.summary["flows"]:
        assert 600 <= told["rtt_ms"]["min"] < 610, told["cc"]


@both
def test_a_flow_of_so_many_bytes_completes(engine: str, tmp_path: Path) -> None:
    done = run(tmp_path / "one", flow(protocol="quic", stack="quinn", bytes="500 kB"), engine=engine)
    (told,) = done.summary["flows"]
    assert told["received_bytes"] == 500_000
    assert 0.4 < told["fct_s"] < 1.5


def each_stack(**keys: str) -> list[str]:
    """A flow of each stack with these keys."""
    return [flow(protocol="quic", stack=stack, cc="cubic", **keys) for stack in STACKS]


def arrived(done: dumbbell.Run, at: int) -> pl.DataFrame:
    """Times in ms and the bytes received by then, of the flow with this number."""
    samples = done.samples.filter(pl.col("flow") == f"f{at}")
    return samples.select(ms=pl.col("time_ns") // 10**6, bytes=pl.col("received_bytes"))


@both
def test_goodput_follows_the_rate_of_the_application(engine: str, tmp_path: Path) -> None:
    done = run(tmp_path / "one", *each_stack(rate="1 Mbit/s"), duration="10 s", engine=engine)
    for told in done.summary["flows"]:
        assert told["goodput_bps"] == pytest.approx(1e6, rel=0.02), told["cc"]


@both
def test_a_rate_with_a_size_completes_at_its_time(engine: str, tmp_path: Path) -> None:
    done = run(tmp_path / "one", *each_stack(rate="1 Mbit/s", bytes="250 kB"), engine=engine)
    for told in done.summary["flows"]:
        assert told["received_bytes"] == 250_000
        assert told["fct_s"] == pytest.approx(2, abs=0.1), told["cc"]


@both
def test_bursts_of_a_time_end_in_pauses(engine: str, tmp_path: Path) -> None:
    done = run(
        tmp_path / "one", *each_stack(on="200 ms", off="300 ms"), rate="80 Mbit/s", duration="2 s", engine=engine
    )
    for at, stack in enumerate(STACKS, 1):
        rows = arrived(done, at)
        for begin in (500, 1000, 1500):
            on = rows.filter(pl.col("ms").is_between(begin, begin + 250))["bytes"]
            off = rows.filter(pl.col("ms").is_between(begin + 400, begin + 500))["bytes"]
            assert on[-1] - on[0] > 100_000, (stack, begin)
            if stack != "quiche":  # It sends in the pause what it took before.
                assert off[-1] == off[0], (stack, begin)


@both
def test_a_pause_begins_when_a_burst_of_bytes_has_arrived(engine: str, tmp_path: Path) -> None:
    done = run(tmp_path / "one", *each_stack(on="100 kB", off="300 ms"), rate="40 Mbit/s", engine=engine)
    for at, stack in enumerate(STACKS, 1):
        counted = arrived(done, at).group_by("bytes").agg(pl.len()).filter(pl.col("len") > 20)
        assert counted.height > 4, stack
        assert (counted["bytes"] % 100_000 == 0).all(), stack
        assert counted["len"].max() < 38, "300 ms, and the time that the first bytes take"


@both
def test_a_qlog_of_both_ends_is_a_file_of_the_run(engine: str, tmp_path: Path) -> None:
    stacks = [stack for stack in STACKS if stack != "s2n"]
    flows = [flow(protocol="quic", stack=stack, cc="cubic", qlog=True, bytes="200 kB") for stack in stacks]
    done = run(tmp_path / "one", *flows, engine=engine)
    for at, stack in enumerate(stacks, 1):
        for name in (f"f{at}.sqlog", f"f{at}.server.sqlog"):
            lines = (done.directory / "logs" / name).read_text().split("\n")[:-1]
            events = [json.loads(line.lstrip("\x1e")) for line in lines[1:]]
            assert len(events) > 100, (stack, name)
            assert 0 <= events[0]["time"] <= events[-1]["time"] < 3000, (stack, name)


@both
def test_a_repeat_has_the_same_bytes(engine: str, tmp_path: Path) -> None:
    stacks = (("quinn", "cubic"), ("noq", "bbr3"), ("quiche", "bbr2"), ("s2n", "bbr2"))
    flows = [flow(cc="cubic"), *(flow(protocol="quic", stack=stack, cc=cc) for stack, cc in stacks)]
    digests = []
    for name in ("a", "b"):
        done = run(tmp_path / name, *flows, engine=engine)
        files = [done.directory / f"{table}.parquet" for table in ("packets", "samples")]
        digests.append([hashlib.sha256(file.read_bytes()).hexdigest() for file in files])
    assert digests[0] == digests[1]


@pytest.mark.parametrize("stack", STACKS)
def test_a_simulated_flow_is_as_fast_as_in_virtual_time(stack: str, tmp_path: Path) -> None:
    figures = []
    for engine in (VIRTUAL, SIMULATE):
        done = run(tmp_path / engine, flow(protocol="quic", stack=stack, cc="cubic"), duration="5 s", engine=engine)
        figures.append(done.summary["flows"][0])
    virtual, simulated = figures
    assert simulated["goodput_bps"] == pytest.approx(virtual["goodput_bps"], rel=0.03)
    assert simulated["rtt_ms"]["p50"] == pytest.approx(virtual["rtt_ms"]["p50"], rel=0.05, abs=1)
    assert simulated["quic"]["handshake_ms"] == pytest.approx(virtual["quic"]["handshake_ms"], abs=0.5)


def test_a_simulated_study_has_the_figures_of_its_runs(tmp_path: Path) -> None:
    """Many runs are one process, in which the random numbers of one must not depend on the others."""
    file = tmp_path / "quic.toml"
    flows = [flow(protocol="quic", stack="quinn", cc="bbr"), flow(cc="cubic")]
    text = path(*flows, rate="10 Mbit/s", duration="2 s", more='starts = "0 s"')
    stacks = ["quinn", "quiche", "s2n"]
    case = '{{ name = "{0}", "flows.0.stack" = "{0}", "flows.0.cc" = "{1}" }}'
    cases = ", ".join(case.format(stack, STACKS[stack][-1]) for stack in stacks)
    file.write_text(f"{text}\n[sweep]\ncases = [{cases}]\n")
    study = dumbbell.run(file, directory=tmp_path / "study", engine=SIMULATE, repeat=2, report=False)
    assert isinstance(study, dumbbell.Study)
    rows = study.flows.filter(pl.col("protocol") == "quic")
    assert rows.height == 6
    assert rows["goodput_bps"].n_unique() == 6, "seeds differ"
    for stack in stacks:
        flows = [flow(protocol="quic", stack=stack, cc=STACKS[stack][-1]), flow(cc="cubic")]
        file.write_text(path(*flows, rate="10 Mbit/s", duration="2 s", more="seed = 2"))
        alone = dumbbell.run(file, directory=tmp_path / stack, engine=SIMULATE, report=False)
        assert isinstance(alone, dumbbell.Run)
        of_study = rows.filter(pl.col("cc").str.starts_with(stack)).sort("run")["received_bytes"]
        assert alone.summary["flows"][0]["received_bytes"] == of_study[1], "its second repetition has the seed 2"


def test_runs_of_a_simulated_study_may_have_two_builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other build is the same program under another hash: cells of both have the same figures."""
    main = program()
    assert main is not None
    monkeypatch.setenv(VARIABLE, str(shutil.copy(main, tmp_path / NAME)))
    with open(shutil.copy(main, tmp_path / f"{NAME}-branch"), "ab") as file:
        file.write(b"another")
    study = dumbbell.run(
        "quic-branch",
        {"duration": "2 s"},
        tmp_path / "studies",
        engine=SIMULATE,
        vary={"topology.bottleneck.rate": ["4 Mbit/s"], "topology.rtt": ["30 ms"]},
    )
    assert isinstance(study, dumbbell.Study)
    assert study.flows["cc"].value_counts().sort("cc").rows() == [("noq/cubic", 5), ("noq@branch/cubic", 5)]
    a, b, *_ = split(study, "flows.0.stack")
    found = compare(a, b, ["goodput"], 0.95, are_parts=True)
    assert (found.cells, len(found.equal)) == (5, 5)


def test_the_program_has_the_stacks_that_scenarios_may_ask_for() -> None:
    built = program()
    assert built is not None
    assert stacks_of(built) == STACKS


def tree_of(package: str, to: Path) -> Path:
    """A copy of the package whose version the program has."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--manifest-path", "quic/Cargo.toml"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    (manifest,) = (Path(one["manifest_path"]) for one in json.loads(told)["packages"] if one["name"] == package)
    return Path(shutil.copytree(manifest.parent, to))


@pytest.mark.exhaustive  # It compiles a stack: 4 minutes of CPU.
def test_a_branch_differs_from_main_only_where_its_change_matters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The branch reduces its window by half after a loss: what ends before the first loss is the same."""
    main = program()
    assert main is not None
    monkeypatch.setenv(VARIABLE, str(shutil.copy(main, tmp_path / NAME)))
    tree = tree_of("noq-proto", tmp_path / "noq-proto")
    changed = tree / "src" / "congestion" / "cubic.rs"
    text = changed.read_text()
    assert text.count("const BETA_CUBIC: f64 = 0.7;") == 1
    changed.write_text(text.replace("const BETA_CUBIC: f64 = 0.7;", "const BETA_CUBIC: f64 = 0.5;"))
    build("noq", tree, "branch")
    study = dumbbell.run(
        "quic-branch",
        {"duration": "4 s"},
        tmp_path / "studies",
        engine=VIRTUAL,
        vary={"topology.bottleneck.rate": ["4 Mbit/s"], "topology.rtt": ["30 ms"], "flows.0.bytes": ["30 kB", "1 MB"]},
    )
    a, b, *builds = split(study, "flows.0.stack")
    assert builds == ["noq", "noq@branch"]
    assert (a.flows["cc"].unique().to_list(), b.flows["cc"].unique().to_list()) == (["noq/cubic"], ["noq@branch/cubic"])
    found = compare(a, b, ["goodput", "fct_p50"], 0.95, are_parts=True)
    assert found.cells == 10
    size = found.keys.index("flows.0.bytes")
    sizes = [place[size] for place in found.equal]
    assert sizes.count("30 kB") == 5, "no CUBIC reduced its window"
    assert sizes.count("1 MB") < 3, "nearly every network loses packets of these"
    assert {row.place[size] for row in found.differing} == {"1 MB"}
    (told, *_) = json.loads((study.open(b.runs["run"][0]).directory / "traffic.json").read_text())["flows"]
    assert told["quic"]["version"].startswith("1.4.0 of ")
