"""Any drawing is planned, or refused with places: nothing else happens."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dumbbell.errors import ScenarioError
from dumbbell.plan.expand import expand
from dumbbell.plan.network import network
from dumbbell.scenario.file.loading import load

KINDS: dict[str, dict[str, str]] = {"h": {}, "r": {"kind": "router"}, "s": {"kind": "switch"}}
ADDRESSES = ["10.0.0.1/30", "10.0.0.2/30", "10.0.0.5/24", "10.1.0.1/24", "10.1.0.9/31", "10.0.0.0/24", "fd00::1/64", []]

keys = st.fixed_dictionaries(
    {},
    optional={
        "rate": st.sampled_from(["1 Mbit/s", "1 Gbit/s"]),
        "delay": st.sampled_from(["0 s", "5 ms"]),
        "cost": st.integers(1, 3),
    },
)
odd_keys = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["core", "core-reverse", "h1-r1", "r1-h1-2"]),
        "addresses": st.lists(st.sampled_from(ADDRESSES), min_size=2, max_size=2),
        "buffer": st.sampled_from(["1 bdp", "10 ms", "20 packets"]),
    },
)


@st.composite
def drawings(draw: st.DrawFn) -> dict[str, Any]:
    """A tree with the hosts as its leaves, and often more: links that close loops, keys that do not fit."""
    middle = draw(st.permutations(["r1", "r2", "s1", "s2"]))[: draw(st.integers(1, 4))]
    pairs = [[draw(st.sampled_from(middle[:i])), middle[i]] for i in range(1, len(middle))]
    pairs += [[host, draw(st.sampled_from(middle))] for host in ("h1", "h2", "h3")]
    pairs += draw(st.lists(st.lists(st.sampled_from([*middle, "h1", "h4"]), min_size=2, max_size=2), max_size=2))
    odd = draw(st.integers(0, 2)) == 0
    links = [{"between": pair, **draw(keys), **(draw(odd_keys) if odd else {})} for pair in pairs]
    nodes = {name: dict(KINDS[name[0]]) for name in [*middle, "h1", "h2", "h3"]}
    if address := draw(st.sampled_from([None, None, *ADDRESSES])):
        nodes["h1"]["address"] = address
    return {"kind": "graph", "nodes": nodes, "links": links, "ipv6": draw(st.booleans())}


@settings(deadline=None, max_examples=300)  # The machine may be busy.
@given(drawings())
def test_any_drawing_is_planned_or_refused(topology: dict[str, Any]) -> None:
    flows = [{"from": "h1", "to": "h2"}, {"connections": 2, "from": "h3", "to": "h*"}]
    try:
        plan = expand(load({"name": "x", "duration": "1 s", "topology": topology, "flows": flows}))
    except ScenarioError as refusal:
        problems = refusal.problems
    else:
        assert all(network(plan).there(flow) for flow in plan.flows)
        return
    # What the planner finds by itself has the key of a node, a link or a flow.
    assert all("." in problem.key for problem in problems)
