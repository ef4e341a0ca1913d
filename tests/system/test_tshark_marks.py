"""tshark's marks of windows, gaps of the capture, duplicate ACKs and whole connections follow from what we read."""

from __future__ import annotations

import re
import struct
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

import polars as pl
from made_capture import ACK, FIN, HEAD, RST, SYN, handshake, long, packet
from test_tshark import fields

import dumbbell

MARKS: Final = (
    "tcp.stream", "tcp.completeness", "tcp.analysis.zero_window", "tcp.analysis.window_full",
    "tcp.analysis.lost_segment", "tcp.analysis.ack_lost_segment", "tcp.analysis.duplicate_ack",
)  # fmt: skip
_OF_HISTORY: Final = {"s": 1, "h": 2, "a": 4, "d": 8, "f": 16, "r": 32}


def both(folder: Path, pcap: bytes) -> tuple[list[dict[str, str]], dumbbell.Capture, list[dict[str, Any]]]:
    """A capture as tshark marks its packets, as we do, and our rows of packets in their order."""
    file = folder / "trace.pcap"
    file.write_bytes(pcap)
    ours = dumbbell.pcap(file, output=folder / "out", segments="all")
    rows = pl.read_parquet(folder / "out" / "segments.parquet").sort("time_ns", maintain_order=True).to_dicts()
    theirs = fields(file, MARKS)
    assert len(rows) == len(theirs)
    return theirs, ours, rows


def marked(theirs: Sequence[dict[str, str]], name: str) -> set[int]:
    """Places of packets with a mark."""
    return {at for at, one in enumerate(theirs) if one[f"tcp.analysis.{name}"]}


def test_windows_that_are_full_or_zero(tmp_path: Path) -> None:
    """A receiver that reads late: its window of 4,000 bytes is filled, is 0 for a while, and opens again."""
    parts = handshake()
    at, seq = 200_000, 1_000
    for _ in range(3):
        parts += [packet(at + n, 10 + n, ACK, seq + 1_000 * n, 5_000, 1_000) for n in range(4)]
        seq += 4_000
        parts += [
            packet(at + 100_000, 20, ACK, 5_000, seq, back=True, window=0),
            packet(at + 200_000, 21, ACK, seq - 1, 5_000),
            packet(at + 200_100, 22, ACK, 5_000, seq, back=True, window=0),
            packet(at + 300_000, 23, ACK, 5_000, seq, back=True, window=4_000),
        ]
        at += 400_000
    parts[1] = packet(100_000, 2, SYN | ACK, 4_999, 1_000, back=True, window=4_000)
    theirs, ours, rows = both(tmp_path, HEAD + b"".join(parts))
    to_server, to_client = ours.directions.to_dicts()
    zero = {at for at, row in enumerate(rows) if row["ack"] is not None and row["window_end"] == row["ack"]}
    assert marked(theirs, "zero_window") == zero
    assert (len(zero), to_client["zero_windows"], to_server["zero_windows"]) == (6, 6, 0)
    assert to_server["zero_window_ns"] == 3 * 200_000_000
    full, end = set(), None
    for at_row, row in enumerate(rows):
        if row["direction"] == "to-client":
            end = row["window_end"]
        elif row["bytes"] and row["seq"] + row["bytes"] == end:
            full.add(at_row)
    assert marked(theirs, "window_full") == full
    assert len(full) == 3
    assert to_server["limited_window_ns"] > 500_000_000


def ends(port: int, at_us: int, kind: str) -> list[bytes]:
    """A connection that has, or lacks, each part."""
    parts = handshake(port, at_us)
    data = [
        packet(at_us + 200_000, 4, ACK, 1_000, 5_000, 500, port=port),
        packet(at_us + 300_000, 5, ACK, 5_000, 1_500, back=True, port=port),
    ]
    fins = [
        packet(at_us + 400_000, 6, FIN | ACK, 1_500, 5_000, port=port),
        packet(at_us + 500_000, 7, FIN | ACK, 5_000, 1_501, back=True, port=port),
        packet(at_us + 500_000, 8, ACK, 1_501, 5_001, port=port),
    ]
    reset = packet(at_us + 400_000, 6, RST, 1_500, 0, port=port)
    refused = packet(at_us + 100_000, 2, RST | ACK, 0, 1_000, back=True, port=port)
    return {
        "whole": [*parts, *data, *fins],
        "open": [*parts, *data],
        "reset": [*parts, *data, reset],
        "unanswered": parts[:1],
        "refused": [parts[0], refused],
        "shaken": parts,
        "begun before": [*data, *fins],
    }[kind]


def test_the_parts_of_a_connection_that_are_there(tmp_path: Path) -> None:
    kinds = ("whole", "open", "reset", "unanswered", "refused", "shaken", "begun before")
    parts = [part for n, kind in enumerate(kinds) for part in ends(40_000 + n, 1_000_000 * n, kind)]
    _, ours, rows = both(tmp_path, HEAD + b"".join(parts))
    # In its first pass tshark knows a connection so far.
    theirs = fields(tmp_path / "trace.pcap", MARKS, "-2")
    last = {int(one["tcp.stream"]): int(one["tcp.completeness"]) for one in theirs}
    told = {
        row["connection"] - 1: sum({_OF_HISTORY.get(letter, 0) for letter in row["history"].lower()})
        for row in ours.connections.to_dicts()
    }
    # A reset that acknowledges counts as an ACK there.
    for row in rows:
        if {"RST", "ACK"} <= set(row["flags"].split()):
            told[row["connection"] - 1] |= _OF_HISTORY["a"]
    assert told == last
    assert len(set(last.values())) == len(kinds)
    states = dict(zip(kinds, ours.connections["state"].to_list(), strict=True))
    assert states == {
        "whole": "SF", "open": "S1", "reset": "RSTO", "unanswered": "S0", "refused": "REJ", "shaken": "S1",
        "begun before": "OTH",
    }  # fmt: skip


def records(pcap: bytes) -> list[bytes]:
    """The records of a file that `made_capture` made."""
    found, at = [], len(HEAD)
    while at < len(pcap):
        size = 16 + int.from_bytes(pcap[at + 8 : at + 12], "little")
        found.append(pcap[at : at + size])
        at += size
    return found


def has_data(record: bytes) -> bool:
    """Whether its frame is longer than its headers."""
    return int.from_bytes(record[12:16], "little") > 54


def seen_again(kept: Sequence[bytes]) -> int:
    """Counts lost segments of a capture of which it has another copy."""
    whole = Counter(one[54:58] for one in records(long(600)) if has_data(one))
    left = Counter(one[54:58] for one in kept if has_data(one))
    return sum(count - left[seq] for seq, count in whole.items() if left[seq])


def test_what_the_capture_lost(tmp_path: Path) -> None:
    chance = Random(7)
    kept = [one for at, one in enumerate(records(long(600))) if at < 8 or not has_data(one) or chance.random() > 0.02]
    theirs, ours, rows = both(tmp_path, HEAD + b"".join(kept))
    assert ours.summary["segments"] == len(kept) < len(records(long(600)))
    highest, lost = 0, set()
    for at, row in enumerate(rows):
        if row["direction"] == "to-server" and row["bytes"]:
            if row["seq"] > highest:
                lost.add(at)
            highest = max(highest, row["seq"] + row["bytes"])
        elif row["ack"] is not None:
            highest = max(highest, row["ack"])
    assert marked(theirs, "lost_segment") == lost
    found, known, highest = set(), 0, 0
    unseen = ours.events.filter(pl.col("class") == "unseen").select("time_ns", "seq", "bytes").rows()
    for at, row in enumerate(rows):
        if row["direction"] == "to-server":
            highest = max(highest, row["seq"] + row["bytes"])
            continue
        told = [one for one in unseen if one[0] == row["time_ns"] and row["ack"] >= one[1] + one[2]]
        unseen = [one for one in unseen if one not in told]
        # tshark tells of one loss, and of no other below the highest byte that it had seen by then.
        if any(seq + size > known for _, seq, size in told):
            found.add(at)
            known = highest
    assert unseen == []
    assert marked(theirs, "ack_lost_segment") == found
    assert len(found) > 3
    assert ours.directions["unseen_bytes"].max() == 1_000 * (len(records(long(600))) - len(kept) - seen_again(kept))


def test_duplicate_acks_without_sack(tmp_path: Path) -> None:
    theirs, ours, rows = both(tmp_path, long(600))
    found = marked(theirs, "duplicate_ack")
    # tshark wants no outstanding data (RFC 5681, section 2): those are the only ones more.
    more, highest, una = set(), 0, 0
    for at, row in enumerate(rows):
        if row["direction"] == "to-server":
            highest = max(highest, row["seq"] + row["bytes"])
            continue
        if at in found and highest <= una:
            more.add(at)
        una = max(una, row["ack"] or 0)
    to_client = ours.directions.filter(pl.col("direction") == "to-client")["duplicate_acks"].sum()
    assert to_client == len(found - more) > 100


def block(kind: int, body: bytes) -> bytes:
    """A block of pcapng, little endian."""
    size = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + size + body + size


def option(code: int, value: bytes) -> bytes:
    """An option whose value is a multiple of 4 bytes long."""
    return struct.pack("<HH", code, len(value)) + value


def pcapng(drops: Sequence[int], statistics: bytes) -> bytes:
    """A connection as pcapng; before packets so many were dropped, and `statistics` are told at the end."""
    found = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)) + block(1, struct.pack("<HHI", 1, 0, 0))
    for record, count in zip(records(long(60)), drops, strict=False):
        seconds, us, captured, length = struct.unpack_from("<4I", record)
        ticks = seconds * 1_000_000 + us
        frame = record[16:].ljust(56, b"\0")
        head = struct.pack("<5I", 0, ticks >> 32, ticks & 0xFFFFFFFF, captured, length)
        found += block(6, head + frame + option(4, struct.pack("<Q", count)) + option(0, b""))
    return found + statistics


def test_what_a_file_says_of_its_drops(tmp_path: Path) -> None:
    """tshark shows the drops before a packet; capinfos knows no more than how many statistics there are."""
    file = tmp_path / "drops.pcapng"
    drops = [0, 3, 0, 2] * 10
    file.write_bytes(pcapng(drops, b""))
    theirs = sum(int(one["frame.drop_count"]) for one in fields(file, ["frame.drop_count"]))
    first = dumbbell.pcap(file, output=tmp_path / "first")
    assert theirs == first.summary["notes"]["capture_drops"] == sum(drops)
    assert f"The capturing program dropped {sum(drops)} packets" in first.warnings[0]
    told = option(4, struct.pack("<Q", 140)) + option(5, struct.pack("<Q", 60)) + option(7, struct.pack("<Q", 7))
    file.write_bytes(pcapng(drops, block(5, struct.pack("<3I", 0, 0, 0) + told + option(0, b""))))
    shown = subprocess.run(["capinfos", "-c", "-I", file], capture_output=True, text=True, check=True).stdout
    assert re.search(r"Number of stat entries = 1\b", shown)
    second = dumbbell.pcap(file, output=tmp_path / "second")
    frames = second.summary["notes"]["frames"]
    assert re.search(rf"Number of packets[^\n]*[ =]{frames}\b", shown)
    # Of the interface and of the system, which count those before packets again.
    assert second.summary["notes"]["capture_drops"] == 67
