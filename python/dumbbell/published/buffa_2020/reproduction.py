"""Loss, delay and bandwidth: one transfer of Reno, CUBIC or BBR between two hosts and a switch."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from dumbbell.engines.names import EMULATE, SIMULATE, VIRTUAL
from dumbbell.published.buffa_2020 import evidence, notes
from dumbbell.published.buffa_2020.findings import CASE, FINDINGS, PARTS, READINGS, Reading
from dumbbell.published.buffa_2020.printed import SAID_S, Printed, case, means
from dumbbell.published.model import Axis, Part, Plot, Published, Reproduction

CCS: Final = ("reno", "cubic", "bbr")
STAND_IN: Final = "10 Gbit/s"
"""The rate for "no limit", which in Mininet is the rate that the CPU reaches: 8 to 15 Gbit/s in the study."""
LEAST_MS: Final = 0.1
"""RTT without any delay."""
WHOLE_S: Final = SAID_S
LOSSY_S, CLEAN_S = 5, 1
"""Durations at 10 Gbit/s without delay, with loss and without: a minute is 50 million packets there."""
PLOTTED: Final = ((0.0, 10.0),)
"""Delay and loss of a case that is plotted in test 1, without printed numbers."""

TITLES: Final = {
    "1": "no limit, loss 0 to 10 %",
    "2-none": "no limit, delay 0 or 10 ms, loss 0 or 5 %",
    "2-10mbit": "10 Mbit/s, delay 0 or 10 ms, loss 0 or 5 %",
    "3-none": "no limit, delay 1 s",
    "3-10mbit": "10 Mbit/s, delay 1 s",
    "4": "1 Gbit/s, loss 5 %",
}
SAID: Final[dict[Reading, str]] = {
    "": "",
    "-one-link": ", delay and loss on one of the two links",
    "-mininet": ", by Mininet's links, whole bursts",
}


def _case(delay_ms: float, loss: float, links: int, seconds: float) -> dict[str, Any]:
    """A case on the path, from the delay and the loss of each link, in percent, which apply in both directions."""
    lost = f"{100 * (1 - (1 - loss / 100) ** links):.4g} %"
    return {
        "name": case(delay_ms, loss),
        "topology.rtt": f"{max(2 * links * delay_ms, LEAST_MS):g} ms",
        "topology.bottleneck.loss": lost,
        "topology.bottleneck.reverse.loss": lost,
        "duration": f"{seconds:g} s",
    }


def _seconds(mbit: float | None, delay_ms: float, loss: float) -> float:
    """The duration of a case that is not emulated."""
    if mbit is not None or delay_ms > 0:
        return WHOLE_S
    return LOSSY_S if loss > 0 else CLEAN_S


def _part(name: str, reading: Reading) -> Part:
    test, mbit = PARTS[name]
    chosen = [row for row in means() if (row.test, row.mbit) == (test, mbit)]
    cases = [*dict.fromkeys((row.delay_ms, row.loss) for row in chosen), *(PLOTTED if name == "1" else ())]
    links = 1 if reading == "-one-link" else 2
    mininet = reading == "-mininet"

    def sweep(seconds: Callable[[float, float], float]) -> dict[str, Any]:
        listed = [_case(delay, loss, links, seconds(delay, loss)) for delay, loss in cases]
        return {"sweep": {"flows.0.cc": list(CCS), "cases": listed}}

    unlimited = {f"topology.bottleneck.{key}": "unlimited" for key in ("rate", "buffer") if mbit is None}
    fast = mbit is None or mbit > 100
    return Part(
        f"{name}{reading}",
        f"{TITLES[name]}{SAID[reading]}",
        "buffa-2020/path.toml",
        {
            "name": f"buffa-2020-{name}{reading}",
            "topology.bottleneck.rate": STAND_IN if mbit is None else f"{mbit:g} Mbit/s",
            **sweep(partial(_seconds, mbit)),
            **({"emulate.links": "mininet"} if mininet else {}),
        },
        (VIRTUAL,) if mininet else (SIMULATE, VIRTUAL, EMULATE),
        {EMULATE: {"repeat": 3, **sweep(lambda *_: WHOLE_S), **unlimited}},
        {"repeat": 2, **sweep(lambda *_: 1 if fast else 20)},
        tuple(one for row in chosen for one in _published(row)),
        plots=(_plot(TITLES[name], f"test {test}"),),
        variant_of=name if reading else None,
        notes=_notes(name),
        evidence=evidence.plotted if name == "1" else evidence.limited,
        cpu_s=2.5 if fast else 0.1,
    )


def _published(row: Printed) -> tuple[Published, Published]:
    """Both numbers of a row. Without a limit the CPU is the limit, and only ratios can be compared."""
    where, relative = {CASE: row.case}, "cubic" if row.mbit is None else None
    return (
        Published(where, "goodput", row.cc, row.rate_bps, f"test {row.test}", relative),
        Published(where, "received_bytes", row.cc, row.transferred, f"test {row.test}", relative),
    )


def _plot(title: str, source: str) -> Plot:
    y = Axis("goodput (Mbit/s)", log=True, factor=1e6)
    return Plot(title, source, "bars", Axis("delay, loss of a link"), y, "goodput", CASE, of=CCS)


def _notes(name: str) -> tuple[str, ...]:
    said = [notes.LINKS, notes.BURSTS, notes.PACING]
    if PARTS[name][1] is None:
        said.append(notes.NO_LIMIT)
    if name == "2-none":
        said.append(notes.TOO_FAST)
    if PARTS[name][0] in ("3", "4"):
        said += [notes.LONG, notes.BYTES, notes.DURATIONS]
    return tuple(said)


REPRODUCTION: Final = Reproduction(
    "buffa-2020",
    "Loss, delay and bandwidth: Reno, CUBIC and BBR",
    "Buffa, Fiorello, Mattedi: TCP-BBR: Analisi delle prestazioni, Università di Trento, 2020",
    tuple(_part(name, reading) for reading in READINGS for name in PARTS),
    FINDINGS,
    notes.OPEN,
)
