"""Writes what programs would have logged of a simulated transfer: `ss -ti`, iperf3, qlog, and a table."""

from __future__ import annotations

import json
from itertools import accumulate, pairwise
from typing import Any, Final

import polars as pl

MSS: Final = 1448
BLOCK: Final = 131_072
"""Bytes that iperf3 writes at a time."""
_REORDERING: Final = 3
"""Packets acknowledged beyond one, from which on it is lost (RFC 9002 section 6.1.1)."""


def every(samples: pl.DataFrame, step_ms: int) -> list[dict[str, Any]]:
    """Rows of `samples`, one in each step."""
    slots = samples.filter(pl.col("srtt_us").is_not_null()).with_columns(
        slot=pl.col("time_ns") // (step_ms * 1_000_000)
    )
    return slots.group_by("slot", maintain_order=True).first().to_dicts()


def ss(samples: pl.DataFrame, cc: str, window: int | None = None, step_ms: int = 100) -> str:
    """`while sleep 0.1; do date +%s.%N; ss -tinHO; done`."""
    lines = []
    for row in every(samples, step_ms):
        time = 1_796_034_089_000_000_000 + row["time_ns"]
        lines.append(f"{time // 10**9}.{time % 10**9:09}")
        fields = [
            f"{cc} wscale:7,7 rto:244 rtt:{row['srtt_us'] / 1e3:g}/{row['rttvar_us'] / 1e3:g} mss:{MSS} pmtu:1500",
            f"cwnd:{row['cwnd_packets']} bytes_sent:{row['bytes_sent']}",
        ]
        fields += [f"bytes_acked:{row['bytes_acked']}"] if row["bytes_acked"] else []
        fields += ["app_limited"] if row["delivery_rate_app_limited"] else []
        for name in ("busy", "rwnd_limited", "sndbuf_limited"):
            fields += [f"{name}:{row[f'{name}_us'] // 1000}ms"] if row[f"{name}_us"] else []
        fields += [f"retrans:0/{row['retransmitted_segments']}"] if row["retransmitted_segments"] else []
        fields += [f"minrtt:{row['min_rtt_us'] / 1e3:g}"] + ([f"snd_wnd:{window}"] if window else [])
        lines.append(f"ESTAB 0      0    10.0.0.1:42956 10.0.1.1:5201 {' '.join(fields)}")
    return "\n".join(lines) + "\n"


def iperf3(samples: pl.DataFrame, cc: str, window: int = 3_932_160) -> str:
    """`iperf3 --json` at the sender: an interval counts what was written to the socket."""
    rows = every(samples, 1000)
    # A socket holds up to twice the largest window so far.
    held = list(accumulate((2 * MSS * row["cwnd_packets"] for row in rows), max))
    written = [-(-(row["bytes_acked"] + most) // BLOCK) * BLOCK for row, most in zip(rows, held, strict=True)]
    streams = []
    for (before, first), (after, last) in pairwise(zip(rows, written, strict=True)):
        start, end = before["time_ns"] / 1e9, after["time_ns"] / 1e9
        streams.append(
            {
                "socket": 5,
                "start": start,
                "end": end,
                "seconds": end - start,
                "bytes": max(0, last - first),
                "retransmits": after["retransmitted_segments"] - before["retransmitted_segments"],
                "snd_cwnd": after["cwnd_packets"] * MSS,
                "snd_wnd": window,
                "rtt": after["srtt_us"],
                "omitted": False,
                "sender": True,
            }
        )
    start = {"connected": [], "version": "iperf 3.12", "tcp_mss_default": MSS}
    start["test_start"] = {"protocol": "TCP", "num_streams": 1}  # type: ignore[assignment]
    end = {"sender_tcp_congestion": cc}
    return json.dumps({"start": start, "intervals": [{"streams": [one]} for one in streams], "end": end}, indent=1)


def table(samples: pl.DataFrame, step_ms: int = 200) -> str:
    """A CSV of time, goodput and round trip."""
    lines = ["time_s,goodput_Mbps,rtt_ms"]
    for before, after in pairwise(every(samples, step_ms)):
        seconds = (after["time_ns"] - before["time_ns"]) / 1e9
        mbps = (after["bytes_acked"] - before["bytes_acked"]) * 8 / seconds / 1e6
        lines.append(f"{after['time_ns'] / 1e9:.3f},{mbps:.4f},{after['srtt_us'] / 1e3:.3f}")
    return "\n".join(lines) + "\n"


def qlog(packets: pl.DataFrame, flow: str, link: str, back_ms: float, as_sequence: bool = True) -> str:
    """Writes what a sender logs whose packets are those of a flow at a link.

    An ACK of the first packet, and of every second one behind it, comes back at once.

    Args:
        packets: The run's.
        flow: Its data packets.
        link: The bottleneck, just behind the sender.
        back_ms: Time that an ACK takes.
        as_sequence: JSON-SEQ, else one JSON document.
    """
    mine = packets.filter((pl.col("link") == link) & (pl.col("flow") == flow) & (pl.col("payload_bytes") > 0))
    mine = mine.sort("arrival_ns", "packet", maintain_order=True)
    arrived = mine["delivery_ns"].to_list()
    sent = mine["arrival_ns"].to_list()
    # A frame has 42 bytes of Ethernet, IPv4 and UDP around a packet of QUIC.
    sizes = [size - 42 for size in mine["size_bytes"].to_list()]
    events = [
        (time, "quic:packet_sent", {
            "header": {"packet_type": "1RTT", "packet_number": at}, "raw": {"length": size},
            "frames": [{"frame_type": "stream", "length": size - 30}],
        })
        for at, (time, size) in enumerate(zip(sent, sizes, strict=True))
    ]  # fmt: skip
    order = sorted((time, at) for at, time in enumerate(arrived) if time is not None)
    largest, missing = -1, [at for at, time in enumerate(arrived) if time is None]
    for first in range(-1, len(order) - 1, 2):
        pair = sorted(at for _, at in order[max(0, first) : first + 2])
        time = order[first + 1][0] + round(back_ms * 1e6)
        ranges = [pair[:1] * 2, pair[-1:] * 2] if pair[-1] > pair[0] + 1 else [[pair[0], pair[-1]]]
        frame = {"frame_type": "ack", "ack_delay": 0.0, "acked_ranges": ranges}
        events.append((time, "quic:packet_received", {"header": {"packet_type": "1RTT"}, "frames": [frame]}))
        largest = max(largest, *pair)
        while missing and missing[0] <= largest - _REORDERING:
            at = missing.pop(0)
            events.append((time, "quic:packet_lost", {"header": {"packet_type": "1RTT", "packet_number": at}}))
    events.sort(key=lambda event: event[0])
    rows = [{"time": time / 1e6, "name": name, "data": data} for time, name, data in events]
    about = {"vantage_point": {"type": "client"}, "common_fields": {"time_format": "relative_to_epoch"}}
    if not as_sequence:
        return json.dumps({"qlog_version": "0.3", "traces": [{**about, "events": rows}]})
    head = {"file_schema": "urn:ietf:params:qlog:file:sequential", "trace": about}
    return "".join(f"\x1e{json.dumps(record)}\n" for record in [head, *rows])
