"""Hunts: candidates stay in bounds, searches are functions of their seed, and shrinking keeps the fault."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

import dumbbell
from dumbbell.cli import invoke
from dumbbell.engines.events import Event
from dumbbell.engines.registry import engine
from dumbbell.errors import Damaged, InputError, Interrupted, RunFailed, ScenarioError
from dumbbell.hunt import network
from dumbbell.hunt.causes import Fault, cause, clustered
from dumbbell.hunt.evaluating import Result
from dumbbell.hunt.evaluating import _plan as planned
from dumbbell.hunt.goals import goal
from dumbbell.hunt.hunting import Hunted, Wanted, run_hunt
from dumbbell.hunt.log import Log
from dumbbell.hunt.network import offered_bps, values, with_algorithm
from dumbbell.hunt.search import SEARCHES
from dumbbell.hunt.shrinking import shrink
from dumbbell.hunt.space import Candidate, Gene, Space, ordered, space
from dumbbell.scenario.file.loading import checked, read
from dumbbell.scenario.hunt import KINDS, Hunt
from dumbbell.studies.cells import KEYS
from dumbbell.studies.planning import Planned, Planner

S, MS = 10**9, 10**6
SCENARIO: dict[str, Any] = {
    "name": "one-flow",
    "duration": "4 s",
    "topology": {"kind": "path", "rtt": "20 ms", "bottleneck": {"rate": "5 Mbit/s", "buffer": "1 bdp"}},
    "flows": [{"from": "h1", "to": "h2"}],
}
BPF = Path(__file__).parents[2] / "bpf" / "algorithms"
ATTACK = "goodput of f1 < 2 Mbit/s"
EASY = {**SCENARIO, "hunt": {"kinds": ["pulse", "loss"], "most": 3}}
"""Bursts take much of a short flow's goodput: a fault of its own making, which a few candidates in a hundred show."""


def all_kinds() -> Space:
    return space(Hunt(kinds=list(KINDS)), 10 * S, 10**7, 40 * MS)


def hunt(directory: Path, scenario: Mapping[str, Any] = EASY, sign: str = ATTACK, **more: Any) -> Hunted:
    on_event = more.pop("on_event", lambda event: None)
    wanted = Wanted(with_algorithm(read(scenario), more.pop("cc", "reno")), goal(sign), **{"budget": 150, **more})
    return run_hunt(wanted, directory, on_event)


def test_candidates_stay_within_their_bounds() -> None:
    found, rng = all_kinds(), Random(1)
    one, other = found.draw(rng), found.draw(rng)
    kinds: set[str] = set()
    for _ in range(2000):
        one, other = found.changed(one, rng), found.crossed(one, found.draw(rng), rng)
        for candidate in (one, other):
            assert found.contains(candidate)
            assert candidate == ordered(candidate)
            kinds |= {gene.kind for gene in candidate}
    assert kinds == set(KINDS)


def test_each_candidate_is_a_scenario_that_can_be_planned() -> None:
    draft = read(SCENARIO)
    base, _ = network.base(draft)
    found, rng = space(Hunt(kinds=list(KINDS)), base.duration_ns, base.rate_bps, base.rtt_ns), Random(2)
    for _ in range(50):
        checked(draft.with_values(values(base, found.draw(rng))))


def test_an_event_ends_with_the_value_that_the_link_had() -> None:
    base, _ = network.base(read({**SCENARIO, "topology": {**SCENARIO["topology"], "bottleneck": {"rate": "5 Mbit/s"}}}))
    spike, longer = Gene("delay", S, S, 5 * MS), Gene("delay", 3 * S // 2, 5 * S, 7 * MS)
    told = values(base, (spike, longer))["events"]
    assert [(one["at"], one["delay"]) for one in told] == [
        ("1 s", "15 ms"),
        ("1.5 s", "22 ms"),
        ("2 s", "17 ms"),
    ], "the end of the second event lies beyond the run"
    told = values(base, (Gene("policer", S, S, 10**6),))["events"]
    assert [one["policer"] for one in told] == [{"rate": "1 Mbit/s", "burst": "30 kB"}, "none"]


def test_what_a_candidate_leaves_to_the_flows_is_integrated_over_time() -> None:
    base, _ = network.base(read(SCENARIO))
    assert offered_bps(base, ()) == 5e6
    assert offered_bps(base, (Gene("rate", 2 * S, value=10**6),)) == 3e6
    assert offered_bps(base, (Gene("cross", S, S, 20 * 10**6),)) == 5e6 * 3 / 4, "no more than the link carries"
    assert offered_bps(base, (Gene("pulse", 2 * S, S // 2, 5 * 10**6, every=S),)) == 5e6 * 3 / 4
    assert offered_bps(base, (Gene("policer", 0, 4 * S, 10**6), Gene("rate", S, value=10**7))) == 1e6


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_is_a_function_of_its_seed(name: str) -> None:
    def proposals(seed: int) -> list[Candidate]:
        search, found = SEARCHES[name](all_kinds(), seed), []
        for _ in range(4):
            batch = search.propose(16)
            search.learn([(one, Result(score=float(len(one)), facts={"rtt": one[0].at / S})) for one in batch])
            found += batch
        return found

    assert proposals(1) == proposals(1)
    assert proposals(1) != proposals(2)


def test_shrinking_keeps_the_fault_and_leaves_nothing_that_it_does_not_need() -> None:
    found, rng = all_kinds(), Random(3)

    def is_fault(candidate: Candidate) -> bool:
        """A loss of three packets or more, after a delay spike."""
        spikes = [gene.at for gene in candidate if gene.kind == "delay"]
        return any(
            gene.kind == "loss" and gene.number >= 3 and min(spikes, default=S * 99) < gene.at for gene in candidate
        )

    tried = 0
    while tried < 20:
        candidate = found.draw(rng)
        if not is_fault(candidate):
            continue
        tried += 1
        small = shrink(candidate, found, lambda some: list(map(is_fault, some)))
        assert is_fault(small)
        assert found.contains(small)
        assert [gene.kind for gene in small] == ["delay", "loss"]
        assert not any(is_fault(small[:i] + small[i + 1 :]) for i in range(len(small)))


def test_more_kinds_of_events_with_the_same_effect_are_no_cause_of_their_own() -> None:
    def fault(facts: Mapping[str, float], *kinds: Any) -> Fault:
        return Fault(tuple(Gene(kind, S) for kind in kinds), Result(score=0.2, facts=facts))

    lossy, blocked = {"retransmitted": 0.1}, {"window": 0.9}
    alone, more, other = fault(lossy, "pulse"), fault(lossy, "loss", "pulse"), fault(blocked, "loss", "pulse")
    assert clustered([more, other, alone]) == [alone, other]
    assert cause(alone) == "bursts at equal intervals; held back by its congestion control, with retransmissions"


def test_what_was_found_does_not_depend_on_the_number_of_cores(tmp_path: Path) -> None:
    one, two = hunt(tmp_path / "a", threads=1), hunt(tmp_path / "b", threads=2)
    assert one.faults > 0
    logs = [found.directory.joinpath("log.jsonl").read_bytes() for found in (one, two)]
    assert logs[0] == logs[1]
    assert [find.fault for find in one.finds] == [find.fault for find in two.finds]
    written = [find.directory.joinpath("scenario.toml").read_text() for find in (*one.finds, *two.finds)]
    assert len(set(written)) == len(one.finds)


def test_a_find_is_a_scenario_whose_expectation_fails(tmp_path: Path) -> None:
    found = hunt(tmp_path)
    find = found.finds[0]
    assert len(find.fault.candidate) == 1
    assert find.fault.candidate[0].kind == "pulse"
    study = dumbbell.run(
        str(find.directory / "scenario.toml"), directory=tmp_path, engine="simulate", repeat=1, report=False
    )
    (told,) = study.manifest["expectations"]
    assert told["answer"] == "fails"
    assert study.flows.filter(id="f1")["goodput_bps"].item() == pytest.approx(find.fault.result.value, rel=1e-6)
    plain = dumbbell.run(SCENARIO, directory=tmp_path, engine="simulate", report=False)
    assert plain.summary["flows"][0]["goodput_bps"] > 4e6


FOUND = sorted((Path(__file__).parents[2] / "docs" / "results" / "data" / "hunt").glob("*.toml"))


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_published_finds_still_show_their_faults(path: Path, tmp_path: Path) -> None:
    """A change of the simulator that mends one changes `docs/results/hunt.md`."""
    study = dumbbell.run(path, directory=tmp_path, engine="simulate", repeat=1, report=False)
    assert [one["answer"] for one in study.manifest["expectations"]] == ["fails"]


DAMAGED = {
    "7": "7",
    "x": '"x"',
    "{}": "{}",
    "deep": "[" * 200_000,
    "gene": '{"events": [{}]}',
    "kind": '{"events": [["evil", 1]]}',
    "list": '{"events": [[["rate"], 1]]}',
    "time": '{"events": [["rate", "1"]]}',
    "share": '{"events": [["rate", 1.5]]}',
    "score": '{"events": [], "score": "0"}',
    "true": '{"events": [], "value": true}',
    "infinite": '{"events": [], "limit": Infinity}',
    "huge": '{"events": [], "limit": 1' + "0" * 400 + "}",
    "subject": '{"events": [], "subject": 7}',
    "error": '{"events": [], "error": ["no"]}',
    "fact": '{"events": [], "facts": {"rtt": "1"}}',
    "facts": '{"events": [], "facts": [1]}',
}


@pytest.mark.parametrize("line", DAMAGED.values(), ids=DAMAGED)
def test_a_line_that_is_no_result_is_damaged(line: str, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(line + "\n")
    with pytest.raises(Damaged, match="cannot be read"):
        Log(tmp_path / "log.jsonl")


def test_a_hunt_that_was_killed_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    whole = hunt(tmp_path / "whole").directory / "log.jsonl"
    text = whole.read_bytes()

    def end(event: Event) -> None:
        if event.get("runs", 0) > 60:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hunt(tmp_path / "killed", on_event=end)
    (log,) = tmp_path.glob("killed/*/log.jsonl")
    kept = log.read_bytes()
    assert 0 < len(kept) < len(text)
    # kill -9 leaves half a line.
    log.write_bytes(kept + text[len(kept) : len(kept) + 20])
    found = hunt(tmp_path / "killed")
    assert log.read_bytes() == text
    assert found.runs == len(text.splitlines())


def test_the_first_fault_is_enough_if_so_asked(tmp_path: Path) -> None:
    found = hunt(tmp_path, is_first_enough=True)
    assert found.first is not None
    assert found.first <= 65 < found.runs or found.runs < 150


def test_one_algorithm_is_held_against_another(tmp_path: Path) -> None:
    """Reno fills the buffer and Vegas does not: the plain network shows it, so shrinking leaves no event."""
    draft = read(
        {**SCENARIO, "topology": {**SCENARIO["topology"], "bottleneck": {"rate": "5 Mbit/s", "buffer": "3 bdp"}}}
    )
    wanted = Wanted(with_algorithm(draft, "reno"), goal("delay"), with_algorithm(draft, "vegas"), budget=65, by=0.2)
    found = run_hunt(wanted, tmp_path, lambda event: None)
    assert found.first == 1
    (find,) = found.finds
    assert find.fault.candidate == ()
    result = find.fault.result
    assert result.value is not None
    assert result.limit is not None
    assert result.value > result.limit
    other = dumbbell.run(
        draft.with_values({"flows.0.cc": "vegas"}).data, engine="simulate", directory=tmp_path, report=False
    )
    assert result.limit == pytest.approx(1.25 * other.summary["flows"][0]["rtt_ms"]["p95"], rel=1e-6)
    assert 'cc = "reno"' in find.directory.joinpath("scenario.toml").read_text()


def test_an_algorithm_is_one_of_each_flow_under_test() -> None:
    """A flow of QUIC is under test as one of TCP is, and has algorithms of its own."""
    flows = [{**SCENARIO["flows"][0]}, {**SCENARIO["flows"][0], "protocol": "quic", "stack": "noq", "cc": "bbr3"}]
    draft = with_algorithm(read({**SCENARIO, "flows": flows}), "cubic")
    assert [flow["cc"] for flow in draft.data["flows"]] == ["cubic", "cubic"]
    assert network.base(draft)[0].tested == ("f1", "f2")
    with pytest.raises(ScenarioError, match="noq has no congestion control 'bbr'"):
        network.base(with_algorithm(draft, "bbr"))


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"kinds": ["los"]}, "hunt.kinds.0"),
        ({"delay": ["5 ms"]}, "not a pair; expected"),
        ({"delay": ["5 ms", "1 ms"]}, "5 ms is above 1 ms"),
        ({"reorder": ["0 %", "1 %"]}, "begins at zero"),
        ({"losses": 0}, "hunt.losses = 0"),
        ({"links": "x"}, "hunt.links"),
        ({"link": "bottlenek"}, "no such link"),
        ({"flows": ["f2"]}, "no such flow"),
    ],
)
def test_bad_keys_are_refused_with_their_place(table: Mapping[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError) as error:
        hunt(tmp_path, {**SCENARIO, "hunt": table})
    problem = error.value.problems[0]
    assert said.replace("; expected", "") in problem.text()
    assert problem.key.startswith("hunt")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("sign", "said"),
    [
        ("stal", "did you mean stall?"),
        ("goodput < 5 ms", "unknown unit ms"),
        ("goodputs < 1", "no metric 'goodputs'"),
        ("starvation", "needs 2 flows of TCP"),
        ("goodput of f9 < 1 Mbit/s", "nothing is called f9"),
    ],
)
def test_goals_are_refused_in_words(sign: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        hunt(tmp_path, SCENARIO, sign)
    assert said in "\n".join(problem.text() for problem in error.value.problems)


def test_options_that_do_not_go_together_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["hunt", "bbr-vs-cubic", "--against", "bbr"]) == 2
    assert "--than is missing" in capsys.readouterr().err
    assert invoke(["hunt", "bbr-vs-cubic", "--search", "evolutoin"]) == 2
    assert "did you mean evolution?" in capsys.readouterr().err


def test_events_of_the_scenario_on_the_same_link_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="changes the link of the hunt"):
        hunt(tmp_path, {**SCENARIO, "events": [{"at": "1 s", "delay": "30 ms"}]})


@pytest.mark.skipif(shutil.which("clang") is None, reason="apt-get install clang")
def test_an_off_by_one_in_cubic_is_found_from_its_source(tmp_path: Path) -> None:
    """The mutant forgets the plateau at each recovery, and not at each time-out: the state's number is one too low."""
    source = (BPF / "cubic" / "cubic.bpf.c").read_text()
    right, wrong = "state == TCP_CA_Loss)", "state == TCP_CA_Loss - 1)"
    assert source.count(right) == 1
    mutant = tmp_path / "mutant.bpf.c"
    mutant.write_text(source.replace(right, wrong))
    same = tmp_path / "same.bpf.c"
    same.write_text(source)
    draft = read({**SCENARIO, "duration": "8 s"})
    cubic = with_algorithm(draft, "cubic")
    found = {
        program: run_hunt(
            Wanted(with_algorithm(draft, str(program)), goal("loss"), cubic, budget=65, by=0.2, is_first_enough=True),
            tmp_path,
            lambda event: None,
        )
        for program in (mutant, same)
    }
    assert found[same].faults == 0
    (find, *_) = found[mutant].finds
    assert find.directory.joinpath("algorithms", "mutant.bpf.c").read_text() == mutant.read_text()


@pytest.mark.skipif(shutil.which("clang") is None, reason="apt-get install clang")
def test_a_program_that_never_returns_ends_the_hunt_in_words(tmp_path: Path) -> None:
    source = (Path(__file__).parents[2] / "docs" / "tutorial" / "calm.bpf.c").read_text()
    end = "\tstate->round_end = tp->snd_nxt;\n"
    program = tmp_path / "loops.bpf.c"
    program.write_text(source.replace(end, "\tfor (volatile int i = 0; i >= 0;) i = 1;\n" + end))
    with pytest.raises(RunFailed) as error:
        hunt(tmp_path, cc=str(program))
    assert "goes on" in error.value.why
    (log,) = tmp_path.glob("*/log.jsonl")
    lines: Sequence[Any] = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(lines) > 1
    assert all("error" in line for line in lines)


def test_overtaking_on_a_link_without_delay_is_refused_and_costs_one_candidate_alone(tmp_path: Path) -> None:
    dumbbell_of_two = {"kind": "dumbbell", "pairs": 1, "rtt": "20 ms", "bottleneck": {"rate": "5 Mbit/s"}}
    scenario = {**SCENARIO, "topology": dumbbell_of_two, "flows": [{"from": "s1", "to": "r1"}]}
    with pytest.raises(ScenarioError, match="cannot overtake on s1-left, which has no delay"):
        hunt(tmp_path, {**scenario, "hunt": {"link": "s1-left", "kinds": ["loss", "reorder"]}})
    with pytest.raises(ScenarioError, match="s1-left has no rate"):
        hunt(tmp_path, {**scenario, "hunt": {"link": "s1-left"}})
    draft = read({**scenario, "hunt": {"link": "s1-left", "kinds": ["loss"]}})
    planner = Planner(draft.without(KEYS), 1, engine("simulate"), "none")
    base, _ = network.base(draft)
    assert isinstance(planned((planner, values(base, (Gene("loss", S, number=1, step=1),)))), Planned)
    assert "is not shorter than the link's" in str(planned((planner, values(base, (Gene("reorder", S, S, 50_000),)))))


def test_an_interrupt_keeps_the_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os
    import signal

    def end(event: Event) -> None:
        if event.get("runs", 0) > 60:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(Interrupted, match="the hunt was interrupted"):
        hunt(tmp_path, on_event=end)
    (log,) = tmp_path.glob("*/log.jsonl")
    assert len(log.read_text().splitlines()) >= 65
