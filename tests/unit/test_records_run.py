"""Opening a run: what it offers, and what it says if there is none."""

from pathlib import Path

import known_run
import polars as pl
import pytest

import dumbbell
from dumbbell.errors import DumbbellError, InputError
from dumbbell.pipeline.compose import compose
from dumbbell.records.files import read_json, write_json


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return known_run.make(tmp_path / "synthetic-abc")


def test_tables_have_the_documented_types(directory: Path) -> None:
    run = dumbbell.open(directory)
    assert run.samples["flow"].unique().sort().cast(str).to_list() == ["f1", "f2"]
    assert run.packets is not None
    assert run.packets.height == known_run.PACKETS
    assert run.links.height == 400
    assert run.name == "synthetic"
    assert run.scenario_text.endswith("# a comment\n")


def test_compose_gives_every_figure(directory: Path) -> None:
    compose(dumbbell.open(directory), {"failed": 2, "excluded": 1})
    run = dumbbell.open(directory)
    assert run.verdict == "valid", run.summary["reasons"]
    assert run.summary["reasons"] == []
    first, second = run.summary["flows"]
    assert (first["id"], first["cc"], first["protocol"]) == ("f1", "cubic", "tcp")
    assert first["goodput_bps"] == pytest.approx(6e6)
    assert second["goodput_bps"] == pytest.approx(2e6)
    assert first["rtt_ms"] == pytest.approx({"min": 21.0, "p50": 30.5, "p95": 39.05})
    assert first["base_rtt_ms"] == 20.0
    assert first["fct_s"] is None
    # Jain for 3 : 1 is (3 + 1)^2 / (2 * (9 + 1)).
    assert run.summary["jain_index"] == pytest.approx(0.8, abs=1e-5)
    assert run.summary["jain_window_s"] == [0.0, 2.0]
    bottleneck, reverse = run.summary["links"]
    assert bottleneck["utilisation"] == pytest.approx(known_run.PACKETS * known_run.SERVICE_NS / 2e9)
    assert bottleneck["queue_ms"]["p50"] == pytest.approx(5 - 1.2112)
    assert reverse["queue_ms"] is None
    assert run.summary["attempts"] == {"failed": 2, "excluded": 1}
    assert run.flows["rtt_p95_ms"].to_list() == pytest.approx([39.05, 39.05])


def test_compose_without_packets(directory: Path) -> None:
    (directory / "packets.parquet").unlink()
    compose(dumbbell.open(directory), {"failed": 0, "excluded": 0})
    run = dumbbell.open(directory)
    assert run.packets is None
    bottleneck = run.summary["links"][0]
    assert bottleneck["utilisation"] == pytest.approx(0.994, abs=0.001)
    assert bottleneck["queue_ms"]["max"] == pytest.approx(4 * 1.2112)
    with pytest.raises(DumbbellError, match="did not record it") as error:
        run.scan("packets")
    assert "record.packets" in error.value.hint


def test_waits_that_the_links_counters_do_not_tell_are_none(directory: Path) -> None:
    """There are no packets: the order is not that of arrival, or the rate changes."""
    (directory / "packets.parquet").unlink()
    link = known_run.PLAN["links"][0]
    fair = {"kind": "fq", "quantum_bytes": 3028, "flows": 1024}
    for changed in (link | {"queue": fair}, link | {"rate_bps": 5_000_000}):
        plan = known_run.PLAN | {"events": [{"at_ns": 10**9, "link": changed}]}
        write_json(directory / "plan.json", plan)
        compose(dumbbell.open(directory), {})
        assert dumbbell.open(directory).summary["links"][0]["queue_ms"] is None


def test_compose_counts_by_reason(tmp_path: Path) -> None:
    files = known_run.engine_output()
    account = files["emulator.json"]["links"][0]
    account["dropped"] |= {"dropped-early": 30, "dropped-tail": 4}
    account |= {"marked": 9, "duplicated": 40, "reordered": 2, "corrupted": 1, "lost_before": 5, "lost_after": 1}
    odd = pl.col("packet") % 2 == 1
    files["packets.parquet"] = files["packets.parquet"].with_columns(
        ecn=pl.when(odd)
        .then(pl.lit("not-ect"))
        .when(pl.col("packet") < 400)
        .then(pl.lit("ce"))
        .otherwise(pl.lit("ect0"))
    )
    compose(dumbbell.open(known_run.make(tmp_path / "run", files=files)), {})
    run = dumbbell.open(tmp_path / "run")
    link = run.summary["links"][0]
    assert (link["drops"], link["losses"]) == (34, 6)
    assert {reason: n for reason, n in link["drops_by_reason"].items() if n} == {"dropped-early": 30, "dropped-tail": 4}
    assert [link[key] for key in ("marks", "duplicates", "reordered", "corrupted")] == [9, 40, 2, 1]
    first, second = run.summary["flows"]
    assert (first["ce_packets"], second["ce_packets"], second["ce_share"]) == (200, None, None)
    assert first["ce_share"] == pytest.approx(200 / (known_run.PACKETS / 2), rel=0.01)
    assert first["queue_ms"]["p50"] == pytest.approx(5 - 1.2112)
    assert run.flows["queue_p95_ms"].to_list() == pytest.approx([3.7888, 3.7888])
    assert run.flows["ce_packets"].to_list() == [200, None]
    assert run.summary["path"] == "wire"


def test_one_flow_has_no_jain_index(tmp_path: Path) -> None:
    files = known_run.engine_output()
    plan = known_run.PLAN | {"flows": known_run.PLAN["flows"][:1]}
    files["traffic.json"]["flows"] = files["traffic.json"]["flows"][:1]
    directory = known_run.make(tmp_path / "run", files=files)
    write_json(directory / "plan.json", plan)
    for table in ("samples", "packets"):
        path = directory / f"{table}.parquet"
        pl.read_parquet(path).filter(pl.col("flow").cast(pl.String) != "f2").write_parquet(path)
    compose(dumbbell.open(directory), {})
    assert dumbbell.open(directory).summary["jain_index"] is None


def test_a_flow_that_never_started_has_no_goodput(tmp_path: Path) -> None:
    files = known_run.engine_output()
    silent = {"received_bytes": 0, "start_ns": None, "first_byte_ns": None, "end_ns": None, "error": "refused"}
    files["traffic.json"]["flows"][1] |= silent
    directory = known_run.make(tmp_path / "run", files=files)
    compose(dumbbell.open(directory), {})
    summary = dumbbell.open(directory).summary
    assert summary["flows"][1]["goodput_bps"] is None
    assert summary["jain_index"] is None
    assert summary["verdict"] == "invalid"
    assert [reason["check"] for reason in summary["reasons"]] == ["flow-errors"]


def test_starvation_lowers_goodput_and_jain_index(tmp_path: Path) -> None:
    """f2 gets its 500 kB in the first half second and then nothing: figures are over all of the 2 s."""
    files = known_run.engine_output()
    files["traffic.json"]["flows"][1]["end_ns"] = 500_000_000
    starved = (pl.col("flow") == "f2") & (pl.col("time_ns") >= 500_000_000)
    files["samples.parquet"] = files["samples.parquet"].with_columns(
        received_bytes=pl.when(starved).then(500_000).otherwise(pl.col("received_bytes"))
    )
    directory = known_run.make(tmp_path / "run", files=files)
    compose(dumbbell.open(directory), {})
    summary = dumbbell.open(directory).summary
    assert summary["flows"][1]["goodput_bps"] == 2e6
    assert summary["flows"][1]["stop_s"] == 2.0
    assert summary["jain_window_s"] == [0.0, 2.0]
    assert summary["jain_index"] == pytest.approx(0.8, abs=1e-5)


def test_a_flow_that_got_nothing_counts_with_0(tmp_path: Path) -> None:
    files = known_run.engine_output()
    files["traffic.json"]["flows"][1] |= {"end_ns": None, "received_bytes": 0}
    samples = files["samples.parquet"]
    files["samples.parquet"] = samples.with_columns(
        received_bytes=pl.when(pl.col("flow") == "f2").then(0).otherwise(pl.col("received_bytes"))
    )
    directory = known_run.make(tmp_path / "run", files=files)
    compose(dumbbell.open(directory), {})
    summary = dumbbell.open(directory).summary
    assert summary["flows"][1]["goodput_bps"] == 0
    assert summary["jain_index"] == 0.5


def test_an_interrupted_run_ends_its_flows_when_it_ended(tmp_path: Path) -> None:
    files = known_run.engine_output()
    files["traffic.json"] |= {"interrupted": True, "wall_s": 1.25}
    directory = known_run.make(tmp_path / "run", files=files)
    compose(dumbbell.open(directory), {})
    assert [flow["stop_s"] for flow in dumbbell.open(directory).summary["flows"]] == [1.25, 1.25]


def test_a_udp_flow_has_no_retransmissions(tmp_path: Path) -> None:
    files = known_run.engine_output()
    report = {"sent_packets": 10, "refused_packets": 0, "socket_drops": 0, "schedule_error_us": {"p99": 1.0}}
    udp = {"cc_requested": None, "cc_actual": None, "busy_us": 0, "retransmitted_segments": 0, "udp": report}
    files["traffic.json"]["flows"][1] |= udp
    directory = known_run.make(tmp_path / "run", files=files)
    workload = {"kind": "udp", "rate_bps": 2_000_000, "payload_bytes": 1472, "bytes": 300_000}
    first, second = known_run.PLAN["flows"]
    write_json(directory / "plan.json", known_run.PLAN | {"flows": [first, second | {"workload": workload}]})
    compose(dumbbell.open(directory), {})
    flow = dumbbell.open(directory).summary["flows"][1]
    assert (flow["protocol"], flow["cc"], flow["label"]) == ("udp", None, "f2 udp")
    assert flow["retransmitted_segments"] is None
    assert flow["rwnd_limited_share"] is None
    assert flow["fct_s"] == 2.0


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (lambda path: path.joinpath("manifest.json").unlink(), "no manifest.json"),
        (lambda path: write_json(path / "manifest.json", {"schema": 99}), "layout 99"),
        (lambda path: _mark(path, "failed"), "it is failed: out of memory"),
        (lambda path: _mark(path, "running"), "did not complete"),
    ],
)
def test_what_is_no_complete_run_is_refused(directory: Path, break_it: object, message: str) -> None:
    assert callable(break_it)
    break_it(directory)
    with pytest.raises(InputError, match=message):
        dumbbell.open(directory)


def test_a_failed_run_can_be_read_on_demand(directory: Path) -> None:
    _mark(directory, "failed")
    assert dumbbell.open(directory, incomplete=True).samples.height == 400


def test_no_directory(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such directory"):
        dumbbell.open(tmp_path / "nothing")


def test_a_cut_table_is_named(directory: Path) -> None:
    (directory / "samples.parquet").write_bytes(b"PAR1")
    with pytest.raises(DumbbellError, match=r"samples\.parquet cannot be read"):
        _ = dumbbell.open(directory).samples


def _mark(path: Path, status: str) -> None:
    manifest = read_json(path / "manifest.json")
    write_json(path / "manifest.json", manifest | {"status": status, "reason": "out of memory"})
