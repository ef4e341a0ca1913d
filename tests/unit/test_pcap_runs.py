"""Runs that record their packets: what `dumbbell pcap` finds in them is what they recorded themselves."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import synthetic_run

import dumbbell
from dumbbell.captures import truth
from dumbbell.captures.points import interfaces
from dumbbell.captures.truth import TRUTH, matrix
from dumbbell.cli import invoke
from dumbbell.cli.captured import judge
from dumbbell.errors import InputError
from dumbbell.plan import wire
from dumbbell.report.captured.series import build
from dumbbell.workloads import QuicWorkload


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> dumbbell.Run:
    folder = tmp_path_factory.mktemp("captured")
    given = {"duration": "4 s", "record.capture": True, "topology.bottleneck.buffer": "0.5 bdp"}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(dumbbell.Run, "report", lambda run: run.directory / "report.html")
        found = dumbbell.run("bbr-vs-cubic", given, folder, engine="simulate")
    assert isinstance(found, dumbbell.Run)
    return found


@pytest.mark.parametrize("side", ["in", "out"])
def test_each_packet_is_captured_as_it_comes_to_a_link_and_as_it_leaves(
    run: dumbbell.Run, side: str, tmp_path: Path
) -> None:
    for name in ("bottleneck", "bottleneck-reverse"):
        packets = run.packets.filter(pl.col("link") == name)
        if side == "out":
            packets = packets.filter(pl.col("fate") == "delivered")
        file = run.directory / "capture.pcapng"
        capture = dumbbell.pcap(file, output=tmp_path / "out", interfaces=[f"{name}:{side}"])
        assert capture.summary["notes"]["frames"] == len(packets) > 500
        first, last = (packets["arrival_ns" if side == "in" else "delivery_ns"].sort()[at] for at in (0, -1))
        assert (capture.summary["origin_ns"], capture.summary["end_ns"]) == (first, last - first)
        assert capture.directions["payload_bytes"].sum() == packets["payload_bytes"].sum()
        assert capture.directions["frame_bytes"].sum() == packets["size_bytes"].sum()


def test_a_run_is_analysed_at_its_senders(
    run: dumbbell.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert invoke(["pcap", str(run.directory), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["only"] == ["bottleneck-reverse:out", "bottleneck:in"]
    assert (told["warnings"], told["directory"]) == ([], f"{run.directory.name}.analysis")
    assert {one["place"] for one in told["connections"]} == {"client"}
    assert [one["flow"] for one in told["flows"]] == run.flows["id"].to_list()
    for one in told["flows"]:
        assert one["sent_again"] == one["run_retransmitted_segments"]
        assert one["goodput_bps"] == pytest.approx(one["run_goodput_bps"], rel=0.05)
        assert one["rtt_p50_ms"] == pytest.approx(one["run_rtt_p50_ms"], rel=0.1)
    assert sum(one["sent_again"] for one in told["flows"]) > 20
    judged = pl.read_parquet(Path(told["directory"]) / "truth.parquet")
    assert judged["real"].unique().to_list() == ["sent-again"]
    assert judged.height == sum(one["sent_again"] for one in told["flows"])
    assert judged["class_right"].all()
    assert judged["cause_right"].all()
    page = (Path(told["directory"]) / "report.html").read_text(encoding="utf-8")
    assert 'aria-label="Classes against the truth"' in page
    assert invoke(["pcap", str(run.directory), "--at", "receiver"]) == 0
    assert "server" in capsys.readouterr().out
    judged = pl.read_parquet(Path(told["directory"]) / "truth.parquet")
    # A loss is a hole there, which is filled; what was not lost has been seen.
    assert set(judged["real_class"].to_list()) <= {"fill", "repeat"}
    assert "fill" in judged["real_class"].to_list()
    assert judged["class_right"].all()
    assert invoke(["pcap", str(run.directory), "--at", "middle"]) == 2
    assert "--interface" in capsys.readouterr().err


def test_copies_and_late_packets_of_a_run_are_told_from_what_was_sent_again(tmp_path: Path) -> None:
    given = {
        "duration": "4 s", "record.capture": True, "topology.bottleneck.reorder": {"rate": "1 %"},
        "topology.bottleneck.duplicate": "1 %", "topology.bottleneck.loss": "1 %",
    }  # fmt: skip
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(dumbbell.Run, "report", lambda run: run.directory / "report.html")
        run = dumbbell.run("bbr-vs-cubic", given, tmp_path, engine="simulate")
    assert isinstance(run, dumbbell.Run)
    points = interfaces(run.plan, "receiver")
    capture = dumbbell.pcap(run.directory / "capture.pcapng", output=tmp_path / "out", interfaces=points)
    judge(capture, run, "receiver")
    rows = pl.read_parquet(tmp_path / "out" / TRUTH)
    counts = dict(rows["real"].value_counts().rows())
    assert set(counts) == {"sent-again", "late", "copied"}
    assert min(counts.values()) > 20
    copies = run.packets.filter(pl.col("duplicate") & (pl.col("payload_bytes") > 0))
    assert counts["copied"] == copies.filter(pl.col("fate") == "delivered").height
    assert rows["class_right"].mean() > 0.99
    assert rows["cause_right"].mean() > 0.98
    panel = build(capture).panel("truth")
    assert panel is not None
    assert {lane.word for lane in panel.views[0].lanes} <= {"as it was", "otherwise"}
    assert sum(count for _, _, count in matrix(rows)) == rows.height


def test_bytes_below_what_passed_are_known_to_the_byte() -> None:
    start = np.array([0, 100, 300, 250, 150, 100, 500, 380], dtype=np.int64)
    end = start + np.array([100, 100, 100, 100, 150, 300, 100, 140], dtype=np.int64)
    below, seen = truth.seen_below(start, end)
    # 200 to 300 is a hole: half of it is filled, then the rest. 400 to 500 is another.
    assert below.tolist() == [False, False, False, True, True, True, False, True]
    assert seen[below].tolist() == ["overlap", "overlap", "repeat", "overlap"]


def test_a_run_without_a_capture_says_how_to_get_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["pcap", str(tmp_path)]) == 2
    assert "no manifest.json" in capsys.readouterr().err
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(dumbbell.Run, "report", lambda run: run.directory / "report.html")
        run = dumbbell.run("bbr-vs-cubic", {"duration": "1 s", "flows.1.start": "0 s"}, tmp_path, engine="simulate")
    assert isinstance(run, dumbbell.Run)
    assert not (run.directory / "capture.pcapng").exists()
    assert "capture" not in json.loads((run.directory / "plan.json").read_text())["record"]
    assert invoke(["pcap", str(run.directory)]) == 2
    assert "record.capture=true" in capsys.readouterr().err


def test_of_quic_flows_a_capture_tells_nothing_and_pcap_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    quic = synthetic_run.Synthetic().write(tmp_path / "both")
    plan = json.loads((quic / "plan.json").read_text())
    for flow in plan["flows"]:
        flow["workload"] = wire.part(QuicWorkload(stack="noq", cc="cubic", bytes=None))
    (quic / "plan.json").write_text(json.dumps(plan))
    assert invoke(["pcap", str(quic)]) == 2
    told = capsys.readouterr().err
    assert "has no TCP flow: " in told
    assert "QUIC encrypts acknowledgements" in told
    assert f"dumbbell report {quic}" in told


def test_flows_in_opposite_directions_need_interfaces_by_name(run: dumbbell.Run) -> None:
    from dataclasses import replace

    there, back = run.plan.flows[:2]
    turned = replace(back, from_=back.to, to=back.from_, port=7_000)
    with pytest.raises(InputError, match="cannot be read at every flow's sender"):
        interfaces(replace(run.plan, flows=(there, turned)), "sender")
