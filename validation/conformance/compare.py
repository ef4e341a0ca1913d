"""A run's record against the model."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from dumbbell.records.files import read_json
from validation.conformance.link import Link, Versions
from validation.conformance.packet import Packet

TIMES = ("departure", "delivery", "sojourn")


@dataclass
class Difference:
    """How far the record of one link is from the model."""

    link: str
    packets: int = 0
    """Compared: all that met their fate before the run's end."""
    fates: dict[str, int] = field(default_factory=dict)
    """How many met each, by the record; marks are in it."""
    wrong_fates: int = 0
    """Met another by the model."""
    wrong_marks: int = 0
    wrong_queues: int = 0
    """Found another backlog by the model."""
    largest_ns: int = 0
    """Between times by the record and by the model, of departure, delivery or sojourn."""
    first: str = ""
    """The first difference in words."""

    @property
    def equal(self) -> bool:
        """No difference at all."""
        return not (self.wrong_fates or self.wrong_marks or self.wrong_queues or self.largest_ns)


def compare(run: Path, link: str = "bottleneck") -> Difference:
    """Replay what came to a link through the model, and compare what became of it."""
    return _difference(link, *replayed(run, link))


def replayed(run: Path, link: str, later_ns: int = 0) -> tuple[list[dict[str, Any]], list[Packet]]:
    """The rows of a link in the order of arrival, and what the model makes of the same arrivals.

    `later_ns` is added to the target of the model's queue.
    """
    plan = read_json(run / "plan.json")
    rows = link_rows(run, link)
    versions = versions_of(plan, link)
    if later_ns:
        versions[0][1]["queue"]["target_ns"] += later_ns
    sent = {flow["id"]: flow["workload"].get("ecn") for flow in plan["flows"]}
    hosts = {flow["id"]: (flow["from"], flow["to"]) for flow in plan["flows"]}
    overhead = versions[0][1]["overhead_bytes"]
    packets = [
        Packet(
            number=number,
            arrival=row["arrival_ns"],
            size=row["size_bytes"] + overhead,
            flow=row["flow"],
            hosts=hosts[row["flow"]],
            ecn=row["ecn"] if row["mark"] is None else _as_sent(sent[row["flow"]]),
        )
        for number, row in enumerate(rows)
    ]
    Link(versions, plan["seed"], plan["duration_ns"]).run(packets)
    return rows, packets


def link_rows(run: Path, link: str) -> list[dict[str, Any]]:
    """The record of a link, in the order of arrival."""
    record = pl.read_parquet(run / "packets.parquet").filter(pl.col("link") == link)
    return record.sort("arrival_ns", "packet").to_dicts()


def versions_of(plan: dict[str, Any], link: str) -> Versions:
    """The link at first and after each of its events."""
    (first,) = [one for one in plan["links"] if one["name"] == link]
    return [(0, first), *((e["at_ns"], e["link"]) for e in plan["events"] if e["link"]["name"] == link)]


def _as_sent(ecn: str | bool | None) -> str:
    """The codepoint of a packet that was marked: the record has the one with which it left."""
    return ecn if isinstance(ecn, str) else "ect0"


def _difference(link: str, rows: list[dict[str, Any]], packets: list[Packet]) -> Difference:
    found = Difference(link)
    # A packet that the model ends later than anything in the record may be inside by the record.
    last = max(row[key] or 0 for row in rows for key in ("arrival_ns", "departure_ns", "delivery_ns"))
    for row, packet in zip(rows, packets, strict=True):
        if row["fate"] == "inside" and (packet.ended is None or packet.ended >= last):
            continue
        found.packets += 1
        for what in (row["fate"], f"marked {row['mark']}" if row["mark"] else None):
            if what:
                found.fates[what] = found.fates.get(what, 0) + 1
        if row["fate"] != packet.fate:
            found.wrong_fates += 1
            _note(found, row, f"fate {row['fate']}, by the model {packet.fate}")
            continue
        if row["mark"] != packet.mark:
            found.wrong_marks += 1
            _note(found, row, f"mark {row['mark']}, by the model {packet.mark}")
        if (row["queue_bytes"], row["queue_packets"]) != (packet.queue_bytes, packet.queue_packets):
            found.wrong_queues += 1
            _note(found, row, f"queue {row['queue_bytes']} B, by the model {packet.queue_bytes} B")
        for what in TIMES:
            measured, ideal = row[f"{what}_ns"], getattr(packet, what)
            if measured is not None and ideal is not None:
                if measured != ideal:
                    found.largest_ns = max(found.largest_ns, abs(measured - ideal))
                    _note(found, row, f"{what} {measured}, by the model {ideal}")
            elif measured != ideal:
                found.wrong_fates += 1
                _note(found, row, f"{what} {measured}, by the model {ideal}")
    return found


def _note(difference: Difference, row: dict[str, Any], what: str) -> None:
    difference.first = difference.first or f"packet {row['packet']}, arrived at {row['arrival_ns']}: {what}"
