"""Expectations and repetitions: which hold, which fail, which stay undecided, and when runs are enough."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell.cli import invoke
from dumbbell.cli.study import show
from dumbbell.cli.study_progress import size
from dumbbell.errors import ScenarioError
from dumbbell.plan.expand import expand
from dumbbell.scenario.file.loading import load
from dumbbell.scenario.study import Expectation, Repeat
from dumbbell.statistics.enough import still_needed
from dumbbell.statistics.intervals import of_mean
from dumbbell.statistics.metrics import METRICS
from dumbbell.studies import expectations, measures, repeating
from dumbbell.studies.measures import by_run, needs_of

SMALL: dict[str, Any] = {
    "name": "small",
    "duration": "300 ms",
    "topology": {
        "kind": "dumbbell",
        "pairs": 2,
        "rtt": "10 ms",
        "bottleneck": {"rate": "5 Mbit/s", "buffer": "10 bdp", "loss": "1 %"},
    },
    "flows": [
        {"from": "s*", "to": "r*", "id": "g", "connections": 2},
        {"from": "s2", "to": "r2", "id": "alone", "cc": "reno"},
    ],
    "sweep": {"flows.0.cc": ["cubic", "reno"]},
}


def simulate(directory: Path, **more: Any) -> dumbbell.Study:
    overrides, on_event = more.pop("overrides", ()), more.pop("on_event", None)
    study = dumbbell.run({**SMALL, **more}, overrides, directory, on_event=on_event, engine="simulate", report=False)
    assert isinstance(study, dumbbell.Study)
    return study


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> dumbbell.Study:
    return simulate(tmp_path_factory.mktemp("studies"), repeat=4)


def judged(study: dumbbell.Study, **keys: Any) -> tuple[str, str]:
    (found,) = expectations.judge(study, [Expectation.model_validate(keys)])
    return str(found.answer), found.why


def test_an_expectation_holds_if_the_whole_interval_does(study: dumbbell.Study) -> None:
    known = of_mean(by_run(study, "goodput").filter(cell=0)["value"].to_list())
    assert known.low is not None
    assert known.high is not None
    low, high = known.low, known.high
    cell = {"flows.0.cc": "cubic"}
    assert judged(study, metric="goodput", where=cell, min=low - 1, max=high + 1)[0] == "holds"
    assert judged(study, metric="goodput", where=cell, min=(low + high) / 2)[0] == "cannot be told"
    assert (
        judged(study, metric="goodput", where=cell, within=[(low + high) / 2, (low + high) / 2 + 1])[0]
        == "cannot be told"
    )
    assert judged(study, metric="goodput", where=cell, min=high + 1)[0] == "fails"
    assert judged(study, metric="goodput", where=cell, max="1 Gbit/s")[0] == "holds"
    answer, why = judged(study, metric="goodput", where=cell, max="1 Mbit/s")
    assert answer == "fails"
    assert why.endswith(" Mbit/s, 4 runs")


def test_the_worst_cell_decides(study: dumbbell.Study) -> None:
    values = by_run(study, "goodput")
    least = {cell: values.filter(cell=cell)["value"].min() for cell in (0, 1)}
    between = sum(least.values()) / 2  # type: ignore[arg-type]
    answer, why = judged(study, metric="goodput", statistic="least", min=between)
    assert answer == "fails"
    assert "1 of 2 cells alike" in why
    assert judged(study, metric="goodput", statistic="most", min=between)[0] == "holds"
    assert judged(study, metric="goodput", statistic="median", min=0)[0] == "holds"


def test_one_run_has_no_interval_and_decides(tmp_path: Path) -> None:
    once = simulate(tmp_path, expect=[{"metric": "utilisation", "max": "100 %"}])
    assert [one["answer"] for one in once.manifest["expectations"]] == ["holds"]
    assert judged(once, metric="goodput", min="1 Gbit/s")[0] == "fails"
    assert judged(once, metric="fct_p50", max="1 s") == (
        "cannot be told",
        'no run has it (flows.0.cc="cubic"); 2 of 2 cells alike',
    )


def test_metrics_are_what_the_tables_say(study: dumbbell.Study) -> None:
    first = study.flows.filter(run=0)
    sent_again = by_run(study, "retransmitted_segments").filter(run=0)["value"].item()
    assert sent_again == first["retransmitted_segments"].sum()
    assert by_run(study, "rtt_p50", "g.2").filter(run=0)["value"].item() == first.filter(id="g.2")["rtt_p50_ms"].item()
    group = first.filter(group="g")["rtt_p50_ms"]
    assert len(group) == 2
    assert by_run(study, "rtt_p50", "g").filter(run=0)["value"].item() == pytest.approx(group.mean())
    assert by_run(study, "jain_index")["value"].to_list() == study.runs["jain_index"].to_list()
    assert by_run(study, "goodput_share", "reno").height == study.runs.height
    for name, metric in METRICS.items():
        assert by_run(study, name, "reno" if needs_of(metric) else None).columns == ["cell", "run", "value"]


def test_exit_codes_tell_what_became_of_expectations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        'name = "small"\nduration = "100 ms"\n[topology]\nkind = "path"\nrtt = "10 ms"\n'
        'bottleneck = { rate = "5 Mbit/s" }\n[[flows]]\nfrom = "h1"\nto = "h2"\n'
        '[[expect]]\nmetric = "METRIC"\nmin = MIN\n'
    )
    command = ["run", str(tmp_path / "small.toml"), "--engine", "simulate", "--output", str(tmp_path)]
    for metric, least, code in (("goodput", "0", 0), ("goodput", '"1 Gbit/s"', 4), ("jain_index", "0", 5)):
        (tmp_path / "small.toml").write_text(text.replace("METRIC", metric).replace("MIN", least))
        assert invoke([*command, "--json"]) == code
        assert len(json.loads(capsys.readouterr().out)["expectations"]) == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"sweep": {"seed": [1, 2]}}, "sweep.seed: a seed makes a repetition, not a cell"),
        ({"sweep": {"name": ["a", "b"]}}, "sweep.name: the study's name"),
        ({"sweep": {"repeat": [1]}}, "the study's, not a cell's"),
        ({"expect": [{"metric": "jain", "min": 1}]}, 'expect.0.metric = "jain": unknown metric'),
        ({"expect": [{"metric": "goodput"}]}, "expect.0: no bounds"),
        ({"expect": [{"metric": "goodput", "min": 1, "within": [1, 2]}]}, "within beside min or max"),
        ({"expect": [{"metric": "goodput", "min": "fast"}]}, 'expect.0.min = "fast": not a rate'),
        ({"expect": [{"metric": "goodput", "min": "5 ms"}]}, "unknown unit ms"),
        ({"expect": [{"metric": "jain_index", "of": "f1", "min": 1}]}, "describes the whole run"),
        ({"expect": [{"metric": "goodput_share", "min": 1}]}, "goodput_share describes some flows"),
        ({"expect": [{"metric": "drops", "max": "few"}]}, 'expect.0.max = "few": no number'),
        ({"expect": [{"metric": "utilisation", "min": 90}]}, "expect.0.min = 90: more than 1"),
        ({"expect": [{"metric": "utilisation", "min": 90}]}, 'hint: write "90 %"'),
        ({"expect": [{"metric": "utilisation", "within": [-0.1, 1]}]}, "expect.0.within.0 = -0.1: less than 0"),
        ({"expect": [{"metric": "jain_index", "min": "0.2"}]}, 'hint: write 0.2, or "20 %"'),
        ({"expect": [{"metric": "goodput", "of": "alne", "min": 1}]}, 'expect.0.of = "alne": no such flow, group or'),
        ({"expect": [{"metric": "goodput", "of": "alne", "min": 1}]}, "one of cubic, reno, g, alone, g.1, g.2"),
        ({"expect": [{"metric": "goodput", "of": "alne", "min": 1}]}, "hint: did you mean alone?"),
        ({"expect": [{"metric": "goodput", "of": "bottleneck", "min": 1}]}, "no such flow, group or algorithm"),
        ({"expect": [{"metric": "utilisation", "of": "bottelneck", "min": 0}]}, "hint: did you mean bottleneck?"),
        (
            {"expect": [{"metric": "goodput", "of": "cubic", "min": 1}]},
            'no such flow, group or algorithm in the cell flows.0.cc="reno"\n  expected only cells that have it\n'
            'hint: say in which cells, such as where = { "flows.0.cc" = "cubic" }',
        ),
        ({"expect": [{"metric": "goodput", "min": 1, "where": {"duration": "1 s"}}]}, "not varied"),
        ({"expect": [{"metric": "goodput", "min": 1, "where": {"flows.0.cc": "bbr"}}]}, 'no cell has "bbr"'),
        ({"expect": [{"metric": "goodput", "min": 1, "maximum": 2}]}, "unknown key"),
        ({"repeat": 0}, "repeat = 0: no runs"),
        ({"repeat": 10**11}, "repeat = 100000000000: too many runs of each cell"),
        ({"repeat": {"until": "5 %", "most": 10**11}}, "repeat.most = 100000000000: out of range"),
        ({"repeat": "often"}, "not a number of runs"),
        ({"repeat": {"least": 3}}, "no until"),
        ({"repeat": {"until": "5 %", "of": "speed"}}, "unknown metric"),
        ({"repeat": {"until": "5 %", "least": 9, "most": 8}}, "more than most"),
    ],
)
def test_bad_studies_are_refused_before_anything_starts(changes: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError) as refused:
        simulate(tmp_path, **changes)
    assert said in str(refused.value)
    assert not list(tmp_path.iterdir())


def test_a_cell_that_the_command_line_has_replaced_can_only_not_be_told(tmp_path: Path) -> None:
    expect = [{"metric": "goodput", "min": 1, "where": {"flows.0.cc": "cubic"}}]
    study = dumbbell.run(
        {**SMALL, "expect": expect}, directory=tmp_path, engine="simulate", vary={"flows.0.cc": ["bbr"]}
    )
    assert [one["answer"] for one in study.manifest["expectations"]] == ["cannot be told"]


def test_an_algorithm_that_the_command_line_has_replaced_can_only_not_be_told(tmp_path: Path) -> None:
    expect = [{"metric": "goodput", "of": "cubic", "min": 1, "where": {"flows.0.cc": "cubic"}}]
    simulate(tmp_path, expect=expect)
    replaced = {"flows.0.cc": ["bbr"], "flows.1.cc": ["bbr"]}
    study = dumbbell.run({**SMALL, "expect": expect}, directory=tmp_path, engine="simulate", vary=replaced)
    assert [one["answer"] for one in study.manifest["expectations"]] == ["cannot be told"]
    with pytest.raises(ScenarioError, match="no such flow"):
        simulate(tmp_path, expect=[{"metric": "goodput", "of": "cubc", "min": 1}], overrides={"duration": "200 ms"})


def test_names_that_can_be_asked_for_are_those_that_runs_have(study: dumbbell.Study) -> None:
    plan = expand(load({**SMALL, "sweep": {}}))
    for name in ("goodput", "utilisation"):
        for of in measures.names(METRICS[name], plan):
            assert by_run(study, name, of).filter(cell=0).height == 4, of
    assert measures.names(METRICS["harm_goodput"], plan) == ["cubic", "reno"]
    assert "s1-left" not in measures.names(METRICS["utilisation"], plan)


def test_shares_are_told_in_percent(study: dumbbell.Study) -> None:
    expected = [
        Expectation.model_validate({"metric": "utilisation", **bounds})
        for bounds in ({"min": 0.015}, {"max": "50 %"}, {"within": [0, 1]})
    ]
    found = expectations.judge(study, expected)
    assert [one.expectation for one in found] == [
        "utilisation >= 1.5 %",
        "utilisation <= 50 %",
        "utilisation from 0 % to 100 %",
    ]
    known = of_mean(by_run(study, "utilisation").filter(cell=0)["value"].to_list())
    assert f"mean {100 * known.value:#.4g} %, interval " in found[0].why
    assert measures.read(METRICS["harm_goodput"], -0.5) == -0.5, "an algorithm may gain"


def test_cells_are_repeated_until_they_are_known_well(tmp_path: Path) -> None:
    repeat = {"until": "10 %", "of": "goodput", "least": 3, "most": 40}
    study = simulate(tmp_path, repeat=repeat)
    counts = study.runs.group_by("cell").len().sort("cell")["len"].to_list()
    assert all(3 <= count <= 40 for count in counts)
    for cell, count in enumerate(counts):
        values = by_run(study, "goodput").filter(cell=cell)["value"].to_list()
        assert still_needed(values, 0.1, least=3) == 0 or count == 40
    assert study.manifest["runs"] == sum(counts) == study.runs.height
    assert sorted(study.runs["run"]) == list(range(sum(counts)))
    again = simulate(tmp_path, repeat=repeat)
    assert again.directory == study.directory
    assert again.manifest["cost"]["found"] == sum(counts)


def test_cells_that_most_was_too_few_for_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All repetitions are nearly alike without loss and with one flow; with loss they are not."""
    flows = [{"from": "s1", "to": "r1", "cc": "cubic"}]
    repeat = {"until": "0.1 %", "of": "goodput", "least": 3, "most": 4}
    told: list[Any] = []
    study = simulate(
        tmp_path,
        flows=flows,
        sweep={"topology.bottleneck.loss": ["2 %", "0 %"]},
        repeat=repeat,
        starts="0 s",
        duration="1 s",
        on_event=told.append,
    )
    values = {cell: by_run(study, "goodput").filter(cell=cell)["value"].to_list() for cell in (0, 1)}
    assert [len(values[0]), len(values[1])] == [4, 3]
    known = of_mean(values[0])
    assert known.half_width is not None
    width = known.half_width / known.value
    assert study.manifest["too_wide"] == [{"cell": 0, "n": 4, "half_width": pytest.approx(width)}]
    assert [size(event) for event in told if event["event"] == "planned"] == [
        "2 cells x at least 3 repetitions x 1 s = 6 runs, 6 s of traffic",
        "1 of 2 cells is not precise enough: 1 more run, 1 s of traffic",
    ]
    said = "1 of 2 cells not within 0.1 % of the mean goodput:\n"
    said += f'  {100 * width:.3g} % after 4 runs: topology.bottleneck.loss="2 %"\n'
    show(study, json=False)
    assert said in capsys.readouterr().out
    assert invoke(["status", str(study.directory)]) == 0
    assert said in capsys.readouterr().out
    enough = simulate(tmp_path, flows=flows, sweep={"topology.bottleneck.loss": ["0 %"]}, repeat=repeat, starts="0 s")
    assert enough.manifest["too_wide"] == []


def test_at_most_twice_as_many_at_a_time_and_never_more_than_the_most(study: dumbbell.Study) -> None:
    repeat = Repeat.model_validate({"until": "1 %", "least": 2, "most": 7})
    assert repeating.more(study, repeat, [4, 4], lambda *told: 90) == {0: 7, 1: 7}
    assert repeating.more(study, repeat, [2, 7], lambda *told: None) == {0: 4}
    assert repeating.more(study, repeat, [2, 2], lambda *told: 0) == {}
