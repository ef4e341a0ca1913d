"""The runs whose records are replayed: a mechanism each, on a slow link and with load enough for it to work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Table = Mapping[str, Any]

RATE = "20 Mbit/s"
CUBIC = {"cc": "cubic"}
ECN = {"cc": "cubic", "ecn": True}


def udp(rate: str, **keys: Any) -> dict[str, Any]:
    """A UDP flow."""
    return {"protocol": "udp", "rate": rate, **keys}


# No two flows have packets of one size in cases of several queues: which of two that are equally long is dropped from
# is a matter of hashes, which the record does not have. For the same reason there are many more queues than flows.
BURSTS = udp("60 Mbit/s", start="1 s", stop="1200 ms")
"""For a while faster than the link."""


@dataclass(frozen=True)
class Case:
    """A link and what crosses it."""

    name: str
    bottleneck: Table
    flows: list[Table] = field(default_factory=lambda: [CUBIC, BURSTS])
    events: list[Table] = field(default_factory=list)
    expects: tuple[str, ...] = ("dropped-tail",)
    """Fates and marks without which the run would prove nothing."""
    pairs: int = 0
    """Pairs of hosts, `s1` and `r1` and so on, where flows name theirs; 0: all flows go between `h1` and `h2`."""
    trace: tuple[int, ...] = ()
    """The rate, as a Mahimahi trace: milliseconds."""

    def scenario(self, seconds: int, scratch: Path) -> dict[str, Any]:
        """For `dumbbell.run`; a trace that it needs is written into `scratch`."""
        bottleneck = {"rate": RATE, **self.bottleneck}
        if self.trace:
            (scratch / "trace").write_text("\n".join(map(str, self.trace)))
            bottleneck["rate"] = {"trace": str(scratch / "trace")}
        shape = {"kind": "dumbbell", "pairs": self.pairs} if self.pairs else {"kind": "path"}
        return {
            "name": "conformance",
            "duration": f"{seconds} s",
            "topology": {**shape, "rtt": "20 ms", "bottleneck": bottleneck},
            "flows": [{"from": "h1", "to": "h2", **flow} for flow in self.flows],
            "events": list(self.events),
        }


def red(**keys: Any) -> dict[str, Any]:
    """RED with thresholds that 20 Mbit/s and a CUBIC flow pass."""
    return {"kind": "red", "min_th": "10 packets", "max_th": "30 packets", "weight": 0.01, **keys}


SQUARE = {"steps": [["0 s", "20 Mbit/s"], ["70 ms", "7 Mbit/s"], ["110 ms", "0 bit/s"]], "period": "123456789 ns"}
LOSSES = [
    {"model": "independent", "rate": "1 %"},
    {"model": "correlated", "rate": "0.5 %", "correlation": "25 %"},
    {"model": "periodic", "every": 500, "position": "after-queue"},
    {"model": "trace", "lost": [3, 5, 8, 13], "repeat": 1000, "position": "after-queue"},
]
EVENTS: list[Table] = [
    {"at": "500 ms", "rate": "7 Mbit/s"},
    {"at": "900 ms", "rate": "31 Mbit/s", "delay": "3 ms"},
    {"at": "1100 ms", "buffer": "20 packets"},
    {"at": "1300 ms", "delay": "9 ms", "loss": "2 %"},
    {"at": "1500 ms", "down_for": "50 ms", "every": "300 ms", "until": "2 s"},
    {"at": "2300 ms", "queue": "codel", "buffer": "200 packets"},
]

CASES = [
    Case("drop-tail, bytes", {"buffer": "30 kB", "overhead": "4 B"}),
    Case("drop-tail, packets", {"buffer": "17 packets", "rate": "7 Mbit/s"}),
    Case("drop-head", {"queue": "drop-head", "buffer": "30 kB"}, expects=("dropped-head",)),
    Case("drop-head, packets", {"queue": "drop-head", "buffer": "17 packets"}, expects=("dropped-head",)),
    Case(
        "threshold, bytes",
        {"queue": {"kind": "drop-tail", "ce_threshold": "20 kB"}},
        [ECN, BURSTS],
        expects=("marked threshold",),
    ),
    Case(
        "threshold, time",
        {"queue": {"kind": "drop-head", "ce_threshold": "5 ms"}},
        [ECN, BURSTS],
        expects=("marked threshold",),
    ),
    Case("rate in steps", {"rate": SQUARE, "buffer": "40 kB"}),
    Case("Mahimahi trace", {"buffer": "40 packets"}, trace=(1, 1, 2, 5, 5, 5, 8, 30, 31, 31, 32, 40)),
    Case("policer", {"policer": {"rate": "11 Mbit/s", "burst": "30 kB"}}, expects=("dropped-policed",)),
    Case("slots", {"slots": {"interval": "3 ms", "packets": 7, "bytes": "8 kB"}, "buffer": "60 kB"}),
    Case("events", {"buffer": "60 kB"}, events=EVENTS, expects=("dropped-tail", "dropped-down", "lost-before")),
    Case("delay line", {"delay_line": "12 packets"}, expects=("dropped-delay-line",)),
    Case("random loss", {"loss": LOSSES}, [udp("10 Mbit/s")], expects=("lost-before", "lost-after")),
    Case(
        "random marks",
        {"mark": {"rate": "3 %", "correlation": "25 %"}, "queue": {"kind": "drop-tail", "ce_threshold": "20 kB"}},
        [ECN, udp("5 Mbit/s", ecn="ect1"), BURSTS],
        events=[{"at": "1500 ms", "mark": "none"}, {"at": "2 s", "mark": "10 %"}],
        expects=("marked random", "marked threshold", "dropped-tail"),
    ),
    Case("CoDel", {"queue": "codel", "buffer": "1 MB"}, expects=("dropped-early",)),
    Case(
        "CoDel, ECN",
        {"queue": {"kind": "codel", "ecn": True, "ce_threshold": "30 ms"}, "buffer": "1 MB"},
        [ECN, udp("12 Mbit/s", ecn="ect0")],
        expects=("marked early", "marked threshold"),
    ),
    Case(
        "FQ-CoDel",
        {"queue": {"kind": "fq-codel", "flows": 65536}, "buffer": "200 packets"},
        [ECN, {**BURSTS, "payload": "1400 B"}, udp("1 Mbit/s", payload="100 B")],
        expects=("dropped-head", "dropped-early", "marked early"),
    ),
    Case(
        "FQ-CoDel, thin flows",
        {"queue": {"kind": "fq-codel", "flows": 65536, "interval": "20 ms"}, "buffer": "1 MB", "rate": "5 Mbit/s"},
        [CUBIC, CUBIC, CUBIC, CUBIC, udp("300 kbit/s", payload="100 B"), udp("1 Mbit/s")],
        expects=("dropped-early",),
    ),
    Case(
        "FQ",
        {"queue": {"kind": "fq", "quantum": "700 B", "flows": 65536}, "buffer": "60 kB"},
        [CUBIC, {**BURSTS, "payload": "1400 B"}, udp("1 Mbit/s", payload="100 B")],
        expects=("dropped-tail", "dropped-head"),
    ),
    Case(
        "CAKE",
        {"queue": {"kind": "cake", "rtt": "40 ms"}, "buffer": "60 kB"},
        [ECN, {**BURSTS, "payload": "1400 B"}, udp("1 Mbit/s", payload="100 B")],
        expects=("dropped-head", "dropped-early", "marked early"),
    ),
    Case(
        "CAKE, hosts",
        {"queue": {"kind": "cake", "rtt": "20 ms", "quantum": "700 B"}, "buffer": "1 MB"},
        [
            {"from": "s1", "to": "r1", **ECN},
            {"from": "s1", "to": "r2", **ECN},
            {"from": "s1", "to": "r1", **ECN},
            {"from": "s2", "to": "r2", **CUBIC},
            {"from": "s3", "to": "r3", **udp("1 Mbit/s", payload="100 B")},
        ],
        expects=("dropped-early", "marked early"),
        pairs=3,
    ),
    Case("PIE", {"queue": "pie", "buffer": "1 MB"}, [CUBIC, CUBIC, BURSTS], expects=("dropped-early",)),
    Case(
        "PIE, ECN",
        {"queue": {"kind": "pie", "ecn": True, "mark_ecnth": "20 %"}, "buffer": "1 MB"},
        [ECN, udp("21 Mbit/s", ecn="ect0")],
        expects=("marked early",),
    ),
    Case("RED", {"queue": red(), "buffer": "1 MB"}, [CUBIC, CUBIC, BURSTS], expects=("dropped-early",)),
    Case(
        "RED, ECN, steep",
        {"queue": red(gentle=False, ecn=True), "buffer": "1 MB"},
        [ECN, udp("21 Mbit/s", ecn="ect0", start="500 ms")],
        expects=("marked early", "dropped-early"),
    ),
    Case("ARED", {"queue": red(kind="ared"), "buffer": "1 MB"}, [CUBIC, CUBIC], expects=("dropped-early",)),
    Case(
        "DualPI2",
        {"queue": "dualpi2", "buffer": "1 MB"},
        [ECN, udp("8 Mbit/s", ecn="ect1", payload="1400 B"), {**BURSTS, "ecn": "ect1", "payload": "1400 B"}],
        expects=("dropped-early", "marked early", "marked coupled", "marked threshold"),
    ),
]
