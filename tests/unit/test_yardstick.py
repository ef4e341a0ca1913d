"""The yardstick's networks, and `dumbbell cc score`."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell.cli import invoke
from dumbbell.engines.registry import engine
from dumbbell.pipeline.planned import planned
from dumbbell.yardstick.cases import chosen, groups
from dumbbell.yardstick.metrics import METRICS

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial"
NEEDS_CLANG = pytest.mark.skipif(shutil.which("clang") is None, reason="apt-get install clang")
END = "\tstate->round_end = tp->snd_nxt;\n"
"""A line of `cong_avoid` that is reached once a round trip."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def scored(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert invoke(["cc", "score", *arguments, "--json"]) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


def test_there_are_about_200_networks_with_different_names() -> None:
    cases = chosen(groups(), [])
    assert 190 <= len(cases) <= 240
    names = [case.name for case in cases]
    assert len(set(names)) == len(names)
    assert [name for name in names if not re.fullmatch(r"[a-z-]+/[A-Za-z0-9.%+-]{1,40}", name)] == []


def test_each_can_be_simulated_by_itself_and_scores_something() -> None:
    simulate = engine("simulate")
    for case in chosen(groups(), []):
        scenario = case.scenario("cubic", 7)
        plan = planned(simulate, scenario)
        assert simulate.check(scenario, plan) == [], case.name
        assert plan.seed == 7
        assert any(flow.id.startswith("mine") for flow in plan.flows), case.name


def test_an_algorithm_beside_its_own_kind_does_no_harm_and_gets_its_share(capsys: pytest.CaptureFixture[str]) -> None:
    told = scored(capsys, "cubic", "--case", "beside")
    own = [one for one in told["algorithms"][0]["cases"] if one["name"].startswith("beside/cubic")]
    assert len(own) == 8
    for one in own:
        assert one["metrics"]["harm"] == {"value": 0, "score": 1}
        assert 0.5 < one["metrics"]["goodput"]["value"] < 1.5


def test_scores_are_the_same_each_time_and_written_for_people_and_programs(capsys: pytest.CaptureFixture[str]) -> None:
    names = ["--case", "alone/2Mbps-20ms-1bdp", "--case", "itself/2-20ms-1bdp"]
    told = scored(capsys, "cubic", "--beside", "vegas", *names)
    assert told == scored(capsys, "cubic", "--beside", "vegas", *names, "--directory", "again")
    assert Path("scores/cubic-part.json").read_bytes() == Path("again/cubic-part.json").read_bytes()
    assert json.loads(Path("scores/cubic-part.json").read_text()) == told
    assert told.keys() == {"schema", "version", "seed", "metrics", "algorithms"}
    cubic, vegas = told["algorithms"]
    assert (cubic["cc"], vegas["cc"]) == ("cubic", "vegas")
    assert cubic["groups"].keys() == {"alone", "itself"}
    alone, itself = cubic["cases"]
    assert alone["metrics"].keys() == {"goodput", "delay", "loss"}
    assert itself["metrics"].keys() == {"goodput", "delay", "loss", "fairness"}
    # Vegas keeps the queue short.
    assert vegas["cases"][0]["metrics"]["delay"]["value"] < alone["metrics"]["delay"]["value"]
    assert invoke(["cc", "score", "cubic", "--beside", "vegas", *names]) == 0
    out = capsys.readouterr().out
    assert "Furthest behind vegas" in out
    assert f"{cubic['score']:.3f}" in out
    page = Path("scores/cubic-part.html").read_text()
    assert all(name in page for name in (names[1], names[3], *(metric.name for metric in METRICS)))
    assert "//" not in page


@NEEDS_CLANG
@pytest.mark.parametrize(
    ("line", "why"),
    [
        (
            "\tif (tp->delivered > 3000) for (volatile int i = 0; i >= 0;) i = 1;\n",
            "a call has taken 1000000 instructions and goes on (odd.bpf.c:51",
        ),
        (
            "\tif (tp->delivered > 3000) *(volatile __u32 *)((char *)state + 4000) = 1;\n",
            "it writes 4 bytes where it may not write (odd.bpf.c:51",
        ),
        ("\tvolatile __u32 none = 0; if (tp->delivered > 3000) tp->snd_cwnd /= none;\n", ""),
    ],
)
def test_a_program_that_goes_wrong_costs_its_networks_alone(
    line: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("odd.bpf.c").write_text((TUTORIAL / "calm.bpf.c").read_text().replace(END, line + END))
    cases = {one["name"]: one for one in scored(capsys, "odd.bpf.c", "--case", "alone")["algorithms"][0]["cases"]}
    slow, fast = cases["alone/2Mbps-20ms-1bdp"], cases["alone/12Mbps-20ms-1bdp"]
    assert slow["problem"] is None
    assert slow["score"] > 0.3
    if why:
        assert why in fast["problem"]
        assert "hint" not in fast["problem"]
        assert (fast["score"], fast["metrics"]) == (0, {})
    else:
        # As in the kernel, a division by zero gives 0.
        assert fast["problem"] is None
        assert fast["metrics"]["goodput"]["value"] < 0.5


@NEEDS_CLANG
def test_a_program_that_never_sends_is_told_so(capsys: pytest.CaptureFixture[str]) -> None:
    text = (TUTORIAL / "calm.bpf.c").read_text()
    Path("silent.bpf.c").write_text(text.replace("~0;", "~0; tcp_sk(sk)->snd_cwnd = 0;"))
    (one,) = scored(capsys, "silent.bpf.c", "--case", "loss/20ms-1%")["algorithms"][0]["cases"]
    assert one["problem"] == "its flows delivered nothing"
    assert one["score"] == 0


@NEEDS_CLANG
def test_a_network_runs_elsewhere_as_it_was_scored(capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(TUTORIAL / "calm.bpf.c", ".")
    name = ["--case", "cellular/lte-50ms-300packets", "--set", "target=8"]
    (scored_case,) = scored(capsys, "calm.bpf.c", *name)["algorithms"][0]["cases"]
    Path("elsewhere").mkdir()
    assert invoke(["cc", "score", "calm.bpf.c", *name, "-o", "elsewhere/case.toml"]) == 0
    Path("calm.bpf.c").unlink()
    run = dumbbell.run("elsewhere/case.toml", engine="simulate", report=False)
    (flow,) = run.summary["flows"]
    assert run.plan.algorithms[0].parameters == {"target": 8}
    assert scored_case["metrics"]["delay"]["value"] == pytest.approx(flow["rtt_ms"]["p50"] / 50 - 1, rel=0.01)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["cubic", "--case", "alon"], "the yardstick has no network alon"),
        (["cubic", "--case", "alone", "-o", "case.toml"], "one network can be written, not 20"),
        (["cubik", "--case", "loss"], "did you mean cubic?"),
        (["nothing.bpf.c"], "nothing.bpf.c: no such file"),
    ],
)
def test_bad_input_is_told_in_words(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["cc", "score", *arguments]) == 2
    assert said in capsys.readouterr().err
    assert list(Path().iterdir()) == []
