"""Which connections of a capture get plots and rows of packets, and what its packets are said to hold."""

from __future__ import annotations

import json
import re
import struct
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from made_capture import ACK, HEAD, handshake, long, lossy, packet
from polars.testing import assert_frame_equal

import dumbbell
from dumbbell.captures.detail import keep
from dumbbell.captures.named import Named
from dumbbell.cli import invoke
from dumbbell.errors import InputError
from dumbbell.report.captured.series import build


def records(*captures: bytes) -> bytes:
    return HEAD + b"".join(capture[len(HEAD) :] for capture in captures)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Connections 1 with 300 kB, 2 with none, 3 with 400 kB."""
    path = tmp_path / "trace.pcap"
    path.write_bytes(
        records(long(300), HEAD + b"".join(handshake(40_001, at_us=900_000)), long(400, port=40_002, step_us=500))
    )
    return path


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("2", [2]),
        ("top:1", [3]),
        ("top:9", [3, 1]),
        ("10.0.0.1:40001", [2]),
        ("10.0.0.2:80", [3, 1, 2]),
        ("10.0.0.1:40000-10.0.0.2:80", [1]),
        ("10.0.0.2:80-10.0.0.1:40000", [1]),
    ],
)
def test_connections_have_names(file: Path, tmp_path: Path, name: str, numbers: list[int]) -> None:
    assert Named.parse(name).numbers(dumbbell.pcap(file, output=tmp_path / "out")) == numbers


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("top:", "nothing is not a number"),
        ("top:0", "0 is not a number"),
        ("10.0.0.2", "10.0.0.2 has no port"),
        ("10.0.0.2:http", "has no port"),
        ("10.0.0.2:70000", "has no port"),
        ("host:80", "host is not an IP address"),
        ("fd00::2:80", "in brackets"),
        ("10.0.0.1:1-10.0.0.2:2-10.0.0.3:3", "more than two endpoints"),
    ],
)
def test_other_names_are_refused_before_the_file_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, why: str
) -> None:
    assert invoke(["pcap", str(tmp_path / "missing.pcap"), "--connection", name]) == 2
    said = capsys.readouterr().err
    assert why in said
    assert "--connection 3, 10.0.0.2:80, [fd00::2]:443" in said


@pytest.mark.parametrize("name", ["4", "0", "10.0.0.9:80", "10.0.0.1:40000-10.0.0.2:81", "[fd00::2]:80"])
def test_a_connection_that_is_not_there_is_refused_with_one_that_is(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert invoke(["pcap", str(file), "--output", str(tmp_path / "out"), "--connection", name]) == 2
    assert "--connection 10.0.0.1:40002-10.0.0.2:80" in re.sub(r"\s+", " ", capsys.readouterr().err)


def test_only_named_connections_are_drawn_and_kept(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["pcap", str(file), "--output", str(out), "--segments", "top", "--connection", "10.0.0.1:40000"]
    assert invoke([*arguments, "--xplot", str(tmp_path / "xplot")]) == 0
    assert pl.read_parquet(out / "segments.parquet")["connection"].unique().to_list() == [1]
    assert [path.name for path in (tmp_path / "xplot").iterdir()] == ["1-to-server_tsg.xpl"]
    capture = dumbbell.pcap(out)
    assert [group.label[:1] for group in build(capture, only=[1]).groups] == ["1"]
    assert [group.label[:1] for group in build(capture).groups] == ["1", "3"]
    # Of several what matters is drawn, and all of a time that is asked for.
    assert invoke(["pcap", str(out), "--connection", "top:2"]) == 0
    assert invoke(["pcap", str(out), "--connection", "top:2", "--from", "0.3 s", "--to", "0.31 s"]) == 0


@pytest.mark.parametrize("segments", ["top", "all"])
def test_rows_of_packets_are_the_same_in_one_pass_as_in_two(file: Path, tmp_path: Path, segments: str) -> None:
    at_once = dumbbell.pcap(file, output=tmp_path / "once", segments=segments)  # type: ignore[arg-type]
    again = dumbbell.pcap(file, output=tmp_path / "again")
    numbers = [3, 1] if segments == "top" else [1, 2, 3]
    keep(again, numbers)
    for name in ("segments", "sacks"):
        found, expected = (pl.read_parquet(one.directory / f"{name}.parquet") for one in (at_once, again))
        assert found.schema == expected.schema
        by = ["time_ns", "connection"]
        assert_frame_equal(
            found.sort(by, maintain_order=True), expected.sort(by, maintain_order=True), categorical_as_str=True
        )
    assert at_once.summary["segments_of_connections"] == again.summary["segments_of_connections"] == len(numbers)
    # The directory of an analysed capture takes the option, too.
    opened = dumbbell.pcap(again.directory, segments="top")
    assert sorted(pl.read_parquet(opened.directory / "segments.parquet")["connection"].unique()) == [1, 3]


def tunnelled(port: int) -> bytes:
    """`lossy()` in VXLAN, at a port of UDP."""
    inner, parts, at = lossy(), [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 200, 1)], len(HEAD)
    while at < len(inner):
        seconds, us, captured, length = struct.unpack_from("<IIII", inner, at)
        frame = inner[at + 16 : at + 16 + captured]
        udp = struct.pack(">HHHH", 9, port, 16 + length, 0) + b"\x08\0\0\0\0\0\x01\0"
        ip = struct.pack(">BBHHHBBH", 0x45, 0, 36 + length, 0, 0, 64, 17, 0) + b"\x01\1\1\1\2\2\2\2"
        outer = bytes(12) + b"\x08\0" + ip + udp + frame
        parts.append(struct.pack("<IIII", seconds, us, len(outer), len(outer) - captured + length) + outer)
        at += 16 + captured
    return b"".join(parts)


def test_ports_are_said_to_be_tunnels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "trace.pcap", tmp_path / "out"
    file.write_bytes(tunnelled(4_790))
    with pytest.raises(InputError, match="cannot be analysed"):
        dumbbell.pcap(file, output=out)
    # Single packets are read again, and are found again.
    arguments = [
        "pcap",
        str(file),
        "--output",
        str(out),
        "--decode-as",
        "udp:4790=vxlan",
        "--connection",
        "1",
        "--json",
    ]
    assert invoke(arguments) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["connections"][0]["to_server"]["repeated_bytes"], told["segments"]) == (1_000, 19)
    assert pl.read_parquet(out / "segments.parquet").height == 19


@pytest.mark.parametrize(
    ("said", "why"),
    [("udp:4790=vlan", "vlan is not vxlan"), ("link=ethernet", "not the number of a link type"), ("gtp", "lacks =")],
)
def test_what_says_nothing_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], said: str, why: str) -> None:
    file = tmp_path / "trace.pcap"
    file.write_bytes(lossy())
    assert invoke(["pcap", str(file), "--output", str(tmp_path / "out"), "--decode-as", said]) == 2
    shown = re.sub(r"\s+", " ", capsys.readouterr().err)
    assert f"--decode-as {said}: not understood" in shown
    assert why in shown
    assert "udp:4790=vxlan" in shown


def test_a_connection_that_grows_late_lacks_packets_of_standard_input(tmp_path: Path) -> None:
    """Its first packets were given up for lack of memory. A file is read again, standard input is not."""
    late = [packet(1, 1, ACK, 1_000, 5_000, 10, port=9_999)]
    others = [packet(2 + n, 1, ACK, 1_000, 5_000, 100, port=10_000 + n) for n in range(16_000)]
    grown = [packet(30_000 + n, 2 + n, ACK, 1_010 + 1_000 * n, 5_000, 1_000, port=9_999) for n in range(50)]
    trace = HEAD + b"".join([*late, *others, *grown])
    code = f"import dumbbell; dumbbell.pcap('-', output={str(tmp_path / 'stream')!r}, segments='top')"
    subprocess.run([sys.executable, "-c", code], input=trace, check=True)
    stream = dumbbell.pcap(tmp_path / "stream")
    assert "The table of segments lacks connections" in stream.warnings[-1]
    (tmp_path / "trace.pcap").write_bytes(trace)
    file = dumbbell.pcap(tmp_path / "trace.pcap", output=tmp_path / "file", segments="top")
    assert not any("Rows of packets" in one for one in file.warnings)
    counts = [one.rows("segments", [1]).height for one in (stream, file)]
    assert counts[0] < counts[1] == 51
