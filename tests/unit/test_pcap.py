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
    assert capture.rtt["rtt_ns"].to_list() == [100_000_000]


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
