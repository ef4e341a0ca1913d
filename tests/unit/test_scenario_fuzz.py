"""Any file is planned or refused in words; nothing else comes out."""

import copy
import tomllib
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stages import thorough_after

from dumbbell.errors import ScenarioError
from dumbbell.plan.expand import expand
from dumbbell.plan.network import network
from dumbbell.plan.view import tables
from dumbbell.plan.wire import document
from dumbbell.scenario import bundled
from dumbbell.scenario.file.loading import load
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.source import Key
from dumbbell.units import MAX

JUNK = st.one_of(
    st.sampled_from(
        ["", "0 s", "1 ns", "99999999999 s", "0 %", "1 bdp", "unlimited", "s1", "r2", "h1", "udp", "-1 ms"]
    ),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.booleans(),
    st.text(max_size=20),
    st.just(date(2020, 1, 1)),
    st.just([]),
    st.just({}),
    st.lists(st.sampled_from(["10 ms", "20 ms", 1]), max_size=3),
    st.dictionaries(st.sampled_from(["rate", "sysctl", "kind", "s1", "net.ipv4.tcp_sack"]), st.just("1 %"), max_size=2),
    st.sampled_from(["none", "red", "fq-codel", "5 packets", "1 Mbit/s", "100 %", "25 %", "3 s", "bottleneck-reverse"]),
    st.sampled_from([{"steps": [["0 s", "1 Mbit/s"]]}, {"kind": "pie"}, {"model": "trace"}, {"interval": "1 ms"}]),
)

BOTTLENECK: dict[str, Any] = {
    "delay": "1 ms",
    "up": True,
    "queue": {"kind": "red", "min_th": "5 packets", "max_p": "1 %", "weight": 0.5, "ecn": True},
    "overhead": "24 B",
    "jitter": {"distribution": "normal", "mean": "1 ms", "sd": "1 ms", "correlation": "25 %"},
    "reorder": {"rate": "1 %", "gap": 5},
    "delay_line": "99 packets",
    "loss": ["1 %", {"model": "four-state", "p13": "1 %"}, {"model": "periodic", "every": 5, "offset": 1}],
    "duplicate": "0 %",
    "policer": {"rate": "1 Mbit/s", "burst": "5 kB"},
    "slots": {"min_interval": "1 ms", "max_interval": "2 ms", "packets": 3},
    "reverse": {"rate": {"ramp": [["0 s", "1 Mbit/s"], ["1 s", "9 Mbit/s"]], "period": "1 s"}, "queue": "codel"},
}
EVENTS: list[dict[str, Any]] = [
    {"at": "1 s", "rate": "2 Mbit/s", "queue": {"kind": "ared"}, "loss": "none"},
    {"at": "2 s", "link": "bottleneck-reverse", "down_for": "1 ms", "every": "1 s", "until": "3 s"},
]


def keys(data: Any, at: Key = ()) -> list[Key]:
    """All keys below a value, and one unknown key per table."""
    items: list[tuple[str | int, Any]] = []
    if isinstance(data, dict):
        items = [*data.items(), ("nonsense", None)]
    elif isinstance(data, list):
        items = list(enumerate(data))
    return [key for part, value in items for key in [(*at, part), *keys(value, (*at, part))]]


def put(data: Any, key: Key, value: Any) -> None:
    for part in key[:-1]:
        data = data[part]
    data[key[-1]] = value


def loaded(data: dict[str, Any]) -> Scenario | ScenarioError:
    try:
        return load(data)
    except ScenarioError as error:
        return error


def integers(plan: Any) -> list[int]:
    if isinstance(plan, dict):
        plan = list(plan.values())
    return [i for item in plan for i in integers(item)] if isinstance(plan, list) else [plan] * isinstance(plan, int)


@pytest.mark.parametrize("name", thorough_after(1, ["bbr-vs-cubic", "udp-cross-traffic", "iperf3"]))
@settings(deadline=None, max_examples=300)  # The machine may be busy.
@given(draw=st.data())
def test_planned_or_refused(name: str, draw: st.DataObject) -> None:
    data = tomllib.loads(bundled.text(name))
    data |= {"hosts": {"sysctl": {}, "r1": {"sysctl": {}}}, "record": {}, "emulate": {"ring": "1 MiB", "merge": "0 s"}}
    data["topology"]["bottleneck"] |= copy.deepcopy(BOTTLENECK)
    data["events"] = copy.deepcopy(EVENTS)
    for key in draw.draw(st.lists(st.sampled_from(keys(data)), min_size=1, max_size=2)):
        try:
            put(data, key, copy.deepcopy(draw.draw(JUNK)))  # The next value may be put into this one.
        except (TypeError, KeyError, IndexError, AttributeError):
            continue  # An earlier change took the table away.
    before = copy.deepcopy(data)
    scenario = loaded(data)
    if isinstance(scenario, ScenarioError):
        assert scenario.problems
        assert all(problem.what.startswith("scenario: ") for problem in scenario.problems)
        assert all(problem.key for problem in scenario.problems)
    else:
        plan = expand(scenario)
        assert all(network(plan).there(flow) for flow in plan.flows)
        assert tables(plan, 1)
        assert max(integers(document(plan))) <= MAX
    assert repr(data) == repr(before)
