"""`dumbbell pcap` and `dumbbell.pcap`, with a capture made here."""

from __future__ import annotations

import gzip
import json
import struct
from pathlib import Path

import pytest
from made_capture import lossy

import dumbbell
from dumbbell.cli import invoke
from dumbbell.errors import InputError


def test_a_capture_becomes_tables(tmp_path: Path) -> None:
    file = tmp_path / "trace.pcap.gz"
    file.write_bytes(gzip.compress(lossy()))
    capture = dumbbell.pcap(file, output=tmp_path / "out")
    assert capture.warnings == []
    (connection,) = capture.connections.to_dicts()
    assert (connection["client"], connection["server_port"], connection["place"]) == ("10.0.0.1", 80, "client")
    assert connection["handshake_server_ns"] == 100_000_000
    to_server = capture.directions.to_dicts()[0]
    assert (to_server["direction"], to_server["unique_bytes"], to_server["repeated_packets"]) == (
        "to-server",
        10_000,
        1,
    )
    assert (to_server["fast_retransmissions"], to_server["rtt_p50_ns"]) == (1, 100_000_000)
    (event,) = capture.events.to_dicts()
    assert (event["class"], event["cause"], event["evidence"], event["seq"]) == (
        "repeat", "fast", "duplicate-acks", 2_000,
    )  # fmt: skip
    assert capture.intervals["payload_bytes"].sum() == 11_000
    assert capture.rtt.select("direction", "kind", "rtt_ns", "seq").rows() == [
        ("to-server", "data", 100_000_000, 2_000),
    ]
    assert connection["encapsulation"] is None
    # Ten segments at once, and one again 101 ms later.
    assert capture.gaps.select("above_ns", "up_to_ns", "gaps").rows() == [(0, 1_000, 9), (98_303_000, 114_687_000, 1)]


def test_the_command_prints_and_repeats(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "trace.pcap"
    file.write_bytes(lossy())
    arguments = ["pcap", str(file), "--output", str(tmp_path / "out")]
    for _ in range(2):
        assert invoke(arguments) == 0
        shown = capsys.readouterr().out
        assert "10.0.0.1:40000" in shown
        assert shown.endswith(f"{tmp_path / 'out' / 'report.html'}\n")
    assert invoke([*arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["connections"][0]["to_server"]["repeated_bytes"] == 1_000
    assert told["segments"] == 19


def test_somebody_says_where_a_capture_was_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "trace.pcap"
    file.write_bytes(lossy())
    for at, place in (("sender", "client"), ("middle", "middle"), ("receiver", "server")):
        out = tmp_path / at
        assert invoke(["pcap", str(file), "--at", at, "--output", str(out)]) == 0
        assert f"{place}, as said" in capsys.readouterr().out
        (connection,) = dumbbell.pcap(out).connections.to_dicts()
        assert (connection["place"], connection["place_by"], connection["place_share"]) == (place, "said", None)
        assert f"as --at {at} says" in (out / "report.html").read_text(encoding="utf-8")
    assert invoke(["pcap", str(tmp_path / "sender"), "--at", "middle"]) == 2
    assert "analysed without" in capsys.readouterr().err
    assert invoke(["pcap", str(tmp_path / "middle"), "--at", "middle", "--no-report"]) == 0


def test_what_has_no_tcp_is_refused_with_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "trace.pcap"
    file.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 54, 1))
    assert invoke(["pcap", str(file), "--output", str(tmp_path / "out")]) == 2
    assert "no packet in it" in capsys.readouterr().err
    assert sorted(tmp_path.iterdir()) == [file]
    file.write_bytes(b"something else that is no capture")
    with pytest.raises(InputError, match="neither pcap nor pcapng"):
        dumbbell.pcap(file, output=tmp_path / "out")


def test_nothing_but_an_analysed_capture_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "trace.pcap"
    file.write_bytes(lossy())
    (tmp_path / "out").mkdir()
    with pytest.raises(InputError, match="is there already"):
        dumbbell.pcap(file, output=tmp_path / "out")
