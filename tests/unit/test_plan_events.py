"""The changes during a run, and their times."""

from typing import Any

import pytest
from planning import dumbbell, link

from dumbbell.errors import ScenarioError
from dumbbell.plan import wire
from dumbbell.plan.expand import expand
from dumbbell.plan.network import Network
from dumbbell.scenario.file.loading import load

S = 10**9
BASE = {"rate": "10 Mbit/s", "buffer": "1 bdp", "queue": "red", "loss": "1 %", "jitter": "1 ms"}


def changes(plan: dict[str, Any]) -> list[tuple[float, str, dict[str, Any]]]:
    """When, which link, and the keys that differ from what it was before."""
    now = {link["name"]: link for link in plan["links"]}
    found = []
    for event in plan["events"]:
        after = event["link"]
        before = now[after["name"]]
        found.append((event["at_ns"] / S, after["name"], {k: v for k, v in after.items() if v != before.get(k)}))
        now[after["name"]] = after
    return found


def test_what_is_given_replaces_and_the_rest_stays() -> None:
    events = [
        {"at": "2 s", "rate": "20 Mbit/s"},
        {"at": "3 s", "loss": "none", "delay": "20 ms"},
        {"at": "4 s", "link": "bottleneck-reverse", "queue": "codel"},
    ]
    plan = dumbbell(BASE, events=events)
    assert changes(plan) == [
        # The buffer stays as large as it was, and RED's thresholds with it.
        (2.0, "bottleneck", {"rate_bps": 20_000_000}),
        (3.0, "bottleneck", {"loss_before": [], "delay_ns": 20_000_000}),
        (4.0, "bottleneck-reverse", {"queue": dumbbell({**BASE, "queue": "codel"})["links"][0]["queue"]}),
    ]
    assert plan["events"][1]["link"]["rate_bps"] == 20_000_000


def test_a_buffer_is_measured_by_the_rate_of_its_time() -> None:
    events = [{"at": "2 s", "rate": "20 Mbit/s"}, {"at": "3 s", "buffer": "1 bdp"}]
    plan = dumbbell(BASE, events=events)
    assert changes(plan)[1] == (3.0, "bottleneck", {"buffer": {"bytes": 75_000}})
    plan = dumbbell(BASE, events=[{"at": "2 s", "rate": "20 Mbit/s", "buffer": "10 ms", "queue": "drop-tail"}])
    assert changes(plan)[0][2]["buffer"] == {"bytes": 25_000}


def test_events_are_in_the_order_of_time_and_then_of_the_file() -> None:
    events = [
        {"at": "5 s", "rate": "5 Mbit/s"},
        {"at": "1 s", "rate": "1 Mbit/s"},
        {"at": "1 s", "delay": "1 ms"},
        {"at": "5 s", "rate": "6 Mbit/s"},
    ]
    plan = dumbbell({"rate": "10 Mbit/s", "buffer": "9 packets"}, events=events)
    assert changes(plan) == [
        (1.0, "bottleneck", {"rate_bps": 1_000_000}),
        (1.0, "bottleneck", {"delay_ns": 1_000_000}),
        (5.0, "bottleneck", {"rate_bps": 5_000_000}),
        (5.0, "bottleneck", {"rate_bps": 6_000_000}),
    ]


def test_a_link_that_fails() -> None:
    down, up = {"up": False}, {"up": True}
    assert changes(dumbbell(BASE, events=[{"at": "2 s", "down_for": "100 ms"}])) == [
        (2.0, "bottleneck", down),
        (2.1, "bottleneck", up),
    ]
    again = {"at": "2 s", "down_for": "1 s", "every": "3 s"}
    # Up again at 9 s; at 11 s the run is over.
    assert [at for at, _, _ in changes(dumbbell(BASE, events=[again]))] == [2.0, 3.0, 5.0, 6.0, 8.0, 9.0]
    assert [at for at, _, _ in changes(dumbbell(BASE, events=[{**again, "until": "5 s"}]))] == [2.0, 3.0, 5.0, 6.0]
    assert [at for at, _, _ in changes(dumbbell(BASE, events=[{"at": "9.5 s", "down_for": "1 s"}]))] == [9.5]


def pulled(*events: dict[str, Any]) -> list[tuple[float, str, dict[str, Any]]]:
    """The changes of a cable between two hosts."""
    topology = {"kind": "path", "rtt": "10 ms", "bottleneck": BASE}
    flows = [{"from": "h1", "to": "h2"}]
    scenario = {"name": "x", "duration": "10 s", "topology": topology, "flows": flows, "events": list(events)}
    return changes(wire.document(expand(load(scenario))))


def test_a_cable_that_is_pulled_is_down_in_both_directions() -> None:
    down, up = {"up": False, "carrier": "lost"}, {"up": True}
    both = ("bottleneck", "bottleneck-reverse")
    wanted = [*((2.0, name, down) for name in both), *((2.5, name, up) for name in both)]
    assert pulled({"at": "2 s", "down_for": "500 ms", "carrier": "lost"}) == wanted
    lost = {"at": "2 s", "up": False, "carrier": "lost"}
    assert pulled(lost, {"at": "2.5 s", "up": True}) == wanted
    # Whoever names both directions, as a lab's changes do, says the same.
    again = [{**lost, "at": "2.1 s", "link": both[1]}, {"at": "2.6 s", "link": both[1], "up": True}]
    assert pulled(lost, {"at": "2.5 s", "up": True}, *again) == wanted
    assert pulled({"at": "2 s", "up": False}) == [(2.0, "bottleneck", {"up": False})]


def test_a_carrier_that_cannot_be_lost_is_refused() -> None:
    with pytest.raises(ScenarioError, match="the carrier of a link that is up"):
        pulled({"at": "2 s", "carrier": "lost", "rate": "1 Mbit/s"})
    with pytest.raises(ScenarioError, match="bottleneck joins two switches"):
        dumbbell(BASE, events=[{"at": "2 s", "up": False, "carrier": "lost"}])


def test_every_link_of_a_dumbbell_may_change() -> None:
    """Also one that a preset draws around the bottleneck."""
    event = {"at": "1 s", "link": "right-r2", "delay": "5 ms", "loss": "1 %"}
    plan = dumbbell({"rate": "10 Mbit/s"}, events=[event])
    assert [(link, state["delay_ns"]) for _, link, state in changes(plan)] == [("right-r2", 5_000_000)]


def test_failures_are_counted_as_far_as_until() -> None:
    """They would be too many to the end of the run."""
    often = {"at": "0 s", "down_for": "100 us", "every": "1 ms", "until": "1 s"}
    found = dumbbell(BASE, events=[often])["events"]
    # There are changes at 0 ms, 1 ms, ... 1000 ms, down and up.
    assert len(found) == 2 * 1001
    assert found[-1]["at_ns"] == S + 100_000
    with pytest.raises(ScenarioError, match="20000 changes in all"):
        dumbbell(BASE, events=[{**often, "until": "10 s"}])


def test_a_link_that_begins_down() -> None:
    plan = dumbbell({**BASE, "up": False}, events=[{"at": "2 s", "up": True}])
    assert link(plan)["up"] is False
    assert link(plan, "bottleneck-reverse")["up"] is True
    assert changes(plan) == [(2.0, "bottleneck", {"up": True})]


def test_a_rate_that_varies_is_counted_from_the_start_of_the_run() -> None:
    steps = [["0 s", "1 Mbit/s"], ["9 s", "11 Mbit/s"]]
    plan = dumbbell({"rate": "10 Mbit/s", "buffer": "9 packets"}, events=[{"at": "8 s", "rate": {"steps": steps}}])
    (_, _, changed) = changes(plan)[0]
    assert changed["variation"]["steps"] == [[0, 1_000_000], [9 * S, 11_000_000]]
    assert changed["rate_bps"] == 2_000_000


def transparent(plan: dict[str, Any]) -> set[str]:
    """Links on which nothing can happen to a packet."""
    return Network(wire.parsed(plan)).transparent


def test_a_link_that_an_event_changes_is_not_transparent() -> None:
    topology = {"rate": "unlimited", "delay": "0 ms"}
    assert transparent(dumbbell(topology, rtt="0 ms")) >= {"bottleneck", "bottleneck-reverse"}
    changed = dumbbell(topology, rtt="0 ms", events=[{"at": "1 s", "rate": "1 Mbit/s"}])
    assert "bottleneck" in transparent({**changed, "events": []})
    assert "bottleneck" not in transparent(changed)
    assert "bottleneck-reverse" in transparent(changed)


def test_no_effect_is_transparent_and_every_effect_is_not() -> None:
    plan = dumbbell({"rate": "unlimited", "delay": "0 ms"}, rtt="0 ms")
    plain, *others = plan["links"]

    def is_transparent(changes: dict[str, Any]) -> bool:
        return plain["name"] in transparent({**plan, "links": [plain | changes, *others]})

    assert is_transparent({})
    queue = {"kind": "fq", "quantum_bytes": 1514, "flows": 1}
    assert is_transparent({"overhead_bytes": 24, "buffer": {"packets": 1}, "queue": queue, "reordering": True})
    sometimes = {"probability": 1.0, "correlation": 0.0}
    loss = [{"model": "periodic", "every": 9, "offset": 0}]
    effects: dict[str, Any] = {
        "up": False, "rate_bps": 1, "delay_ns": 1, "policer": {"rate_bps": 1, "burst_bytes": 1},
        "slots": {"min_interval_ns": 1, "max_interval_ns": 1, "packets": 1, "bytes": None},
        "variation": {"kind": "steps", "steps": [[0, 1]], "period_ns": None},
        "jitter": {"distribution": {"kind": "uniform", "min_ns": 0, "max_ns": 0}, "correlation": 0.0},
        "reorder": {**sometimes, "gap": 1, "delay_ns": 0}, "delay_line_packets": 1, "loss_before": loss,
        "loss_after": loss, "duplication": sometimes, "corruption": sometimes,
    }  # fmt: skip
    assert [key for key, value in effects.items() if is_transparent({key: value})] == []
