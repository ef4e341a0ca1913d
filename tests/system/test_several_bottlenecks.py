"""The bottleneck of a kernel's flow is found among several limited links, across routers and in virtual time."""

from __future__ import annotations

from graphs import flow, graph, link
from harness import Place

from dumbbell.analysis.metrics import bottlenecks
from dumbbell.engines.names import VIRTUAL

PARKING_LOT = graph(
    link("h1", "r1"),
    link("r1", "r2", "wide", rate="20 Mbit/s", delay="5 ms"),
    link("r2", "h3"),
    link("r2", "r3", "narrow", rate="5 Mbit/s", delay="5 ms"),
    link("r3", "h2"),
    flow("h1", "h2", id="long"),
    flow("h1", "h3", id="datagrams", protocol="udp", rate="5 Mbit/s"),
    duration="3 s",
)


def test_the_narrow_link_is_the_bottleneck_of_those_that_cross_it(here: Place) -> None:
    run = here.run(PARKING_LOT, "--engine", VIRTUAL)
    flows = {flow["id"]: flow for flow in run.summary["flows"]}
    assert flows["long"]["bottleneck"] == "narrow"
    assert flows["long"]["bottleneck_share"] > 0.5
    # 5 Mbit/s of these and 5 of the others on 20: most of the time no queue stands, and half of the rate is unused.
    assert (flows["datagrams"]["bottleneck_share"] or 0) < 0.5
    links = {link["name"]: link for link in run.summary["links"]}
    assert links["narrow"]["bottleneck_share"] == flows["long"]["bottleneck_share"]
    paths = {path.flows[0]: list(path.links) for path in bottlenecks(run.directory)}
    assert paths == {"long": ["wide", "narrow"], "datagrams": ["wide"]}
