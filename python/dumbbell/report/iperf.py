"""Flows of a run second by second, as iperf3 prints them."""

from __future__ import annotations

from itertools import islice, pairwise
from math import ceil
from typing import Any, Final

import polars as pl

from dumbbell.plan.parts import kind
from dumbbell.records import Run

_HEAD: Final = "[ ID] Interval           Transfer     Bitrate"
_RULE: Final = "- " * 25
_CUMULATIVE: Final = ("bytes_sent", "bytes_retransmitted", "retransmitted_segments", "received_bytes")


def text(run: Run, first: int | None = None) -> str:
    """The table of each flow that has samples, with intervals of one second from its start and its sums.

    `first` is the number of intervals that are printed; `None`: all. The sums are always of all.

    A transfer is the payload that a sender sent for the first time in the interval, in powers of 1,024 bytes; a bitrate
    is the same in powers of 1,000 bits. iperf3 counts what its program wrote, which a socket may hold back.
    """
    kinds = {one.id: kind(one) for one in run.plan.flows}
    flows = [one for one in run.summary["flows"] if kinds[one["id"]].has_goodput]
    parts = [
        _flow(number, one, run.samples.filter(pl.col("flow") == one["id"]), kinds[one["id"]].has_segments, first)
        for number, one in enumerate(flows, 1)
    ]
    return "\n".join(part for part in parts if part)


def _flow(number: int, flow: dict[str, Any], samples: pl.DataFrame, has_segments: bool, first: int | None) -> str:
    """The table of one flow, with windows if it has segments; empty if it was never sampled."""
    if samples.is_empty():
        return ""
    start, stop = flow["start_s"], flow["stop_s"]
    seconds = max(ceil(round(stop - start, 6)), 1)
    ends = [min(start + second, stop) for second in range(seconds + 1)]
    rows = [_at(samples, round(end * 1e9)) for end in ends]
    id_ = f"[{number:3}]"
    lines = [f"{id_} {flow['label']}: {flow['from']} to {flow['to']} port {flow['port']}"]
    lines.append(f"{_HEAD}         Retr  Cwnd" if has_segments else _HEAD)
    for (begin, before), (end, after) in islice(pairwise(zip(ends, rows, strict=True)), first):
        line = _line(id_, begin - start, end - start, _new(after) - _new(before))
        if has_segments:
            repeated = after["retransmitted_segments"] - before["retransmitted_segments"]
            line += f"  {repeated:4}   {_bytes(after['cwnd'])}"
        lines.append(line)
    if first is not None and first < seconds:
        lines.append("...")
    last, total = rows[-1], stop - start
    lines += [_RULE.rstrip(), f"{_HEAD}         Retr" if has_segments else _HEAD]
    again = f"  {last['retransmitted_segments']:4}" if has_segments else ""
    lines.append(f"{_line(id_, 0, total, _new(last))}{again:6}             sender")
    lines.append(f"{_line(id_, 0, total, last['received_bytes'])}{'':6}             receiver")
    return "\n".join(lines) + "\n"


def _at(samples: pl.DataFrame, time_ns: int) -> dict[str, int]:
    """The counters of all sockets of a flow at a time, and the sum of their windows in bytes."""
    known = samples.filter(pl.col("time_ns") <= time_ns).group_by("socket").last()
    found = {name: int(known[name].fill_null(0).sum()) for name in _CUMULATIVE}
    window = known["cwnd_packets"].cast(pl.Int64) * known["snd_mss_bytes"].cast(pl.Int64)
    return {**found, "cwnd": int(window.fill_null(0).sum())}


def _new(row: dict[str, int]) -> int:
    return row["bytes_sent"] - row["bytes_retransmitted"]


def _line(id_: str, begin: float, end: float, count: int) -> str:
    rate = 8 * count / (end - begin) if end > begin else 0.0
    interval = f"{begin:6.2f}-{end:.2f}"
    return f"{id_} {interval:13} sec  {_bytes(count)}  {_rate(rate)}"


def _bytes(count: float) -> str:
    return _scaled(count, 1024, ("Bytes", "KBytes", "MBytes", "GBytes", "TBytes"), 6)


def _rate(bps: float) -> str:
    return _scaled(bps, 1000, ("bits/sec", "Kbits/sec", "Mbits/sec", "Gbits/sec", "Tbits/sec"), 9)


def _scaled(value: float, base: int, units: tuple[str, ...], width: int) -> str:
    """A value with three digits at least, in the largest unit of which it has one."""
    power = 0
    while value >= base and power < len(units) - 1:
        value, power = value / base, power + 1
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:4.{digits}f} {units[power]:{width}}"
