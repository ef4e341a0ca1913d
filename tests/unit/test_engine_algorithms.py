"""The emulation engine's checks of congestion controls before a run, and its compilation of the user's."""

from __future__ import annotations

import json
from pathlib import Path

import known_run
import pytest
from fake_core import FakeCore, fake
from refused import BASE

from dumbbell.cc import core
from dumbbell.cc.compile import forget
from dumbbell.engines.realm import algorithms
from dumbbell.plan import wire
from dumbbell.plan.expand import expand
from dumbbell.plan.types import ObjectSource
from dumbbell.records import manifest
from dumbbell.scenario.file.loading import load
from dumbbell.scenario.file.writing import write

__all__ = ["fake"]

PROGRAM = "const volatile __u32 beta_keep = 180;\n"


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dumbbell.command._program", lambda: ["/opt/a b/dumbbell"])
    Path("my_cc.bpf.c").write_text(PROGRAM)


def problems(cc: str, more: str = "") -> list[str]:
    Path("my.toml").write_text(f"{BASE}cc = {cc}\n{more}")
    return [problem.text() for problem in algorithms.check(load("my.toml"))]


OWN = '{ bpf = "my_cc.bpf.c", parameters = { beta_keep = 3 } }'


def test_root_may(fake: FakeCore) -> None:
    assert problems('"bbr3"') == problems(OWN) == problems('"bbr3"', "[record]\nacks = true\n") == []


@pytest.mark.parametrize(
    ("cc", "label", "load_it"),
    [
        ('"bbr3"', "bbr3", "sudo '/opt/a b/dumbbell' cc load bbr3"),
        (
            '{ name = "bbr3", parameters = { undo = false, beta_keep = 9 } }',
            "bbr3",
            "sudo '/opt/a b/dumbbell' cc load bbr3 --set beta_keep=9 --set undo=false",
        ),
        (OWN, "my_cc", "sudo '/opt/a b/dumbbell' cc load my_cc.bpf.c --set beta_keep=3"),
    ],
)
def test_an_ordinary_user_is_told_how(cc: str, label: str, load_it: str, fake: FakeCore) -> None:
    fake.may_load = False
    also = "" if label == "my_cc" else "run it with --engine simulate; or "
    assert problems(cc) == [
        f"my.toml:15: {label}: this user may not load BPF programs\n"
        "  this process lacks CAP_BPF and CAP_PERFMON\n"
        f"hint: {also}run as root, or load it once so that every user's runs can use it: {load_it}"
    ]


@pytest.mark.parametrize("cc", ['"bbr3"', OWN])
def test_an_ordinary_user_uses_what_is_loaded(cc: str, fake: FakeCore, monkeypatch: pytest.MonkeyPatch) -> None:
    problems(cc)
    plan = expand(load("my.toml"))
    entry = wire.part(plan.algorithms[0])
    if entry["source"]["kind"] == "object":
        Path("as-root.bpf.o").write_bytes(b"object of " + PROGRAM.encode())
        entry = {**entry, "source": {"kind": "object", "path": "as-root.bpf.o"}}
    monkeypatch.setattr(algorithms, "available", lambda: ["cubic", fake.name(entry)])
    fake.may_load = False
    assert problems(cc) == []
    assert len(problems(cc.replace("3 }", "4 }").replace('"bbr3"', '"bbr2"'))) == 1


def test_a_default_that_is_spelled_out_is_what_is_loaded(fake: FakeCore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(algorithms, "available", lambda: [one["name"] for one in fake.stay])
    core.load(core.algorithm("bbr3", {"kind": "bundled", "name": "bbr3"}))
    fake.may_load = False
    assert problems('"bbr3"') == problems('{ name = "bbr3", parameters = { beta_keep = 180 } }') == []
    (told,) = problems('{ name = "bbr3", parameters = { beta_keep = 9, undo = true } }')
    assert "\n  bbr3 is loaded to stay, but with defaults, not beta_keep=9\n" in told
    fake.stay[0]["name"] = "db3_000000"
    (told,) = problems('"bbr3"')
    assert "\n  bbr3 is loaded to stay, but another program\n" in told


def test_remedies_can_be_pasted(fake: FakeCore) -> None:
    """Quoted for a shell, with the folder in which the file lies."""
    Path("my algorithms").mkdir()
    Path("my algorithms/my_cc.bpf.c").write_text(PROGRAM)
    cc = '{ bpf = "my algorithms/my_cc.bpf.c", parameters = { beta_keep = 3 } }'
    fake.may_load = False
    (told,) = problems(cc)
    assert told.endswith("'/opt/a b/dumbbell' cc load 'my algorithms/my_cc.bpf.c' --set beta_keep=3")
    fake.errors = [{"file": "main", "line": 7, "column": 2, "severity": "error", "message": "what?"}]
    forget()
    (told,) = problems(cc)
    assert told.endswith("\nhint: dumbbell cc build 'my algorithms/my_cc.bpf.c' shows all that the compiler says")


def test_every_ack_takes_bpf(fake: FakeCore) -> None:
    fake.may_load = False
    (told,) = problems('"reno"', "[record]\nacks = true\n")
    assert told.startswith("my.toml:17: record.acks = true: this user may not load BPF programs\n")
    assert problems('"reno"') == []


@pytest.mark.parametrize(
    ("cc", "hint"),
    [
        ("bbr4", "did you mean bbr3?"),
        ("bbr", "--engine simulate has it. If it is a module, load it: sudo modprobe tcp_bbr"),
        ("bbr3-draft", "--engine simulate has it"),
        ("cubik", "did you mean cubic? If it is a module, load it: sudo modprobe tcp_cubik"),
        ("lettuce", "if it is a module, load it: sudo modprobe tcp_lettuce"),
    ],
)
def test_an_unknown_name(cc: str, hint: str, fake: FakeCore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(algorithms, "available", lambda: ["reno", "cubic", "db3_0a1b2c", "my_cc_00ff00"])
    monkeypatch.setattr(algorithms, "has_algorithm", lambda _: False)
    assert problems(f'"{cc}"') == [
        f'my.toml:15: flows.0.cc = "{cc}": this kernel has no such congestion control\n'
        "  expected one of cubic, reno, or dumbbell's bbr2, bbr3, bpf_cubic, bpf_dctcp, "
        "bpf_htcp, bpf_reno, bpf_westwood\n"
        f"hint: {hint}"
    ]


def test_what_does_not_compile_starts_nothing(fake: FakeCore) -> None:
    fake.errors = [{"file": "main", "line": 7, "column": 2, "severity": "error", "message": "what?"}]
    assert problems(OWN) == [
        "my.toml:15: my_cc.bpf.c does not compile (clang 14.0.6)\n"
        "  my_cc.bpf.c:7:2: what?\n"
        "hint: dumbbell cc build my_cc.bpf.c shows all that the compiler says"
    ]


def test_what_the_verifier_refuses_starts_nothing(fake: FakeCore) -> None:
    fake.refuses = True
    assert problems(OWN) == ["my.toml:15: the verifier refuses my_cc_op_init\n  R1 invalid\nhint: check it"]
    assert problems('"bbr3"') == [], "it is known to be taken"
    fake.may_load = False
    assert "this user may not load" in problems(OWN)[0], "only who may load can ask"


def test_objects_lie_where_the_plan_says(fake: FakeCore) -> None:
    Path("made.bpf.o").write_bytes(b"made elsewhere")
    Path("my.toml").write_text(f'{BASE}cc = {OWN}\n[[flows]]\nfrom="h1"\nto="h2"\ncc = {{ bpf = "made.bpf.o" }}\n')
    scenario = load("my.toml")
    plan = expand(scenario)
    Path("run").mkdir()
    write(scenario, Path("run"))
    algorithms.prepare(plan, Path("run"))
    objects = {
        one.label: Path("run", one.source.path).read_bytes()
        for one in plan.algorithms
        if isinstance(one.source, ObjectSource)
    }
    assert objects == {"my_cc": b"object of " + PROGRAM.encode(), "made": b"made elsewhere"}


def test_the_manifest_says_what_each_was() -> None:
    source = {"kind": "bundled", "name": "bbr3"}
    own = {"label": "bbr3 (x=1)", "source": source, "parameters": {"x": 1}, "sha256": "ab"}
    plan = known_run.plan(algorithms=[own])
    fact = {"label": "bbr3 (x=1)", "registered": "db3_0a1b2c", "sha256": "cd", "variant": "v610", "loaded": "run"}
    told = list(manifest.algorithm_entries(plan, {"algorithms": [{**fact, "programs": []}]}))
    assert json.loads(json.dumps(told)) == [
        {
            "label": "bbr3 (x=1)",
            "source": source,
            "parameters": {"x": 1},
            "source_sha256": "ab",
            "registered": "db3_0a1b2c",
            "object_sha256": "cd",
            "variant": "v610",
            "loaded": "run",
        }
    ]
    assert list(manifest.algorithm_entries(known_run.plan(), {})) == []
