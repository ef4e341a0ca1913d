"""bernardi-2020: what the records of a run tell, the readings of a scenario, and kernels that the user brings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import polars as pl
import pytest
from synthetic_study import Synthetic

from dumbbell import Run, Study
from dumbbell.cli import invoke
from dumbbell.errors import InputError
from dumbbell.published.bernardi_2020 import code, flows
from dumbbell.published.bernardi_2020.evidence import CC, CPUS, KERNEL
from dumbbell.published.bernardi_2020.flows import first_cut_s, peak_bps, rests_of, swings, timeouts
from dumbbell.published.model import Judged, Part, Status
from dumbbell.published.registry import chosen, reproduction
from dumbbell.published.running import Order, check
from dumbbell.studies.prepared import prepared

STEP_NS = 10_000_000
STUDY = reproduction("bernardi-2020")
KERNELS = ("6.1-google", "6.12")
NO_STUDY = cast(Study, None)
"""Its runs are put in its place."""


def with_googles() -> list[Part]:
    return [part for part in STUDY.parts if part.name.endswith("-google")]


def sampled(rows: Mapping[str, list[Any]], queue: list[float] | None = None) -> Run:
    """A run whose flow f1 has these columns, 10 ms apart, and a bottleneck with this queue."""
    times = [STEP_NS * i for i in range(len(next(iter(rows.values()))))]
    samples = pl.DataFrame({"time_ns": times, "flow": "f1", **rows})
    waits = queue or [0.0] * len(times)
    links = pl.DataFrame({"time_ns": times, "link": "bottleneck", "queue_bytes": waits})
    return cast(Run, SimpleNamespace(samples=samples, links=links, plan=SimpleNamespace(duration_ns=60 * 10**9)))


def test_timeouts_are_counted_once_each() -> None:
    states = ["open"] * 5 + ["recovery"] * 5 + ["loss"] * 9 + ["open", "disorder"] + ["loss"] * 2 + ["open"]
    assert timeouts(sampled({"ca_state": states}), "f1") == 2
    assert timeouts(sampled({"ca_state": ["open", "recovery", "open"]}), "f1") == 0


GAINS = [1.25] * 10 + [0.75] * 10 + [1.0] * 60
QUEUE = [3000.0 * i for i in range(10)] + [27000.0 - 3000 * i for i in range(10)] + [0.0] * 60


def test_the_swings_between_two_probes_of_bbr() -> None:
    """The first probe began before `after_s`, and the last has no end."""
    found = swings(sampled({"bbr_pacing_gain": GAINS * 4}, QUEUE * 4), "f1", 0.05)
    assert [(one.seconds, one.least, one.most) for one in found] == [(0.8, 0.0, 27000.0)] * 2
    assert swings(sampled({"bbr_pacing_gain": [None] * 100}), "f1", 0) == []


def judged(queue: list[float], monkeypatch: pytest.MonkeyPatch) -> Status:
    monkeypatch.setattr(code, "SLOW_START_S", 0.05)
    run = sampled({"bbr_pacing_gain": GAINS * 4}, queue * 4)
    monkeypatch.setattr(code, "every", lambda *_: iter([run] * 4))
    return code.oscillates(NO_STUDY).status


def told(function: Callable[..., Judged], run: Run, monkeypatch: pytest.MonkeyPatch, **arguments: Any) -> Status:
    """The status that four such runs have."""
    monkeypatch.setattr(code, "SLOW_START_S", 0.05)
    monkeypatch.setattr(code, "every", lambda *_: iter([run] * 4))
    return function(NO_STUDY, **arguments).status


@pytest.mark.parametrize(("swing", "status"), [(0.25, Status.HOLDS), (0.05, Status.FAILS)])
def test_throughput_oscillates_by_a_tenth_either_way(
    swing: float, status: Status, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second each of more and of less than 10 Mbit/s, which are 12,500 bytes in 10 ms."""
    steps = [12_500 * (1 + swing * (1 if i // 100 % 2 else -1)) for i in range(1000)]
    sent = [round(sum(steps[: i + 1])) for i in range(1000)]
    assert told(code.throughput_oscillates, sampled({"bytes_sent": sent}), monkeypatch) is status


@pytest.mark.parametrize(
    ("second", "status"), [(70, Status.HOLDS), (95, Status.FAILS)], ids=["a lower threshold", "a higher one"]
)
def test_the_threshold_falls_with_the_window_of_the_loss(
    second: int, status: Status, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cuts from 130 and then from 120 packets."""
    windows = [130] * 60 + [91] * 60 + [120] * 60 + [84] * 60
    thresholds = [1000] * 60 + [91] * 120 + [second] * 60
    run = sampled({"cwnd_packets": windows, "ssthresh_packets": thresholds})
    assert flows.thresholds(run, "f1") == [(130.0, 91.0), (120.0, float(second))]
    assert told(code.lower_threshold, run, monkeypatch) is status


def test_changes_of_the_threshold_in_one_fall_are_one_cut() -> None:
    """Losses in a recovery cut a window that still falls: from 286 packets to 114, and not from 258."""
    windows = [286] * 60 + [258] * 20 + [164] * 20 + [114] * 60 + [152] * 60 + [106] * 60
    thresholds = [300] * 60 + [200] * 20 + [164] * 20 + [114] * 120 + [106] * 60
    run = sampled({"cwnd_packets": windows, "ssthresh_packets": thresholds})
    assert flows.thresholds(run, "f1") == [(286.0, 114.0), (152.0, 106.0)]


@pytest.mark.parametrize(("rate", "status"), [(0.6, Status.HOLDS), (1.0, Status.FAILS)])
def test_reno_sends_less_after_it_halved_its_window(
    rate: float, status: Status, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its window grows for 6 s to 120 packets, and is halved; it sends less for 2 s, or as much."""
    tooth = [60 + 0.1 * i for i in range(600)] + [60.0] * 20
    steps = [10_000 * (rate if i % 620 >= 595 or (i > 620 and i % 620 < 180) else 1) for i in range(4 * 620)]
    sent = [round(sum(steps[: i + 1])) for i in range(len(steps))]
    run = sampled({"cwnd_packets": tooth * 4, "bytes_sent": sent})
    assert told(code.halves_and_falls, run, monkeypatch) is status


@pytest.mark.parametrize(("times", "status"), [(15, Status.HOLDS), (3, Status.FAILS)])
def test_a_queue_that_is_filled_again_and_again(times: int, status: Status, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = ([0.0] * 20 + [195_000.0] * 5) * times + [0.0] * 500
    run = sampled({"cwnd_packets": [100.0] * len(queue)}, queue)
    assert flows.fillings(run, 180_000, 0.05) == times
    assert told(code.fills_again, run, monkeypatch, buffer=200_000) is status
    # The bound is of a minute: 3 times in 10 s are 18.
    run.plan = cast(Any, SimpleNamespace(duration_ns=10 * 10**9))
    assert told(code.fills_again, run, monkeypatch, buffer=200_000) is Status.HOLDS
    # Slow start is not counted: 3 times in 18.04 s are 9.98 a minute, and 10.01 after the first 0.05 s.
    run.plan = cast(Any, SimpleNamespace(duration_ns=18.04e9))
    assert told(code.fills_again, run, monkeypatch, buffer=200_000) is Status.HOLDS


@pytest.mark.parametrize(("window", "status"), [(95.0, Status.HOLDS), (50.0, Status.FAILS)])
def test_a_window_that_loss_hardly_touches(window: float, status: Status, monkeypatch: pytest.MonkeyPatch) -> None:
    """100 packets without loss, `window` with it."""
    lossy, clean = cast(Study, "lossy"), cast(Study, "clean")
    windows = {"lossy": window, "clean": 100.0}
    monkeypatch.setattr(code, "SLOW_START_S", 0.0)
    monkeypatch.setattr(
        code, "every", lambda one, _: iter([sampled({"cwnd_packets": [windows[one] + i] * 10}) for i in range(4)])
    )
    assert code.hardly_touched(lossy, [clean], 0.8).status is status


def test_bbr_oscillates_if_it_drains_half_of_its_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    assert judged(QUEUE, monkeypatch) is Status.HOLDS
    assert judged([30000 + one for one in QUEUE], monkeypatch) is Status.FAILS, "a queue that stays"


def test_reno_has_no_timeouts_only_if_no_run_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    good, bad = (sampled({"ca_state": ["open", state, "open"]}) for state in ("recovery", "loss"))

    def status(*runs: Run) -> Status:
        monkeypatch.setattr(code, "every", lambda *_: iter(runs))
        return code.no_timeouts(NO_STUDY).status

    assert status(good, good, good, good) is Status.HOLDS
    assert status(bad, bad, bad, bad) is Status.FAILS
    assert status(good, good, bad, bad) is Status.UNKNOWN
    assert status() is Status.UNKNOWN


def test_probe_rtt_shows_in_the_window_of_an_algorithm_whose_states_nobody_tells() -> None:
    """Two rests of 0.2 s; a cut to a third that lasts 0.1 s is none."""
    windows = [500] * 300 + [120] * 21 + [500] * 100 + [160] * 10 + [500] * 400 + [120] * 21 + [500] * 100
    run = sampled(
        {"cwnd_packets": windows, "bytes_in_flight": [1448 * one for one in windows], "snd_mss_bytes": [1448] * 952}
    )
    found = rests_of(run, "f1", 1)
    assert found.entered_s == pytest.approx([3.0, 8.31])
    assert found.gap_s == pytest.approx(5.11)
    assert found.depth_packets == pytest.approx(120)


def test_the_most_that_is_sent_in_a_tenth_of_a_second() -> None:
    """12,500 B in each 10 ms are 10 Mbit/s; in the fourth tenth twice as much."""
    sent = [0]
    for i in range(99):
        sent.append(sent[-1] + (25_000 if 29 <= i < 39 else 12_500))
    assert peak_bps(sampled({"bytes_sent": sent}), "f1") == pytest.approx(20e6)


CELLS: tuple[dict[str, Any], ...] = tuple({CC: cc, KERNEL: k} for cc in ("bbr", "bbr2") for k in ("theirs", "6.1"))


def mbit(cell: Mapping[str, Any], _: str) -> float:
    """Google's BBRv2 has 80 Mbit/s, all others 95."""
    return 80.0 if (cell[CC], cell[KERNEL]) == ("bbr2", "theirs") else 95.0


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Two kernels, of which the user calls one `theirs`."""
    made = Synthetic(cells=CELLS, ccs=("bbr",), goodput_mbit=mbit, spread=0.001)
    return Study(made.write(tmp_path / "study"))


def test_a_reading_of_a_part_with_kernels_looks_at_one_of_them(study: Study) -> None:
    """Its name is the user's. The kernels are the other way round in the second study."""

    def judged(found: Study) -> Judged:
        nearer = [one for one in STUDY.findings if one.text.startswith("2: BBRv1 stays nearer")]
        return next(one for one in nearer if "Google" in one.reading).judge({"2-google": found})

    assert judged(study).status is Status.HOLDS
    assert "bbr2 80" in judged(study).numbers
    turned = Synthetic(cells=CELLS[::-1], ccs=("bbr",), goodput_mbit=mbit, spread=0.001)
    assert judged(Study(turned.write(study.directory.parent / "turned"))).status is not Status.HOLDS


def test_both_bbr2_side_by_side(study: Study) -> None:
    said = code.side_by_side(study)
    assert said.startswith("BBRv2 on theirs 80")
    assert "; on 6.1 95" in said


def test_googles_bbr2_runs_only_if_asked_for_and_in_a_kernel_of_the_users_name() -> None:
    everything = chosen(reproduction("bernardi-2020"), [])
    assert not {part.name for part in with_googles()} & {part.name for part in everything}
    for part in with_googles():
        _, cells = prepared(Order(part, "virtual", False).draft)
        assert {(cell[CC], cell[KERNEL]) for cell in cells} == {(cc, k) for cc in ("bbr", "bbr2") for k in KERNELS}
        named = Order(part, "virtual", False, ('sweep."emulate.kernel"=["mine", "6.1"]',))
        _, cells = prepared(named.draft)
        assert {cell[KERNEL] for cell in cells} == {"mine", "6.1"}


def test_each_finding_has_a_reading() -> None:
    assert all(one.reading for one in STUDY.findings)


@pytest.mark.parametrize(
    ("checks", "status"),
    [
        (("cpus, lateness",) * 5, Status.HOLDS),
        (("cpus",) * 5, Status.FAILS),
        (("cpus, stall",) * 4 + ("cpus",), Status.FAILS),
        (("lateness",) * 3, Status.UNKNOWN),
    ],
)
def test_the_number_of_cpus_alone_does_not_show_a_lack_of_them(
    tmp_path: Path, checks: tuple[str, ...], status: Status
) -> None:
    reasons = dict(enumerate(checks))
    verdicts = dict.fromkeys(reasons, "suspect")
    made = Synthetic(cells=({CPUS: 1, CC: "bbr"},), repeat=len(checks), verdicts=verdicts, reasons=reasons)
    assert code.detected(Study(made.write(tmp_path / "study"))).status is status


def test_slow_start_ends_when_the_window_first_falls() -> None:
    assert first_cut_s(sampled({"cwnd_packets": [10, 20, 40, 38, 40, 20, 30]}), "f1") == pytest.approx(0.05)
    assert first_cut_s(sampled({"cwnd_packets": [10, 20, 40]}), "f1") is None


@pytest.mark.thorough
def test_parts_whose_engine_is_missing_are_simulated_or_skipped_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first report is there before the last part, the exit code says that one was skipped, and the page why."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    skipped = with_googles()[0]
    simulated = replace(next(part for part in STUDY.parts if part.name == "3"), engines=("virtual", "simulate"))
    simulated = replace(simulated, by_engine={"virtual": {"emulate.kernel": "6.12"}})
    first = next(part for part in STUDY.parts if part.name == "1")
    monkeypatch.setattr("dumbbell.published.registry.chosen", lambda *_: [skipped, simulated, first])
    assert invoke(["reproduce", "bernardi-2020", "--quick", "--set", "repeat=1"]) == 5
    told = capsys.readouterr()
    assert (
        f"Part {skipped.name} is skipped, and not run by the engine virtual: there is no kernel 6.1-google" in told.err
    )
    assert "dumbbell kernel build" in told.err
    assert "Part 3 is simulated, and not run by the engine virtual" in told.err
    assert told.out.index("report so far") < told.out.index("1: Shape of each algorithm")
    (place,) = Path("reproductions").glob("bernardi-2020-quick*/report.md")
    assert place.parent.name != "bernardi-2020-quick", "keys of the user's make another study"
    page = place.read_text()
    assert "- Set by --set, so that all that follows is of another study: repeat=1" in page
    assert f"- Part {skipped.name} is skipped" in page
    assert "engine simulate" in page
    assert invoke(["reproduce", "bernardi-2020", "--quick", "--part", skipped.name]) == 2


def test_what_goes_on_writes_no_report_between_parts_that_were_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Such a report costs half a minute, and its parts are those of the report that is there."""

    def write(_study: object, _done: object, place: Path, *_: object) -> list[Path]:
        (place / "report.html").touch()
        return [place / "report.html"]

    monkeypatch.setattr("dumbbell.published.report.write", write)
    monkeypatch.setattr("dumbbell.published.found.judged", lambda *_: [])
    monkeypatch.chdir(tmp_path)
    parts = {part.name: part for part in STUDY.parts if part.name in ("1", "1-buffer", "3")}
    command = ["reproduce", "bernardi-2020", "--quick", "--set", "repeat=1", "--set", 'duration="1 s"']
    monkeypatch.setattr("dumbbell.published.registry.chosen", lambda *_: [parts["1"], parts["3"]])
    assert invoke(command) == 0
    assert capsys.readouterr().out.count("report so far") == 1
    monkeypatch.setattr("dumbbell.published.registry.chosen", lambda *_: [parts["1"], parts["1-buffer"], parts["3"]])
    assert invoke(command) == 0
    told = capsys.readouterr().out
    assert told.index("1-buffer: ") < told.index("report so far"), "only the new part has a report"
    assert told.count("report so far") == 1


def test_a_kernel_that_is_missing_is_refused_with_how_to_build_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(InputError) as refused:
        check([Order(with_googles()[0], "virtual", True)])
    told = str(refused.value)
    assert "there is no kernel 6.1-google" in told
    assert "--patch FILE" in told
