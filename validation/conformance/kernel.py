"""The kernel's own links against ours, in virtual time.

The same arrivals: what came to a link of the kernel's is replayed through the model that our links are checked by.
And the same scenario, once over each.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

import dumbbell
from benches.table import show
from validation.conformance import lots
from validation.conformance.cases import BURSTS, CUBIC, ECN, Case, udp
from validation.conformance.compare import replayed

BURST_BYTES: Final = 1600
"""The bucket of tbf with Ethernet's MTU: a packet leaves so much earlier than the last bit of ours, at most."""


def bucket_ns(mbps: float) -> int:
    """The time of the bucket at a rate in Mbit/s: a packet waits so much less, at most, in a queue inside tbf."""
    return round(BURST_BYTES * 8 * 1000 / mbps)


CASES: Final = [
    Case("drop-tail, bytes", {"buffer": "30 kB"}),
    Case("drop-tail, packets", {"buffer": "17 packets", "rate": "7 Mbit/s"}),
    Case("no room but for one", {"buffer": "1 packet"}),
    Case("no bottleneck", {"rate": "100 Mbit/s", "buffer": "100 kB"}, [BURSTS], expects=("delivered",)),
    Case("CoDel", {"queue": "codel", "buffer": "1000 packets"}, [CUBIC], expects=("dropped-early",)),
    Case(
        "CoDel, ECN",
        {"queue": {"kind": "codel", "ecn": True}, "buffer": "1000 packets"},
        [ECN, {"cc": "reno", "ecn": True}],
        expects=("delivered", "marked early"),
    ),
    Case(
        "FQ",
        {"queue": {"kind": "fq", "quantum": "1514 B"}, "buffer": "unlimited"},
        [CUBIC, {"cc": "reno"}, udp("1 Mbit/s", payload="100 B")],
        expects=("delivered",),
    ),
    Case(
        "CAKE",
        {"queue": {"kind": "cake", "rtt": "40 ms"}, "buffer": "unlimited"},
        [ECN, {"cc": "reno"}, udp("1 Mbit/s", payload="100 B")],
        expects=("dropped-early", "marked early"),
    ),
    Case("delay line", {"buffer": "60 kB", "delay_line": "10 packets"}, [CUBIC], expects=("dropped-delay-line",)),
    Case(
        "FQ-CoDel",
        {"queue": {"kind": "fq-codel", "flows": 65536, "ecn": False}, "buffer": "1000 packets"},
        [CUBIC, {"cc": "reno"}, udp("1 Mbit/s", payload="100 B")],
        expects=("dropped-early",),
    ),
    Case(
        "FQ-CoDel, ECN",
        {"queue": {"kind": "fq-codel", "flows": 65536}, "buffer": "1000 packets"},
        [ECN, {"cc": "reno", "ecn": True}, udp("1 Mbit/s", payload="100 B")],
        expects=("delivered", "marked early"),
    ),
]

FLOWS: Final = ("reno", "cubic", "bbr")


@dataclass(frozen=True)
class Agreement:
    """How far the kernel's link and ours agree on the same arrivals."""

    packets: int
    drops_theirs: int
    drops_ours: int
    marks_theirs: int
    marks_ours: int
    other_fates: int
    """Packets that one of them dropped, and the other did not, or for another reason."""
    earliest_ns: int
    """The least of the differences of departures, theirs minus ours."""
    latest_ns: int
    """The largest of them."""


def agreement(run: Path, link: str = "bottleneck", later_ns: int = 0) -> Agreement:
    """Replay what came to a link of the kernel's through the model of ours.

    `later_ns` is added to the target of the model's queue.
    """
    rows, packets = replayed(run, link, later_ns)
    # What the end of the run cut short is nobody's difference.
    both = [(row, packet) for row, packet in zip(rows, packets, strict=True) if row["fate"] != "inside"]
    dropped = [(row["fate"].startswith("dropped"), packet.fate.startswith("dropped")) for row, packet in both]
    apart = [
        row["departure_ns"] - packet.departure
        for row, packet in both
        if row["departure_ns"] is not None and packet.departure is not None
    ]
    return Agreement(
        len(both),
        sum(theirs for theirs, _ in dropped),
        sum(ours for _, ours in dropped),
        sum(row["mark"] is not None for row, _ in both),
        sum(packet.mark is not None for _, packet in both),
        sum(row["fate"] != packet.fate for row, packet in both),
        min(apart),
        max(apart),
    )


def over(links: str, scenario: Mapping[str, Any], scratch: Path) -> Path:
    """Run `scenario` over the kernel's links, or over ours; the run's directory."""
    asked = {**scenario, "emulate": {"links": links}}
    run = dumbbell.run(asked, directory=scratch / links, engine="virtual", report=False)
    return run.directory


def flow(cc: str, seconds: int) -> dict[str, Any]:
    """One flow over 50 Mbit/s and 40 ms, with a buffer of its bandwidth-delay product."""
    return {
        "name": cc,
        "duration": f"{seconds} s",
        "topology": {
            "kind": "path",
            "rtt": "40 ms",
            "bottleneck": {"rate": "50 Mbit/s", "buffer": "250 kB"},
        },
        "flows": [{"from": "h1", "to": "h2", "cc": cc}],
    }


def totals(run: Path) -> tuple[int, float]:
    """Packets that the bottleneck dropped, and payload in Mbit/s that the receiver read."""
    packets = pl.read_parquet(run / "packets.parquet").filter(pl.col("link") == "bottleneck")
    dropped = packets["fate"].cast(pl.String).str.starts_with("dropped").sum()
    payload = packets.filter(pl.col("fate").cast(pl.String) == "delivered")["payload_bytes"].sum()
    return int(dropped), payload * 8 / (packets["delivery_ns"].max() or 1) * 1e3


def main(seconds: int, only: str) -> None:
    """All tables."""
    alike, fares = [], []
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        for case in (case for case in CASES if only in case.name):
            run = over("kernel", case.scenario(seconds, scratch), scratch / case.name)
            alike.append([case.name, *_cells(agreement(run))])
            if "CoDel" in case.name:
                alike.append([f"{case.name}, later", *_cells(agreement(run, later_ns=bucket_ns(20)))])
        lots.main(seconds, only, scratch)
        for cc in (cc for cc in FLOWS if only in cc):
            theirs, ours = (over(links, flow(cc, seconds), scratch / cc) for links in ("kernel", "ours"))
            alike.append([f"one flow of {cc}", *_cells(agreement(theirs))])
            (dropped, goodput), (dropped_ours, goodput_ours) = totals(theirs), totals(ours)
            fares.append([cc, f"{dropped:,}", f"{dropped_ours:,}", f"{goodput:.2f}", f"{goodput_ours:.2f}"])
    show(
        f"The same arrivals through the kernel's link and ours, {seconds} s each: drops and marks; departures of "
        "theirs, measured from ours",
        ["mechanism", "packets", "theirs", "ours", "marks", "ours", "other fates", "earliest ns", "latest ns"],
        alike,
    )
    show(
        f"One flow, 50 Mbit/s, 40 ms, 250 kB, {seconds} s: dropped packets, goodput in Mbit/s",
        ["algorithm", "theirs", "ours", "theirs", "ours"],
        fares,
    )


def _cells(agreement: Agreement) -> list[str]:
    return [f"{value:,}" for value in astuple(agreement)]
