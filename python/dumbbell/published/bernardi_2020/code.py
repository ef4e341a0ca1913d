"""Code of bernardi-2020: behaviour over time, from the records of each usable run.

Its scenarios on one CPU are judged by the checks of their runs.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from dumbbell.published.comparing import compared, listed
from dumbbell.published.figures import Figures
from dumbbell.published.judging import NOT_RUN, above, all_of, below, most, told, within
from dumbbell.published.model import Judged, Status
from dumbbell.published.ratios import ratio
from dumbbell.published.recorded import FALL_S, FALLEN, Cut, ProbeRtt, cuts, every, probe_rtt, recorded, together
from dumbbell.records.run import Run
from dumbbell.report import words
from dumbbell.statistics.intervals import Interval, of_mean
from dumbbell.units.mtu import MTU, frame_bytes

if TYPE_CHECKING:
    from dumbbell.studies import Study

CC: Final = "flows.0.cc"
KERNEL: Final = "emulate.kernel"
CPUS: Final = "emulate.cpus"
FLOW: Final = "f1"


def _runs(study: Study, cc: str, where: Mapping[str, Any] | None = None) -> Iterator[Run]:
    """The usable runs of an algorithm, with all their records."""
    return every(study, {CC: cc, **(where or {})})


SLOW_START_S: Final = 3.0
"""Slow start is over by then in scenario 1, whatever the algorithm."""
RATE_BPS: Final = 10e6
"""The rate of scenario 1."""
THEIRS: Final = ("reno", "cubic", "bbr", "bbr2")
BBRS: Final = ("bbr", "bbr2", "bbr3")
BDP_PACKETS: Final = 100e6 * 0.030 / 8 / frame_bytes(MTU)
"""The BDP of scenario 2."""


def saw_tooth(study: Study) -> Judged:
    """Judges whether each cut halves Reno's window, which then grows at an even pace."""
    return _shape(study, "reno", lambda one: 0.45 <= one.to <= 0.55 and min(one.growth) > 0.5 * max(one.growth))


def flattens(study: Study) -> Judged:
    """Judges whether CUBIC's window slows down to half the pace of the first third between two cuts."""
    return _shape(study, "cubic", lambda one: min(one.growth[1:]) < 0.5 * one.growth[0])


def lower_threshold(study: Study) -> Judged:
    """Judges whether CUBIC's slow-start threshold is lower after each loss at a smaller window than the loss before."""
    found, said = [], ""
    for run in _runs(study, "cubic"):
        pairs = [(one, two) for one, two in itertools.pairwise(thresholds(run, FLOW)) if two[0] < one[0]]
        if pairs:
            found.append(all(two[1] < one[1] for one, two in pairs))
            one, two = pairs[0]
            said = said or (
                f"first run: cut from {one[0]:.0f} and then from {two[0]:.0f} packets, with thresholds of {one[1]:.0f} "
                f"and {two[1]:.0f}"
            )
    if not found:
        return NOT_RUN
    status, often = most(found)
    return Judged(status, f"always {often}; {said}")


def _shape(study: Study, cc: str, has_it: Callable[[Cut], bool]) -> Judged:
    """The judgement whether the windows of an algorithm's runs have a shape, from each cut to the next."""
    runs = [cuts(run, FLOW, SLOW_START_S) for run in _runs(study, cc)]
    if not runs:
        return NOT_RUN
    found = [one for one in runs if one]
    if not found:
        return Judged(Status.UNKNOWN, f"no two cuts of the window in {words.count(len(runs), 'run')}")
    status, said = most([all(map(has_it, one)) for one in found])
    times = [has_it(cut) for one in found for cut in one]
    first = "; ".join(
        f"cut to {one.to:.2f} at {one.at_s:.1f} s, then {' '.join(f'{g:.1f}' for g in one.growth)} segments/s in thirds"
        for one in found[0]
    )
    between = f"{sum(times)} of {words.count(len(times), 'time')} between two cuts"
    return Judged(status, f"always {said}; {between}; first run: {first}")


def no_timeouts(study: Study) -> Judged:
    """Judges whether Reno repairs all its losses without a timeout."""
    found = [timeouts(run, FLOW) for run in _runs(study, "reno")]
    if not found:
        return NOT_RUN
    status, said = most([times == 0 for times in found])
    return Judged(status, f"none {said}; {words.count(sum(found), 'timeout')} in all")


def oscillates(study: Study) -> Judged:
    """Judges whether BBRv1 fills the queue between two probes, and drains at least half of it."""
    runs = [found for run in _runs(study, "bbr") if (found := swings(run, FLOW, SLOW_START_S))]
    if not runs:
        return NOT_RUN
    status, said = most([median(one.least for one in run) <= 0.5 * median(one.most for one in run) for run in runs])
    every = [one for run in runs for one in run]
    least, most_ = (median(getattr(one, name) for one in every) / frame_bytes(MTU) for name in ("least", "most"))
    seconds = median(one.seconds for one in every)
    medians = f"medians of {words.count(len(every), 'swing')}: {seconds:.2f} s, from {least:.1f} to {most_:.1f} frames"
    return Judged(status, f"the queue falls to half of its peak or less {said}; {medians}")


def throughput_oscillates(study: Study) -> Judged:
    """Judges whether BBRv1 sends, in 0.1 s each, a tenth more than the link's rate at times, and a tenth less at
    others."""
    ends = []
    for run in _runs(study, "bbr"):
        rates = rates_bps(run, FLOW, SLOW_START_S)
        ends.append((rates.quantile(0.05) or 0.0, rates.quantile(0.95) or 0.0))
    if not ends:
        return NOT_RUN
    status, often = most([low < 0.9 * RATE_BPS and high > 1.1 * RATE_BPS for low, high in ends])
    low, high = (median(one[i] for one in ends) / 1e6 for i in (0, 1))
    return Judged(status, f"both {often}; 5th and 95th percentile of 0.1 s: {low:.1f} and {high:.1f} Mbit/s")


def halves_and_falls(study: Study) -> Judged:
    """Judges whether each cut halves Reno's window, and whether it sends less in the second after than in that
    before."""
    runs = []
    for run in _runs(study, "reno"):
        found = cuts(run, FLOW, SLOW_START_S)
        runs.append([(one.to, _sent(run, one.at_s, 1) / _sent(run, one.at_s - FALL_S - 1, 1)) for one in found])
    if not runs:
        return NOT_RUN
    known = [one for one in runs if one]
    if not known:
        return Judged(Status.UNKNOWN, f"no two cuts of the window in {words.count(len(runs), 'run')}")
    status, often = most([all(0.45 <= to <= 0.55 and less <= 0.9 for to, less in one) for one in known])
    to, less = (median(pair[i] for one in known for pair in one) for i in (0, 1))
    return Judged(status, f"always {often}; medians: the window to {to:.2f}, the rate to {less:.2f}")


def fills_again(study: Study, buffer: int) -> Judged:
    """Judges whether BBRv1 fills a buffer of so many bytes to nine tenths more than ten times in a run."""
    counts = [fillings(run, 0.9 * buffer, SLOW_START_S) for run in _runs(study, "bbr")]
    if not counts:
        return NOT_RUN
    found = of_mean(counts)
    return Judged(above(found, 10), f"{told(found)} times, n = {found.n}")


def hardly_touched(study: Study, others: Sequence[Study], bound: float) -> Judged:
    """Judges whether the median of BBRv1's window is above `bound` times that of the other study, which hardly loses a
    packet."""
    without = others[0]
    found = {}
    for cc in ("bbr", "bbr2", "reno", "cubic"):
        here, there = (
            {(0, i): middle for i, run in enumerate(_runs(one, cc)) if (middle := _window(run))}
            for one in (study, without)
        )
        if here and there:
            found[cc] = ratio(here, there)
    if "bbr" not in found:
        return NOT_RUN
    said = ", ".join(f"{cc} {told(one)}" for cc, one in found.items() if one is not None)
    return Judged(above(found["bbr"], bound), f"median window, times that without loss: {said}")


def moves_together(study: Study, before_s: float) -> Judged:
    """Judges whether window, RTT and queue of each of their algorithms move together; BBRv3's are told beside them.

    `before_s`: the delay between the sender and the queue.
    """
    statuses, said = [], []
    for cc in Figures(study).along(CC):
        runs = [together(run, FLOW, SLOW_START_S, before_s) for run in _runs(study, cc)]
        for what in ("cwnd", "rtt"):
            values = [one[what] for one in runs if what in one]
            if not values:
                continue
            found = of_mean(values)
            said.append(f"{cc} {what} {told(found)}, n = {found.n}")
            if cc in THEIRS:
                statuses.append(above(found, 0.8))
    if not statuses:
        return NOT_RUN
    return Judged(all_of(statuses), f"correlation with the queue over time: {'; '.join(said)}")


def rests(study: Study, kernel: int | None = None) -> Judged:
    """Judges whether PROBE_RTT of BBRv2 comes more often than BBRv1's, and is half a BDP deep.

    `kernel`: its index among the kernels of the study, which have the names that the user gave them.
    """
    figures = Figures(study)
    where = {} if kernel is None else {KERNEL: figures.along(KERNEL)[kernel]}
    entered: dict[str, Interval] = {}
    depth: dict[str, Interval] = {}
    said = []
    for cc in (one for one in BBRS if one in figures.along(CC, where)):
        runs = [found for run in _runs(study, cc, where) if (found := probe_rtts(run, FLOW)) is not None]
        if not runs:
            continue
        entered[cc] = of_mean([len(one.entered_s) for one in runs])
        gaps = [one.gap_s for one in runs if one.gap_s is not None]
        depths = [one.depth_packets for one in runs if one.depth_packets is not None]
        said.append(f"{cc} {told(entered[cc])} times")
        if gaps:
            said[-1] += f", median gap {told(of_mean(gaps))} s"
        if depths:
            depth[cc] = of_mean(depths)
            said[-1] += f", {told(depth[cc])} packets in flight"
        said[-1] += f", n = {len(runs)}"
    if not said:
        return NOT_RUN
    shallower = [within(depth.get("bbr2"), 0.3 * BDP_PACKETS, 0.7 * BDP_PACKETS), below(depth.get("bbr"), 4)]
    often = compared(entered.get("bbr2"), ">", entered.get("bbr"))
    numbers = f"{'; '.join(said)} (half a BDP is {BDP_PACKETS / 2:.0f}: 0.3 to 0.7 BDP)"
    return Judged(all_of([often, *shallower]), numbers)


def far_worse(study: Study, bound: float) -> Judged:
    """Judges whether BBRv1 has less than `bound` times BBRv2 on one CPU."""
    figures = Figures(study)
    one, two = (figures.samples("goodput", None, {CC: cc, CPUS: 1}) for cc in ("bbr", "bbr2"))
    alone = ratio(one, two)
    said = []
    for cpus in figures.along(CPUS):
        found = {cc: figures.interval("goodput", None, {CC: cc, CPUS: cpus}) for cc in figures.along(CC)}
        said.append(f"on {cpus}: {listed(found, 1e6, 'Mbit/s')}")
    if alone is not None:
        said.append(f"with one, BBRv1 {told(alone)} times BBRv2")
    return Judged(below(alone, bound), "CPUs " + "; ".join(said))


def detected(study: Study) -> Judged:
    """Judges whether a check of what happened finds something in each run on one CPU. That of their number alone makes
    none valid."""
    rows = study.runs.filter(pl.col(CPUS) == 1, pl.col("verdict").is_not_null())
    if rows.is_empty():
        return NOT_RUN
    counts = dict(rows["verdict"].value_counts().iter_rows())
    said = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    found = [bool(set(checks.split(", ")) - {"", "cpus"}) for checks in rows["reasons"].fill_null("")]
    # One without refutes it; that none is must be seen often enough.
    status, often = most(found)
    return Judged(
        status if all(found) else Status.FAILS, f"runs on one CPU: {said}; by another check than `cpus` {often}"
    )


def _cells(study: Study) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each cell, called by its algorithm and its kernel."""
    for cell in study.manifest["cells"]:
        yield str(cell[CC]) + (f" on {cell[KERNEL]}" if KERNEL in cell else ""), cell


def probe_rtt_times(study: Study) -> str:
    """The times at which each BBR's first run entered PROBE_RTT, and the packets in flight there."""
    told_of = []
    for name, cell in _cells(study):
        run = recorded(study, cell)
        if run is None or not name.startswith("bbr"):
            continue
        found = probe_rtts(run, FLOW)
        if found is None:
            told_of.append(f"of {name} no ACKs were recorded")
        elif found.entered_s:
            entered = " ".join(f"{at:.1f}" for at in found.entered_s)
            told_of.append(
                f"{name} entered PROBE_RTT after {entered} s, with {found.depth_packets or 0:.0f} packets in flight"
            )
        else:
            told_of.append(f"{name} never did")
    return "In the first run of each: " + "; ".join(told_of) + "."


def losses(study: Study) -> str:
    """The share of retransmissions, and how many packets queues dropped and chance took, over all links."""
    figures = Figures(study)
    by_run = study.links.group_by("run").agg(pl.col("drops", "losses").sum())
    lost = (
        study.runs.select("run", "cell").join(by_run, on="run").group_by("cell").agg(pl.col("drops", "losses").mean())
    )
    parts = []
    for number, (name, cell) in enumerate(_cells(study)):
        again = figures.interval("retransmitted_share", None, cell)
        found = lost.filter(pl.col("cell") == number)
        if again and not found.is_empty():
            drops, by_chance = found.select("drops", "losses").row(0)
            parts.append(f"{name} {told(again, 0.01)} % ({drops:.0f} dropped by queues, {by_chance:.0f} by chance)")
    return "Sent again, of what was sent: " + "; ".join(parts) + "."


def first_cut(study: Study) -> str:
    """How far a run's goodput follows from when the first loss ended slow start."""
    said = []
    for cc in ("reno", "cubic"):
        rows = [(first_cut_s(run, FLOW), run.summary["flows"][0]["goodput_bps"]) for run in every(study, {CC: cc})]
        runs = pl.DataFrame(rows, ["end", "goodput"], orient="row").drop_nulls()
        if runs.height > 2:
            found = runs.select(pl.corr("end", "goodput", method="spearman")).item()
            said.append(f"{cc} {found:.2f}, n = {runs.height}")
    return f"Rank correlation of a run's goodput with the time of its window's first cut: {'; '.join(said)}."


def peaks(study: Study) -> str:
    """The most that a sender sends in 0.1 s, which a capture at the sender shows as throughput."""
    found = {name: run for name, cell in _cells(study) if (run := recorded(study, cell)) is not None}
    said = ", ".join(f"{name} {peak_bps(run, FLOW) / 1e6:.0f}" for name, run in found.items())
    return f"The most that the first run of each sends in 0.1 s: {said} Mbit/s."


def sent(study: Study) -> str:
    """How many packets a capture at the sender has: the first link's, and the ACKs' where these are recorded."""
    links = study.links["link"].unique().to_list()
    first = "netem" if "netem" in links else "bottleneck"
    counts = study.links.join(study.runs.select("run", "cell"), on="run").group_by("cell", "link")
    means = {(cell, link): mean for cell, link, mean in counts.agg(pl.col("arrived_packets").mean()).iter_rows()}
    said = []
    for number, (name, _) in enumerate(_cells(study)):
        if (number, first) in means:
            acks = means.get((number, "bottleneck-reverse"))
            more = "" if acks is None else f" and {acks:,.0f} ACKs"
            said.append(f"{name} {means[number, first]:,.0f}{more}")
    return f"Packets that a capture at the sender has, means: {', '.join(said)}."


def bursts(study: Study) -> str:
    """The queue at its fullest, as tc counts it."""
    said = []
    for name, cell in _cells(study):
        run = recorded(study, cell)
        if run is None:
            continue
        own = run.links.filter(pl.col("link").cast(pl.String) == "bottleneck", pl.col("queue_packets") > 0)
        if own.is_empty():
            continue
        fullest = own.sort("queue_bytes", descending=True).row(0, named=True)
        size = fullest["queue_bytes"] / fullest["queue_packets"]
        said.append(f"{name} {fullest['queue_packets']} of {size / 1e3:.1f} kB")
    return f'"Packets" in the fullest queue of the first run of each: {", ".join(said)}.'


def delay_line(study: Study) -> str:
    """Packets that found netem's 1000 places taken."""
    own = study.links.filter(pl.col("link") == "netem")["dropped_delay_line"]
    return f"netem's 1000 places were taken for {own.sum():,} packets in {len(own):,} runs."


def side_by_side(study: Study) -> str:
    """BBRv2 by its kernels."""
    figures = Figures(study)
    said = []
    for kernel in figures.along(KERNEL):
        where = {CC: "bbr2", KERNEL: kernel}
        shown = []
        for metric, factor, what in (
            ("goodput", 1e6, "Mbit/s"), ("rtt_p50", 1.0, "ms of median RTT"), ("queue_p95", 1.0, "ms of queue (p95)"),
            ("retransmitted_share", 0.01, "% sent again"),
        ):  # fmt: skip
            if (found := figures.interval(metric, None, where)) is not None:
                shown.append(f"{told(found, factor)} {what}")
        if shown:
            said.append(f"on {kernel} {', '.join(shown)}")
    return f"BBRv2 {'; '.join(said)}."


def one_cpu(study: Study) -> str:
    """The checks that found something, by the CPUs of the lab."""
    found = []
    for cpus in Figures(study).along(CPUS):
        rows = study.runs.filter(pl.col(CPUS) == cpus, pl.col("error").is_null())
        if rows.is_empty():
            continue
        counts = dict(rows["verdict"].value_counts().iter_rows())
        reasons: dict[str, int] = {}
        for number in rows["run"]:
            for reason in study.open(number).summary["reasons"]:
                reasons[reason["check"]] = reasons.get(reason["check"], 0) + 1
        said = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
        why = ", ".join(f"{check} ({count})" for check, count in sorted(reasons.items(), key=lambda item: -item[1]))
        found.append(f"On {cpus}: {said}; checks: {why or 'none'}")
    return ". ".join(found) + "."


BIN_NS: Final = 100_000_000
"""Their throughput is that of 0.1 s each."""
SAMPLE_S: Final = 0.01
"""Samples are so far apart."""
PROBING: Final = 1.1
"""BBR's pacing gain is above this while it probes for bandwidth, at 1.25."""


def timeouts(run: Run, flow: str) -> int:
    """How often the flow's retransmission timer expired: how often the kernel's state became `loss`.

    The state lasts a round trip at least, so samples every 10 ms miss none.
    """
    state = _samples(run, flow)["ca_state"].cast(pl.String).fill_null("")
    is_loss = (state == "loss").to_list()
    return sum(now and not before for before, now in itertools.pairwise([False, *is_loss]))


@dataclass(frozen=True)
class Swing:
    """The bottleneck's queue from one probe for bandwidth of BBR to the next, in bytes."""

    seconds: float
    least: float
    most: float


def swings(run: Run, flow: str, after_s: float) -> list[Swing]:
    """The swings from `after_s` on; none if the flow's algorithm tells no pacing gain."""
    own = _samples(run, flow).filter(pl.col("time_ns") >= int(after_s * 1e9))
    probes = (own["bbr_pacing_gain"].fill_null(0) > PROBING).to_list()
    begins = [
        at for at, (before, now) in zip(own["time_ns"], itertools.pairwise([True, *probes]), strict=True)
        if now and not before
    ]  # fmt: skip
    queue = run.links.filter(pl.col("link").cast(pl.String) == "bottleneck").select("time_ns", "queue_bytes")
    found = []
    for start, stop in itertools.pairwise(begins):
        held = queue.filter(pl.col("time_ns").is_between(start, stop, closed="left"))["queue_bytes"]
        if len(held):
            found.append(Swing((stop - start) / 1e9, float(held.min()), float(held.max())))  # type: ignore[arg-type]
    return found


STARTED_S: Final = 1.0
"""STARTUP is over by then, even at an RTT of 100 ms."""
LOW: Final = 0.6
"""Share of the median window below which a window rests."""
REST_S: Final = 0.15
"""PROBE_RTT lasts 200 ms at least; samples are 10 ms apart."""


def rests_of(run: Run, flow: str, after_s: float) -> ProbeRtt:
    """The flow's PROBE_RTTs by its window alone, from `after_s` on, for an algorithm whose states no record tells.

    A window rests while it is small for a time that PROBE_RTT lasts.
    """
    own = _samples(run, flow).filter(pl.col("time_ns") >= int(after_s * 1e9))
    is_low = pl.col("cwnd_packets") <= LOW * pl.col("cwnd_packets").median()
    rows = own.with_columns(low=is_low).with_columns(spell=pl.col("low").rle_id()).filter(pl.col("low"))
    found = rows.group_by("spell", maintain_order=True).agg(
        start=pl.col("time_ns").first() / 1e9,
        stop=pl.col("time_ns").last() / 1e9,
        depth=(pl.col("bytes_in_flight") / pl.col("snd_mss_bytes")).median(),
    )
    found = found.filter(pl.col("stop") - pl.col("start") >= REST_S)
    starts, stops = found["start"].to_list(), found["stop"].to_list()
    gaps = [late - early for early, late in zip(stops, starts[1:], strict=False)]
    return ProbeRtt(starts, gaps, found["depth"].to_list())


def peak_bps(run: Run, flow: str) -> float:
    """The most payload that the flow sent in any 0.1 s, repetitions included, in bit/s."""
    own = _samples(run, flow).group_by(pl.col("time_ns") // BIN_NS, maintain_order=True)
    sent = own.agg(pl.col("bytes_sent").max())["bytes_sent"].cast(pl.Int64).diff().drop_nulls()
    return 8e9 * float(sent.max() or 0) / BIN_NS  # type: ignore[arg-type]


def rates_bps(run: Run, flow: str, after_s: float) -> pl.Series:
    """The payload that the flow sent in each 0.1 s from `after_s` on, repetitions included, in bit/s."""
    own = _samples(run, flow).filter(pl.col("time_ns") >= int(after_s * 1e9))
    sent = own.group_by(pl.col("time_ns") // BIN_NS, maintain_order=True).agg(pl.col("bytes_sent").max())
    return 8e9 * sent["bytes_sent"].cast(pl.Int64).diff().drop_nulls() / BIN_NS


def thresholds(run: Run, flow: str) -> list[tuple[float, float]]:
    """The largest window just before each change of the slow-start threshold, and the threshold from there on."""
    own = _samples(run, flow).select("cwnd_packets", "ssthresh_packets").with_columns(
        before=pl.col("cwnd_packets").rolling_max(round(FALL_S / SAMPLE_S)), was=pl.col("ssthresh_packets").shift(1)
    )  # fmt: skip
    changed = own.filter(pl.col("was").is_not_null(), pl.col("ssthresh_packets") != pl.col("was"))
    return [(float(before), float(after)) for before, after in changed.select("before", "ssthresh_packets").iter_rows()]


def fillings(run: Run, most_bytes: float, after_s: float) -> int:
    """How often the bottleneck's queue rose above `most_bytes` from `after_s` on."""
    own = run.links.filter(pl.col("link").cast(pl.String) == "bottleneck", pl.col("time_ns") >= int(after_s * 1e9))
    full = (own.sort("time_ns")["queue_bytes"] > most_bytes).to_list()
    return sum(now and not before for before, now in itertools.pairwise([True, *full]))


def _sent(run: Run, start_s: float, seconds: float) -> float:
    """Bytes that the flow sent in a time, repetitions included."""
    own = _samples(run, FLOW).filter(pl.col("time_ns").is_between(int(1e9 * start_s), int(1e9 * (start_s + seconds))))
    sent = own["bytes_sent"].cast(pl.Int64).to_list()
    return float(max(sent, default=0) - min(sent, default=0)) or 1.0


def _window(run: Run) -> float:
    """The median window after slow start."""
    own = _samples(run, FLOW).filter(pl.col("time_ns") >= int(SLOW_START_S * 1e9))
    return float(own["cwnd_packets"].median() or 0)  # type: ignore[arg-type]


def first_cut_s(run: Run, flow: str) -> float | None:
    """When the flow's window first fell, which ends slow start; `None` if it never did."""
    own = _samples(run, flow)
    fallen = own.filter(pl.col("cwnd_packets") < FALLEN * pl.col("cwnd_packets").cum_max())
    return None if fallen.is_empty() else float(fallen["time_ns"][0]) / 1e9


def probe_rtts(run: Run, flow: str) -> ProbeRtt | None:
    """By the flow's states, or by its window where no record tells them; `None` without recorded ACKs."""
    found = probe_rtt(run, flow)
    return rests_of(run, flow, STARTED_S) if found is None and run.acks is not None else found


def _samples(run: Run, flow: str) -> pl.DataFrame:
    return run.samples.filter(pl.col("flow").cast(pl.String) == flow).sort("time_ns")
