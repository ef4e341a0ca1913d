"""Rates that change by themselves: their steps and opportunities, their mean and their peak."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import known_run
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planning import dumbbell, forward, link

from dumbbell.plan.network import peak_bps
from dumbbell.scenario import bundled
from dumbbell.scenario.traces import mahimahi

S = 10**9
STEPS = [["0 s", "10 Mbit/s"], ["4 s", "20 Mbit/s"]]


def steps(rate: dict[str, Any]) -> list[tuple[float, float]]:
    """Moments in s and rates in Mbit/s."""
    return [(at / S, bps / 1e6) for at, bps in forward(rate=rate)["variation"]["steps"]]


def test_steps() -> None:
    found = forward(rate={"steps": STEPS})
    assert found["variation"] == {"kind": "steps", "steps": [[0, 10_000_000], [4 * S, 20_000_000]], "period_ns": None}
    # Over the run's 10 s: (4 x 10 + 6 x 20) / 10.
    assert found["rate_bps"] == 16_000_000
    found = forward(rate={"steps": STEPS, "period": "5 s"})
    assert found["variation"]["period_ns"] == 5 * S
    assert found["rate_bps"] == 12_000_000


def test_buffers_are_measured_by_the_mean() -> None:
    assert forward(rate={"steps": STEPS}, buffer="1 bdp")["buffer"] == {"bytes": 60_000}
    assert forward(rate={"steps": STEPS, "period": "5 s"}, buffer="10 ms")["buffer"] == {"bytes": 15_000}


def test_steps_after_the_end_of_the_run_do_not_count() -> None:
    assert forward(rate={"steps": [*STEPS, ["10 s", "1 Gbit/s"]]})["rate_bps"] == 16_000_000
    # No rate within the run: a nominal rate is at least 1 bit/s.
    assert forward(rate={"steps": [["0 s", "0 bit/s"], ["20 s", "1 Mbit/s"]]}, buffer="9 kB")["rate_bps"] == 1


def test_ramps_are_steps_of_the_lines_mean() -> None:
    points = [["0 s", "10 Mbit/s"], ["2 s", "20 Mbit/s"], ["3 s", "0 bit/s"]]
    assert steps({"ramp": points, "step": "500 ms"}) == [
        (0.0, 11.25), (0.5, 13.75), (1.0, 16.25), (1.5, 18.75), (2.0, 15.0), (2.5, 5.0), (3.0, 0.0),
    ]  # fmt: skip
    # The last step before a point may be shorter.
    assert steps({"ramp": points[:2], "step": "1.5 s"}) == [(0.0, 13.75), (1.5, 18.75), (2.0, 20.0)]
    # A last point at the period's end is where it begins again.
    assert steps({"ramp": points[:2], "step": "1 s", "period": "2 s"}) == [(0.0, 12.5), (1.0, 17.5)]


@settings(deadline=None, max_examples=50)  # The machine may be busy.
@given(
    times=st.lists(st.integers(1, 9_999), min_size=1, max_size=4, unique=True),
    rates=st.lists(st.integers(1, 10**6), min_size=5, max_size=5),
    step=st.integers(50, 20_000),
)
def test_a_ramp_lets_as_much_through_as_its_lines(times: list[int], rates: list[int], step: int) -> None:
    points = list(zip([0, *sorted(times), 10_000], rates, strict=False))
    ramp = [[f"{at} ms", f"{rate} kbit/s"] for at, rate in points]
    found = forward(rate={"ramp": ramp, "step": f"{step} ms"})
    exact = sum((b - a) * (x + y) / 2 for (a, x), (b, y) in pairwise(points))
    exact += (10_000 - points[-1][0]) * points[-1][1]
    # Each step's rate is rounded down to a bit/s, and the mean once more.
    assert exact / 10 - 2 <= found["rate_bps"] <= exact / 10


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_mahimahi_trace(here: Path) -> None:
    (here / "cell.trace").write_text("0\n2\n2\n2\n5\n")
    found = forward(rate={"trace": "cell.trace"})
    assert found["variation"] == {
        "kind": "opportunities",
        "times": [[0, 1], [2_000_000, 3], [5_000_000, 1]],
        "bytes": 1514,
        "period_ns": 5_000_000,
    }
    assert found["rate_bps"] == 5 * 1514 * 8 * 200
    assert forward(rate={"trace": "cell.trace"}, overhead="24 B")["variation"]["bytes"] == 1538
    found = forward(rate={"trace": "cell.trace", "opportunity": "1500 B"}, overhead="24 B")
    assert (found["variation"]["bytes"], found["rate_bps"]) == (1500, 5 * 1500 * 8 * 200)


def test_what_a_file_holds_is_in_the_plan_and_its_name_is_not(here: Path) -> None:
    (here / "a.trace").write_text("1\n")
    (here / "b.trace").write_text("1\n")
    assert dumbbell({"rate": {"trace": "a.trace"}}) == dumbbell({"rate": {"trace": "b.trace"}})
    (here / "b.trace").write_text("2\n")
    assert dumbbell({"rate": {"trace": "a.trace"}}) != dumbbell({"rate": {"trace": "b.trace"}})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0,1000000\n2.5,0\n", [[0, 1_000_000], [2_500_000_000, 0]]),
        ("time_s,rate_Mbps\n0,10\n2.5,0.5\n", [[0, 10_000_000], [2_500_000_000, 500_000]]),
        ('"time (ms)", "rate (kbit/s)"\n0, 10\n1e3, 30\n', [[0, 10_000], [10**9, 30_000]]),
        ("Time (s),RATE_Mbps\n0,10\n1,20\n", [[0, 10_000_000], [S, 20_000_000]]),
        ("# measured on a train\ntime,rate\n\n0,5\n1,6\n", [[0, 5], [S, 6]]),
    ],
)
def test_a_csv_file(text: str, expected: list[list[int]], here: Path) -> None:
    (here / "rate.csv").write_text(text)
    found = forward(rate={"csv": "rate.csv", "period": "20 s"})
    assert found["variation"] == {"kind": "steps", "steps": expected, "period_ns": 20 * S}


def test_a_byte_order_mark_is_no_part_of_a_file(here: Path) -> None:
    (here / "cell.trace").write_text("2\n", encoding="utf-8-sig")
    (here / "rate.csv").write_text("time_s,rate_Mbps\n0,10\n", encoding="utf-8-sig")
    (here / "plain.csv").write_text("0,10\n", encoding="utf-8-sig")
    (here / "delay.csv").write_text("Delay_ms\n1\n2\n", encoding="utf-8-sig")
    (here / "lost.txt").write_text("3\n", encoding="utf-8-sig")
    assert forward(rate={"trace": "cell.trace"})["variation"]["times"] == [[2_000_000, 1]]
    assert forward(rate={"csv": "rate.csv"})["variation"]["steps"] == [[0, 10_000_000]]
    assert forward(rate={"csv": "plain.csv"})["variation"]["steps"] == [[0, 10]]
    distribution = forward(jitter={"distribution": "table", "file": "delay.csv"})["jitter"]["distribution"]
    assert distribution["quantiles_ns"] == [1_000_000, 2_000_000]
    assert forward(loss={"model": "trace", "file": "lost.txt"})["loss_before"][0]["lost"] == [3]


def test_the_bundled_trace_is_what_its_scenario_says() -> None:
    lines, bits = [], 0
    for t in range(1, 10_001):
        if not 7000 <= t < 7300:
            bits += 4000 + 16000 * abs(t - 5000) // 5000
        while bits >= 12112:
            bits -= 12112
            lines.append(t)
    text = (bundled.FOLDER / "lte.trace").read_text()
    assert [int(line) for line in text.splitlines()] == lines
    assert sum(count for _, count in mahimahi(text)) == len(lines)


def test_peaks(here: Path) -> None:
    assert peak_bps(known_run.state(forward())) == 10_000_000
    assert peak_bps(known_run.state(forward(rate="unlimited", buffer="9 kB"))) is None
    assert peak_bps(known_run.state(forward(rate={"steps": STEPS}))) == 20_000_000
    # 100 ms with 20 opportunities among 1 s with 29.
    (here / "burst.trace").write_text("".join(f"{t}\n" for t in sorted([*range(100, 1100, 100), *range(501, 520)])))
    found = forward(rate={"trace": "burst.trace"})
    assert found["rate_bps"] == 29 * 1514 * 8
    assert peak_bps(known_run.state(found)) == 20 * 1514 * 8 * 10


def test_the_reverse_direction_may_have_a_trace_of_its_own(here: Path) -> None:
    (here / "up.trace").write_text("4\n")
    plan = dumbbell({"rate": "10 Mbit/s", "reverse": {"rate": {"trace": "up.trace"}, "buffer": "10 packets"}})
    assert link(plan)["variation"] is None
    assert link(plan, "bottleneck-reverse")["rate_bps"] == 1514 * 8 * 250


def test_delays_measured(here: Path) -> None:
    (here / "few.csv").write_text("delay_ms\n3\n1\n2\n")
    distribution = forward(jitter={"distribution": "table", "file": "few.csv"})["jitter"]["distribution"]
    assert distribution == {"kind": "table", "quantiles_ns": [1_000_000, 2_000_000, 3_000_000]}
    # More than 1001: the minimum, the maximum, and what lies between in steps of a per mille.
    (here / "many.csv").write_text("".join(f"{n / 1000}\n" for n in range(2001)))
    quantiles = forward(jitter={"distribution": "table", "file": "many.csv"})["jitter"]["distribution"]["quantiles_ns"]
    assert quantiles == [n * 2_000_000 for n in range(1001)]


def test_a_loss_trace(here: Path) -> None:
    (here / "lost.txt").write_text("3\n17\n")
    found = forward(loss={"model": "trace", "file": "lost.txt"})["loss_before"]
    assert found == [{"model": "trace", "lost": [3, 17], "period": None}]


def test_a_sparse_trace_is_never_slower_on_average_than_at_its_peak(tmp_path: Path) -> None:
    """An opportunity each 104.5 ms: any 100 ms have one, and so less than the mean."""
    file = tmp_path / "sparse.trace"
    file.write_bytes(b"0\r\n104\r\n209\r\n")
    sparse = link(dumbbell({"rate": {"trace": str(file)}, "buffer": "100 packets"}))
    # 3 x 1514 B in 209 ms.
    assert sparse["rate_bps"] == 173_856
    assert peak_bps(known_run.state(sparse)) == 173_856
