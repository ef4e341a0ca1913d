"""Runs that record their packets: what `dumbbell pcap` finds in them is what they recorded themselves."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import dumbbell
from dumbbell.captures.points import interfaces
from dumbbell.cli import invoke
from dumbbell.errors import InputError


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> dumbbell.Run:
    folder = tmp_path_factory.mktemp("captured")
    given = {"duration": "3 s", "record.capture": True, "topology.bottleneck.buffer": "0.5 bdp"}
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
    assert invoke(["pcap", str(run.directory), "--at", "receiver"]) == 0
    assert "server" in capsys.readouterr().out


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


def test_flows_in_opposite_directions_need_interfaces_by_name(run: dumbbell.Run) -> None:
    from dataclasses import replace

    there, back = run.plan.flows[:2]
    turned = replace(back, from_=back.to, to=back.from_, port=7_000)
    with pytest.raises(InputError, match="not read at every flow's sender"):
        interfaces(replace(run.plan, flows=(there, turned)), "sender")
