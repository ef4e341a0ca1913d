"""`dumbbell pcap --identify`: marks, trees, and when there is no guess."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import dumbbell
from benches.identify.grow import grow
from dumbbell.captures.identify import ALGORITHMS, digest, forest, guess, model
from dumbbell.captures.identify.decide import Model, reason_against
from dumbbell.captures.identify.dips import dips
from dumbbell.captures.identify.features import Path as Way
from dumbbell.captures.identify.marks import marks
from dumbbell.cli import invoke
from dumbbell.cli.identified import path_of

SEGMENT = 1448
NONE = np.array([])


def flat(seconds: float = 10.0, step: float = 0.02) -> tuple[np.ndarray, np.ndarray]:
    """Curve without a dip: 100 segments in flight."""
    time = np.arange(0, seconds, step)
    return time, np.full(len(time), 100.0 * SEGMENT)


def test_dips_to_four_packets_and_to_a_half_are_marked() -> None:
    time, flight = flat()
    flight[(time > 2.0) & (time < 2.2)] = 4 * SEGMENT
    flight[(time > 7.0) & (time < 7.2)] = 50 * SEGMENT
    first, second = marks(time, flight, SEGMENT, NONE)
    assert (first.is_deep, second.is_deep) == (True, False)
    assert first.start_s == pytest.approx(2.0, abs=0.03)
    assert second.end_s == pytest.approx(7.2, abs=0.03)


@pytest.mark.parametrize(
    ("start", "end", "packets", "losses"),
    [
        (2.0, 2.05, 4, NONE),
        (2.0, 5.0, 4, NONE),
        (2.0, 2.2, 90, NONE),
        (2.0, 2.2, 50, np.array([1.99])),
        (9.9, 10.0, 4, NONE),
    ],
    ids=["too short", "too long", "too shallow", "behind a loss", "at the end"],
)
def test_other_dips_are_not(start: float, end: float, packets: int, losses: np.ndarray) -> None:
    time, flight = flat()
    flight[(time > start) & (time < end)] = packets * SEGMENT
    assert marks(time, flight, SEGMENT, losses) == []


def test_a_report_marks_no_dip_that_is_left_slowly() -> None:
    time, flight = flat(20.0, 0.1)
    flight[(time > 4.95) & (time < 5.25)] = [50 * SEGMENT, 45 * SEGMENT, 48 * SEGMENT]
    # A window that was halved for marks, and opens again.
    flight[(time > 11.95) & (time < 12.45)] = [SEGMENT * n for n in (45, 52, 59, 66, 73)]
    assert len(marks(time, flight, SEGMENT, NONE, is_least=True)) == 2
    (dip,) = dips(time, flight, SEGMENT, NONE)
    assert dip.start_s == pytest.approx(5.0)


def test_trees_tell_apart_what_differs_and_are_the_same_each_time() -> None:
    random = np.random.default_rng(5)
    classes = np.repeat(np.arange(3), 30)
    values = random.normal(size=(90, 4)) + 6 * np.eye(3, 4)[classes]
    trees = grow(values, classes, 3)
    assert trees == grow(values, classes, 3)
    for one, centre in enumerate(6 * np.eye(3, 4)):
        found = forest.shares(json.loads(json.dumps(trees)), centre.tolist(), 3)
        assert (int(found.argmax()), found.sum()) == (one, pytest.approx(1.0))
        assert found[one] > 0.8


def test_without_a_majority_there_is_no_guess() -> None:
    split = Model(("a",), ("reno", "cubic", "bbr"), [[[0, 0.4, 1, 0.35, 2, 0.25]]], "")
    one = guess({"a": 1.0}, split)
    assert one.algorithm is None
    assert one.why_not == "it looks like reno and cubic: 40 and 35 % of the votes"


def test_the_model_is_of_the_code_that_uses_it() -> None:
    stale = "the model is stale: python -m benches.identify --train, then measure and update docs/results/identify.md"
    assert model().digest == digest(), stale
    assert model().algorithms == ALGORITHMS


def test_there_is_a_reason_against_what_is_not_enough() -> None:
    row = {
        "start_ns": 0, "end_ns": 30_000_000_000, "limited_window_ns": 0, "limited_application_ns": 0,
        "limited_recovery_ns": 1, "limited_network_ns": 9, "unseen_bytes": 0,
    }  # fmt: skip
    way = Way(0.04, 1e7)
    assert reason_against(row, way) == ""
    assert "path is not known" in reason_against(row, None)
    assert reason_against(row | {"end_ns": 5_000_000_000}, way) == "it sent for 5 s, and 20 s are needed"
    # A packet a century later would take memory for all steps between.
    assert reason_against(row | {"end_ns": 1 << 61}, way).endswith("s: 100,000 s can be looked at")
    assert "receiver's window" in reason_against(row | {"limited_window_ns": 30}, way)
    assert "application" in reason_against(row | {"limited_application_ns": 30}, way)
    assert "lost packets" in reason_against(row | {"unseen_bytes": 1}, way)


SCENARIO = """
name = "identified"
duration = "25 s"
record = { capture = true, packets = false, acks = false }
[topology]
kind = "dumbbell"
pairs = 1
rtt = "40 ms"
bottleneck = { rate = "9 Mbit/s", buffer = "1.2 bdp" }
[[flows]]
from = "s1"
to = "r1"
cc = "CC"
"""


def simulated(cc: str, folder: Path, *more: str) -> dumbbell.Run:
    file = folder / "identified.toml"
    file.write_text(SCENARIO.replace("CC", cc) + "".join(more), encoding="utf-8")
    found = dumbbell.run(file, (), folder / "runs", engine="simulate", report=False)
    assert isinstance(found, dumbbell.Run)
    return found


@pytest.mark.parametrize("cc", ["cubic", "bbr3"])
def test_a_run_is_identified_by_its_capture(
    cc: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run = simulated(cc, tmp_path)
    assert invoke(["pcap", str(run.directory), "--identify", "--no-report", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    (one,) = told["identified"]
    assert (one["connection"], one["algorithm"], one["why_not"]) == (1, cc, None)
    # The same packets without the run's directory: the path is not known.
    file = run.directory / "capture.pcapng"
    assert invoke(["pcap", str(file), "--identify", "--no-report", "--interface", "bottleneck:in"]) == 0
    out = capsys.readouterr().out
    assert "no guess" in out
    assert "path is not known" in out


def test_flows_that_share_a_bottleneck_are_not_guessed(tmp_path: Path) -> None:
    both = simulated("cubic", tmp_path, '[[flows]]\nfrom = "s1"\nto = "r1"\ncc = "reno"\n')
    found = path_of(both.plan, both.plan.flows[0])
    assert isinstance(found, str)
    assert found.startswith("it shares its bottleneck with ")
