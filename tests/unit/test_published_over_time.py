"""Findings from the records of runs: cuts of a window, PROBE_RTT, correlations; the larger of two averages."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from textwrap import indent
from types import SimpleNamespace
from typing import Any, cast

import polars as pl
import pytest

from dumbbell import Run, Study
from dumbbell.cli import invoke
from dumbbell.published.aulbach_2020.code import crossing, endured
from dumbbell.published.bernardi_2020 import code as bernardi
from dumbbell.published.columns import columns
from dumbbell.published.comparing import compared, listed
from dumbbell.published.document import Document
from dumbbell.published.figures import Figures
from dumbbell.published.judging import most, of_share
from dumbbell.published.markdown import markdown
from dumbbell.published.model import Judged, Seconds, Status
from dumbbell.published.recorded import cuts, probe_rtt, spells, together, whole
from dumbbell.published.registry import reproduction
from dumbbell.published.report import _part, done_part
from dumbbell.report.iperf import text as per_second
from dumbbell.statistics.intervals import Interval

STEP_NS = 10_000_000


def sampled(windows: list[float], queue: list[float] | None = None) -> Run:
    """A run whose flow f1 has these windows, 10 ms apart; an RTT of 100 ms and 0.1 ms per packet in the queue."""
    times = [STEP_NS * i for i in range(len(windows))]
    waits = queue or [0.0] * len(windows)
    samples = pl.DataFrame(
        {"time_ns": times, "flow": "f1", "cwnd_packets": windows, "srtt_us": [100_000.0 + 100 * wait for wait in waits]}
    )
    links = pl.DataFrame({"time_ns": times, "link": "bottleneck", "queue_bytes": [1514 * wait for wait in waits]})
    return cast(Run, SimpleNamespace(samples=samples, links=links))


def test_a_saw_tooth() -> None:
    """Up from 60 to 120 in 6 s, halved within 0.2 s, and so on."""
    tooth = [60 + 0.1 * i for i in range(600)] + [120 - 3 * i for i in range(20)]
    one, two = cuts(sampled(tooth * 4), "f1", 0)[:2]
    assert one.to == pytest.approx(0.5, abs=0.01)
    assert one.growth == pytest.approx((10, 10, 10), rel=0.05)
    assert two.at_s - one.at_s == pytest.approx(6.2)


def test_concave_then_convex() -> None:
    """CUBIC: cut to 0.7, then towards the old window, a plateau, and beyond it."""
    epoch = [100 + 30 * (i / 300 - 1) ** 3 for i in range(630)]
    one = cuts(sampled(epoch * 3), "f1", 0)[0]
    first, second, third = one.growth
    assert second < 0.5 * min(first, third)


def test_a_window_that_is_not_cut() -> None:
    assert cuts(sampled([10 + 0.1 * i for i in range(1000)]), "f1", 0) == []


def test_what_moves_together() -> None:
    """The window is the queue's; the RTT shows the queue of when its packet was sent."""
    queue = [20 + 20 * math.sin(i / 100) for i in range(2000)]
    found = together(sampled([80 + wait for wait in queue], queue), "f1", 1)
    assert found["cwnd"] == pytest.approx(1, abs=0.001)
    # These samples know the queue at once, so they are the RTT's 100 ms too early: nearly alike, not quite.
    assert 0.95 < found["rtt"] < 0.9999
    # Where the delay lies before the queue, a window meets it that much later, and an RTT is that of just before.
    later = [queue[0]] * 10 + queue[:-10]
    moved = together(sampled([80 + wait for wait in queue], later), "f1", 1, before_s=0.1)
    assert moved["cwnd"] == pytest.approx(1, abs=0.001)
    unmoved = together(sampled([80 + wait for wait in queue], later), "f1", 1)
    assert unmoved["cwnd"] == pytest.approx(math.cos(0.1), abs=0.001)
    assert together(sampled([80.0] * 2000, queue), "f1", 1).keys() == {"rtt"}, "what stands still has no correlation"


def acks(*states: tuple[str, float, float]) -> Run:
    """A run whose flow f1 was in each state from a time on, with so many packets in flight; a row each 10 ms."""
    rows = []
    for number, (state, start_s, packets) in enumerate(states):
        stop_s = states[number + 1][1] if number + 1 < len(states) else start_s + 1
        for i in range(round(100 * start_s), round(100 * stop_s)):
            rows.append((STEP_NS * i, "f1", state, 1448 * packets, 1448))
    columns = ["time_ns", "flow", "bbr_state", "bytes_in_flight", "snd_mss_bytes"]
    return cast(Run, SimpleNamespace(acks=pl.DataFrame(rows, columns, orient="row")))


def test_without_a_record_of_acks_nobody_knows_of_probe_rtt() -> None:
    assert probe_rtt(cast(Run, SimpleNamespace(acks=None)), "f1") is None


def test_probe_rtt() -> None:
    run = acks(
        ("startup", 0, 50), ("drain", 0.5, 40), ("probe_bw", 1, 30), ("probe_rtt", 10, 4), ("probe_bw", 10.3, 30),
        ("probe_rtt", 20.3, 4), ("probe_bw", 20.6, 30),
    )  # fmt: skip
    found = probe_rtt(run, "f1")
    assert found is not None
    assert found.entered_s == pytest.approx([10, 20.3])
    assert found.gap_s == pytest.approx(10)
    assert found.depth_packets == 4
    assert [one.state for one in spells(run, "f1")][:4] == ["startup", "drain", "probe_bw", "probe_rtt"]
    none = probe_rtt(acks(("startup", 0, 50)), "f1")
    assert none is not None
    assert (none.entered_s, none.gap_s) == ([], None)
    assert spells(cast(Run, SimpleNamespace(acks=None)), "f1") == []


def interval(low: float, high: float) -> Interval:
    return Interval((low + high) / 2, low, high, 5)


def test_which_of_two_is_larger() -> None:
    small, large = interval(1, 2), interval(3, 4)
    assert (compared(small, "<", large), compared(small, ">", large)) == (Status.HOLDS, Status.FAILS)
    assert compared(interval(1, 3.5), "<", large) is Status.UNKNOWN
    assert compared(Interval(1, None, None, 1), "<", large) is Status.UNKNOWN, "one run tells nothing"
    assert compared(None, "<", large) is Status.UNKNOWN
    assert listed({"bbr": interval(1e6, 2e6), "cubic": None}, 1e6, "Mbit/s") == "bbr 1.5 [1, 2] Mbit/s, n = 5"


def test_where_two_share_alike() -> None:
    assert crossing({"0.1 bdp": 0.9, "1 bdp": 0.7, "10 bdp": 0.3}) == pytest.approx(math.sqrt(10))
    assert crossing({"1 bdp": 0.7, "10 bdp": 0.6}) is None


def test_up_to_which_loss_enough_is_carried() -> None:
    """An unknown loss lies between the two; if one in the middle fails, the range lies between the sure ones on both
    sides."""
    holds, fails, unknown = Status.HOLDS, Status.FAILS, Status.UNKNOWN
    assert endured([(1, holds), (2, holds), (3, unknown), (4, fails)]) == (2, 4)
    assert endured([(1, holds), (2, fails), (3, holds), (4, fails)]) == (1, 4)
    assert endured([(1, holds), (2, holds)]) is None


HALVED = [60 + 0.1 * i for i in range(600)] + [120 - 3 * i for i in range(20)]
CUBE = [100 + 30 * (i / 300 - 1) ** 3 for i in range(630)]
CONCAVE = CUBE[:280]


def judged(monkeypatch: pytest.MonkeyPatch, judge: Callable[[Study], Judged], runs: list[list[float]]) -> Judged:
    monkeypatch.setattr(bernardi, "SLOW_START_S", 0)
    monkeypatch.setattr(bernardi, "every", lambda *_: iter([sampled(one) for one in runs]))
    return judge(cast(Study, None))


def test_a_shape_is_looked_for_in_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    reno = bernardi.saw_tooth
    assert judged(monkeypatch, reno, [HALVED * 4] * 4).status is Status.HOLDS
    assert judged(monkeypatch, reno, [HALVED * 4]).status is Status.UNKNOWN, "one run tells nothing"
    assert judged(monkeypatch, reno, [HALVED * 4] * 2 + [CUBE * 3] * 2).status is Status.UNKNOWN
    assert judged(monkeypatch, reno, [CUBE * 3] * 4).status is Status.FAILS
    assert judged(monkeypatch, reno, []).status is Status.UNKNOWN
    assert "no two cuts" in judged(monkeypatch, reno, [[10.0] * 1000] * 4).numbers


def test_a_shape_is_that_of_all_times_between_two_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    cubic = bernardi.flattens
    assert judged(monkeypatch, cubic, [CUBE * 3] * 4).status is Status.HOLDS
    assert judged(monkeypatch, cubic, [CUBE * 2 + CONCAVE * 2] * 4).status is Status.HOLDS, "a loss before the plateau"
    found = judged(monkeypatch, cubic, [CUBE * 2 + HALVED * 2] * 4)
    assert found.status is Status.FAILS
    assert "in 0 of 4 runs (0 to 49 %)" in found.numbers


def test_most_runs() -> None:
    assert [most([True] * n)[0] for n in (0, 1, 3, 4)] == [Status.UNKNOWN] * 3 + [Status.HOLDS]
    assert most([False] * 4)[0] is Status.FAILS
    assert most([True, True, True, False, False])[0] is Status.UNKNOWN
    # Newcombe 1998 (Stat. Med. 17:857), table I: 81 of 263.
    share = of_share(81, 263)
    assert share is not None
    assert (share.low, share.high) == (pytest.approx(0.2553, abs=1e-4), pytest.approx(0.3662, abs=1e-4))


def test_a_part_with_findings_over_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each run is made again with its records, and the finding tells the phases of all."""
    args: list[Any] = ["reproduce", "aulbach-2020", "--part", "1", "--engine", "simulate", "--quick", "--jobs", "1"]
    assert invoke([*args, "--set", "repeat=4", "--output", str(tmp_path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    (phases,) = [one for one in told["findings"] if one["finding"].startswith("1:")]
    assert phases["status"] == "holds"
    assert "bbr in 4 of 4 runs" in phases["numbers"]
    (directory,) = (tmp_path / "studies").glob("aulbach-2020-1-*")
    found = whole(Study(directory), 0)
    assert found is not None
    assert found.acks is not None
    part = next(one for one in reproduction("aulbach-2020").parts if one.name == "1")
    fig = columns(part.plots[0], Figures(Study(directory)))
    assert fig is not None
    assert [ax.get_title(loc="left") for ax in fig.axes] == ["BBRv1", "BBRv2", "BBRv3", "", "", ""]
    spans = [patch.get_extents().transformed(fig.axes[0].transData.inverted()) for patch in fig.axes[0].patches]
    assert [round(span.x0) for span in spans[3::2]] == [10, 20], "PROBE_RTT between PROBE_BW"
    assert {text.get_text() for text in fig.legends[0].texts} == {"STARTUP", "DRAIN", "PROBE_BW", "PROBE_RTT"}
    assert "PROBE_RTT entered after 10.0 20." in next((tmp_path).glob("*/report.md")).read_text()
    seconds = Seconds("One flow", "our own", {"flows.0.cc": "bbr"}, first=3)
    done = done_part(reproduction("aulbach-2020"), replace(part, seconds=(seconds,)), Study(directory))
    text = markdown(Document("", list(_part(done, ()))), "")
    start = text.index("    [  1]")
    printed = [line[10:23].strip() for line in text[start:].split("\n\n")[0].splitlines()[2:6]]
    assert printed == ["0.00-1.00", "1.00-2.00", "2.00-3.00", ""]
    assert text[start:].split("\n\n")[0] == indent(per_second(found, first=3).rstrip(), "    ")
