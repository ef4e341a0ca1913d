"""The kernel's RED and PIE: packet by packet against their laws, and run by run against ours."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any, Final

import dumbbell
from benches.table import show
from dumbbell.records.files import read_json
from validation.conformance.cases import CUBIC, ECN, Case, red
from validation.conformance.compare import link_rows
from validation.conformance.given import Given, Rows, Traits, judge, likelihood, pie
from validation.conformance.given import red as red_law

_MS: Final = 1_000_000
JIFFY: Final = 4 * _MS
"""Nanoseconds: a kernel that dumbbell builds has 250 Hz."""
FIRST: Final = range(400 * _MS, 540 * _MS, JIFFY)
"""When PIE's timer may run first: half a second after the links were made, which was shortly before time 0."""
LINUX: Final = Traits(
    # 15 ms are 4 jiffies, and a timer that starts itself again is a jiffy late.
    update_ns=5 * JIFFY,
    # The probability is a number of 56 bits, and its bound that of 64.
    most=2.0**8,
    keeps=True,
    steep=True,
    newest=True,
)
SEEDS: Final = 10

_STEEP: Final = {"gentle": False, "weight": 2.0**-7}
_ECN_FLOWS: Final = [ECN, {"cc": "reno", "ecn": True}]
CASES: Final = [
    Case("RED", {"queue": red(**_STEEP), "buffer": "150 kB"}, [CUBIC, CUBIC], expects=("dropped-early",)),
    Case("RED, ECN", {"queue": red(**_STEEP, ecn=True), "buffer": "150 kB"}, _ECN_FLOWS, expects=("marked early",)),
    Case("PIE", {"queue": "pie", "buffer": "1000 packets"}, [CUBIC, CUBIC], expects=("dropped-early",)),
    Case(
        "PIE, ECN",
        {"queue": {"kind": "pie", "ecn": True}, "buffer": "1000 packets"},
        _ECN_FLOWS,
        expects=("marked early",),
    ),
]


@dataclass(frozen=True)
class Record:
    """Records of a run's bottleneck."""

    rows: Rows
    link: dict[str, Any]
    """Link of the plan."""
    duration_ns: int

    def pie(self, traits: Traits) -> list[tuple[float, bool]]:
        """All packets by PIE with these traits; one more than the buffer has room for waits in the kernel's."""
        limit = self.link["buffer"]["packets"] + 1
        return list(pie(self.rows, self.link["queue"], limit, traits, self.duration_ns))


def read(run: Path, name: str = "bottleneck") -> Record:
    """Reads a run's records of one link."""
    plan = read_json(run / "plan.json")
    (link,) = [link for link in plan["links"] if link["name"] == name]
    return Record(link_rows(run, name), link, plan["duration_ns"])


def given(record: Record) -> Given:
    """The record judged by the law of the kernel's queue."""
    if record.link["queue"]["kind"] == "red":
        return judge(red_law(record.rows, record.link["queue"]))
    return judge(record.pie(settled(record)))


def settled(record: Record) -> Traits:
    """Linux's traits with the first update that makes what happened most probable: its time is not in the record."""
    return max((replace(LINUX, first_ns=at) for at in FIRST), key=lambda traits: likelihood(record.pie(traits)))


def without(traits: Traits) -> dict[str, Traits]:
    """`traits` but for one that is RFC 8033's, by its name."""
    rfc = Traits()
    names = {
        "the first update with the first packet": "first_ns",
        "updates every 15 ms": "update_ns",
        "a probability of 1 at most": "most",
        "decay with packets that wait": "keeps",
        "no steep rise above 250 ms": "steep",
        "short delays by the last update": "newest",
    }
    return {what: replace(traits, **{name: getattr(rfc, name)}) for what, name in names.items()}


def over(links: str, case: Case, seconds: int, seed: int, scratch: Path) -> Path:
    """Run a case over the kernel's links, or over ours; the run's directory."""
    asked = case.scenario(seconds, scratch) | {"seed": seed, "emulate": {"links": links}}
    return dumbbell.run(asked, directory=scratch / links, engine="virtual", report=False).directory


def happened(rows: Rows) -> int:
    """Packets that were dropped or marked."""
    return sum(row["fate"].startswith("dropped") or row["mark"] is not None for row in rows)


def main(seconds: int, only: str, scratch: Path) -> None:
    """All tables."""
    judged, parts, runs = [], [], []
    for case in (case for case in CASES if only in case.name):
        directory = scratch / case.name
        numbers: dict[str, list[int]] = {"kernel": [], "ours": []}
        for links, found in numbers.items():
            for seed in range(1, SEEDS + 1):
                record = read(over(links, case, seconds, seed, directory))
                found.append(happened(record.rows))
                if links == "kernel" and seed == 1:
                    judged.append([case.name, *_cells(given(record))])
                    parts += _parts(case.name, record)
        runs.append(
            [case.name, *(f"{value:.1f}" for found in numbers.values() for value in (mean(found), stdev(found)))]
        )
    columns = ["packets", "happened", "expected", "sd", "away", "impossible"]
    show(
        f"Drops and marks of the kernel's queues that draw lots, {seconds} s each: how many, and how many their law "
        "expects given all before",
        ["queue", *columns],
        judged,
    )
    show("PIE as in Linux, and with one trait of RFC 8033", ["queue", "with", *columns], parts)
    show(
        f"Drops and marks in runs of their own, {SEEDS} seeds: mean and standard deviation",
        ["queue", "theirs", "sd", "ours", "sd"],
        runs,
    )


def _parts(name: str, record: Record) -> list[list[str]]:
    if record.link["queue"]["kind"] != "pie":
        return []
    return [
        [name, what, *_cells(judge(record.pie(traits)))]
        for what, traits in ({"none": settled(record)} | without(settled(record))).items()
    ]


def _cells(given: Given) -> list[str]:
    numbers = f"{given.expected:,.1f}", f"{given.sd:.1f}", f"{given.away:.1f}"
    return [f"{given.packets:,}", f"{given.happened:,}", *numbers, f"{given.impossible:,}"]
