"""`dumbbell agree` and `python -m validation`, from scenarios to tables, with engines that write known records."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from fake_engine import FakeEngine, Files, scenario

from dumbbell.agree.figures import TOTAL_GOODPUT
from dumbbell.agree.study import Outcome, Subject, check, run_both, until_decided
from dumbbell.agree.targets import Status, judge, overall
from dumbbell.cli import invoke
from dumbbell.engines import registry
from dumbbell.engines.names import EMULATE, SIMULATE
from dumbbell.errors import InputError, Problem, ScenarioError
from dumbbell.plan.types import Plan
from dumbbell.report.render import html
from validation.__main__ import main

BYTES = 2_000_000
"""Received by both flows in the known records."""


def slower(share: float, by_seed: float = 0.0) -> Any:
    """Changes a run's records: each flow receives that share of what it should, and less by `by_seed` of each seed."""

    def change(plan: Plan, files: Files) -> None:
        for flow in files["traffic.json"]["flows"]:
            flow["received_bytes"] = int(flow["received_bytes"] * (share - by_seed * plan.seed))

    return change


def engines(emulated: FakeEngine | None = None, simulated: FakeEngine | None = None) -> dict[str, FakeEngine]:
    return {EMULATE: emulated or FakeEngine(), SIMULATE: simulated or FakeEngine(name=SIMULATE)}


def subject(root: Path, name: str = "synthetic", repeat: int = 3) -> Subject:
    return Subject.of(scenario(name), [], repeat, root)


def test_a_study_is_no_single_scenario(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="buffer-sweep is a study"):
        Subject.of("buffer-sweep", [], 2, tmp_path)


def test_engines_that_do_the_same_agree(tmp_path: Path) -> None:
    found = engines()
    (outcome,) = run_both([subject(tmp_path)], found, at_once=2)
    assert sorted(found[EMULATE].executed) == sorted(found[SIMULATE].executed) == [("synthetic", n) for n in (1, 2, 3)]
    total = outcome.comparison.get(TOTAL_GOODPUT)
    assert total is not None
    assert total.first == pytest.approx([8e-6 * BYTES / 2] * 3)
    assert overall(judge(outcome.comparison)) is Status.INSIDE
    measures = {(row.what.scope, row.what.measure) for row in outcome.comparison.rows}
    assert {("flow", "goodput"), ("flow", "RTT p50"), ("flow", "RTT p95"), ("flow", "retransmitted")} <= measures
    assert {("link", "queue p50"), ("link", "queue p95"), ("link", "utilisation"), ("run", "Jain's index")} <= measures


def test_repetitions_are_paired_by_seed(tmp_path: Path) -> None:
    """Seeds change goodput by a third, under both engines alike: the interval has no length."""
    emulated = FakeEngine(change=slower(1.0, 0.1))
    simulated = FakeEngine(name=SIMULATE, change=slower(0.9, 0.09))
    (outcome,) = run_both([subject(tmp_path)], engines(emulated, simulated))
    total = outcome.comparison.get(TOTAL_GOODPUT)
    assert total is not None
    assert total.first[0] > 1.2 * total.first[2]
    assert total.ratio is not None
    assert (total.ratio.low, total.ratio.high) == (pytest.approx(0.9, abs=1e-4), pytest.approx(0.9, abs=1e-4))
    assert overall(judge(outcome.comparison)) is Status.OUTSIDE


def test_a_repetition_that_one_engine_lacks_is_left_out(tmp_path: Path) -> None:
    # The other attempts come after the other seeds.
    found = engines(FakeEngine(["invalid", "valid", "valid", *["invalid"] * 3]))
    (outcome,) = run_both([subject(tmp_path)], found)
    assert outcome.comparison.repetitions == len(outcome.pairs) == 2
    (said,) = outcome.refused
    assert said.startswith("emulate, seed ")
    assert said.endswith("invalid: ring-drops")
    assert len(found[EMULATE].executed) == 3 + 3, "four attempts at the first"


def first_two_differ(plan: Plan, files: Files) -> None:
    """One flow of `wide` gets 2 % less, then 2 % more; later seeds, and other scenarios, are as they should be."""
    share = {1: 0.98, 2: 1.02}.get(plan.seed, 1.0) if plan.name == "wide" else 1.0
    slower(share)(plan, files)


@pytest.mark.parametrize("most", [2, 3, 9])
def test_what_is_undecided_is_repeated_until_it_is_decided(tmp_path: Path, most: int) -> None:
    """After ratios of 1 -+ 0.02 a third of 1 leaves an interval of -+ 0.034, a fourth one of -+ 0.019 (t = 2.35)."""
    found = engines(FakeEngine(change=first_two_differ))

    def carry_out(subjects: Sequence[Subject]) -> list[Outcome]:
        return run_both(subjects, found)

    narrow, wide = until_decided([subject(tmp_path, name, repeat=2) for name in ("narrow", "wide")], most, carry_out)
    assert len(narrow.pairs) == 2
    assert overall(judge(narrow.comparison)) is Status.INSIDE
    repeated = {2: 2, 3: 3, 9: 4}[most]
    assert [pair.seed for pair in wide.pairs] == list(range(1, repeated + 1))
    assert overall(judge(wide.comparison)) is (Status.INSIDE if most == 9 else Status.UNDECIDED)
    assert len(found[EMULATE].executed) == len(found[SIMULATE].executed) == 2 + repeated


def test_what_is_outside_gets_no_other_chance(tmp_path: Path) -> None:
    found = engines(FakeEngine(change=slower(0.5)))
    (outcome,) = until_decided([subject(tmp_path, repeat=2)], 9, lambda subjects: run_both(subjects, found))
    assert overall(judge(outcome.comparison)) is Status.OUTSIDE
    assert len(outcome.pairs) == 2


def test_simulated_runs_are_not_repeated_in_vain(tmp_path: Path) -> None:
    found = engines(simulated=FakeEngine(["failed"] * 9, name=SIMULATE))
    (outcome,) = run_both([subject(tmp_path)], found)
    assert len(found[SIMULATE].executed) == 3
    assert outcome.pairs == ()


def test_another_time_only_what_is_missing_is_run(tmp_path: Path) -> None:
    run_both([subject(tmp_path, repeat=2)], engines())
    again = engines()
    (outcome,) = run_both([subject(tmp_path, repeat=3)], again, resimulate=True)
    assert outcome.comparison.repetitions == 3
    assert again[EMULATE].executed == [("synthetic", 3)]
    assert len(again[SIMULATE].executed) == 3
    nothing = engines()
    (outcome,) = run_both([subject(tmp_path, repeat=9)], nothing, as_is=True)
    assert outcome.comparison.repetitions == 3
    assert nothing[EMULATE].executed == nothing[SIMULATE].executed == []


def test_what_an_engine_refuses_is_told_once_with_its_cell(tmp_path: Path) -> None:
    refusing = FakeEngine(name=SIMULATE, problems=[Problem("flows.0.cc: no such", "why", "hint")])
    subjects = [subject(tmp_path, name) for name in ("a", "b")]
    with pytest.raises(ScenarioError) as refused:
        check(subjects, engines(simulated=refusing))
    assert refused.value.problems == (Problem("a: flows.0.cc: no such", "why", "hint"),)


def test_two_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="two scenarios have the name 'a'"):
        check([subject(tmp_path, "a"), subject(tmp_path, "a")], engines())


@pytest.mark.parametrize("part", ["", "agreement.html"])
def test_a_directory_that_is_a_link_is_refused(tmp_path: Path, part: str) -> None:
    theirs = subject(tmp_path / "agreements")
    (theirs.directory / part).parent.mkdir(parents=True)
    (theirs.directory / part).symlink_to(tmp_path)
    with pytest.raises(InputError, match="is a link"):
        check([theirs], engines())


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, FakeEngine]:
    """Replace both engines; pages are without the built front end."""
    found = engines()
    monkeypatch.setattr("dumbbell.engines.registry.engine", lambda name: found[name])
    read = html.read
    monkeypatch.setattr(html, "read", lambda name: "" if name.startswith("assets/") else read(name))
    monkeypatch.chdir(tmp_path)
    return found


def file(name: str) -> str:
    """A scenario file, as the known records fit it."""
    text = f'name = "{name}"\nduration = "2 s"\n[topology]\nkind = "path"\nrtt = "20 ms"\n'
    text += 'bottleneck = { rate = "10 Mbit/s", buffer = "1 bdp" }\n'
    text += "".join(f'[[flows]]\nfrom = "h1"\nto = "h2"\ncc = "{cc}"\n' for cc in ("cubic", "bbr"))
    Path(f"{name}.toml").write_text(text)
    return f"./{name}.toml"


def test_the_command_on_scenarios(fakes: dict[str, FakeEngine], capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["agree", file("a"), file("b"), "--repeat", "2", "--set", "seed=5"]) == 0
    shown = capsys.readouterr()
    assert "a: inside\n" in shown.out
    assert "b: inside\nruns/agree/b/agreement.html\n" in shown.out
    assert "simulate: 4 of 4 runs\n" in shown.err
    assert sorted(fakes[EMULATE].executed) == [("a", 5), ("a", 6), ("b", 5), ("b", 6)]
    for name in ("agreement.html", "agreement.svg", "agreement.csv", "agreement.parquet"):
        assert (Path("runs/agree/a") / name).stat().st_size > 500
    assert len(list(Path("runs/agree/a").glob("a-????????????/manifest.json"))) == 4


@pytest.mark.thorough
def test_the_command_on_scenarios_that_differ(fakes: dict[str, FakeEngine], capsys: pytest.CaptureFixture[str]) -> None:
    fakes[SIMULATE] = FakeEngine(name=SIMULATE, change=slower(0.9))
    assert invoke(["agree", file("a"), "--json"]) == 1
    (told,) = json.loads(capsys.readouterr().out)
    assert (told["name"], told["agreement"]) == ("a", "outside")
    missed = [one for one in told["targets"] if one["status"] == "outside"]
    assert [one["target"] for one in missed] == ["total goodput"]
    page = Path(told["files"][0]).read_text()
    assert 'class="verdict invalid"' in page
    assert "0.9000 (0.9000 to 0.9000)" in page


def test_the_command_without_valid_runs(fakes: dict[str, FakeEngine], capsys: pytest.CaptureFixture[str]) -> None:
    fakes[EMULATE] = FakeEngine(["invalid"] * 4)
    assert invoke(["agree", file("a"), "--repeat", "1", "--quiet"]) == 3
    shown = capsys.readouterr()
    assert "emulate, seed 1: invalid: ring-drops" in shown.out
    assert shown.err == ""


@pytest.mark.thorough
def test_the_command_on_the_matrix(fakes: dict[str, FakeEngine], capsys: pytest.CaptureFixture[str]) -> None:
    cells = ["--cells", "reno_10mbit_*", "--output", "found"]
    assert main([*cells, "--list"]) == 0
    names = capsys.readouterr().out.split()
    assert all(name.startswith("reno_10mbit_") for name in names)
    assert main(cells) == 0
    shown = capsys.readouterr().out
    assert f"{len(names)} of {len(names)} cells are within all targets" in shown
    table = pl.read_parquet("found/agreement.parquet")
    assert table["cell"].to_list() == names
    assert table["repetitions"].unique().to_list() == [3]
    assert pl.read_csv("found/agreement.csv").height == len(names)
    assert "|" not in Path("found/agreement.md").read_text()  # No cell is outside or undecided.
    assert {path.name for path in Path("found").iterdir() if path.is_dir()} == set(names)


@pytest.mark.thorough
def test_a_matrix_is_measured_again_with_fresh_seeds(fakes: dict[str, FakeEngine]) -> None:
    cells = ["--cells", "reno_10mbit_10ms_*", "--repeat", "2", "--quiet"]
    assert main(cells) == 0
    assert main([*cells, "--first-seed", "101"]) == 0
    seeds = {seed for _, seed in fakes[EMULATE].executed}
    assert seeds == {seed for _, seed in fakes[SIMULATE].executed} == {1, 2, 101, 102}


def test_starts_are_moved_by_the_seed_alike_for_both_engines(
    fakes: dict[str, FakeEngine], capsys: pytest.CaptureFixture[str]
) -> None:
    starts: dict[str, dict[int, list[int]]] = {EMULATE: {}, SIMULATE: {}}
    for name, found in starts.items():

        def note(plan: Plan, files: Files, found: dict[int, list[int]] = found) -> None:
            found[plan.seed] = [flow.start_ns for flow in plan.flows]

        fakes[name] = FakeEngine(name=name, change=note)
    command = ["--cells", "reno-reno_100mbit_50ms_*", "--quiet"]
    assert main([*command, "--repeat", "1", "--most", "2", "--starts", "10 ms"]) == 0
    assert starts[EMULATE] == starts[SIMULATE]
    drawn = [start for seed in (1, 2) for start in starts[EMULATE][seed]]
    assert len(set(drawn)) == len(drawn) == 4
    assert all(0 <= start <= 10_000_000 for start in drawn)
    assert "Each flow started by chance up to 10 ms later." in Path("runs/agree/agreement.md").read_text()
    assert main([*command, "--starts", "ten"]) == 2
    assert "--starts ten is not a time" in capsys.readouterr().err


@pytest.mark.thorough
def test_a_matrix_that_is_outside_draws_what_is(fakes: dict[str, FakeEngine]) -> None:
    def only_one(plan: Plan, files: Files) -> None:
        if "_100ms_" in plan.name:
            slower(0.5)(plan, files)

    fakes[SIMULATE] = FakeEngine(name=SIMULATE, change=only_one)
    assert main(["--quick", "--cells", "cubic_*", "--repeat", "2", "--quiet", "--output", "found"]) == 1
    drawn = [path.parent.name for path in Path("found").glob("*/agreement.html")]
    assert drawn == ["cubic_10mbit_100ms_4bdp_1loss"]


@pytest.fixture
def any_kernel(fakes: dict[str, FakeEngine], monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    """A third engine, `kernels`: deterministic, and runs any kernel."""
    other = FakeEngine(name=SIMULATE)
    other.capabilities = replace(other.capabilities, name="kernels", any_kernel=True, models_tcp=False)
    monkeypatch.setattr(registry, "_OWN", {"kernels": other})
    fakes["kernels"] = other
    return other


def test_any_two_engines_are_named_wherever_they_are_compared(
    fakes: dict[str, FakeEngine], any_kernel: FakeEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["agree", "--engines", "kernels,simulate", "--repeat", "2"]
    assert invoke([*asked, file("a"), "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    assert told["engines"] == ["kernels", "simulate"]
    total = next(row for row in told["quantities"] if row["measure"] == TOTAL_GOODPUT)
    assert total["kernels"] == total["simulate"] == pytest.approx(8e-6 * BYTES / 2)
    page, drawing = (Path(f"runs/agree/a/agreement.{end}").read_text() for end in ("html", "svg"))
    assert "<h2>Under kernels and simulate</h2>" in page
    assert "f2 bbr, kernels" in drawing
    assert main([*asked[1:], "--cells", "reno_10mbit_*", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["engines"] == ["kernels", "simulate"]
    columns = pl.read_parquet("runs/agree/agreement.parquet").columns
    assert {"goodput_kernels_mbit", "goodput_simulate_mbit", "utilisation_kernels"} <= set(columns)
    both = " ".join([*columns, page, drawing, Path("runs/agree/agreement.md").read_text()])
    assert not {"emulated", "simulated", "emulate,"} & set(re.findall(r"[\w,]+", both))
    assert fakes[EMULATE].executed == []


def test_a_kernel_is_for_the_engine_that_runs_any(fakes: dict[str, FakeEngine], any_kernel: FakeEngine) -> None:
    asked: dict[str, list[str | None]] = {"kernels": [], SIMULATE: []}
    for name, kernels in asked.items():
        fakes[name].change = lambda plan, files, kernels=kernels: kernels.append(plan.emulate.kernel)
    assert invoke(["agree", "--engines", "simulate,kernels", "--kernel", "6.1", file("a"), "--repeat", "2"]) == 0
    assert asked == {"kernels": ["6.1"] * 2, SIMULATE: [None] * 2}


@pytest.mark.thorough
def test_beside_a_kernel_in_virtual_time_simulated_hosts_are_as_quick(
    fakes: dict[str, FakeEngine], any_kernel: FakeEngine
) -> None:
    asked: dict[str, list[str | None]] = {EMULATE: [], "kernels": [], SIMULATE: []}
    for name, hosts in asked.items():
        fakes[name].change = lambda plan, files, hosts=hosts: hosts.append(plan.simulate.hosts)
    assert invoke(["agree", "--engines", "kernels,simulate", file("a"), "--repeat", "2"]) == 0
    assert asked == {EMULATE: [], "kernels": [None] * 2, SIMULATE: ["virtual"] * 2}
    # Beside this machine's kernel they take their time.
    assert invoke(["agree", "--engines", "emulate,simulate", file("a"), "--repeat", "2"]) == 0
    assert asked == {EMULATE: [None] * 2, "kernels": [None] * 2, SIMULATE: ["virtual"] * 2 + [None] * 2}


@pytest.mark.thorough
def test_two_kernels_are_compared_under_one_engine(any_kernel: FakeEngine, capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[str | None] = []
    any_kernel.change = lambda plan, files: seen.append(plan.emulate.kernel)
    asked = ["agree", "--engines", "kernels@6.1,kernels@6.12", file("a"), "--repeat", "2", "--json"]
    assert invoke(asked) == 0
    assert seen == ["6.1", "6.1", "6.12", "6.12"]
    (told,) = json.loads(capsys.readouterr().out)
    assert told["engines"] == ["kernels@6.1", "kernels@6.12"]
    assert invoke(["agree", "--engines", "kernels,kernels@6.1", "--kernel", "6.9", file("b"), "--repeat", "2"]) == 0
    assert seen[4:] == ["6.9", "6.9", "6.1", "6.1"]


@pytest.mark.parametrize(
    ("word", "why"),
    [("simulate@6.1", "simulate runs no kernel of its own"), ("kernels@", "the kernel's name is missing")],
)
def test_a_kernel_behind_an_engines_name_is_one_that_it_runs(
    any_kernel: FakeEngine, word: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["agree", "single-flow", "--engines", f"kernels,{word}"]) == 2
    said = f"error: --engines kernels,{word}: {word}\n  {why}\nhint: --engines virtual@6.1,virtual@6.12\n"
    assert capsys.readouterr().err == said


def test_an_exact_engine_is_asked_once_for_each_seed(tmp_path: Path, any_kernel: FakeEngine) -> None:
    """No machine spoils its runs, and a change to the simulator is none to it."""
    any_kernel.outcomes = iter(["failed", "valid"])
    both = {"kernels": any_kernel, EMULATE: FakeEngine()}
    (outcome,) = run_both([subject(tmp_path, repeat=2)], both)
    assert len(any_kernel.executed) == 2
    assert len(outcome.pairs) == 1
    run_both([subject(tmp_path, repeat=2)], both, resimulate=True)
    assert len(any_kernel.executed) == 3, "only the one that failed"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--engines", "emulate"], "--engines emulate\n  two different engines can be compared\n"),
        (["--engines", "emulate,emulate"], "--engines emulate,emulate\n  two different engines can be compared\n"),
        (["--kernel", "6.1"], "--kernel 6.1\n  neither of emulate and simulate runs any kernel\n"),
    ],
)
def test_engines_that_cannot_be_compared(
    args: list[str], said: str, fakes: dict[str, FakeEngine], capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["agree", "single-flow", *args]) == 2
    assert capsys.readouterr().err == f"error: {said}hint: --engines virtual,simulate\n"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["nope.toml"], "error: nope.toml: no such file\n"),
        (["single-flow", "--set", "duration=5"], "error: --set duration=5: no unit\n"),
        (["single-flow", "--repeat", "0"], "error: --repeat must be at least 1"),
        (["single-flow", "single-flow"], "error: two scenarios have the name 'single-flow'\n"),
    ],
)
def test_bad_input_starts_nothing(
    args: list[str], said: str, fakes: dict[str, FakeEngine], capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["agree", *args]) == 2
    refused(said, fakes, capsys)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--quick", "--random", "2"], "error: --quick and --random are two sets of scenarios\n"),
        (["--cells", "bbr4_*"], "error: --cells bbr4_*: no cell has such a name\n"),
        (["--repeat", "0"], "error: --repeat must be at least 1\n"),
        (["--engines", "emulate"], "error: --engines emulate\n  two different engines can be compared\n"),
    ],
)
def test_bad_input_starts_no_matrix(
    args: list[str], said: str, fakes: dict[str, FakeEngine], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(args) == 2
    refused(said, fakes, capsys)


def refused(said: str, fakes: dict[str, FakeEngine], capsys: pytest.CaptureFixture[str]) -> None:
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(said)
    assert not Path("runs").exists()
    assert fakes[EMULATE].executed == []
