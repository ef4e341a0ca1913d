"""Results that the editor keeps from earlier texts are those that it would find if it had seen none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dumbbell.errors import DumbbellError
from dumbbell.plan.expand import expand
from dumbbell.plan.wire import document
from dumbbell.scenario.resolve.drawn import network, ways
from dumbbell.scenario.resolve.drawn.remembered import remembered
from dumbbell.scenario.understood import Understood
from dumbbell.server import messages as m
from dumbbell.server.check import Checked, check, looked_further
from dumbbell.server.commands import Work, apply
from dumbbell.server.legend import of_plan
from dumbbell.server.reading import values
from dumbbell.server.ways import carried

NETWORK = """\
name = "mine"
duration = "2 s"

[topology]
kind = "graph"

[topology.nodes]
h1 = {}
h2 = { address = "10.9.0.2/24" }
h3 = {}
r1 = { kind = "router" }
r2 = { kind = "router" }
b1 = { kind = "switch", bridge = true, stp = true }
s1 = { kind = "switch" }

[[topology.links]]
between = ["h1", "s1"]
rate = "10 Mbit/s"

[[topology.links]]
between = ["s1", "r1"]
delay = "5 ms"

[[topology.links]]
between = ["r1", "r2"]
rate = "5 Mbit/s"
delay = "10 ms"
queue = "codel"
reverse = { delay = "20 ms" }

[[topology.links]]
between = ["r1", "r2"]
cost = 3

[[topology.links]]
between = ["r2", "b1"]

[[topology.links]]
between = ["b1", "h2"]
rate = { csv = "rates.csv" }

[[topology.links]]
between = ["b1", "h3"]
loss = "1 %"

[[flows]]
from = "h1"
to = "h2"

[[flows]]
from = "h3"
to = "h1"
cc = "reno"

[[events]]
at = "1 s"
link = "r1-r2"
rate = "1 Mbit/s"
"""
LINK = ("topology", "links")
NODE = ("topology", "nodes")
NODES = ("h1", "h2", "h3", "r1", "r2", "b1", "s1", "n1")
SETS: list[tuple[tuple[str, ...], list[Any]]] = [
    (("rate",), ["1 Mbit/s", "20 Mbit/s", "unlimited", "fast", {"csv": "rates.csv"}]),
    (("delay",), ["1 ms", "7 ms", "0 s"]),
    (("buffer",), ["1 bdp", "20 packets", "10 ms", "1 B"]),
    (("loss",), ["2 %", [{"model": "gilbert-elliott", "p": "1 %", "r": "10 %"}]]),
    (("queue",), ["red", "fq-codel", {"kind": "red", "min": "30 kB", "max": "10 kB"}]),
    (("cost",), [1, 2, True, 0]),
    (("name",), ["core", "r1-r2"]),
    (("mtu",), [1400, 9000, 100]),
    (("vlan",), [1, 10]),
    (("between",), [["h1", "r1"], ["r2", "nobody"], ["s1", "s1"]]),
    (("addresses",), [["10.3.0.1/24", "10.3.0.2/24"], ["10.9.0.1/24", []]]),
    (("reverse", "delay"), ["3 ms"]),
    (("up",), [False, True]),
]
WHOLE: list[tuple[list[str | int], list[Any]]] = [
    (["duration"], ["2 s", "5 s", "0 s"]),
    (["topology", "ipv6"], [True, False]),
    (["topology", "mtu"], [1500, 1280, 600]),
    (["topology", "spread"], ["flows", "nothing"]),
    (["topology", "pools", "link"], ["10.7.0.0/16", "10.7.0.0/31"]),
    (["flows", 0, "ip"], [4, 6]),
    (["events", 0, "link"], ["h1-s1", "nothing"]),
]


@st.composite
def edits(draw: Any) -> Any:
    """A change of any kind; many can't be carried out, or leave a scenario that has problems."""
    index, node, other = draw(st.integers(0, 6)), draw(st.sampled_from(NODES)), draw(st.sampled_from(NODES))
    match draw(st.sampled_from(["link", "link", "link", "whole", "node", "unset", "graph", "line"])):
        case "link":
            key, choices = draw(st.sampled_from(SETS))
            return m.Set(key=[*LINK, index, *key], value=draw(st.sampled_from(choices)))
        case "whole":
            key, choices = draw(st.sampled_from(WHOLE))
            return m.Set(key=key, value=draw(st.sampled_from(choices)))
        case "node":
            key, choices = draw(
                st.sampled_from(
                    [
                        ("address", ["10.9.0.2/24", "10.9.0.3/24", "nowhere"]),
                        ("id", ["10.1.1.1"]),
                        ("cpus", [[0]]),
                        ("routes", [["default via 10.9.0.1"]]),
                    ]
                )
            )
            return m.Set(key=[*NODE, node, key], value=draw(st.sampled_from(choices)))
        case "unset":
            return m.Unset(key=[*LINK, index, draw(st.sampled_from([key[0] for key, _ in SETS]))])
        case "graph":
            return draw(
                st.sampled_from(
                    [
                        m.AddNode(name="n1", kind="router"),
                        m.RemoveNode(name=node),
                        m.RenameNode(name=node, to=other),
                        m.AddLink(between=(node, other)),
                        m.RemoveLink(key=[*LINK, index]),
                    ]
                )
            )
    return draw(st.sampled_from(["delete", "double", "rates"])), draw(st.integers(0, 60))


@contextmanager
def knowing_nothing() -> Iterator[None]:
    """While nothing is remembered."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(network, "skeleton", network.skeleton.__wrapped__)  # type: ignore[attr-defined]
        patch.setattr(ways, "_found", ways._looked_for)
        values.cache_clear()
        yield


def told(found: Checked) -> dict[str, Any]:
    """All that is known, and the plan that would be run: so nothing that an engine obeys differs either."""
    known = {one.name: getattr(found, one.name) for one in fields(found) if one.name != "scenario"}
    if found.scenario is not None:
        try:
            known["plan"] = document(expand(found.scenario))
        except DumbbellError as error:
            known["plan"] = str(error)
    return known


@settings(max_examples=60, deadline=None)
@given(changes=st.lists(edits(), min_size=2, max_size=12))
def test_what_is_known_after_edits_is_what_the_text_says(
    changes: list[Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("edited")
    file, understood, text = folder / "mine.toml", Understood(), NETWORK
    for number, change in enumerate([None, *changes]):
        if number == 0:
            (folder / "rates.csv").write_text("time_s,rate_Mbps\n0,10\n1,5\n")
        elif isinstance(change, tuple):
            what, line = change
            lines = text.splitlines(keepends=True)
            if what == "rates":
                (folder / "rates.csv").write_text(f"time_s,rate_Mbps\n0,{line + 1}\n")
            elif lines:
                at = line % len(lines)
                text = "".join(lines[:at] + (lines[at : at + 1] * 2 if what == "double" else []) + lines[at + 1 :])
        else:
            work = Work("mine.toml", text, m.Layout(), folder)
            try:
                apply(change, work)
            except DumbbellError:
                continue
            text = work.text
        known = told(check(text, file, understood=understood))
        with knowing_nothing():
            assert known == told(check(text, file)), text


def test_a_table_that_takes_something_from_a_file_is_read_again(tmp_path: Path) -> None:
    file, understood = tmp_path / "mine.toml", Understood()

    def rate(line: str) -> str:
        (tmp_path / "rates.csv").write_text(f"time_s,rate_Mbps\n{line}\n")
        drawing = check(NETWORK, file, understood=understood).drawing
        assert drawing is not None
        forward = drawing.links[5].forward
        assert forward is not None
        return forward.rate

    first = rate("0,10")
    assert rate("0,20") != first
    assert rate("0,10") == first


def test_the_last_results_are_kept_for_equal_arguments() -> None:
    asked: list[list[int]] = []

    @remembered(2)
    def total(of: list[int]) -> int:
        asked.append(of)
        if not of:
            raise ValueError("nothing")
        return sum(of)

    assert [total([1, 2]), total([1, 2]), total([3]), total([1, 2])] == [3, 3, 3, 3]
    assert asked == [[1, 2], [3]]
    assert [total([4]), total([1, 2])] == [4, 3]
    assert asked == [[1, 2], [3], [4], [1, 2]]
    for _ in range(2):
        with pytest.raises(ValueError, match="nothing"):
            total([])
    assert asked[4:] == [[], []]


PAIR = """\
name = "pair"
[topology]
kind = "graph"
[topology.nodes]
h1 = {}
h2 = { address = "10.5.0.2/24" }
r = { kind = "router" }
[[topology.links]]
between = ["h1", "r"]
[[topology.links]]
between = ["r", "h2"]
"""
FLOWS = """\
[[flows]]
from = "h1"
to = "h2"
cc = "bbr"
[[flows]]
from = "h2"
to = "h1"
connections = 2
"""


@pytest.mark.parametrize("more", ["", '[[flows]]\nfrom = "h1"\nto = "nobody"\n', "events = 7\n"])
def test_nodes_have_addresses_before_there_is_traffic(tmp_path: Path, more: str) -> None:
    top, rest = (more, "") if more.startswith("events") else ("", more)
    found = check(top + PAIR + rest, tmp_path / "pair.toml")
    assert found.problems
    assert found.drawing is not None
    addresses = {node.name: node.addresses for node in found.drawing.nodes}
    assert addresses["h1"][0].startswith("10.0.0.")
    assert addresses["h2"] == ["10.5.0.2/24"]
    assert len(addresses["r"]) == 2
    assert [node.interfaces for node in found.drawing.nodes] == [["eth0"], ["eth0"], ["eth0", "eth1"]]


def test_flows_have_the_colours_of_plots_and_their_ways(tmp_path: Path) -> None:
    path = tmp_path / "pair.toml"
    known = check(f'duration = "2 s"\n{PAIR}{FLOWS}', path)
    assert known.drawing is not None
    assert [flow.via for flow in known.drawing.flows] == [[], []]
    found = looked_further(known, False).drawing
    assert found is not None
    one, two = found.flows
    assert (one.via, two.via) == (["h1", "r", "h2"], ["h2", "r", "h1"])
    plots = of_plan(expand(known.scenario)) if known.scenario else None
    assert plots is not None
    assert (one.light, one.dark) == (plots.groups[0].light, plots.groups[0].dark)
    assert two.light == ""  # Each of its connections has a colour of its own.
    # What is known stays until the changed text's plan is known, unless a node is gone.
    changed = check(f'duration = "3 s"\n{PAIR}{FLOWS}', path).drawing
    later = carried(changed, found)
    assert later is not None
    assert [flow.via for flow in later.flows] == [one.via, two.via]
    gone = found.model_copy(update={"nodes": found.nodes[:2], "flows": changed.flows if changed else []})
    renewed = carried(gone, found)
    assert renewed is not None
    assert [flow.via for flow in renewed.flows] == [[], []]
