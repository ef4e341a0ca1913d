"""Flows of QUIC: what a scenario may ask for, and what is said without the program."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell.engines import registry
from dumbbell.engines.names import EMULATE, SIMULATE
from dumbbell.engines.protocol import Batch, Judging
from dumbbell.engines.realm import quic
from dumbbell.engines.simulate import quic as simulating
from dumbbell.errors import ScenarioError
from dumbbell.pipeline.planned import planned
from dumbbell.plan import wire
from dumbbell.plan.identity import run_id
from dumbbell.quic.program import VARIABLE
from dumbbell.scenario.traffic.kinds.quic import QuicFlow

FLOW = {"protocol": "quic", "from": "s1", "to": "r1"}


def scenario(flow: dict[str, Any]) -> dict[str, Any]:
    """A scenario with this flow."""
    link = {"rate": "10 Mbit/s", "buffer": "1 bdp"}
    topology = {"kind": "dumbbell", "pairs": 1, "rtt": "20 ms", "bottleneck": link}
    return {"name": "quic", "duration": "1 s", "topology": topology, "flows": [flow]}


def program(path: Path, stacks: dict[str, list[str]]) -> Path:
    """A program that lists these stacks."""
    listed = [{"name": name, "version": "1", "algorithms": algorithms} for name, algorithms in stacks.items()]
    path.write_text(f"#!/bin/sh\necho '{json.dumps(listed)}'\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_a_plan_names_stack_algorithm_and_size() -> None:
    given = scenario({**FLOW, "stack": "noq", "cc": "bbr3", "bytes": "300 kB", "connections": 2})
    plan = dumbbell.expand(dumbbell.load(given))
    assert [flow.id for flow in plan.flows] == ["f1.1", "f1.2"]
    workload = plan.flows[0].workload
    assert (workload.kind, workload.stack, workload.cc, workload.bytes) == ("quic", "noq", "bbr3", 300_000)
    default = dumbbell.expand(dumbbell.load(scenario(FLOW))).flows[0].workload
    assert (default.stack, default.cc, default.bytes) == ("quinn", "cubic", None)


def test_a_record_of_every_ack_needs_a_flow_of_tcp() -> None:
    given = scenario(FLOW)
    assert dumbbell.expand(dumbbell.load(given | {"record": {"acks": "auto"}}))
    with pytest.raises(ScenarioError, match=r"record\.acks = true: no flow has ACKs of TCP to record"):
        dumbbell.expand(dumbbell.load(given | {"record": {"acks": True}}))
    given["flows"].append({"from": "s1", "to": "r1"})
    assert dumbbell.expand(dumbbell.load(given | {"record": {"acks": True}}))


def test_a_rate_and_pauses_are_in_the_plan_and_in_its_words() -> None:
    keys = {"rate": "20 %", "on": "1 s", "off": "500 ms"}
    workload = dumbbell.expand(dumbbell.load(scenario({**FLOW, **keys}))).flows[0].workload
    assert (workload.rate_bps, workload.on_off.on.ns, workload.on_off.off_ns) == (2_000_000, 10**9, 5 * 10**8)
    assert QuicFlow.sends(workload) == "QUIC, quinn/cubic, 2 Mbit/s, 1 s on, 500 ms off"


@pytest.mark.parametrize(
    ("keys", "key", "words"),
    [
        ({"stack": "picoquic"}, "stack", "quinn, noq"),
        ({"stack": "NOQ"}, "stack", "did you mean noq?"),
        ({"cc": "bbr3"}, "cc", 'stack = "noq" has it'),
        ({"stack": "noq", "cc": "bbr"}, "cc", "cubic, reno, bbr3"),
        ({"cc": "vegas"}, "cc", 'write cc = "cubic"'),
        ({"on": "1 s"}, "on", 'add off = "2 s"'),
        ({"on": "1 s", "off": "1 s", "bytes": "1 MB"}, "bytes", 'on = "300 kB"'),
        ({"stack": "s2n", "qlog": True}, "qlog", "quinn, noq, quiche"),
        ({"rate": "0 %"}, "rate", "above zero"),
        ({"stack": "noq@../sh"}, "stack", "no build of the program is named"),
        ({"stack": f"noq@{'x' * 65}"}, "stack", "no build of the program is named"),
        ({"stack": "noq; touch taken #@branch"}, "stack", "no QUIC stack is named"),
        ({"stack": "@branch"}, "stack", "no QUIC stack is named"),
        ({"stack": "s2n@branch", "qlog": True}, "qlog", "quinn, noq, quiche"),
    ],
)
def test_what_a_stack_has_not_is_refused_with_what_it_has(keys: dict[str, Any], key: str, words: str) -> None:
    with pytest.raises(ScenarioError) as refusal:
        dumbbell.expand(dumbbell.load(scenario({**FLOW, **keys})))
    assert f"flows.0.{key}" in str(refusal.value) or f"flows[0].{key}" in str(refusal.value)
    assert words in str(refusal.value)


def test_a_network_of_small_packets_is_refused_with_the_least_mtu() -> None:
    for ip, least in ((4, 1228), (6, 1248)):
        given = scenario({**FLOW, "ip": ip})
        given["topology"]["mtu"] = least
        if ip == 4:
            dumbbell.expand(dumbbell.load(given))
            given["topology"]["mtu"] = least - 1
            with pytest.raises(ScenarioError, match=f"an MTU of {least} B or more"):
                dumbbell.expand(dumbbell.load(given))


def test_a_stack_without_its_protocol_is_told_where_it_belongs() -> None:
    with pytest.raises(ScenarioError) as refusal:
        dumbbell.load(scenario({"from": "s1", "to": "r1", "stack": "noq"}))
    assert 'stack belongs in a flow with protocol = "quic"' in str(refusal.value)


def test_without_its_program_a_flow_is_refused_with_what_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = dumbbell.load(scenario(FLOW))
    plan = dumbbell.expand(given)

    def said() -> list[str]:
        found = quic.check_quic(given, plan)
        return [f"{one.what} {one.why} {one.hint}" for one in found]

    monkeypatch.setenv(VARIABLE, str(tmp_path / "nowhere"))
    (missing,) = said()
    assert "the program of QUIC flows" in missing
    assert "make quic" in missing
    cut = tmp_path / "cut"
    for content, words in (
        (b"#!/bin/sh", "lists stacks as JSON, and it prints nothing"),
        (b"\x7fELF", "does not start: Exec format error"),
        (b"#!/bin/sh\necho hello", "it prints 'hello'"),
        (b"#!/bin/sh\nkill -9 $$", "was killed by signal 9"),
    ):
        cut.write_bytes(content)
        cut.chmod(0o755)
        monkeypatch.setenv(VARIABLE, str(cut))
        (broken,) = said()
        assert words in broken
        assert "make quic" in broken
    monkeypatch.setenv(VARIABLE, str(program(tmp_path / "other", {"noq": ["cubic"], "quinn": ["reno"]})))
    (lacking,) = said()
    assert "no quinn with cubic" in lacking
    assert "noq: cubic; quinn: reno" in lacking
    monkeypatch.setenv(VARIABLE, str(program(tmp_path / "whole", {"quinn": ["cubic"]})))
    assert said() == []


def test_a_build_is_a_program_of_its_own_beside_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build may have stacks and algorithms that the other lacks. Each is a part of the identity of runs."""
    given = dumbbell.load(scenario({**FLOW, "stack": "new@branch", "cc": "bbr9"}))
    plan = dumbbell.expand(given)
    path = program(tmp_path / "dumbbell-quic", {"quinn": ["cubic"]})
    monkeypatch.setenv(VARIABLE, str(path))
    (missing,) = quic.check_quic(given, plan)
    assert "lacks the build 'branch'" in missing.what
    assert "dumbbell quic build new FOLDER" in missing.hint
    branch = program(tmp_path / "dumbbell-quic-branch", {"new": ["bbr9"], "quinn": ["cubic"]})
    assert list(quic.check_quic(given, plan)) == []

    def identity(*stacks: str) -> str | None:
        flows = [{**FLOW, "stack": stack} for stack in stacks]
        return quic.settled(dumbbell.expand(dumbbell.load({**scenario(FLOW), "flows": flows}))).emulate.quic_sha256

    before = [identity("quinn"), identity("quinn@branch"), identity("quinn", "quinn@branch")]
    assert len({*before}) == 3
    branch.write_text(branch.read_text() + "# another build\n")
    after = [identity("quinn"), identity("quinn@branch"), identity("quinn", "quinn@branch")]
    assert [x == y for x, y in zip(before, after, strict=True)] == [True, False, False]


def test_the_simulator_asks_for_the_program_and_checks_the_other_flows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = {"protocol": "tcp", "from": "s1", "to": "r1", "cc": "illinois"}
    given = dumbbell.load({**scenario(FLOW), "flows": [FLOW, other]})
    engine = registry.engine(SIMULATE)

    def said() -> list[str]:
        return [f"{one.place} {one.what} {one.why} {one.hint}" for one in engine.check(given, dumbbell.expand(given))]

    monkeypatch.setenv(VARIABLE, str(tmp_path / "nowhere"))
    missing, lacking = said()
    assert "the program of QUIC flows" in missing
    assert "make quic" in missing
    assert "illinois" in lacking
    monkeypatch.setenv(VARIABLE, str(program(tmp_path / "whole", {"quinn": ["cubic"]})))
    assert said() == [lacking]


def test_a_simulation_is_one_build_of_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("dumbbell-quic", "dumbbell-quic-branch"):
        program(tmp_path / name, {"quinn": ["cubic"]})
    monkeypatch.setenv(VARIABLE, str(tmp_path / "dumbbell-quic"))
    flows = [FLOW, {**FLOW, "stack": "quinn@branch"}]
    given = dumbbell.load({**scenario(FLOW), "flows": flows})
    engine = registry.engine(SIMULATE)
    (refused,) = engine.check(given, dumbbell.expand(given))
    assert "its flows ask for several" in refused.what
    assert refused.place is not None
    assert "flows.1.stack" in str(refused) or "flows[1].stack" in str(refused)
    for flow in flows:
        alone = dumbbell.load(scenario(flow))
        assert list(engine.check(alone, dumbbell.expand(alone))) == []


def test_an_estimate_of_a_simulation_counts_what_a_stack_costs() -> None:
    """CPU seconds that 10 s of a flow took at 20 Mbit/s, within a factor of 2."""

    def estimated(**keys: str) -> float:
        given = scenario({**FLOW, **keys}) | {"duration": "10 s"}
        given["topology"]["bottleneck"]["rate"] = "20 Mbit/s"
        return registry.engine(SIMULATE).capabilities.alone_s(dumbbell.expand(dumbbell.load(given)))

    measured = {("quinn", "cubic"): 0.10, ("noq", "bbr3"): 0.20, ("quiche", "cubic"): 1.10, ("s2n", "bbr2"): 0.19}
    for (stack, cc), cpu_s in measured.items():
        assert cpu_s / 2 < estimated(stack=stack, cc=cc) < cpu_s * 2, stack
    assert estimated(protocol="tcp", cc="cubic") < 0.05


def conversing(path: Path, script: str) -> None:
    """A program that lists a stack, and else runs this script."""
    listed = json.dumps([{"name": "quinn", "version": "1", "algorithms": ["cubic"]}])
    path.write_text(f"#!/bin/sh\nif [ $1 = stacks ]; then echo '{listed}'; exit; fi\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("exit 7", "exit code 7"),
        ("kill -9 $$", r"killed by SIGKILL\nhint: the kernel does so when memory runs out"),
        ("echo hello", "another version, or no dumbbell-quic: it printed 'hello'"),
        ("echo '[1]'", "another version, or no dumbbell-quic"),
        ("""echo '{"failed": "reading plan.json: no such file"}'""", "no such file"),
        ("""echo '{"event": {"time_ns": 1}}'; read answer; [ "$answer" = true ] || exit 8; exit 9""", "exit code 9"),
    ],
)
def test_a_simulating_program_that_fails_is_a_failed_run(
    script: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversing(tmp_path / "program", script)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "program"))
    plan = dumbbell.expand(dumbbell.load(scenario(FLOW)))
    with pytest.raises(RuntimeError, match=words):
        simulating.simulate(plan, tmp_path, lambda event: event["event"] == "progress")


def test_a_simulating_program_is_told_to_stop_and_says_that_it_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = """echo '{"event": {"event": "progress", "time_ns": 1}}'; read answer
[ "$answer" = false ] && echo '{"ended": true}'"""
    conversing(tmp_path / "program", script)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "program"))
    plan = dumbbell.expand(dumbbell.load(scenario(FLOW)))
    assert simulating.simulate(plan, tmp_path, lambda _: False) is True


def test_a_batch_of_two_builds_is_two_programs_and_one_progress(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = {"runs": 2, "found": 1, "failed": 0, "packets": 10, "simulated_s": 2.0, "cpu_s": 0.5, "wall_s": 1.0}
    for name in ("dumbbell-quic", "dumbbell-quic-branch"):
        line = json.dumps({"progress": {**counted, "of": 2}})
        asked = tmp_path / f"{name}.json"
        script = f"read -r asked; printf %s \"$asked\" >{asked}; echo '{line}'; read -r go"
        conversing(tmp_path / name, script + """; echo '{"ended": false}'""")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "dumbbell-quic"))
    plans = [dumbbell.expand(dumbbell.load(scenario({**FLOW, "stack": stack}))) for stack in ("quinn", "quinn@branch")]
    runs = tuple((run % 2, run % 2, 0, 1, f"{run:012x}") for run in range(4))
    batch = Batch(tuple(map(wire.text, plans)), runs, tmp_path, 4)
    told: list[Any] = []

    def tell(event: Any) -> bool:
        told.append(event)
        return True

    judging = Judging(lambda plan, evidence: ("valid", None), 1.0, 1)
    simulating.simulate_many(batch, 1, judging, tell)
    asked = [json.loads((tmp_path / f"{name}.json").read_text()) for name in ("dumbbell-quic", "dumbbell-quic-branch")]
    assert [one["own"] for one in asked] == [[True, False, True, False], [False, True, False, True]]
    assert [(one["runs"], one["of"], one["found"], one["cpu_s"]) for one in told] == [(2, 4, 1, 0.5), (4, 4, 2, 1.0)]
    told.clear()

    def stop(event: Any) -> bool:
        told.append(event)
        return False

    simulating.simulate_many(batch, 1, judging, stop)
    assert len(told) == 1, "who stops one program wants no other"


def test_what_a_full_socket_dropped_is_a_loss_inside_the_host() -> None:
    assert QuicFlow.lost_in_hosts({"quic": {"socket_drops": 7}}) == (0, 7)
    assert QuicFlow.lost_in_hosts({}) is None, "its program never said that it was ready"


def test_another_build_makes_another_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A study that is resumed with another build runs its cells anew."""
    engine = registry.engine(EMULATE)
    path = program(tmp_path / "dumbbell-quic", {"quinn": ["cubic"]})
    monkeypatch.setenv(VARIABLE, str(path))

    def identity(flow: dict[str, Any]) -> str:
        return run_id(planned(engine, dumbbell.load(scenario(flow))), EMULATE, "1")

    own, tcp = identity(FLOW), identity({"from": "s1", "to": "r1"})
    assert identity(FLOW) == own
    path.write_text(path.read_text() + "# another build\n")
    assert identity(FLOW) != own
    assert identity({"from": "s1", "to": "r1"}) == tcp
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none"))
    assert planned(engine, dumbbell.load(scenario(FLOW))).emulate.quic_sha256 is None, "the check refuses it"
