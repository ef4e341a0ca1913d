"""Networks that are refused: each with its line, its key, what is wrong and what to do."""

from pathlib import Path
from typing import Any

import pytest
from drawn import TEXT
from refused import refused

from dumbbell.errors import ScenarioError
from dumbbell.scenario.file.loading import load


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            'between = ["h1", "r1"]',
            'between = ["h1", "r3"]',
            "my.toml:16: topology.links.0.between: unknown node r3\n"
            "  expected one of h1, h2, h3, s1, r1, r2",
        ),
        (
            'between = ["h1", "r1"]',
            'between = ["h1", "h1"]',
            "my.toml:16: topology.links.0.between: a link from h1 to itself\n  expected two different nodes",
        ),
        (
            'between = ["h1", "r1"]',
            'between = ["h1"]',
            "my.toml:16: topology.links.0.between: not two nodes\n"
            '  expected the names of two nodes\nhint: write between = ["h1", "r1"]',
        ),
        (
            'between = ["h3", "s1"]',
            'between = ["h2", "s1"]',
            "my.toml:10: topology.nodes.h3: no link leads to h3\n  expected at least one link\n"
            'hint: add [[topology.links]] with between = ["h3", ...], or leave h3 out',
        ),
        (
            'h3 = {}',
            'a-host-of-sixteen = {}\nh3 = {}',
            "topology.nodes.a-host-of-sixteen: a name of 17 characters\n"
            "  expected at most 15 characters: interfaces of Linux have no longer names\nhint: write a-host-of-sixte",
        ),
        (
            'h3 = {}',
            'h3 = { private = ["var/log"] }',
            'my.toml:10: topology.nodes.h3.private.0 = "var/log": not an absolute path\n'
            '  expected the path of a directory, beside /dev, /proc and /sys\nhint: write "/var/log"',
        ),
        (
            'h3 = {}',
            'h3 = { private = ["/var/log", "/tmp/../proc"] }',
            'topology.nodes.h3.private.1 = "/tmp/../proc": not a directory of a node\'s own',
        ),
        (
            'h3 = {}',
            'h3 = { private = ["//proc"] }',
            'topology.nodes.h3.private.0 = "//proc": not a directory of a node\'s own',
        ),
        (
            'h3 = {}',
            '"h 3" = {}',
            'topology.nodes."h 3": not a name\n  expected letters, digits, `_` and `-`, a letter or digit first',
        ),
        (
            'between = ["h1", "r1"]',
            'name = "core-reverse"\nbetween = ["h1", "r1"]',
            "my.toml:29: topology.links.4.name = \"core\": another link is called core-reverse\n"
            "  expected a name of its own",
        ),
        (
            'h2 = {}\nh3 = {}',
            'h2 = { address = "10.2.0.10/24" }\nh3 = { address = "10.2.0.10/24" }',
            'topology.nodes.h3.address = "10.2.0.10/24": h3: h2 has the same address, 10.2.0.10',
        ),
        (
            'h2 = {}\nh3 = {}',
            'h2 = { address = "10.2.0.10/24" }\nh3 = { address = "10.3.0.11/24" }',
            'topology.nodes.h3.address = "10.3.0.11/24": h3: 10.3.0.11/24 is not in the subnet of h2, 10.2.0.0/24\n'
            "  expected one subnet for all that a link, or a switch and its links, join\n"
            "hint: write an address with /24 in 10.2.0.0/24",
        ),
        (
            'h2 = {}\nh3 = {}',
            'h2 = { address = ["10.2.0.2/24", "fd02::2/64"] }\nh3 = { address = ["10.2.0.3/24", "fd03::3/64"] }',
            "topology.nodes.h3.address: h3: fd03::3/64 is not in the subnet of h2, fd02::/64\n"
            "  expected one subnet for all that a link, or a switch and its links, join\n"
            "hint: write an address with /64 in fd02::/64",
        ),
        (
            'between = ["s1", "r2"]',
            'between = ["s1", "r2"]\nmtu = 1400',
            "topology.links.3.mtu = 1400: 1400 B on s1-r2, and 1500 B on h2-s1\n"
            "  expected the same MTU on all links of the switch s1\n"
            "hint: write mtu = 1500, or make s1 a router",
        ),
        (
            'between = ["s1", "r2"]',
            'between = ["s1", "r2"]\nmtu = 100',
            "topology.links.3.mtu = 100: out of range\n  expected 576 to 9000 bytes",
        ),
        (
            'h2 = {}',
            'h2 = { address = "10.2.0.1/31" }',
            "topology.links.2.addresses: h3: 10.2.0.0/31 is too small for 3 interfaces\n"
            "  expected an address for each\nhint: give the others addresses with a shorter prefix",
        ),
        (
            'h1 = {}\nh2 = {}',
            'h1 = { address = "10.2.0.1/16" }\nh2 = { address = "10.2.0.10/24" }',
            "its subnet, 10.2.0.0/24, overlaps with 10.2.0.0/16 of h1\n"
            "  expected a subnet of its own: no link or switch joins them\nhint: change one of the addresses",
        ),
        (
            'h2 = {}',
            'h2 = { address = "10.2.0.10" }',
            'topology.nodes.h2.address = "10.2.0.10": not an address with a subnet\n'
            "  expected an address and the length of its subnet's prefix\nhint: write \"10.2.0.10/24\"",
        ),
        (
            'h2 = {}',
            'h2 = { address = "10.2.0.255/24" }',
            "this is the broadcast address\n  expected an address in 10.2.0.0/24",
        ),
        (
            'kind = "graph"',
            'kind = "graph"\npools = { link = "10.0.0.0/30" }',
            "my.toml:6: topology.pools.link = \"10.0.0.0/30\": 10.0.0.0/30 is used up\n"
            '  expected a subnet /30 for r1, r2\nhint: write link = "10.0.0.0/16"',
        ),
        (
            'between = ["s1", "r2"]',
            'between = ["s1", "r2"]\naddresses = ["10.1.0.1/24", []]',
            "topology.links.3.addresses: s1 is a switch, which has no address\n  expected [] for a switch",
        ),
        (
            'h1 = {}',
            'h1 = { routes = ["default via 10.9.9.9"] }',
            'topology.nodes.h1.routes.0 = "default via 10.9.9.9": 10.9.9.9 is in none of h1\'s subnets\n'
            "  expected an address of another node in 10.0.0.0/30",
        ),
        (
            'between = ["r1", "r2"]',
            'between = ["r1", "h3"]',
            'my.toml:35: flows.0.to = "h2": no path from h1 to h2 and back\n'
            "  expected a host that can be reached\n"
            "hint: hosts do not forward: join the two by links, switches and routers",
        ),
        (
            'r2 = { kind = "router" }',
            'r2 = { kind = "bridge" }',
            "topology.nodes.r2.kind = \"bridge\": unknown\n  expected one of host, switch, router",
        ),
        (
            'r2 = { kind = "router" }',
            'r2 = { kind = "router", adress = "10.0.0.1/24" }',
            "topology.nodes.r2.adress = \"10.0.0.1/24\": unknown key\n"
            "  expected one of routes, private, cpus, cpu, kind, sysctl",
        ),
    ],
)  # fmt: skip
def test_refusals(old: str, new: str, expected: str) -> None:
    assert TEXT.count(old) == 1
    assert expected in refused(TEXT.replace(old, new))


def test_a_loop_of_switches() -> None:
    text = TEXT.replace('s1 = { kind = "switch" }', 's1 = { kind = "switch" }\ns2 = { kind = "switch" }')
    for _ in range(2):
        text = text.replace("[[flows]]", '[[topology.links]]\nbetween = ["s1", "s2"]\n\n[[flows]]', 1)
    assert (
        "my.toml:38: topology.links.6.between: s1 and s2 close a loop of switches\n"
        "  expected one way between any two switches, or broadcasts would go round for ever\n"
        'hint: leave the link out, or write s1 = { kind = "switch", bridge = true, stp = true }'
    ) in refused(text)


def test_links_have_the_checks_of_a_bottleneck() -> None:
    assert 'topology.links.4.buffer = "100 B": too small' in refused(
        TEXT.replace('delay = "15 ms"', 'delay = "15 ms"\nbuffer = "100 B"')
    )
    assert 'topology.links.0.buffer = "2 bdp": no rate to measure the buffer by' in refused(
        TEXT.replace('between = ["h1", "r1"]', 'between = ["h1", "r1"]\nbuffer = "2 bdp"')
    )


def test_an_event_names_a_link() -> None:
    event = '\n[[events]]\nat = "1 s"\n{}rate = "5 Mbit/s"\n'
    wrong = refused(TEXT + event.format('link = "cor"\n'))
    assert 'events.0.link = "cor": unknown\n  expected one of h1-r1, r1-h1, ' in wrong
    assert "did you mean core?" in wrong
    assert "no link is called bottleneck" in refused(TEXT + event.format(""))


@pytest.mark.parametrize(
    "keys",
    [
        {"kind": "linear", "switches": 1000, "each": 250},
        {"kind": "torus", "rows": 40, "columns": 40, "each": 250},
        {"kind": "tree", "depth": 10, "fanout": 2000},
    ],
)
def test_a_few_numbers_make_no_very_large_network(keys: dict[str, Any]) -> None:
    with pytest.raises(ScenarioError, match="expected at most 2000 hosts"):
        load({"name": "large", "duration": "1 s", "topology": keys, "flows": [{"from": "h1", "to": "h2"}]})
