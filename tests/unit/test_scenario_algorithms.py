"""`cc` in all its forms, and how it is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
from refused import BASE, refused

from dumbbell.cc import core
from dumbbell.cc.bundled import BUNDLED
from dumbbell.cc.parameters import Parameter, Parameters
from dumbbell.errors import ScenarioError
from dumbbell.plan.expand import expand
from dumbbell.plan.identity import run_id
from dumbbell.plan.parts import cc as cc_of
from dumbbell.plan.wire import document, parsed
from dumbbell.scenario.file.loading import load
from dumbbell.scenario.file.schema import json_schema
from dumbbell.scenario.file.writing import write

PROGRAM = """\
#include <dumbbell/congestion_control.h>
const volatile __u32 step = 2;      /* packets by which the window grows per RTT */
const volatile bool gentle = true;  // whether it halves at all
"""

BBR3 = Parameters(
    (
        Parameter("beta_keep", 32, False, 180, "share of inflight_hi that is kept after loss, /256"),
        Parameter("undo", 1, False, True),
        Parameter("ecn", 1, False, False),
        *(Parameter(f"other{i}", 32, False, i) for i in range(12)),
    )
)


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for module in ("dumbbell.scenario.resolve.resolved.parameters_of", "dumbbell.cc.core.parameters_of"):
        monkeypatch.setattr(module, lambda label: BBR3 if label == "bbr3" else None)
    Path("my_cc.bpf.c").write_text(PROGRAM)


def with_cc(*ccs: str, more: str = "") -> str:
    return BASE.rpartition("[[flows]]")[0] + "".join(
        f'[[flows]]\nfrom = "h1"\nto = "h2"\ncc = {cc}\n{more}' for cc in ccs
    )


def plan_of(*ccs: str, more: str = "") -> dict[str, Any]:
    Path("my.toml").write_text(with_cc(*ccs, more=more))
    return document(expand(load("my.toml")))


def labels(*ccs: str) -> list[str]:
    plan = plan_of(*ccs)
    found = [flow["workload"]["cc"] for flow in plan["flows"]]
    entries = [entry["label"] for entry in plan["algorithms"]]
    assert len(entries) == len(set(entries))
    assert set(entries) <= set(found)
    return found


BUNDLED_CC = '{ name = "bbr3", parameters = { beta_keep = 200 } }'


@pytest.mark.parametrize(
    ("ccs", "expected"),
    [
        (['"cubic"', '"bbr"', '"bbr2"'], ["cubic", "bbr", "bbr2"]),
        (['{ name = "bbr3" }', '"bbr3"'], ["bbr3", "bbr3"]),
        ([BUNDLED_CC], ["bbr3"]),
        (['"bbr3"', BUNDLED_CC], ["bbr3", "bbr3 (beta_keep=200)"]),
        (
            [f'{{ name = "bbr3", parameters = {{ beta_keep = 9, {x} }} }}' for x in ("undo = true", "undo = false")],
            ["bbr3 (undo=true)", "bbr3 (undo=false)"],
        ),
        (['{ kernel = "bbr3" }', '"bbr3"'], ["bbr3 (kernel)", "bbr3"]),
        (['{ kernel = "cubic" }'], ["cubic"]),
        (['{ bpf = "my_cc.bpf.c" }', '{ bpf = "./my_cc.bpf.c" }'], ["my_cc", "my_cc"]),
        (['{ bpf = "my_cc.bpf.c" }', '{ bpf = "other/my_cc.bpf.c" }'], ["my_cc", "my_cc-2"]),
        (
            [f'{{ bpf = "{name}.bpf.c" }}' for name in ("my_cc", "other/my_cc", "my_cc-2")],
            ["my_cc", "my_cc-3", "my_cc-2"],
        ),
        (['{ bpf = "cubic.bpf.c" }'], ["cubic (file)"]),
        (['{ bpf = "my_cc.bpf.c" }', '"my_cc"'], ["my_cc (file)", "my_cc"]),
    ],
)
def test_labels(ccs: list[str], expected: list[str]) -> None:
    Path("other").mkdir()
    for name in ("other/my_cc", "cubic"):
        Path(f"{name}.bpf.c").write_text("/* another */\n")
    Path("my_cc-2.bpf.c").write_text("/* a third */\n")
    assert labels(*ccs) == expected


def test_the_plan_lists_what_is_not_the_kernel_s_own() -> None:
    plan = plan_of('"cubic"', BUNDLED_CC, '{ bpf = "my_cc.bpf.c", parameters = { gentle = false } }', '{kernel="bbr2"}')
    bundled, own, kernel = plan["algorithms"]
    assert bundled == {
        "label": "bbr3",
        "source": {"kind": "bundled", "name": "bbr3"},
        "parameters": {"beta_keep": 200},
        "sha256": core.sha256_of("bbr3"),
    }
    assert own["source"] == {"kind": "object", "path": "algorithms/my_cc.bpf.o"}
    assert own["parameters"] == {"gentle": False}
    assert len(own["sha256"]) == 64
    assert kernel == {
        "label": "bbr2 (kernel)",
        "source": {"kind": "kernel", "name": "bbr2"},
        "parameters": {},
        "sha256": None,
    }


def test_the_run_s_id_follows_the_program_and_what_it_includes() -> None:
    Path("gain.h").write_text("#pragma once\n#define GAIN 2\n")
    Path("my_cc.bpf.c").write_text(f'#include "gain.h"\n{PROGRAM}')
    ids = [run_id(parsed(plan_of('{ bpf = "my_cc.bpf.c" }')), "x", "1")]
    assert run_id(parsed(plan_of('{ bpf = "my_cc.bpf.c" }')), "x", "1") == ids[0]
    Path("gain.h").write_text("#pragma once\n#define GAIN 3\n")
    ids.append(run_id(parsed(plan_of('{ bpf = "my_cc.bpf.c" }')), "x", "1"))
    Path("my_cc.bpf.c").write_text(PROGRAM)
    ids.append(run_id(parsed(plan_of('{ bpf = "my_cc.bpf.c" }')), "x", "1"))
    ids.append(run_id(parsed(plan_of('{ bpf = "my_cc.bpf.c", parameters = { step = 3 } }')), "x", "1"))
    assert len(set(ids)) == 4


def test_a_run_s_directory_repeats_it() -> None:
    """The program with all that it includes, two of one name, and one that is called as a kernel's."""
    for folder, text in (("a", "/* a */\n"), ("b", '#include "../gain.h"\n/* b */')):
        Path(folder).mkdir()
        Path(folder, "my_cc.bpf.c").write_text(text)
    Path("gain.h").write_text("#define GAIN 2\n")
    Path("cubic.bpf.c").write_text(PROGRAM)
    names = ("a/my_cc", "b/my_cc", "cubic")
    Path("my.toml").write_text("# Mine.\n" + with_cc('"reno"', *(f'{{ bpf = "{name}.bpf.c" }}' for name in names)))
    scenario = load("my.toml", ["flows.0.cc=bbr2"])
    Path("run").mkdir()
    write(scenario, Path("run"))
    assert sorted(path.name for path in Path("run/algorithms").iterdir()) == [
        "cubic.bpf.c",
        "my_cc-2.bpf.c",
        "my_cc.bpf.c",
    ]
    for name in names:
        Path(f"{name}.bpf.c").unlink()
    again = load("run/scenario.toml")
    assert expand(again) == expand(scenario)
    text = Path("run/scenario.toml").read_text()
    assert text.startswith("# Mine.\n")
    assert '{ bpf = "algorithms/my_cc-2.bpf.c" }' in text
    Path("third").mkdir()
    write(again, Path("third"))
    assert Path("third/scenario.toml").read_text() == text


def test_a_dict_becomes_short_toml() -> None:
    topology = {"kind": "path", "rtt": "1 ms", "bottleneck": {"rate": "1 Mbit/s"}}
    flows = [{"from": "h1", "to": "h2", "cc": cc} for cc in ("bbr3", {"bpf": "my_cc.bpf.c", "parameters": {"step": 3}})]
    scenario = load({"name": "x", "duration": "1 s", "topology": topology, "flows": flows, "record": {"acks": True}})
    Path("run").mkdir()
    write(scenario, Path("run"))
    text = Path("run/scenario.toml").read_text()
    assert 'cc = "bbr3"' in text
    assert "acks = true" in text
    assert expand(load("run/scenario.toml")) == expand(scenario)


def test_a_parameter_is_added_to_a_name() -> None:
    Path("my.toml").write_text("# Mine.\n" + with_cc('"bbr3"'))
    queue = ["topology.bottleneck.queue=codel", "topology.bottleneck.queue.ecn=true"]
    scenario = load("my.toml", ["flows.0.cc.parameters.beta_keep=200", *queue])
    assert expand(scenario).algorithms[0].parameters == {"beta_keep": 200}
    Path("run").mkdir()
    write(scenario, Path("run"))
    assert Path("run/scenario.toml").read_text().startswith("# Mine.\n")
    assert expand(load("run/scenario.toml")) == expand(scenario)


@pytest.mark.parametrize(("given", "planned"), [("", "auto"), ("acks = true", "on"), ("acks = false", "off")])
def test_acks(given: str, planned: str) -> None:
    Path("my.toml").write_text(f"{BASE}[record]\n{given}\n")
    assert expand(load("my.toml")).record.acks == planned


@pytest.mark.parametrize("given", ['"on"', "1", '"yes"', "{}"])
def test_acks_are_refused_once(given: str) -> None:
    text = refused(f"{BASE}[record]\nacks = {given}\n")
    at = "record.acks" if given == "{}" else f"record.acks = {given}"
    assert text.split(" ", 1)[1] == f'{at}: unknown\n  expected "auto", true or false'


COMMAND = '"bbr3"\ncommand = "iperf3 -c {server} -C {cc} ${cc}"'


def test_a_program_s_algorithm_is_filled_in_when_it_runs() -> None:
    plan = plan_of(COMMAND)
    workload = plan["flows"][0]["workload"]
    assert workload["cc"] == "bbr3"
    assert workload["command"].endswith("-C {cc} ${cc}")
    assert [entry["label"] for entry in plan["algorithms"]] == ["bbr3"]
    assert plan_of(COMMAND.replace("bbr3", "reno"))["algorithms"] == []


@pytest.mark.parametrize("cc", ['"dctcp"', '"bpf_dctcp"', '{ bpf = "marks.bpf.c" }'])
def test_algorithms_that_need_ecn_negotiate_it_themselves(cc: str) -> None:
    """The host's setting stays, and other flows from the host need no ECN."""
    Path("marks.bpf.c").write_text("flags = TCP_CONG_NEEDS_ECN\n")
    plan = plan_of(cc, '"cubic"')
    assert [flow["workload"]["ecn"] for flow in plan["flows"]] == [True, False]
    assert plan["nodes"][0]["sysctl"]["net.ipv4.tcp_ecn"] == "2"
    text = refused(with_cc(cc, more="ecn = false\n"))
    assert text.splitlines()[0].endswith("flows.0.ecn = false: " + cc.split('"')[1] + " always negotiates ECN")


REFUSALS = {
    "no such file": (
        '{ bpf = "mine.bpf.c" }',
        'flows.0.cc.bpf = "mine.bpf.c": cannot read it: no such file or directory\n'
        "  expected the path of a BPF program, relative to the scenario file\n"
        "hint: there is my_cc.bpf.c",
    ),
    "not a program's name": (
        '{ bpf = "my.c" }',
        'flows.0.cc.bpf = "my.c": not the name of a BPF program\n'
        "  expected a BPF program in C (my_cc.bpf.c), or a compiled one (my_cc.bpf.o)\n"
        "hint: rename it: my.bpf.c",
    ),
    "a file as a name": (
        '"my_cc.c"',
        'flows.0.cc = "my_cc.c": not a name\n'
        "  expected a congestion control's name, a BPF program's path, or a table with one of name, bpf, kernel\n"
        'hint: for a file, write cc = { kernel = "my_cc.c" }',
    ),
    "a number": (
        "3",
        "flows.0.cc = 3: not a congestion control\n"
        "  expected a congestion control's name, a BPF program's path, or a table with one of name, bpf, kernel\n"
        'hint: write cc = "bbr3", or cc = "my_cc.bpf.c"',
    ),
    "a long name": (
        '"a_name_of_16_cha"',
        'flows.0.cc = "a_name_of_16_cha": not a name\n'
        "  expected at most 15 letters, digits, _, - and .\n"
        'hint: write cc = "bbr3", or cc = "my_cc.bpf.c"',
    ),
    "two of them": (
        '{ name = "bbr3", kernel = "bbr3" }',
        "flows.0.cc: name and kernel\n"
        "  expected a congestion control's name, a BPF program's path, or a table with one of name, bpf, kernel\n"
        'hint: write cc = "bbr3", or cc = "my_cc.bpf.c"',
    ),
    "a misspelt key": (
        '{ name = "bbr3", parameter = { x = 1 } }',
        "flows.0.cc.parameter: unknown key\n  expected one of name, bpf, kernel, parameters\n"
        "hint: did you mean parameters?",
    ),
    "parameters of the kernel's": (
        '{ name = "bbr", parameters = { x = 1 } }',
        "flows.0.cc: bbr is the kernel's and takes no parameters\n"
        "  expected one of bbr2, bbr3, bpf_cubic, bpf_dctcp, "
        "bpf_htcp, bpf_reno, bpf_westwood, or a BPF program of your own\n"
        "hint: did you mean bbr3?",
    ),
    "a parameter that is no number": (
        '{ name = "bbr3", parameters = { beta_keep = 0.7 } }',
        "flows.0.cc.parameters.beta_keep = 0.7: not a parameter's value\n"
        "  expected an integer, true or false, without quotes\n"
        "hint: write 200, or true",
    ),
    "a parameter of another type": (
        '{ name = "bbr3", parameters = { beta_keep = true } }',
        "flows.0.cc.parameters.beta_keep = true: does not fit\n"
        "  expected an integer (u32)\n"
        "hint: share of inflight_hi that is kept after loss, /256; 180 by default",
    ),
    "a parameter out of range": (
        '{ bpf = "my_cc.bpf.c", parameters = { step = -1 } }',
        "flows.0.cc.parameters.step = -1: does not fit\n"
        "  expected an integer from 0 to 4294967295 (u32)\n"
        "hint: packets by which the window grows per RTT; 2 by default",
    ),
    "a misspelt parameter": (
        '{ name = "bbr3", parameters = { beta_kep = 200 } }',
        "flows.0.cc.parameters.beta_kep = 200: bbr3 has no such parameter\n"
        f"  expected one of beta_keep, undo, ecn, {', '.join(f'other{i}' for i in range(12))}\n"
        "hint: did you mean beta_keep (u32, 180 by default): share of inflight_hi that is kept after loss, /256?",
    ),
    "an unknown parameter of a file": (
        '{ bpf = "my_cc.bpf.c", parameters = { beta = 1 } }',
        "flows.0.cc.parameters.beta = 1: my_cc.bpf.c has no such parameter\n"
        "  expected one of\n"
        "    step (u32, 2 by default): packets by which the window grows per RTT\n"
        "    gentle (bool, true by default): whether it halves at all",
    ),
    "marks that never come": (
        '{ name = "bbr3", parameters = { ecn = true } }',
        "flows.0.cc.parameters.ecn = true: bbr3 should answer marks, but the flow does not negotiate ECN\n"
        "  expected ecn = true on the flow, too\n"
        "hint: add ecn = true",
    ),
    "a program that needs no name": (
        '"bbr3"\ncommand = "iperf3 -c {server}"',
        'flows.0.cc = "bbr3": no command line asks for it\n'
        "  expected {cc} in command or server_command\n"
        "hint: write {cc} where the program takes it, as in iperf3 -C {cc}",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str) -> None:
    cc, expected = REFUSALS[case]
    at, text = refused(with_cc(cc)).split(" ", 1)
    assert at.startswith("my.toml:")
    assert text == expected


def test_a_name_for_nothing() -> None:
    flow = '[[flows]]\nfrom = "h1"\nto = "h2"\ncommand = "iperf3 -C {cc}"\n'
    assert "{cc} without cc" in refused(BASE.rpartition("[[flows]]")[0] + flow)


def test_on_the_command_line() -> None:
    Path("my.toml").write_text(with_cc('"cubic"'))
    plan = expand(load("my.toml", [f"flows.0.cc={BUNDLED_CC}"]))
    assert plan.algorithms[0].parameters == {"beta_keep": 200}
    assert cc_of(expand(load("my.toml", ["flows.0.cc=bbr2"])).flows[0]) == "bbr2"
    plan = expand(load("my.toml", ["flows.0.cc=bbr3", "flows.0.cc.parameters.beta_keep=200"]))
    assert plan.algorithms[0].parameters == {"beta_keep": 200}
    with pytest.raises(ScenarioError, match=r"^--set flows\.0\.cc=my\.bpf\.c: cannot read it"):
        load("my.toml", ["flows.0.cc=my.bpf.c"])


@pytest.mark.parametrize(
    ("cc", "valid"),
    [
        ("bbr3", True),
        ({"name": "bbr3", "parameters": {"beta_keep": 200, "undo": False}}, True),
        ({"bpf": "my_cc.bpf.c"}, True),
        ("./my_cc.bpf.c", True),
        ({"kernel": "bbr3"}, True),
        ("my_cc.bpf.c.c.c.c.c", False),
        ({"bpf": "my_cc.c"}, False),
        ({"name": "bbr3", "kernel": "bbr3"}, False),
        ({"parameters": {}}, False),
        ({"name": "bbr3", "parameters": {"x": 0.5}}, False),
        (3, False),
    ],
)
def test_schema(cc: Any, valid: bool) -> None:
    data = {
        "name": "x",
        "duration": "1 s",
        "topology": {"kind": "path", "rtt": "1 ms", "bottleneck": {"rate": "1 Mbit/s"}},
        "flows": [{"from": "h1", "to": "h2", "cc": cc}],
    }
    assert jsonschema.Draft202012Validator(json_schema()).is_valid(data) is valid


def test_the_core_has_what_is_listed() -> None:
    assert core.bundled().keys() == BUNDLED.keys()
