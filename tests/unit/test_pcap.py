"""`dumbbell pcap` and `dumbbell.pcap`, with a capture made here."""

from __future__ import annotations

import gzip
import json
import struct
from pathlib import Path

import pytest

import dumbbell
from dumbbell.cli import invoke
from dumbbell.errors import InputError

SYN, ACK = 2, 16


def packet(at_ms: int, number: int, flags: int, seq: int, ack: int, payload: int = 0, back: bool = False) -> bytes:
    """A record: Ethernet, IPv4, TCP, from 10.0.0.1:40000 to 10.0.0.2:80, or back."""
    ends = [(b"\x0a\0\0\1", 40_000), (b"\x0a\0\0\2", 80)]
    (source, sport), (destination, port) = reversed(ends) if back else ends
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 40 + payload, number, 0, 64, 6, 0) + source + destination
    tcp = struct.pack(">HHIIBBHHH", sport, port, seq, ack, 0x50, flags, 60_000, 0, 0)
    frame = bytes(12) + b"\x08\0" + ip + tcp
    return struct.pack("<IIII", at_ms // 1000, at_ms % 1000 * 1000, len(frame), len(frame) + payload) + frame


def made() -> bytes:
    """A handshake of 100 ms, ten segments, of which the third is repaired fast after three duplicate ACKs."""
    packets = [(0, SYN, 999, 0, 0, False), (100, SYN | ACK, 4_999, 1_000, 0, True), (100, ACK, 1_000, 5_000, 0, False)]
    packets += [(200, ACK, 1_000 + 1_000 * n, 5_000, 1_000, False) for n in range(10)]
    packets += [(300, ACK, 5_000, 3_000, 0, True)] * 4
    packets += [(301, ACK, 3_000, 5_000, 1_000, False), (401, ACK, 5_000, 11_000, 0, True)]
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 54, 1)
    records = [packet(at, number, flags, seq, ack, size, back)
               for number, (at, flags, seq, ack, size, back) in enumerate(packets, 1)]  # fmt: skip
    return head + b"".join(records)


def test_a_capture_becomes_tables(tmp_path: Path) -> None:
    file = tmp_path / "trace.pcap.gz"
    file.write_bytes(gzip.compress(made()))
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
    file.write_bytes(made())
    arguments = ["pcap", str(file), "--output", str(tmp_path / "out")]
    for _ in range(2):
        assert invoke(arguments) == 0
        shown = capsys.readouterr().out
        assert "10.0.0.1:40000" in shown
        assert shown.endswith(f"{tmp_path / 'out'}\n")
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
    file.write_bytes(made())
    (tmp_path / "out").mkdir()
    with pytest.raises(InputError, match="is there already"):
        dumbbell.pcap(file, output=tmp_path / "out")
