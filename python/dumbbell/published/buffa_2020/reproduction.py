"""Loss, delay and bandwidth: one transfer of Reno, CUBIC or BBR between two hosts and a switch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from dumbbell.engines.names import EMULATE, SIMULATE
from dumbbell.published.buffa_2020.findings import FINDINGS
from dumbbell.published.model import Axis, Part, Plot, Published, Reproduction
from dumbbell.published.packaged import rows

CCS: Final = ("reno", "cubic", "bbr")
CASE: Final = "case"
BOTH, ONE = 2, 1
"""The number of the two links that carry delay and loss."""
STAND_IN: Final = "10 Gbit/s"
"""The simulated rate for "no limit", which in Mininet is the rate that the CPU reaches: 8 to 15 Gbit/s in the study."""
LEAST_MS: Final = 0.1
"""RTT without any delay."""

LONG_MS: Final = 1000
WHOLE: Final = "60 s"
FAST: Final = "10 s"
"""Duration at a gigabit and more: 60 s are up to 50 million packets, and flows limited by loss are steady by then."""

Row = Mapping[str, str]


def _case(delay_ms: float, loss: float, links: int, duration: str) -> dict[str, Any]:
    """A case on the path, from the delay and the loss of each link, in percent, which apply in both directions.

    `duration`: used for short round trips; long ones always run a minute, which takes no time to simulate.
    """
    lost = f"{100 * (1 - (1 - loss / 100) ** links):.4g} %"
    return {
        "name": _name(delay_ms, loss),
        "topology.rtt": f"{max(2 * links * delay_ms, LEAST_MS):g} ms",
        "topology.bottleneck.loss": lost,
        "topology.bottleneck.reverse.loss": lost,
        "duration": duration if delay_ms < LONG_MS else WHOLE,
    }


def _name(delay_ms: float, loss: float) -> str:
    return f"{delay_ms:g} ms, {loss:g} %"


def _published(chosen: Iterable[Row], source: str, gbit: bool, relative: bool) -> tuple[Published, ...]:
    return tuple(
        Published(
            {CASE: _name(float(row["delay_ms"]), float(row["loss_percent"]))},
            "goodput",
            row["cc"],
            1e9 * float(row["throughput_gbit"]) if gbit else 1e6 * float(row["throughput_mbit"]),
            source,
            "cubic" if relative else None,
        )
        for row in chosen
    )


def _rows(name: str, keep: Callable[[Row], bool]) -> list[Row]:
    """The rows; single repetitions are left out where a mean is printed, too."""
    return [row for row in rows(name) if row.get("repetition", "mean") == "mean" and keep(row)]


def _limit(row: Row) -> float | None:
    """Mbit/s."""
    return float(row["bandwidth_mbit"]) if row["bandwidth_mbit"] else None


def _part(name: str, title: str, mbit: float | None, chosen: list[Row], source: str, links: int) -> Part:
    gbit = "throughput_gbit" in chosen[0]
    published = _published(chosen, source, gbit, relative=mbit is None)
    cases = dict.fromkeys((float(row["delay_ms"]), float(row["loss_percent"])) for row in chosen)
    rate = STAND_IN if mbit is None else f"{mbit:g} Mbit/s"
    fast = mbit is None or mbit > 100

    def sweep(duration: str) -> dict[str, Any]:
        listed = [_case(delay, loss, links, duration) for delay, loss in cases]
        return {"sweep": {"flows.0.cc": list(CCS), "cases": listed}}

    unlimited = {"topology.bottleneck.rate": "unlimited", "topology.bottleneck.buffer": "unlimited"}
    reading = "" if links == BOTH else ", delay and loss on one of the two links"
    full = name if links == BOTH else f"{name}-one-link"
    return Part(
        full,
        f"{title}{reading}",
        "buffa-2020/path.toml",
        {"name": f"buffa-2020-{full}", "topology.bottleneck.rate": rate, **sweep(WHOLE)},
        (SIMULATE, EMULATE),
        {SIMULATE: sweep(FAST) if fast else {}, EMULATE: unlimited if mbit is None else {}},
        sweep("1 s" if fast else "20 s"),
        published,
        plots=(_plot(title, source),),
        variant_of=None if links == BOTH else name,
        notes=_notes(mbit),
        cpu_s=2.5 if fast else 0.1,
    )


def _plot(title: str, source: str) -> Plot:
    y = Axis("goodput (Mbit/s)", log=True, factor=1e6)
    return Plot(title, source, "bars", Axis("delay, loss of a link"), y, "goodput", CASE, of=CCS)


def _notes(mbit: float | None) -> tuple[str, ...]:
    said = [
        "Delay and loss per link: the text leaves open whether one or both of the two host links carry them. Mininet's "
        "--link option sets both, so a round trip is 4 times the delay and 5 % become 9.75 % in each direction. The "
        "parts -one-link take the other reading; how near each comes to the printed numbers is told above.",
    ]
    if mbit is None:
        said.append(
            "No limit: their hosts sent as fast as one machine's CPU copies memory. Only ratios between algorithms are "
            f"compared; simulated is {STAND_IN}."
        )
        said.append(
            "Offloads were on: netem lost super-packets of up to 64 kB, not packets, so their loss hit a window far "
            "more rarely than ours. The engine emulate with emulate.whole_bursts = true does the same."
        )
    said.append(
        "Their kernel, 4.12, has no pacing inside TCP, which came with 4.13 (google/bbr, quick start), and Mininet's "
        "hosts have no fq: their BBR sent whole windows at once. Ours paces, which is what BBR is made for, and "
        "carries more under loss."
    )
    said.append(
        "All data that the sender's socket took counted as sent, including data that it had not transmitted: up to 4 "
        "MB, which is much of what a minute at a round trip of seconds can carry."
    )
    return tuple(said)


def _parts(links: int) -> tuple[Part, ...]:
    one, two, rest = "buffa-2020/test1-loss", "buffa-2020/test2-factorial", "buffa-2020/test3-4-delay"
    ten, long_ = "delay 0 or 10 ms, loss 0 or 5 %", "delay 1 s"
    return (
        _part("1", "no limit, loss 0 to 5 %", None, _rows(one, lambda r: True), "test 1", links),
        _part("2-none", f"no limit, {ten}", None, _rows(two, lambda r: _limit(r) is None), "test 2", links),
        _part("2-10mbit", f"10 Mbit/s, {ten}", 10, _rows(two, lambda r: _limit(r) == 10), "test 2", links),
        _part("3-none", f"no limit, {long_}", None, _rows(rest, lambda r: _limit(r) is None), "test 3", links),
        _part("3-10mbit", f"10 Mbit/s, {long_}", 10, _rows(rest, lambda r: _limit(r) == 10), "test 3", links),
        _part("4", "1 Gbit/s, loss 5 %", 1000, _rows(rest, lambda r: _limit(r) == 1000), "test 4", links),
    )  # fmt: skip


REPRODUCTION: Final = Reproduction(
    "buffa-2020",
    "Loss, delay and bandwidth: Reno, CUBIC and BBR",
    "Buffa, Fiorello, Mattedi: TCP-BBR: Analisi delle prestazioni, Università di Trento, 2020",
    (*_parts(BOTH), *_parts(ONE)),
    FINDINGS,
    (
        "Delay and loss are taken to be on both host links, in both directions, as Mininet's --link option sets them; "
        "the parts -one-link read them as on one link.",
        "The buffer is not given: 1000 packets, which is what Mininet's links have then.",
        "The round trip is 0.1 ms if delay and loss are 0.",
        "Their throughput is what iperf printed at the sender; ours is what arrived. Tests 1 and 2 are printed in "
        "Gbit/s with three digits: 0.001 is anything from 0.5 to 1.5 Mbit/s.",
        f"Runs last a minute; simulated at 1 and 10 Gbit/s, where the delay is not 1 s, {FAST}.",
    ),
)
