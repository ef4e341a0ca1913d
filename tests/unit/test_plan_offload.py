"""The form in which packets cross between kernel and emulator."""

from typing import Any

import pytest
from fake_engine import FakeEngine
from planning import dumbbell

from dumbbell.plan.offload import MERGE_NS
from dumbbell.scenario.file.loading import read
from dumbbell.studies.planning import Planner, alike


def emulate(bottleneck: dict[str, Any], **more: Any) -> tuple[str, int, bool]:
    found = dumbbell({"buffer": "100 packets", **bottleneck}, **more)["emulate"]
    return found["path"], found["merge_ns"], found["whole_bursts"]


WIRE, GSO = ("wire", 0, False), ("gso", MERGE_NS, False)


@pytest.mark.parametrize(
    ("bottleneck", "more", "expected"),
    [
        ({"rate": "400 Mbit/s"}, {}, WIRE),
        ({"rate": "400000001 bit/s"}, {}, GSO),
        ({"rate": "unlimited"}, {}, GSO),
        ({"rate": "unlimited", "reverse": {"rate": "10 Mbit/s"}}, {}, WIRE),
        ({"rate": "10 Mbit/s", "reverse": {"rate": "1 Gbit/s"}}, {}, GSO),
        ({"rate": {"steps": [["0 s", "10 Mbit/s"], ["5 s", "1 Gbit/s"]]}}, {}, GSO),
        ({"rate": "10 Mbit/s"}, {"events": [{"at": "1 s", "rate": "1 Gbit/s"}]}, GSO),
        # The flow does not cross the bottleneck, and nothing else is limited.
        ({"rate": "10 Mbit/s"}, {"flows": [{"from": "s1", "to": "s2"}]}, GSO),
        ({"rate": "10 Mbit/s"}, {"emulate": {"path": "gso"}}, GSO),
        ({"rate": "10 Mbit/s"}, {"emulate": {"whole_bursts": True}}, ("gso", MERGE_NS, True)),
        ({"rate": "1 Gbit/s"}, {"emulate": {"path": "wire"}}, WIRE),
        ({"rate": "1 Gbit/s"}, {"emulate": {"merge": "0 s"}}, ("gso", 0, False)),
        ({"rate": "1 Gbit/s"}, {"emulate": {"merge": "1 ms"}}, ("gso", 1_000_000, False)),
    ],
)
def test_the_choice(bottleneck: dict[str, Any], more: dict[str, Any], expected: tuple[str, int, bool]) -> None:
    assert emulate(bottleneck, **more) == expected


def paths(cells: list[dict[str, Any]]) -> tuple[set[str], set[str]]:
    """The paths of a study's cells by themselves, and after `alike`."""
    bottleneck = {"rate": "10 Mbit/s", "buffer": "100 packets"}
    topology = {"kind": "dumbbell", "rtt": "30 ms", "bottleneck": bottleneck}
    draft = read({"name": "x", "duration": "10 s", "topology": topology, "flows": [{"from": "s1", "to": "r1"}]})
    planner = Planner(draft, 1, FakeEngine(), "v1")
    plans = [planner.plan(cell) for cell in cells]
    same = alike(planner, cells, plans)
    own, common = ([plan.read().emulate.path for plan in some] for some in (plans, map(same.plan, cells)))
    return set(own), set(common)


def test_all_runs_of_a_study_take_the_path_of_its_fastest() -> None:
    rate = "topology.bottleneck.rate"
    assert paths([{rate: "10 Mbit/s"}, {rate: "20 Mbit/s"}]) == ({"wire"}, {"wire"})
    assert paths([{rate: "10 Mbit/s"}, {rate: "1 Gbit/s"}]) == ({"wire", "gso"}, {"gso"})


def test_a_study_of_both_paths_keeps_them() -> None:
    assert paths([{"emulate.path": "wire"}, {"emulate.path": "gso"}]) == ({"wire", "gso"}, {"wire", "gso"})


def test_cells_keep_their_paths_if_one_cannot_take_bursts() -> None:
    fast = {"topology.bottleneck.rate": "1 Gbit/s"}
    cells = [{**fast, "emulate.links": links} for links in ("ours", "kernel")]
    assert paths(cells) == ({"wire", "gso"}, {"wire", "gso"})
