"""Every metric of a study against what its frames were made of."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from synthetic_study import Synthetic

from dumbbell import Study
from dumbbell.errors import InputError
from dumbbell.statistics import intervals
from dumbbell.statistics.bootstrap import bootstrap
from dumbbell.statistics.cells import summaries
from dumbbell.statistics.contrasts import contrast
from dumbbell.statistics.frames import limited_links
from dumbbell.statistics.metrics import METRICS, get, values

_LIMITS = ["link", "bottleneck_share", "utilisation"]


def study(path: Path, **spec: Any) -> Study:
    return Study(Synthetic(**spec).write(path / "study"))


def of(found: pl.DataFrame, run: int = 0) -> dict[str, float]:
    rows = found.filter(pl.col("run") == run)
    return dict(zip(rows["of"], rows["value"], strict=True))


@pytest.fixture
def exact(tmp_path: Path) -> Study:
    """cubic 30 and bbr 60 Mbit/s for 20 s each, bbr a second later; nothing spreads."""
    return study(tmp_path, spread=0.0)


def test_goodput_by_each_scope(exact: Study) -> None:
    assert of(values(exact, "goodput")) == pytest.approx({"": (30e6 + 60e6) * 20 / 21})
    assert of(values(exact, "goodput", "algorithm")) == pytest.approx({"cubic": 30e6, "bbr": 60e6})
    assert of(values(exact, "goodput", "flow")) == pytest.approx({"f1": 30e6, "f2": 60e6})


def test_the_applications_rate_is_a_mean_over_connections(exact: Study) -> None:
    """The sender's count: 14,480 bytes more than arrived."""
    assert of(values(exact, "application_rate")) == pytest.approx({"": 45e6 + 8 * 14480 / 20})


def test_values_come_in_the_order_of_runs_and_flows(tmp_path: Path) -> None:
    found = study(tmp_path, repeat=12)
    order = [(run, cc) for run in range(12) for cc in ("cubic", "bbr")]
    assert values(found, "goodput", "algorithm").select("run", "of").rows() == order


def test_shares(exact: Study) -> None:
    assert of(values(exact, "goodput_share")) == pytest.approx({"cubic": 1 / 3, "bbr": 2 / 3})
    assert of(values(exact, "received_bytes")) == pytest.approx({"": 90e6 * 20 / 8})


def test_retransmissions(exact: Study) -> None:
    assert of(values(exact, "retransmitted_segments")) == {"cubic": 10, "bbr": 20}
    assert of(values(exact, "retransmitted_segments", "run")) == {"": 30}
    segments = (30e6 * 20 / 8 + 14480) / 1448
    assert of(values(exact, "retransmitted_share"))["cubic"] == pytest.approx(10 / (segments + 10))


def test_delays(exact: Study) -> None:
    assert of(values(exact, "rtt_p50")) == {"cubic": 40, "bbr": 50}
    assert of(values(exact, "rtt_p50", "run")) == {"": 45}
    assert of(values(exact, "rtt_min", "run")) == {"": 30}
    assert of(values(exact, "queue_p95")) == {"bottleneck": 9}


def test_links(exact: Study) -> None:
    assert of(values(exact, "loss_share")) == pytest.approx({"bottleneck": 0.05})
    assert of(values(exact, "drops")) == {"bottleneck": 20}
    assert of(values(exact, "losses")) == {"bottleneck": 30}


def test_links_that_limit_alike_keep_their_order() -> None:
    names = [f"l{n}" for n in (3, 1, 4, 5, 9, 2, 6)]
    rows = [(name, share, 0.5) for name in names for share in (0.1, 0.3)]
    links = pl.DataFrame([*rows, ("most", 0.9, 0.1), ("none", 0.0, 1.0)], schema=_LIMITS, orient="row")
    assert limited_links(SimpleNamespace(links=links)) == ["most", *names]  # type: ignore[arg-type]
    idle = links.with_columns(bottleneck_share=pl.lit(0.0))
    assert limited_links(SimpleNamespace(links=idle)) == ["none"]  # type: ignore[arg-type]


def test_power_is_of_the_best_that_the_path_allows(tmp_path: Path) -> None:
    """The base RTT is 20 ms, though nobody has measured less than 30: the queue was never empty."""
    found = study(tmp_path, base_rtt_ms=20.0)
    used = found.links.filter(pl.col("run") == 0)["utilisation"][0]
    assert of(values(found, "power")) == pytest.approx({"": used * (20 / 40 + 20 / 50) / 2})


def test_completion_times(tmp_path: Path) -> None:
    found = study(tmp_path, fct_s=2.0, ccs=("cubic",) * 9)
    times = sorted(found.flows.filter(pl.col("run") == 0)["fct_s"])
    assert of(values(found, "fct_p50")) == pytest.approx({"cubic": times[4]})
    assert of(values(found, "fct_mean")) == pytest.approx({"cubic": sum(times) / 9})
    assert times[7] < of(values(found, "fct_p95"))["cubic"] < times[8]


def test_survivors_are_not_all(tmp_path: Path) -> None:
    """6 of 9 were completed: ranks 0 to 5 of 0 to 8, so that percentiles up to 62.5 are among them."""
    found = study(tmp_path, fct_s=2.0, ccs=("cubic",) * 9)
    times = sorted(found.flows.filter(pl.col("run") == 0)["fct_s"])
    found.flows = found.flows.with_columns(fct_s=pl.when(pl.col("fct_s") <= times[5]).then("fct_s"))
    assert of(values(found, "completed_share")) == pytest.approx({"cubic": 6 / 9})
    assert of(values(found, "fct_p50")) == pytest.approx({"cubic": times[4]})
    assert of(values(found, "fct_p95")) == of(values(found, "fct_p99")) == of(values(found, "fct_mean")) == {}
    # Beside them flows without a size, which never complete, and don't count.
    found.flows = found.flows.with_columns(has_size=pl.col("fct_s").is_not_null())
    assert of(values(found, "completed_share")) == {"cubic": 1}
    assert of(values(found, "fct_mean")) == pytest.approx({"cubic": sum(times[:6]) / 6})


def test_flows_without_a_size_have_no_completion_time(exact: Study) -> None:
    assert values(exact, "fct_p50").is_empty()
    assert values(exact, "completed_share").is_empty()


def test_groups_are_what_is_before_the_number(tmp_path: Path) -> None:
    found = study(tmp_path, spread=0.0)
    found.flows = found.flows.drop("group").with_columns(id="f1." + pl.col("port").cast(pl.String))
    assert of(values(found, "received_bytes", "group")) == pytest.approx({"f1": 90e6 * 20 / 8})
    found.flows = found.flows.with_columns(group=pl.lit("mice"))
    assert list(of(values(found, "received_bytes", "group"))) == ["mice"]


def harmful(cell: Any, cc: str) -> float:
    """cubic gets 80 alone and 20 beside bbr; at 40 Mbit/s half of each. UDP gets what it sends, 1 unless given."""
    if cc == "udp":
        return float(cell.get("flows.udp", 1.0))
    alone = {"cubic": 80.0, "bbr": 90.0}[cc]
    beside = {"cubic": 20.0, "bbr": 72.0}[cc]
    return (beside if {"cubic", "bbr"} <= {*cell["flows"].split("+")} else alone) * cell.get("rate", 80) / 80


def test_harm_is_told_from_cells_alone(tmp_path: Path) -> None:
    cells = [{"rate": rate, "flows": flows} for rate in (40, 80) for flows in ("cubic", "bbr", "cubic+bbr")]
    found = study(tmp_path, cells=cells, goodput_mbit=harmful, spread=0.0)
    harm = summaries(found, "harm_goodput")
    assert set(harm["cell"]) == {2, 5}
    assert harm.filter(pl.col("of") == "cubic")["mean"].to_list() == pytest.approx([0.75, 0.75], abs=1e-6)
    # bbr starts a second later beside cubic, but has as long.
    assert harm.filter(pl.col("of") == "bbr")["mean"].to_list() == pytest.approx([0.2, 0.2], abs=1e-6)
    assert summaries(found, "harm_rtt").filter(pl.col("of") == "bbr")["mean"][0] == pytest.approx((50 - 40) / 50)


def harmed(path: Path, *cells: dict[str, Any]) -> dict[str, float]:
    """Mean of each algorithm."""
    found = summaries(study(path, cells=cells, goodput_mbit=harmful, spread=0.0), "harm_goodput")
    return dict(zip(found["of"], found["mean"], strict=True))


HARM = pytest.approx({"cubic": 0.75, "bbr": 0.2}, abs=1e-6)


def test_names_of_cases_are_no_difference(tmp_path: Path) -> None:
    cells = [{"case": name, "flows": name} for name in ("cubic", "bbr", "cubic+bbr")]
    assert harmed(tmp_path, *cells) == HARM


def test_udp_is_no_algorithm_but_must_be_the_same(tmp_path: Path) -> None:
    cells = [{"flows": flows} for flows in ("cubic+udp", "bbr+udp", "cubic+bbr+udp")]
    assert harmed(tmp_path / "same", *cells) == HARM
    none = {"flows": "cubic+bbr"}
    assert harmed(tmp_path / "alone", *cells[:2], none) == {}
    more = {"flows": "cubic+bbr+udp", "flows.udp": 1.1}
    assert harmed(tmp_path / "more", *cells[:2], more) == {}


def test_no_cells_alone_no_harm(exact: Study) -> None:
    assert values(exact, "harm_goodput").is_empty()


def test_failed_and_invalid_runs_do_not_count(tmp_path: Path) -> None:
    found = study(tmp_path, repeat=6, failed=(1,), verdicts={2: "invalid", 3: "suspect"})
    assert set(values(found, "goodput")["run"]) == {0, 3, 4, 5}
    assert summaries(found, "goodput")["n"].to_list() == [4]


def test_summaries_say_what_intervals_say(tmp_path: Path) -> None:
    found = study(tmp_path, cells=[{"buffer": "1 bdp"}, {"buffer": "4 bdp"}], repeat=7, spread=0.1)
    one = values(found, "goodput").filter(pl.col("cell") == 1)["value"].to_list()
    for confidence in intervals.CONFIDENCES:
        row = summaries(found, "goodput", confidence=confidence).row(1, named=True)
        expected = intervals.of_mean(one, confidence)
        assert (row["n"], row["buffer"]) == (7, "4 bdp")
        assert (row["mean"], row["low"], row["high"]) == pytest.approx((expected.value, expected.low, expected.high))
    row = summaries(found, "goodput", method="bootstrap").row(1, named=True)
    assert (row["low"], row["high"]) == (bootstrap(one).low, bootstrap(one).high)


def test_one_run_has_no_interval(tmp_path: Path) -> None:
    row = summaries(study(tmp_path, repeat=1), "goodput").row(0, named=True)
    assert (row["n"], row["sd"], row["low"], row["high"]) == (1, None, None, None)


@pytest.mark.parametrize(
    ("metric", "scope", "says"),
    [("goodputs", None, "did you mean goodput?"), ("utilisation", "flow", "it has them by link")],
)
def test_what_there_is_not(exact: Study, metric: str, scope: str | None, says: str) -> None:
    with pytest.raises(InputError, match=r"^no metric|has no values") as refused:
        values(exact, metric, scope)
    assert says in str(refused.value)


def test_confidence_in_percent_is_refused(exact: Study) -> None:
    with pytest.raises(InputError, match="confidence 95"):
        summaries(exact, "goodput", confidence=95)


@pytest.mark.parametrize("name", METRICS)
def test_each_is_told_with_formula_and_source(name: str) -> None:
    metric = get(name)
    assert metric.name == name
    assert metric.formula
    assert metric.source
    assert metric.unit in ("", "share", "bit/s", "B", "ms", "s", "segments", "packets", "requests", "/min")


def test_a_contrast_pairs_by_seed_where_seeds_match() -> None:
    x, y = {1: 10.0, 2: 20.0, 3: 30.0}, {3: 33.0, 1: 11.0, 2: 22.0}
    found = contrast(x, y)
    assert (found.method, found.reference, found.mean) == ("paired", 20, 22)
    assert found.difference == intervals.paired_difference([10, 20, 30], [11, 22, 33])
    assert found.relative is not None
    assert found.relative.value == pytest.approx(0.1)
    assert not found.is_clear


def test_a_contrast_leaves_out_who_has_no_partner() -> None:
    """Repetitions without a partner are left out: 1,000 is in neither mean."""
    found = contrast({1: 10.0, 2: 20.0, 3: 30.0, 4: 1000.0}, {1: 11.0, 2: 22.0, 3: 33.0, 5: 0.0})
    assert found == contrast({1: 10.0, 2: 20.0, 3: 30.0}, {1: 11.0, 2: 22.0, 3: 33.0})
    assert (found.by, found.reference) == ("3 pairs", 20)


@pytest.mark.parametrize("seeds", [(4, 5, 6), (3, 4, 5), (1, 2, 3, 4, 5, 6)])
def test_a_contrast_of_other_seeds_is_welchs(seeds: tuple[int, ...]) -> None:
    """The seeds in common are none, one of three, and three of six, which are not most."""
    y = {seed: 20.0 + seed for seed in seeds}
    found = contrast({1: 10.0, 2: 11.0, 3: 12.0}, y)
    assert (found.method, found.by) == ("Welch", "Welch")
    assert found.difference == intervals.welch_difference([10, 11, 12], [*y.values()])
    assert found.is_clear
    assert found.cliffs_delta == 1


def test_a_contrast_with_nothing_has_no_share() -> None:
    found = contrast({1: 0.0, 2: 0.0}, {1: 0.5, 2: 0.5})
    assert found.relative is None
    assert found.is_clear, "the interval excludes 0, however near it is"
