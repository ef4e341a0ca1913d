"""Differences between kinds of flow stand in their folder: no other file compares a kind's name or asks for a class."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from dumbbell.scenario.traffic.flows import DEFAULT, KINDS, Flow, kind_of
from dumbbell.scenario.traffic.kinds.flow import AnyFlow, Kind
from dumbbell.workloads import Workload

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / "python" / "dumbbell"
HOMES = (PYTHON / "scenario" / "traffic", PYTHON / "published", PYTHON / "workloads.py")
"""The kinds, files that write scenarios, and the generated types."""

_NAMES = "|".join(map(re.escape, KINDS))
_CLASSES = "|".join(f"{name.capitalize()}{end}" for name in KINDS for end in ("Flow", "Workload"))
TELLS_KINDS_APART = re.compile(
    rf"""\b(?:protocol|kind)\b["'\]), ]*(?:"tcp"\))?\s*(?:==|!=|\bin\b)\s*[("'\[{{]+(?:{_NAMES})\b|\b(?:{_CLASSES})\b"""
    rf"""|\bflow(?:\[|\.get\()"(?:{_NAMES})"[\])]"""
)
"""A comparison with a kind's name, a kind's class, or a look-up of a kind's figures in a flow."""

EXCEPTIONS = {
    "labs/record.py": "it writes back the two kinds of traffic that a lab starts by hand",
    "plan/expand.py": "the protocol of a program's port, which is no kind of flow",
}


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ('if flow.protocol == "ping":', True),
        ('if flow["protocol"] != "udp":', True),
        ('if workload["kind"] in ("tcp", "udp"):', True),
        ('frames.filter(pl.col("protocol") == "udp")', True),
        ('if flow.get("protocol", "tcp") == "tcp":', True),
        ("isinstance(flow.workload, CommandWorkload)", True),
        ('flow.get("ping")', True),
        ('flow["udp"]["sent_packets"]', True),
        ("kind(flow).is_bulk", False),
        ("flow[kind.kind][key]", False),
        ('Table("Programs", ["program", "command"])', False),
    ],
)
def test_the_pattern_finds_comparisons(line: str, is_found: bool) -> None:
    assert bool(TELLS_KINDS_APART.search(line)) is is_found


def test_no_other_file_tells_kinds_apart() -> None:
    files = [path for path in PYTHON.rglob("*.py") if not any(path.is_relative_to(home) for home in HOMES)]
    telling = {
        str(path.relative_to(PYTHON)) for path in files if TELLS_KINDS_APART.search(path.read_text(encoding="utf-8"))
    }
    assert telling == EXCEPTIONS.keys()


def test_no_other_crate_tells_kinds_apart() -> None:
    homes = [
        ROOT / "crates" / home
        for home in ("plan/src/workload.rs", "plan/src/workload", "traffic/src/kinds", "sim/src/kinds")
    ]
    files = [path for path in (ROOT / "crates").glob("*/src/**/*.rs") if path.name != "tests.rs"]
    matched = re.compile(rf"\bWorkload::(?:{'|'.join(name.capitalize() for name in KINDS)})\b")
    telling = {
        str(path.relative_to(ROOT))
        for path in files
        if matched.search(path.read_text(encoding="utf-8").partition("#[cfg(test)]")[0])
    }
    assert {name for name in telling if not any((ROOT / name).is_relative_to(home) for home in homes)} == set()
    for home in homes:
        assert any((ROOT / name).is_relative_to(home) for name in telling), home


def test_the_page_tells_no_kinds_apart() -> None:
    compared = re.compile(rf"""\b(?:protocol|kind)\b[^\n]*[=!]==? ["'](?:{_NAMES})["']""")
    pages = [path for path in (ROOT / "web").glob("*/**/*.ts*") if "node_modules" not in path.parts]
    assert len(pages) > 50
    assert [path for path in pages if compared.search(path.read_text(encoding="utf-8"))] == []


def test_each_workload_of_a_plan_has_a_kind() -> None:
    planned = {one.__dataclass_fields__["kind"].default: one for one in get_args(get_args(Workload)[0])}
    assert planned.keys() == KINDS.keys()
    for name, kind in KINDS.items():
        assert issubclass(kind, AnyFlow), name
        assert issubclass(kind, Kind), name
        assert kind.sends is not Kind.sends, name
        assert kind.workload is not AnyFlow.workload, name
        assert kind.has_segments or kind.port_protocols is not AnyFlow.port_protocols, name


def test_a_flow_is_of_the_kind_that_it_names() -> None:
    assert kind_of({"from": "h1", "to": "h2"}) is KINDS[DEFAULT]
    for name, kind in KINDS.items():
        written = {kind.instead: "true"} if kind.instead else {"protocol": name}
        assert kind_of(written) is kind
        assert [get_args(one)[0] for one in get_args(get_args(Flow)[0])].count(kind) == 1
