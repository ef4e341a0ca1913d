"""Scenarios drawn at random from the whole space of scenarios, to compare engines where nobody has tuned them.

Each one depends on the seed and its number alone, so the first fifty of two hundred are the fifty of the same seed.
What they cost is bounded: no more than `MOST_PACKETS` would fit through the bottleneck, in `LEAST_ROUNDS` or more.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log10
from random import Random
from typing import Any, Final

from validation.matrix import ALGORITHMS, MARKING_SHARE, Cell

RATES_MBIT: Final = (1.0, 1000.0)
RTTS_MS: Final = (1.0, 600.0)
BUFFERS_BDP: Final = (0.1, 8.0)
LOSSES_PERCENT: Final = (0.01, 20.0)
FLOWS: Final = (2, 30)

MOST_PACKETS: Final = 300_000
"""Full frames that the bottleneck carries in a run: about five seconds of a CPU in virtual time."""
LEAST_ROUNDS: Final = 20
LEAST_S: Final = 8.0
MOST_S: Final = 60.0

QUEUES: Final = ("red", "codel", "fq-codel", "pie", "fq", "cake")
FULL_FRAME_BITS: Final = 12_112


@dataclass(frozen=True)
class Drawn:
    """A scenario and, for tables, what it is about; see `matrix.Cell`."""

    name: str
    flows: tuple[str, ...]
    """The algorithms, one name for each flow of TCP."""
    rate_mbit: float
    rtt_ms: float
    """The longest base RTT."""
    buffer_bdp: float
    loss_percent: float
    duration_s: float
    also: tuple[str, ...]
    """More properties of the scenario: `policer`, `steps`, `jitter`, ..."""
    table: dict[str, Any]
    """The scenario, as a file would have it."""

    @property
    def mix(self) -> str:
        """`3 bbr-2 cubic`, in the order of the algorithms' names."""
        return "-".join(f"{self.flows.count(name)} {name}" for name in sorted(set(self.flows)))

    def scenario(self) -> dict[str, Any]:
        """The scenario, as a file would have it."""
        return self.table


About = Cell | Drawn
"""Subject of a row in a table."""


def draw(seed: int, n: int) -> list[Drawn]:
    """The first `n` scenarios of a seed."""
    return [_draw(seed, i) for i in range(1, n + 1)]


def _draw(seed: int, i: int) -> Drawn:
    # Only `random()` is the same in every version of Python.
    chance = _Chance(Random(f"{seed}/{i}"))
    rate, rtt, duration = _path(chance)
    algorithms = chance.some(list(ALGORITHMS), chance.integer(1, 3))
    flows = [chance.choice(algorithms) for _ in range(chance.log_integer(*FLOWS))]
    # DCTCP's threshold has to lie below the buffer.
    buffer, also = max(chance.log(*BUFFERS_BDP), 0.3 if "dctcp" in flows else 0.0), list[str]()
    bottleneck: dict[str, Any] = {"rate": _mbit(rate), "buffer": f"{buffer:g} bdp"}
    loss = chance.log(*LOSSES_PERCENT) if chance.happens(0.4) else 0.0
    if loss:
        bottleneck["loss"] = f"{loss:g} %"
    has_ecn = _queue(chance, bottleneck, flows, rate, rtt, buffer, also)
    _impair(chance, bottleneck, rate, rtt, duration, also)
    rtts: list[float] = [rtt] * len(flows)
    if chance.happens(0.5):
        rtts = [rtt, *(chance.log(max(rtt / 8, 1.0), rtt) for _ in flows[1:])]
        also.append("unequal RTTs")
    pairs = len(flows)
    rows = [
        {"from": f"s{k}", "to": f"r{k}", "cc": ALGORITHMS[name], **({"ecn": True} if has_ecn else {})}
        for k, name in enumerate(flows, 1)
    ]
    _applications(chance, rows, rate, duration, also)
    if chance.happens(0.2):
        pairs += 1
        rtts.append(rtt)
        share = chance.integer(5, 40)
        rows.append({"from": f"s{pairs}", "to": f"r{pairs}", "protocol": "udp", "rate": _mbit(rate * share / 100)})
        also.append(f"UDP {share} %")
    name = f"random-{seed}-{i:03}"
    topology = {"kind": "dumbbell", "pairs": pairs, "rtt": [f"{one:g} ms" for one in rtts], "bottleneck": bottleneck}
    table = {
        "name": name,
        "duration": f"{duration:g} s",
        "topology": topology,
        "flows": rows,
        "record": {"packets": False, "acks": False},
    }
    return Drawn(name, tuple(flows), rate, rtt, buffer, loss, duration, tuple(also), table)


def _path(chance: _Chance) -> tuple[float, float, float]:
    """Rate in Mbit/s, RTT in ms, duration in s: a bounded number of packets, in enough round trips."""
    while True:
        rate, rtt = chance.log(*RATES_MBIT), chance.log(*RTTS_MS)
        most = MOST_PACKETS * FULL_FRAME_BITS / (rate * 1e6)
        duration = min(max(LEAST_S, 100 * rtt / 1e3), MOST_S, most)
        if duration * 1e3 >= LEAST_ROUNDS * rtt and rate * rtt >= 12:  # a BDP of a full frame
            return rate, rtt, round(duration, 2)


def _queue(
    chance: _Chance,
    bottleneck: dict[str, Any],
    flows: list[str],
    rate: float,
    rtt: float,
    buffer: float,
    also: list[str],
) -> bool:
    """The queue discipline. True if flows negotiate ECN."""
    if "dctcp" in flows:
        # As in the matrix: without marks it would be Reno.
        threshold = int(rate * rtt * 125) // MARKING_SHARE
        bottleneck["queue"] = {"kind": "drop-tail", "ce_threshold": f"{threshold} B"}
        also.append("marks")
        return False
    if not chance.happens(0.4):
        return False
    kind = chance.choice(list(QUEUES))
    queue: dict[str, Any] = {"kind": kind}
    has_ecn = chance.happens(0.5)
    if kind in ("red", "codel", "fq-codel", "pie", "cake"):
        queue["ecn"] = has_ecn
    else:
        has_ecn = False
    if kind == "red" and buffer * rate * rtt * 125 < 20 * 1514:
        # RED's thresholds need room between them.
        bottleneck["buffer"] = "20 packets"
    bottleneck["queue"] = queue
    also.append(f"{kind}{' ECN' if has_ecn else ''}")
    return has_ecn


def _impair(
    chance: _Chance, bottleneck: dict[str, Any], rate: float, rtt: float, duration: float, also: list[str]
) -> None:
    if chance.happens(0.1):
        burst = max(int(rate * 1e6 / 8 * 0.05), 10 * 1514)
        bottleneck["policer"] = {"rate": _mbit(rate * chance.integer(50, 90) / 100), "burst": f"{burst} B"}
        also.append("policer")
    if chance.happens(0.15):
        steps = [("0 s", rate), (f"{duration / 3:.2f} s", rate / 2), (f"{duration * 2 / 3:.2f} s", rate)]
        bottleneck["rate"] = {"steps": [[at, _mbit(one)] for at, one in steps]}
        also.append("steps")
    if chance.happens(0.15):
        bottleneck["jitter"] = f"{max(rtt / 20, 0.05):.2f} ms"
        bottleneck["reordering"] = chance.happens(0.5)
        also.append("reordering" if bottleneck["reordering"] else "jitter")


def _applications(chance: _Chance, rows: list[dict[str, Any]], rate: float, duration: float, also: list[str]) -> None:
    """Mice beside elephants, or bursts and pauses, or starts one after the other; the first flow sends all the time."""
    if chance.happens(0.2):
        kilobytes = max(int(rate * 1e3 / 8 * duration / len(rows) / 10), 20)
        for row in rows[1::2]:
            row |= {"bytes": f"{kilobytes} kB", "start": f"{duration * chance.uniform() / 2:.3f} s"}
        also.append("mice")
    elif chance.happens(0.15):
        for row in rows[1::2]:
            row |= {"on": "500 ms", "off": "500 ms"}
        also.append("on/off")
    elif chance.happens(0.4):
        for row in rows[1:]:
            row["start"] = f"{duration * chance.uniform() / 4:.3f} s"
        also.append("starts")


def _mbit(rate: float) -> str:
    return f"{round(rate * 1000)} kbit/s"


@dataclass(frozen=True)
class _Chance:
    random: Random

    def uniform(self) -> float:
        return self.random.random()

    def happens(self, share: float) -> bool:
        return self.uniform() < share

    def integer(self, least: int, most: int) -> int:
        return least + int(self.uniform() * (most - least + 1))

    def log(self, least: float, most: float) -> float:
        """Log-uniform, to two significant digits."""
        value = least * 10 ** (self.uniform() * log10(most / least))
        return float(f"{value:.2g}")

    def log_integer(self, least: int, most: int) -> int:
        return min(most, int(least * ((most + 1) / least) ** self.uniform()))

    def choice(self, items: list[str]) -> str:
        return items[int(self.uniform() * len(items))]

    def some(self, items: list[str], n: int) -> list[str]:
        left = list(items)
        return [left.pop(int(self.uniform() * len(left))) for _ in range(n)]
