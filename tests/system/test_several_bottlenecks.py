"""The bottleneck of an emulated flow is found among several limited links, by the kernel's own TCP across routers."""

from __future__ import annotations

from harness import Place

from dumbbell.analysis.metrics import bottlenecks

PARKING_LOT = """
name = "test"
duration = "3 s"

[topology]
kind = "graph"

[topology.nodes]
h1 = {}
h2 = {}
h3 = {}
r1 = { kind = "router" }
r2 = { kind = "router" }
r3 = { kind = "router" }

[[topology.links]]
between = ["h1", "r1"]

[[topology.links]]
name = "wide"
between = ["r1", "r2"]
rate = "20 Mbit/s"
delay = "5 ms"

[[topology.links]]
between = ["r2", "h3"]

[[topology.links]]
name = "narrow"
between = ["r2", "r3"]
rate = "5 Mbit/s"
delay = "5 ms"

[[topology.links]]
between = ["r3", "h2"]

[[flows]]
id = "long"
from = "h1"
to = "h2"

[[flows]]
id = "datagrams"
from = "h1"
to = "h3"
protocol = "udp"
rate = "5 Mbit/s"
"""


def test_the_narrow_link_is_the_bottleneck_of_those_that_cross_it(anyone: Place) -> None:
    run = anyone.run(PARKING_LOT)
    flows = {flow["id"]: flow for flow in run.summary["flows"]}
    assert flows["long"]["bottleneck"] == "narrow"
    # A machine that stands still for a while leaves a link idle. Half of the time is far from it.
    assert flows["long"]["bottleneck_share"] > 0.5
    # 5 Mbit/s of these and 5 of the others on 20: most of the time no queue stands, and half of the rate is unused.
    assert (flows["datagrams"]["bottleneck_share"] or 0) < 0.5
    links = {link["name"]: link for link in run.summary["links"]}
    assert links["narrow"]["bottleneck_share"] == flows["long"]["bottleneck_share"]
    paths = {path.flows[0]: list(path.links) for path in bottlenecks(run.directory)}
    assert paths == {"long": ["wide", "narrow"], "datagrams": ["wide"]}
