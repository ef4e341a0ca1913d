"""Hidden paths, drawn by a seed, and the captures of a transfer over each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path as File
from random import Random
from shutil import rmtree
from typing import Any, Final

import tomlkit

import dumbbell
from dumbbell import Run
from dumbbell.captures.points import FILE, interfaces

FAMILIES: Final = ("wired", "policed", "aqm", "cellular", "wifi", "satellite", "cross", "lossy")
ALGORITHMS: Final = ("reno", "cubic", "bbr", "bbr3")
SIDES: Final = ("sender", "receiver")
FRAME_BITS: Final = 1514 * 8
MOST_PACKETS: Final = 50_000
LEAST_S: Final = 15.0
MOST_S: Final = 40.0


@dataclass(frozen=True)
class Hidden:
    """A path, and a transfer over it. A figure is None where the path has none."""

    number: int
    family: str
    cc: str
    capacity_bps: float
    rtt_ms: float
    buffer_bytes: int
    policer_bps: float | None
    burst_bytes: int | None
    loss: float
    """Probability per packet, 0 to 1, apart from overflow."""
    seconds: float
    table: dict[str, Any] = field(repr=False)
    files: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def words(self) -> str:
        """The path in a line."""
        parts = [f"{self.capacity_bps / 1e6:.3g} Mbit/s", f"{self.rtt_ms:g} ms"]
        parts.append(f"{self.buffer_bytes / 1e3:.0f} kB{' and a queue discipline' if self.family == 'aqm' else ''}")
        if self.policer_bps is not None:
            parts.append(f"policed to {self.policer_bps / 1e6:.3g} Mbit/s")
        if self.loss:
            parts.append(f"{100 * self.loss:.2g} % loss")
        return ", ".join(parts)


def draw(seed: int, count: int) -> list[Hidden]:
    """The first `count` paths of a seed: families and algorithms take turns."""
    return [_draw(seed, number) for number in range(count)]


def _draw(seed: int, number: int) -> Hidden:
    random = Random(f"{seed}/{number}")
    family = FAMILIES[number % len(FAMILIES)]
    cc = ALGORITHMS[number // len(FAMILIES) % len(ALGORITHMS)]
    while True:
        rate = _log(random, 2e6, 80e6)
        rtt = _log(random, 500, 700) if family == "satellite" else _log(random, 8, 200)
        seconds = round(min(MOST_S, max(LEAST_S, 100 * rtt / 1e3), MOST_PACKETS * FRAME_BITS / rate), 1)
        if rate * rtt / 8e3 >= 15 * 1514 and seconds >= 30 * rtt / 1e3 and seconds >= 8:
            break
    rate, rtt = float(round(rate, -3)), round(rtt, 1)
    bdp = rate * rtt / 8e3
    bottleneck: dict[str, Any] = {"rate": f"{rate / 1e3:.0f} kbit/s"}
    buffer = round(max(10 * 1514, bdp * _log(random, 0.3, 3)))
    loss, policer, burst, files = 0.0, None, None, {}
    capacity = rate
    if family == "policed":
        policer = float(round(rate * random.uniform(0.3, 0.75), -3))
        burst = round(max(20 * 1514, policer / 8 * _log(random, 0.02, 0.3)))
        bottleneck["policer"] = {"rate": f"{policer / 1e3:.0f} kbit/s", "burst": f"{burst} B"}
    elif family == "aqm":
        bottleneck["queue"] = ("codel", "fq-codel", "pie")[int(random.random() * 3)]
        buffer = round(max(2 * bdp, 100 * 1514))
    elif family == "cellular":
        steps, level, sums = [], 0.0, 0.0
        width = 0.2
        count = round(seconds / width)
        for at in range(count):
            level = 0.8 * level + random.gauss(0, 0.25)
            one = round(rate * min(2.0, max(0.3, 2.718**level)), -3)
            steps.append(f"{at * width:.1f},{one:.0f}")
            sums += one
        capacity = sums / count
        files["rate.csv"] = "time_s,rate_bps\n" + "\n".join(steps) + "\n"
        bottleneck["rate"] = {"csv": "rate.csv"}
        buffer = round(max(30 * 1514, 2 * bdp))
    elif family == "wifi":
        bottleneck["slots"] = {
            "min_interval": "1 ms",
            "max_interval": "6 ms",
            "bytes": f"{max(8 * 1514, round(rate / 8 * 0.012))} B",
        }
    elif family == "lossy":
        loss = round(_log(random, 0.0005, 0.02), 5)
        bottleneck["loss"] = f"{100 * loss:g} %"
        if random.random() < 0.4:
            bottleneck["loss"] = {"model": "gilbert-elliott", "p": f"{100 * loss / 3:.4f} %", "r": "33.3333 %"}
            good = loss / 3
            loss = good / (good + 1 / 3)
    elif family == "satellite" and random.random() < 0.5:
        loss = round(_log(random, 0.0002, 0.002), 5)
        bottleneck["loss"] = f"{100 * loss:g} %"
    bottleneck["buffer"] = f"{buffer} B"
    flows: list[dict[str, Any]] = [{"from": "s1", "to": "r1", "cc": cc}]
    if family == "cross":
        share = random.uniform(0.1, 0.5)
        on = {} if random.random() < 0.5 else {"on": "2 s", "off": "2 s"}
        flows.append({"from": "s2", "to": "r2", "protocol": "udp", "rate": f"{rate * share / 1e3:.0f} kbit/s", **on})
    table = {
        "name": f"hidden-{seed}-{number}",
        "duration": f"{seconds} s",
        "seed": number + 1,
        "topology": {"kind": "dumbbell", "pairs": 2, "rtt": f"{rtt} ms", "bottleneck": bottleneck},
        "flows": flows,
        "record": {"capture": True, "packets": False, "acks": False},
    }
    return Hidden(
        number,
        family,
        cc,
        capacity,
        rtt,
        buffer,
        policer,
        burst,
        loss,
        seconds,
        table,
        files,
    )


def fast() -> list[Hidden]:
    """Wired paths of 100 Mbit/s to 1 Gbit/s, where hosts hand on packets in batches."""
    kinds = [
        (rate, seconds, rtt, share, cc)
        for rate, seconds in ((1e8, 5), (3e8, 4), (1e9, 3))
        for rtt, share in ((5, 1), (20, 1), (40, 0.5))
        for cc in ("cubic", "bbr")
    ]
    return [_fast(number, *kind) for number, kind in enumerate(kinds)]


def _fast(number: int, rate: float, seconds: float, rtt: float, share: float, cc: str) -> Hidden:
    buffer = round(max(30 * 1514, share * rate * rtt / 8e3))
    bottleneck = {"rate": f"{rate / 1e6:g} Mbit/s", "buffer": f"{buffer} B"}
    table = {
        "name": f"fast-{number}",
        "duration": f"{seconds:g} s",
        "seed": number + 1,
        "topology": {"kind": "dumbbell", "pairs": 2, "rtt": f"{rtt:g} ms", "bottleneck": bottleneck},
        "flows": [{"from": "s1", "to": "r1", "cc": cc}],
        "record": {"capture": True, "packets": False, "acks": False},
    }
    return Hidden(number, "wired", cc, rate, rtt, buffer, None, None, 0.0, seconds, table)


def _log(random: Random, least: float, most: float) -> float:
    return float(least * (most / least) ** random.random())


@contextmanager
def captured(hidden: Hidden, engine: str, folder: File) -> Iterator[tuple[Run, File, dict[str, list[str]]]]:
    """A transfer, its capture, and by side the interfaces that see it there. All are gone afterwards."""
    place = folder / hidden.table["name"]
    try:
        run = dumbbell.run(
            scenario_file(place, hidden.table, hidden.files), (), place / "runs", engine=engine, report=False
        )
        yield run, run.directory / FILE, {side: list(interfaces(run.plan, side)) for side in SIDES}
    finally:
        rmtree(place, ignore_errors=True)


def scenario_file(place: File, table: dict[str, Any], files: dict[str, str]) -> File:
    """The scenario's file in a new folder, beside the files that it names."""
    place.mkdir()
    for name, text in files.items():
        (place / name).write_text(text)
    scenario = place / "scenario.toml"
    scenario.write_text(tomlkit.dumps(table))
    return scenario
