"""The reference's statements about scenarios hold."""

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

from dumbbell.cc.core import parameters_of
from dumbbell.cli import invoke
from dumbbell.plan.expand import expand
from dumbbell.plan.offload import GSO_ABOVE_BPS, MERGE_NS
from dumbbell.plan.parts import hosts
from dumbbell.plan.view import tables
from dumbbell.scenario import bundled
from dumbbell.scenario.file.loading import load
from dumbbell.scenario.file.schema import json_schema
from dumbbell.scenario.links import delays, losses, queues
from dumbbell.scenario.source import show
from dumbbell.units import Rate, Time

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
EXPLANATION = REFERENCE.with_name("explanation")


EXAMPLE, *SNIPPETS = re.findall(r"```toml\n(.*?)```", (REFERENCE / "scenario.md").read_text(), re.DOTALL)
TRAFFIC = re.findall(r"```toml\n(.*?)```", (REFERENCE.with_name("how-to") / "traffic.md").read_text(), re.DOTALL)
DEFINITIONS = sorted(json_schema()["$defs"])


def test_the_example_can_be_planned() -> None:
    plan = expand(load(tomllib.loads(EXAMPLE)))
    sacks = [host.sysctl["net.ipv4.tcp_sack"] for host in hosts(plan)]
    assert sacks == ["0", "1", "1", "1"]
    assert [flow.id for flow in plan.flows] == ["f1", "f2", "background"]


def test_there_are_snippets() -> None:
    assert len(SNIPPETS) == 7
    assert len(TRAFFIC) == 5


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_snippets_can_be_planned(snippet: str) -> None:
    """Each completes a scenario with a path and a flow, and changes its plan."""
    base: dict[str, Any] = {"name": "x", "duration": "10 s", "flows": [{"from": "h1", "to": "h2"}]}
    plain = {"kind": "path", "rtt": "30 ms", "bottleneck": {"rate": "20 Mbit/s"}}
    given = tomllib.loads(snippet)
    plan = expand(load({**base, **given, "topology": {**plain, **given.get("topology", {})}}))
    assert plan != expand(load({**base, "topology": plain}))
    assert tables(plan, 30_000_000)


@pytest.mark.parametrize("snippet", TRAFFIC)
def test_traffic_of_the_how_to_can_be_planned(snippet: str) -> None:
    topology = {"kind": "dumbbell", "pairs": 4, "rtt": "30 ms", "bottleneck": {"rate": "20 Mbit/s"}}
    plan = expand(load({"name": "x", "duration": "60 s", "topology": topology, **tomllib.loads(snippet)}))
    assert tables(plan, 30_000_000)


def test_the_draft_s_parameters_can_be_pasted() -> None:
    """The parameters fit below a flow unchanged; the core knows each one, and none is the default already."""
    (snippet,) = re.findall(r"```toml\n(.*?)```", (EXPLANATION / "bbr.md").read_text(), re.DOTALL)
    path = '[topology]\nkind = "path"\nrtt = "30 ms"\nbottleneck = { rate = "20 Mbit/s" }\n'
    flow = '[[flows]]\nfrom = "h1"\nto = "h2"\n'
    plan = expand(load(tomllib.loads(f'name = "x"\nduration = "10 s"\n{path}{flow}{snippet}')))
    (entry,) = plan.algorithms
    assert entry.label == "bbr3"
    assert len(entry.parameters) == 13
    known = parameters_of("bbr3")
    assert known is not None
    for name, value in entry.parameters.items():
        parameter = known.find(name)
        assert parameter is not None
        assert parameter.default != value


@pytest.mark.parametrize("definition", [*DEFINITIONS, None])
def test_every_key_is_in_the_reference(definition: str | None) -> None:
    schema = json_schema()
    table = schema["$defs"][definition] if definition else schema
    text = (REFERENCE / "scenario.md").read_text()
    keys = table.get("properties", {})
    assert [key for key in keys if f"`{key}" not in text and f"[{key}]" not in text and f".{key}`" not in text] == []


@pytest.mark.parametrize("kind", queues.KINDS)
def test_defaults_of_queues_are_in_the_reference(kind: str) -> None:
    row = next(line for line in (REFERENCE / "scenario.md").read_text().splitlines() if line.startswith(f"| `{kind}`"))
    like = {"ared": "red", "fq-codel": "codel"}.get(kind)
    shown = queues.KINDS[kind](kind=kind).model_dump(mode="json")
    for key, value in shown.items():
        inherited = like and key in queues.KINDS[like].model_fields and (kind, key) != ("fq-codel", "ecn")
        if value is not None and key != "kind" and not inherited:
            text = f"{value:g}" if isinstance(value, float) else show(value)
            assert f"`{key}` `{text}`" in row


@pytest.mark.parametrize("name", [*losses.MODELS, *delays.DISTRIBUTIONS])
def test_models_and_their_keys_are_in_the_reference(name: str) -> None:
    rows = [line for line in (REFERENCE / "scenario.md").read_text().splitlines() if line.startswith(f'| `"{name}"`')]
    tables = [found[name] for found in (losses.MODELS, delays.DISTRIBUTIONS) if name in found]
    assert len(rows) == len(tables)
    common = {"model", "position", "distribution"} | ({"correlation"} if name in delays.DISTRIBUTIONS else set())
    keys = {key for table in tables for key in table.model_fields} - common
    assert [key for key in keys if f"`{key}`" not in "".join(rows)] == []


def test_the_path_is_chosen_as_the_reference_says() -> None:
    text = (REFERENCE / "scenario.md").read_text()
    assert f"faster than {Rate(GSO_ABOVE_BPS)}" in text
    assert f'`"{Time(MERGE_NS)}"` on `gso`' in text


def test_the_commands_work(capsys: pytest.CaptureFixture[str]) -> None:
    text = (REFERENCE / "command-line.md").read_text()
    commands = re.findall(r"^    dumbbell (plan .*)$", text, re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        assert invoke(shlex.split(command)) == 0


def test_the_readme_runs_what_there_is_and_says_what_takes_root() -> None:
    text = (REFERENCE.parents[1] / "README.md").read_text()
    named = set(re.findall(r"(?:dumbbell\)? run |dumbbell\.run\(\")([a-z0-9-]+)(?![\w.])", text))
    assert named == {"bbr-generations", "bbr-vs-cubic"}
    assert named <= set(bundled.names())
    assert "bbr-generations" in text.partition("## What you get")[0]
    nothing_left = text.partition("**Nothing left behind.**")[2].partition("\n\n")[0]
    assert "Only loading BPF programs needs root: BBRv2, BBRv3 and your own algorithms" in " ".join(
        nothing_left.split()
    )
    assert "tcp_available_congestion_control" in nothing_left
