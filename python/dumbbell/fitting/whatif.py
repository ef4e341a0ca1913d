"""Reruns a captured transfer over its fitted path, with something changed: another algorithm, queue, or any key."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dumbbell.errors import InputError
from dumbbell.fitting.estimate import Estimate
from dumbbell.fitting.fitted import Fit
from dumbbell.fitting.scenario import own_cc, served_bps, toml
from dumbbell.fitting.words import rate, share_of
from dumbbell.frozen import dataclass
from dumbbell.units import QuantityError, Rate

if TYPE_CHECKING:
    import polars as pl

DRAWS: Final = 10
"""Paths that are drawn from the intervals of the fit, for each change."""
SEEDS: Final = 2
"""Runs over each of them, with other random losses."""
_LONGEST: Final = 4.0
"""A rerun ends after so many times the captured transfer's length."""
_QUEUE: Final = "topology.bottleneck.queue"
_SHORT: Final = {"cc": "flows.0.cc", "queue": _QUEUE, "buffer": "topology.bottleneck.buffer"}
"""Keys of a scenario by the names that users type."""
_BUFFERS_BDP: Final = (0.5, 4.0)
"""Buffers that are likely where the capture does not tell, in bandwidth-delay products."""
_DISCIPLINES: Final = ("codel", "pie")
"""Queue disciplines that stand for any that drops early: the one under which the captured transfer is repeated best."""
CAPTURED: Final = "as captured"
_FRAME_BITS: Final = 12_112
"""Bits of a full packet."""
MOST_PACKETS: Final = 50_000_000
"""Packets of a rerun: a minute on one core."""


@dataclass(frozen=True)
class Change:
    """A key of the scenario with another value."""

    key: str
    value: str
    words: str
    """The change as the user typed it."""


@dataclass(frozen=True)
class Outcome:
    """Reruns of a transfer with a change: intervals over the drawn paths hold nine of ten."""

    words: str
    runs: int
    unfinished: int
    """Reruns that took more than four times as long as the captured transfer."""
    seconds: tuple[float, float] | None
    """Least and longest time; None if none finished."""
    goodput_bps: tuple[float, float]
    retransmitted: float
    """Median share of segments sent again, 0 to 1."""
    rtt_ms: float
    """Median of the median RTT, ms."""
    limit: str
    """Limit of the transfer then: `policer`, `capacity`, ..."""


def changes(texts: Sequence[str]) -> list[Change]:
    """Reads `cc=bbr3,bbr` and `queue=fq-codel`: one change for each value. Raises `InputError`."""
    found = []
    for text in texts:
        key, equals, values = text.partition("=")
        if not equals or not key or not values:
            raise InputError(
                f"--what-if {text}: not understood", "expected a key, = and values", "--what-if cc=bbr3,bbr"
            )
        for value in values.split(","):
            named = value.strip().replace("_", "-") if key == "queue" else value.strip()
            found.append(Change(_SHORT.get(key, key), named, f"{key} = {named}"))
    return found


def what_if(fit: Fit, wanted: Sequence[Change], cc: str | None = None, draws: int = DRAWS) -> list[Outcome]:
    """Reruns the transfer as captured, and with each change, by simulation.

    Args:
        fit: of a capture.
        wanted: What to change, one at a time.
        cc: Congestion control of the captured transfer, which packets do not tell; by default, what a log names, or
            CUBIC.
        draws: Paths drawn from the intervals of the fit, the same for each change.

    Raises:
        InputError: a change names an unknown key or value, a rerun would be too large, or the file has no transfer.
    """
    if fit.transfer.is_link:
        why = f"a {fit.transfer.source} has what a link carries, and no transfer"
        raise InputError("--what-if has nothing to repeat", why, "write the link with -o, and run the scenario")
    if fit.is_log and fit.rate.capacity.value is None and fit.rate.available.value is None:
        why = f"the path's rate is not identifiable: {fit.rate.available.why_not}"
        raise InputError("--what-if has no path to repeat the transfer over", why, "fit a capture of the transfer")
    cc = own_cc(fit) if cc is None else cc
    base = tomllib.loads(toml(fit, cc))
    base["flows"][0]["bytes"] = f"{fit.transfer.acknowledged_bytes} B"
    base["duration"] = f"{_LONGEST * max(1.0, fit.transfer.seconds):.1f} s"
    base["record"] = {"packets": False, "acks": False}
    paths = [_path(fit, base, number, draws) for number in range(draws)]
    _check_size(fit, base, paths)
    if fit.losses.is_early:
        base["topology"]["bottleneck"]["queue"] = _likeliest(fit, base, paths)
    every = [Change("flows.0.cc", cc, f"{CAPTURED}, {cc}"), *wanted]
    outcomes = []
    for change in every:
        # A study's cells have equal keys, so each change is a study of its own.
        flows = _rerun(base, [{**path, change.key: change.value} for path in paths])
        outcomes.append(_outcome(fit, change, flows))
    return outcomes


def _check_size(fit: Fit, base: Mapping[str, Any], paths: Sequence[Mapping[str, Any]]) -> None:
    """Raises `InputError` if a rerun would take minutes: figures of a profile may be anybody's."""
    seconds = float(base["duration"].removesuffix(" s"))
    links = [base["topology"]["bottleneck"]["rate"], *(path.get("topology.bottleneck.rate") for path in paths)]
    carried_bps = max((_bps(text) for text in links if isinstance(text, str)), default=None)
    own = fit.transfer.acknowledged_bytes / 1448
    if carried_bps is not None:
        own = min(own, carried_bps * seconds / _FRAME_BITS)
    others = sum(_bps(flow["rate"]) for flow in base["flows"] if "rate" in flow) * seconds / _FRAME_BITS
    if own + others > MOST_PACKETS:
        why = f"a rerun has about {own + others:,.0f} packets, and at most {MOST_PACKETS:,} are simulated"
        raise InputError("--what-if: the transfer is too large", why, "fit a shorter capture, or write it with -o")


def _bps(text: str) -> int:
    try:
        return int(Rate.parse(text))
    except QuantityError as error:
        raise InputError(f"--what-if: the path has a rate of {text}", error.expected, error.hint) from None


def _rerun(base: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """A row for each rerun of the transfer over each of some paths, by simulation."""
    from dumbbell import studies

    with TemporaryDirectory(prefix="dumbbell-fit-") as folder:
        done = studies.run(base, (), Path(folder), engine="simulate", vary=cells, repeat=SEEDS, report=False)
        return done.scan("flows").filter(id="fitted").collect()


def _likeliest(fit: Fit, base: Mapping[str, Any], paths: Sequence[Mapping[str, Any]]) -> str:
    """The queue discipline under which reruns of the captured transfer have its goodput and its delay."""
    import polars as pl

    flows = _rerun(base, [{**path, _QUEUE: kind} for kind in _DISCIPLINES for path in paths])
    rtt_ms = (fit.base_rtt.value or 0.0) / 1e6 + fit.transfer.queue_ms[0]

    def differs(at: int) -> float:
        rows = flows.filter(pl.col("cell").is_in(range(at * len(paths), (at + 1) * len(paths))))
        rates, times = rows["goodput_bps"].mean(), rows["rtt_p50_ms"].mean()
        if not isinstance(rates, float) or not isinstance(times, float) or min(rates, times, rtt_ms) <= 0:
            return np.inf
        return float(abs(np.log(rates / max(1.0, fit.transfer.goodput_bps))) + abs(np.log(times / rtt_ms)))

    return min(_DISCIPLINES, key=lambda kind: differs(_DISCIPLINES.index(kind)))


def _path(fit: Fit, base: Mapping[str, Any], number: int, draws: int) -> dict[str, object]:
    """Keys of a path that is drawn from the intervals.

    Each property takes each of `draws` equal parts of its interval once, in an order of its own (latin hypercube
    sampling, McKay, Beckman and Conover 1979).
    """
    random = Random("fit/paths")

    def drawn(estimate: Estimate) -> float | None:
        part = random.sample(range(draws), draws)[number]
        if estimate.low is None or estimate.high is None or (estimate.value is None and estimate.low <= 0):
            return None
        return estimate.low + (part + 0.5) / draws * (estimate.high - estimate.low)

    keys: dict[str, object] = {}
    link = base["topology"]["bottleneck"]
    served = fit.rate.capacity if fit.rate.capacity.value == served_bps(fit) else fit.rate.available
    capacity, base_ns, buffer = (drawn(one) for one in (served, fit.base_rtt, _buffer(fit, number, draws)))
    loss, policed, burst = (drawn(one) for one in (fit.losses.loss, fit.policer.rate, fit.policer.burst))
    if capacity is not None and isinstance(link["rate"], str):
        keys["topology.bottleneck.rate"] = f"{capacity:.0f} bit/s"
    if base_ns is not None:
        keys["topology.rtt"] = f"{max(1000, round(base_ns))} ns"
    if buffer is not None:
        keys["topology.bottleneck.buffer"] = f"{buffer:.0f} B"
    if loss and isinstance(link.get("loss"), str):
        keys["topology.bottleneck.loss"] = f"{100 * loss:.5f} %"
    if policed is not None and burst is not None:
        keys["topology.bottleneck.policer"] = {"rate": f"{policed:.0f} bit/s", "burst": f"{burst:.0f} B"}
    return keys


def _buffer(fit: Fit, number: int, draws: int) -> Estimate:
    """The buffer; one that is not identifiable is anywhere between what waited, or a half, and four times the BDP."""
    one = fit.losses.buffer
    if one.value is not None:
        return one
    if one.low is not None and fit.is_log and fit.losses.overflows:
        return Estimate(one.low, one.low, one.low)
    bdp = served_bps(fit) / 8e9 * (fit.base_rtt.value or fit.base_rtt.high or 1e6)
    low = max(one.low or 0.0, _BUFFERS_BDP[0] * bdp, 4 * fit.transfer.segment_bytes)
    high = max(one.high or _BUFFERS_BDP[1] * bdp, low)
    value = low * (high / low) ** ((Random("fit/buffers").sample(range(draws), draws)[number] + 0.5) / draws)
    return Estimate(value, value, value)


def _outcome(fit: Fit, change: Change, rows: pl.DataFrame) -> Outcome:
    if rows.is_empty():
        raise InputError(
            f"--what-if {change.words}: every run failed", "the simulator refuses it", "dumbbell cc list, or another"
        )
    times = rows["fct_s"].drop_nulls().to_numpy()
    seconds = None if not len(times) else (float(np.quantile(times, 0.05)), float(np.quantile(times, 0.95)))
    goodput = rows["goodput_bps"].to_numpy()
    segments = np.maximum(1, rows["sent_bytes"].to_numpy() / 1448)
    again = rows["retransmitted_segments"].to_numpy() / segments
    return Outcome(
        change.words,
        len(rows),
        len(rows) - len(times),
        seconds,
        (float(np.quantile(goodput, 0.05)), float(np.quantile(goodput, 0.95))),
        float(np.median(again)),
        float(np.median(rows["rtt_p50_ms"].drop_nulls().to_numpy())) if rows["rtt_p50_ms"].count() else 0.0,
        _limit(fit, float(np.median(goodput)), float(np.median(rows["rwnd_limited_share"].fill_null(0)))),
    )


def _limit(fit: Fit, goodput_bps: float, window: float) -> str:
    if window >= 0.5:
        return "receiver's window"
    header = fit.transfer.segment_bytes / (fit.transfer.segment_bytes - fit.transfer.header_bytes)
    frames = goodput_bps * header
    if fit.policer.rate.value is not None and frames >= 0.85 * fit.policer.rate.value:
        return "policer"
    # The scenario has the steps of a varying rate, and a capture tells their mean.
    capacity = fit.rate.capacity.value if fit.rate.varies and not fit.is_log else fit.own_bps
    if capacity is not None and frames >= 0.85 * capacity:
        return "capacity"
    return "congestion window"


def sentences(fit: Fit, outcomes: Sequence[Outcome]) -> list[str]:
    """A sentence for each change: what would have happened in place of what did."""
    measured = fit.transfer.seconds
    return [
        f"With {one.words}, the transfer would take {_seconds(one)} in place of {measured:.3g} s; "
        f"then the {one.limit} limits it."
        for one in outcomes[1:]
    ]


def _seconds(outcome: Outcome) -> str:
    if outcome.seconds is None:
        return "more than four times as long"
    low, high = (f"{value:.3g}" for value in outcome.seconds)
    span = f"{low} s" if low == high else f"{low} to {high} s"
    return (
        span
        if not outcome.unfinished
        else f"{span}, or more than four times as long ({outcome.unfinished} of {outcome.runs})"
    )


def cells(fit: Fit, outcomes: Sequence[Outcome]) -> list[list[str]]:
    """Rows of a table: the captured transfer, the rerun of it, and each change."""
    lost = share_of(fit.transfer.lost_share, 2)
    base = (fit.base_rtt.value if fit.base_rtt.value is not None else fit.base_rtt.high or 0.0) / 1e6
    rows = [
        [
            "captured",
            f"{fit.transfer.seconds:.3g} s",
            rate(fit.transfer.goodput_bps),
            lost,
            _rtt(base + fit.transfer.queue_ms[0]),
            "",
        ]
    ]
    for one in outcomes:
        low, high = (rate(value) for value in one.goodput_bps)
        goodput = low if low == high else f"{low} to {high}"
        rows.append([one.words, _seconds(one), goodput, share_of(one.retransmitted, 2), _rtt(one.rtt_ms), one.limit])
    return rows


def _rtt(value: float) -> str:
    return f"{value:.3g} ms"
