"""Whatever a run starts is listed before, however a text hides it: in keys, in their spelling, in a sweep."""

from __future__ import annotations

import hashlib
import json
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import tomlkit
from hypothesis import given, settings
from hypothesis import strategies as st

from dumbbell import studies
from dumbbell.engines.registry import engine
from dumbbell.errors import InputError
from dumbbell.pipeline.planned import planned
from dumbbell.plan.types import LinkedSource, ObjectSource, Plan, RouterNode
from dumbbell.scenario.file.loading import Draft, checked
from dumbbell.server.agreement import has_changed
from dumbbell.studies.cells import is_study
from dumbbell.studies.planning import Planner
from dumbbell.studies.prepared import prepared
from dumbbell.studies.programs import brings_files, programs
from dumbbell.workloads import CommandWorkload

HEAD = """\
name = "hidden"
duration = "1 s"
[topology]
kind = "graph"
[[topology.links]]
between = ["h1", "r1"]
rate = "10 Mbit/s"
delay = "1 ms"
[[topology.links]]
between = ["r1", "h2"]
rate = "10 Mbit/s"
delay = "1 ms"
"""
BPF = """\
#include <dumbbell/congestion_control.h>
static __u32 keep(struct sock *sk) { return tcp_sk(sk)->snd_cwnd; }
static void grow(struct sock *sk, __u32 ack, __u32 acked) { }
CONGESTION_CONTROL(calm, (ssthresh, keep), (undo_cwnd, keep), (cong_avoid, grow));
char LICENSE[] SEC("license") = "GPL";
"""
FIRST = {"first.bpf.c": f"{BPF}//\n", "first.c": f"{BPF}//\n", "first.conf": "! first\n"}
FILES = {"theirs.bpf.c": BPF, "linked.c": BPF.replace("calm", "cool"), "r1.conf": "log syslog\n"}


@dataclass(frozen=True, eq=False)
class Entry:
    """A table of the scenario in which a program can be, with all keys that it has beside."""

    at: tuple[str, ...]
    """The keys of the table."""
    table: Mapping[str, object]
    key: tuple[str, ...]
    """The keys of the program in the table."""
    program: str
    first: str = "true"
    """Program that stands before it where cells vary it."""


ENDS = {"from": "h1", "to": "h2"}
ENTRIES = [
    Entry(("flows", "0"), {**ENDS, "id": "a"}, ("command",), "touch /tmp/command"),
    Entry(("flows", "1"), {**ENDS, "id": "b", "command": "true"}, ("server_command",), "touch /tmp/server"),
    Entry(("flows", "2"), {**ENDS, "id": "c"}, ("cc", "bpf"), "theirs.bpf.c", "first.bpf.c"),
    Entry(("flows", "3"), {**ENDS, "id": "d"}, ("cc", "kernel"), "linked.c", "first.c"),
    Entry(("programs", "0"), {"node": "h1", "command": "true"}, ("command",), "touch /tmp/program"),
    Entry(("topology", "nodes", "r1"), {"kind": "router"}, ("frr",), "r1.conf", "first.conf"),
]


def spelled(draw: st.DrawFn, part: str) -> str:
    """A part of a TOML key, in one of its spellings."""
    escaped = "".join(draw(st.sampled_from([letter, f"\\u{ord(letter):04x}"])) for letter in part)
    return draw(st.sampled_from([part, f" {part} ", f'"{part}"', f"'{part}'", f'"{escaped}"']))


def dotted(draw: st.DrawFn, keys: tuple[str, ...]) -> str:
    return ".".join(spelled(draw, key) for key in keys)


def toml(draw: st.DrawFn, value: object) -> str:
    """A value, whose tables have keys in any spelling."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{spelled(draw, key)} = {toml(draw, part)}" for key, part in value.items()) + " }"
    return "[" + ", ".join(toml(draw, one) for one in value) + "]" if isinstance(value, list) else json.dumps(value)


def with_program(entry: Entry, program: str = "") -> dict[str, object]:
    value: object = program or entry.program
    for key in reversed(entry.key[1:]):
        value = {key: value}
    return {**entry.table, entry.key[0]: value}


@st.composite
def scenarios(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A text, and the programs that are hidden in it."""
    hidden = draw(st.lists(st.sampled_from(ENTRIES), min_size=1, max_size=3, unique=True))
    written: list[str] = []
    axes: list[str] = []
    zipped: list[str] = []
    rows: list[list[str]] = []
    tables: dict[str, list[str]] = {"flows": [], "programs": []}
    for entry in ENTRIES:
        how = draw(st.sampled_from(["base", "key", "case", "zip"])) if entry in hidden else "absent"
        table = toml(draw, with_program(entry) if how == "base" else dict(entry.table))
        if entry.at[0] in tables:
            tables[entry.at[0]].append(table)
        else:
            written.append(f"[topology.nodes]\nh1 = {{}}\nh2 = {{}}\nr1 = {table}")
        whole = draw(st.booleans())
        key = json.dumps(dotted(draw, entry.at if whole else entry.at + entry.key))
        both = [with_program(entry, one) if whole else one for one in (entry.first, entry.program)]
        if how == "key":
            axes.append(f"{key} = {toml(draw, both)}")
        elif how == "case":
            rows += [[key, toml(draw, one)] for one in both]
        elif how == "zip":
            zipped.append(f"{key} = {toml(draw, both)}")
    axes.append('"topology.links.0.rate" = ["1 Mbit/s", "2 Mbit/s"]')
    draw(st.randoms(use_true_random=False)).shuffle(axes)
    cases = "".join(f'[[sweep.cases]]\nname = "{i}"\n{key} = {value}\n' for i, (key, value) in enumerate(rows))
    cases += "[[sweep.zip]]\n" + "\n".join(zipped) if zipped else ""
    lists = "".join(f"{name} = [{', '.join(of)}]\n" for name, of in tables.items())
    text = f"{lists}{HEAD}{''.join(written)}\n[sweep]\n" + "\n".join(axes) + f"\n{cases}"
    return text, [entry.program for entry in hidden]


def plans(draft: Draft) -> Iterator[Plan]:
    """The plan of each cell, as a run has it."""
    emulate = engine("emulate")
    if not is_study(draft):
        yield planned(emulate, checked(draft))
        return
    _, cells = prepared(draft)
    for cell in cells:
        yield from Planner(draft, 1, emulate, "none", asks=False).plan(cell).read_all()


def started(plan: Plan) -> Iterator[str]:
    """All that a plan starts which its scenario brings: command lines, and digests of files."""
    for flow in plan.flows:
        if isinstance(flow.workload, CommandWorkload):
            yield from filter(None, (flow.workload.command, flow.workload.server_command))
    yield from (program.command for program in plan.programs)
    for node in plan.nodes:
        if isinstance(node, RouterNode) and node.routing is not None:
            yield hashlib.sha256(node.routing.config.encode()).hexdigest()
    for algorithm in plan.algorithms:
        if isinstance(algorithm.source, ObjectSource | LinkedSource):
            assert algorithm.sha256 is not None
            yield algorithm.sha256


@settings(max_examples=40, deadline=None)
@given(scenarios())
def test_each_program_of_each_plan_is_listed(drawn: tuple[str, list[str]]) -> None:
    text, hidden = drawn
    with tempfile.TemporaryDirectory() as folder:
        for name, content in (FILES | FIRST).items():
            Path(folder, name).write_text(content)
        draft = Draft("hidden.toml", text, tomllib.loads(text), Path(folder), {})
        listed = programs(draft)
        runs = {program for plan in plans(draft) for program in started(plan)}
    names = {one.partition(", SHA-256 ")[0] for one in listed}
    known = {one.rpartition(", SHA-256 ")[2] for one in listed}
    assert runs <= known, text
    assert set(hidden) <= names, text
    for program in hidden:  # It is hidden where runs find it.
        assert program in runs or any(one.startswith(f"{program}, ") and one[-64:] in runs for one in listed), text
    assert brings_files(draft) == any(program in FILES for program in hidden)


@pytest.mark.parametrize(("key", "name"), [("frr", "r1.conf"), ("bpf", "theirs.bpf.c"), ("kernel", "linked.c")])
def test_what_is_in_files_is_listed(tmp_path: Path, key: str, name: str) -> None:
    (entry,) = (one for one in ENTRIES if one.key[-1] == key)
    nodes = {"h1": {}, "h2": {}, "r1": {"kind": "router"} | ({"frr": name} if key == "frr" else {})}
    data = tomllib.loads(HEAD)
    data["topology"]["nodes"] = nodes
    data["flows"] = [dict(ENDS) if key == "frr" else with_program(entry)]
    draft = Draft("a.toml", "", data, tmp_path, {})
    with pytest.raises(InputError, match="cannot read it"):
        programs(draft)
    (tmp_path / "part.h").write_text("! one\n")
    (tmp_path / name).write_text(FILES[name])
    (first,) = programs(draft)
    (tmp_path / name).write_text(f'#include "part.h"\n{FILES[name]}')
    (second,) = programs(draft)
    assert first.startswith(f"{name}, SHA-256 ")
    assert has_changed([first], [second])
    assert not has_changed([first], [first, "another, SHA-256 0"])
    if name.endswith(".c"):
        (tmp_path / "part.h").write_text("// two\n")
        assert has_changed([second], programs(draft))


def test_what_means_nothing_has_no_list(tmp_path: Path) -> None:
    data = tomllib.loads(HEAD + "[topology.nodes]\nh1 = {}\nh2 = {}\nr1 = { kind = 'router' }\n")
    data["flows"] = [dict(ENDS)]
    assert programs(Draft("a.toml", "", data, tmp_path, {})) == ()
    for wrong in ({"flows.7.command": ["true"]}, {"flows.0.comand": ["true"]}, {"flows.0.cc": [{"bpf": "none.bpf.c"}]}):
        draft = Draft("a.toml", "", {**data, "sweep": wrong}, tmp_path, {})
        with pytest.raises(InputError):
            programs(draft)
        assert brings_files(draft)


def test_what_takes_too_long_to_look_at_has_no_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tomllib.loads(HEAD + "[topology.nodes]\nh1 = {}\nh2 = {}\nr1 = { kind = 'router' }\n")
    data["flows"] = [dict(ENDS)]
    draft = Draft("a.toml", "", {**data, "sweep": {"flows.0.command": [f"echo {n}" for n in range(50)]}}, tmp_path, {})
    assert len(programs(draft)) == 50
    monkeypatch.setattr("dumbbell.studies.programs.LONGEST_S", 0)
    with pytest.raises(InputError, match="takes more than 0 s"):
        programs(draft)


@pytest.mark.parametrize("key", ["flows.0.cc", "flows.0", "flows"])
@pytest.mark.parametrize("before", [["cubic"], ["cubic", "bbr", {"kernel": "linked.c"}], []])
@pytest.mark.parametrize("program", ["theirs.bpf.c", {"bpf": "theirs.bpf.c"}])
def test_a_program_is_listed_wherever_a_cell_names_it(
    tmp_path: Path, key: str, before: list[object], program: object
) -> None:
    """Also as a plain text behind names that bring nothing: the first of these stands for the others."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)

    def at(cc: object) -> object:
        flow = {"from": "h1", "to": "h2", "cc": cc}
        return {"flows.0.cc": cc, "flows.0": flow, "flows": [flow]}[key]

    nodes = 'h1 = {}\nr1 = { kind = "router" }\nh2 = {}\n'
    text = f'{HEAD}[topology.nodes]\n{nodes}[[flows]]\nfrom = "h1"\nto = "h2"\n'
    data = {**tomllib.loads(text), "sweep": {key: [at(one) for one in [*before, program, "reno"]]}}
    draft = Draft("theirs.toml", text, data, tmp_path, {})
    listed = [one.partition(",")[0] for one in programs(draft)]
    assert listed == [*(["linked.c"] if len(before) > 1 else []), "theirs.bpf.c"]
    assert brings_files(draft)


@pytest.mark.parametrize("program", ["a/theirs.bpf.c", {"bpf": "a/theirs.bpf.c"}])
def test_a_study_keeps_the_programs_of_its_cells(tmp_path: Path, program: object) -> None:
    """Also if a plain text names one, which stands at no key of a path."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "theirs.bpf.c").write_text(BPF)
    flow = {"from": "h1", "to": "h2"}
    nodes: dict[str, object] = {"h1": {}, "r1": {"kind": "router"}, "h2": {}}
    data = tomllib.loads(HEAD)
    data = {**data, "topology": {**data["topology"], "nodes": nodes}, "flows": [flow]}
    (tmp_path / "mine.toml").write_text(tomlkit.dumps({**data, "sweep": {"flows.0.cc": ["reno", program]}}))
    kept = studies.run(tmp_path / "mine.toml", (), tmp_path / "kept", engine="simulate", report=False).directory
    assert (kept / "algorithms" / "theirs.bpf.c").read_text() == BPF
    (tmp_path / "a" / "theirs.bpf.c").unlink()
    again = studies.run(kept / "scenario.toml", (), tmp_path / "again", engine="simulate", report=False)
    assert sorted(again.flows["label"].unique()) == ["f1 reno", "f1 theirs"]
