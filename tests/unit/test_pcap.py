"""`dumbbell pcap` and `dumbbell.pcap`, with a capture made here."""

from __future__ import annotations

import gzip
import json
import struct
from pathlib import Path

import pytest
from made_capture import ACK, FIN, HEAD, RST, SYN, long, lossy, packet

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


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["a", "b"], "is a directory, and 2 captures are named"),
        (["trace.pcap", "--interface", "eth9"], "the capture has no TCP packet of interface eth9"),
    ],
)
def test_directories_and_interfaces_are_refused_with_the_reason(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    given: list[str],
    expected: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("trace.pcap").write_bytes(lossy())
    for folder in ("a", "b"):
        Path(folder).mkdir()
    assert invoke(["pcap", *given]) == 2
    assert expected in capsys.readouterr().err


def test_nothing_but_an_analysed_capture_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "trace.pcap"
    file.write_bytes(lossy())
    (tmp_path / "out").mkdir()
    with pytest.raises(InputError, match="is there already"):
        dumbbell.pcap(file, output=tmp_path / "out")


def test_a_file_named_twice_is_refused_and_files_that_overlap_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.pcap", "b.pcap"):
        Path(name).write_bytes(long(1_500))
    Path("link.pcap").symlink_to("a.pcap")
    for again in ("a.pcap", "link.pcap"):
        assert invoke(["pcap", "a.pcap", again]) == 2
        assert "would count twice" in capsys.readouterr().err
    # The clock goes back behind the first file, and the page is written all the same.
    assert invoke(["pcap", "a.pcap", "b.pcap"]) == 0
    assert "files that overlap in time" in capsys.readouterr().out


def test_analyses_of_files_with_one_name_do_not_overwrite_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("a", "b"):
        Path(folder).mkdir()
        Path(folder, "slow.pcap").write_bytes(lossy())
    for _ in range(2):
        assert invoke(["pcap", "a/slow.pcap"]) == 0
    capsys.readouterr()
    assert invoke(["pcap", "b/slow.pcap"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"slow.pcap.analysis is the analysis of {tmp_path / 'a' / 'slow.pcap'}" in said
    assert "--output" in said
    assert dumbbell.pcap("slow.pcap.analysis").summary["files"] == [str(tmp_path / "a" / "slow.pcap")]
    assert invoke(["pcap", "b/slow.pcap", "--output", "other"]) == 0


@pytest.mark.parametrize(
    ("span", "why"),
    [
        (["--from", "12s", "--to", "10s"], "--from 12s is not before --to 10s"),
        (["--from", "500s"], "--from 500s is behind the end of trace.pcap"),
    ],
)
def test_a_part_that_is_none_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], span: list[str], why: str
) -> None:
    file = tmp_path / "trace.pcap"
    file.write_bytes(lossy())
    assert invoke(["pcap", str(file), "--output", str(tmp_path / "out"), "--connection", "1", *span]) == 2
    assert why in " ".join(capsys.readouterr().err.split())


def test_a_version_that_is_not_read_is_named(tmp_path: Path) -> None:
    file = tmp_path / "trace.pcap"
    file.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 3, 4, 0, 0, 54, 1))
    with pytest.raises(InputError, match=r"is pcap of version 3\.4"):
        dumbbell.pcap(file, output=tmp_path / "out")


def test_bytes_of_a_reset_are_told_and_are_no_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The capture rst-with-data.pcap: a single RST whose 13 bytes say why."""
    file = tmp_path / "trace.pcap"
    file.write_bytes(HEAD + packet(0, 1, RST | ACK, 9_001, 1_001, 13, back=True, window=0))
    assert invoke(["pcap", str(file), "--output", str(tmp_path / "out")]) == 0
    assert "13 bytes came with a RST" in " ".join(capsys.readouterr().out.split())
    assert "13 bytes came with a RST" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


_OFFERS = b"\x02\x04\x05\xb4\x04\x02\x08\x0a" + bytes(8) + b"\x01\x03\x03\x07"
"""MSS, SACK, timestamps and a window scale of 7, in the order of Linux."""


def offered(snaplen: int) -> bytes:
    """A download that fills its window of 500 * 128 bytes in each round of 20 ms."""
    cut = {"snaplen": snaplen}
    stamps = b"\x01\x01\x08\x0a" + bytes(8)
    parts = [
        packet(0, 1, SYN, 999, 0, options=_OFFERS, **cut),  # type: ignore[arg-type]
        packet(20_000, 2, SYN | ACK, 4_999, 1_000, back=True, options=_OFFERS, **cut),  # type: ignore[arg-type]
        packet(20_000, 3, ACK, 1_000, 5_000, window=500, options=stamps, **cut),  # type: ignore[arg-type]
    ]
    for step in range(50):
        at, seq = 40_000 + 20_000 * step, 1_000 + 64_000 * step
        for n in range(64):
            parts.append(packet(at, 4 + n, ACK, seq + 1_000 * n, 5_000, 1_000, options=stamps, **cut))  # type: ignore[arg-type]
        acked = packet(at + 20_000, 9, ACK, 5_000, seq + 64_000, back=True, window=500, options=stamps, **cut)  # type: ignore[arg-type]
        parts.append(acked)
    return HEAD + b"".join(parts)


def test_a_compressed_capture_that_ends_early_says_so(tmp_path: Path) -> None:
    (tmp_path / "part.pcap.gz").write_bytes(gzip.compress(long())[:-2_000])
    (said,) = dumbbell.pcap(tmp_path / "part.pcap.gz", output=tmp_path / "out").warnings
    assert "ends within a packet" in said
    assert "a thousand times as large once it is decompressed" in said


def test_what_a_snap_length_cut_off_is_unknown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = {}
    for snaplen in (54, 60, 96):
        file = tmp_path / f"{snaplen}.pcap"
        file.write_bytes(offered(snaplen))
        assert invoke(["pcap", str(file), "--output", str(tmp_path / str(snaplen))]) == 0
        capture = dumbbell.pcap(tmp_path / str(snaplen))
        row = capture.directions.filter(direction="to-server").to_dicts()[0]
        found[snaplen] = (row["window_shift"], row["limited_window_ns"] > 0, bool(capture.warnings))
        known = capture.intervals["window_end_bytes"].is_not_null().any()
        assert known == (snaplen == 96)
        shown = capsys.readouterr().out
        assert ("options of" in shown) == (snaplen != 96)
        assert ("network or window" in shown) == (snaplen != 96)
    assert found == {54: (None, False, True), 60: (None, False, True), 96: (7, True, False)}


def _vxlan(vni: int) -> bytes:
    udp = struct.pack(">HHHH", 9, 4_789, 500, 0) + b"\x08\0\0\0" + struct.pack(">I", vni << 8)
    return b"\x08\0" + struct.pack(">BBHHHBBH", 0x45, 0, 600, 0, 0, 64, 17, 0) + bytes(8) + udp + bytes(12) + b"\x08\0"


_AROUND = {
    "802.1Q": lambda id: b"\x81\0" + struct.pack(">H", id) + b"\x08\0",
    "MPLS": lambda id: b"\x88\x47" + struct.pack(">II", 0x0010_0040, id << 12 | 0x140),
    "VXLAN": _vxlan,
    "GRE": lambda id: (
        b"\x08\0" + struct.pack(">BBHHHBBH", 0x45, 0, 600, 0, 0, 64, 47, 0) + bytes(8) + b"\x20\0\x08\0"
        + struct.pack(">I", id)
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", _AROUND)
def test_equal_addresses_in_other_networks_are_other_connections(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    """The capture one-tuple-three-vlans.pcap, and other kinds of networks: each packet in all three, 0.7 ms apart."""
    payload = [(0, SYN, 1_000, 0, False), (0, SYN | ACK, 9_000, 1_001, True), (136, ACK, 1_001, 9_001, False)]
    payload += [(1_448, ACK, 9_001 + 1_448 * n, 1_137, True) for n in range(3)]
    payload += [(0, ACK | FIN, 1_137, 13_345, False)]
    parts = [
        packet(2_000 * at + 700 * place, at + 1, flags, seq, ack, size, back=back, around=_AROUND[kind](id))
        for at, (size, flags, seq, ack, back) in enumerate(payload)
        for place, id in enumerate((10, 20, 30))
    ]
    file = tmp_path / "trace.pcap"
    file.write_bytes(HEAD + b"".join(parts))
    assert invoke(["pcap", str(file), "--output", str(tmp_path / "out"), "--no-report"]) == 0
    assert f"{kind} 20" in capsys.readouterr().out
    capture = dumbbell.pcap(tmp_path / "out")
    assert capture.connections["network"].to_list() == [f"{kind} {id}" for id in (10, 20, 30)]
    assert capture.directions["payload_bytes"].to_list() == [136, 4_344] * 3
    assert capture.warnings == []


def test_the_same_packet_tagged_and_not_is_one_connection(tmp_path: Path) -> None:
    records = lossy()[len(HEAD) :]
    at, parts = 0, []
    while at < len(records):
        seconds, us, captured, length = struct.unpack_from("<IIII", records, at)
        frame = records[at + 16 : at + 16 + captured]
        tagged = frame[:12] + b"\x81\0\0\x0a" + frame[12:]
        parts += [struct.pack("<IIII", seconds, us, captured, length) + frame]
        parts += [struct.pack("<IIII", seconds, us + 200, captured + 4, length + 4) + tagged]
        at += 16 + captured
    file = tmp_path / "trace.pcap"
    file.write_bytes(HEAD + b"".join(parts))
    capture = dumbbell.pcap(file, output=tmp_path / "out")
    assert capture.directions.select("unique_bytes", "repeated_packets").rows()[0] == (10_000, 1)
    assert capture.directions["capture_duplicates"].sum() == 19


@pytest.mark.parametrize("interfaces", [(1, 1), (1, 2)])
def test_a_capture_of_all_interfaces_counts_each_packet_once(tmp_path: Path, interfaces: tuple[int, int]) -> None:
    """The cooked headers of both copies may be alike, as of two ports of one bridge in an older tcpdump."""
    records, at, once, twice = lossy()[len(HEAD) :], 0, b"", b""
    while at < len(records):
        seconds, us, captured, length = struct.unpack_from("<IIII", records, at)
        packet = records[at + 30 : at + 16 + captured]
        for copy, interface in enumerate(interfaces):
            head = struct.pack(">HHIHBB8s", 0x0800, 0, interface, 1, 4, 6, bytes(8))
            frame = head + packet
            record = struct.pack("<IIII", seconds, us, len(frame), length + 6) + frame
            twice += record
            once += record if copy == 0 else b""
        at += 16 + captured
    head = HEAD[:20] + struct.pack("<I", 276)
    captures = []
    for name, content in (("once", once), ("twice", twice)):
        (tmp_path / f"{name}.pcap").write_bytes(head + content)
        captures.append(dumbbell.pcap(tmp_path / f"{name}.pcap", output=tmp_path / name))
    one, two = captures
    assert two.directions["capture_duplicates"].sum() == 19
    assert two.directions.drop("capture_duplicates").equals(one.directions.drop("capture_duplicates"))
    assert two.events.equals(one.events)
    assert [said.startswith("The capture holds each packet twice") for said in two.warnings] == [True]
    assert one.warnings == []


def test_figures_have_units_that_fit_and_requests_have_no_rate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """20 segments a round trip of 1.58 s, and requests of 75 bytes that are acknowledged within 13 us."""
    slow = [packet(0, 1, SYN, 999, 0), packet(1_580_000, 2, SYN | ACK, 4_999, 1_000, back=True)]
    for step in range(20):
        at, seq = 1_600_000 * (step + 1), 1_000 + 20_000 * step
        slow += [packet(at, 10 + n, ACK, seq + 1_000 * n, 5_000, 1_000) for n in range(20)]
        slow.append(packet(at + 1_580_000, 40, ACK, 5_000, seq + 20_000, back=True))
    request = [
        packet(40_000_000, 1, SYN, 999, 0, port=9_000),
        packet(40_000_010, 2, SYN | ACK, 4_999, 1_000, back=True, port=9_000),
        packet(40_000_020, 3, ACK, 1_000, 5_000, 75, port=9_000),
        packet(40_000_033, 4, ACK, 5_000, 1_075, back=True, port=9_000),
    ]
    file = tmp_path / "trace.pcap"
    file.write_bytes(HEAD + b"".join(slow + request))
    assert invoke(["pcap", str(file), "--output", str(tmp_path / "out"), "--no-report"]) == 0
    shown = capsys.readouterr().out
    assert "1,580 ms" in shown
    assert "too short to judge" in shown
    assert "e+0" not in shown
    assert dumbbell.pcap(tmp_path / "out").directions["goodput_bps"].is_null().to_list()[-2:] == [True, True]
