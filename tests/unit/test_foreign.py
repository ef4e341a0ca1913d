"""Files of containerlab and Kathará become scenarios; networks become files of MiniEdit, and come back the same."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from graphs import event, flow, graph, link

from dumbbell.cli import invoke
from dumbbell.errors import InputError
from dumbbell.labs.build import load
from dumbbell.labs.exports.miniedit import miniedit as exported
from dumbbell.plan.expand import expand
from dumbbell.plan.wire import document
from dumbbell.scenario.file.foreign import containerlab, kathara, miniedit
from dumbbell.scenario.file.foreign.commands import settings
from dumbbell.scenario.file.foreign.frr import beside


def planned(text: str, folder: Path) -> dict[str, Any]:
    path = folder / "net.toml"
    path.write_text(text)
    return document(expand(load(path)))


def held(plan: dict[str, Any]) -> dict[str, list[list[str]]]:
    """The addresses of each node's interfaces."""
    return {node["name"]: [one["addresses"] for one in node.get("interfaces", ())] for node in plan["nodes"]}


CLAB = """
name: two
mgmt: { network: mine }
topology:
  defaults: { env: { A: b } }
  kinds: { linux: { image: "alpine:3" } }
  nodes:
    h1:
      kind: linux
      exec: ["ip addr add 192.168.1.2/24 dev eth1", "ip route replace default via 192.168.1.1", apk add x]
    r1: { kind: nokia_srlinux, startup-config: r1.cli, exec: ["ip a add 192.168.1.1/24 dev e1-1"] }
    r2: { kind: linux, image: "frrouting/frr:10", binds: ["daemons:/etc/frr/daemons"] }
    sw: { kind: bridge }
    h2: { kind: linux }
    h3: {}
  links:
    - endpoints: ["r1:e1-2", "r2:eth1"]
      ipv4: ["10.9.0.1/30", "10.9.0.2/30"]
      mtu: 1400
    - endpoints: ["h1:eth1", "r1:e1-1"]
    - type: veth
      endpoints:
        - { node: r2, interface: eth2, ipv4: 10.7.0.1/24, mac: "02:00:00:00:00:01" }
        - { node: sw, interface: p1 }
    - endpoints: ["h2:eth1", "sw:p2"]
    - endpoints: ["h3:eth1", "sw:p3"]
    - endpoints: ["h3:eth2", "mgmt-net:h3"]
    - { type: macvlan, endpoint: { node: h1, interface: eth9 }, host-interface: enp0s3 }
"""


def test_a_topology_of_containerlab(tmp_path: Path) -> None:
    text, notes = containerlab.scenario(CLAB, "two")
    plan = planned(text, tmp_path)
    kinds = {node["name"]: node["kind"] for node in plan["nodes"]}
    assert kinds == {"h1": "host", "h2": "host", "h3": "host", "r1": "router", "r2": "router", "sw": "switch"}
    addresses = held(plan)
    assert addresses["h1"] == [["192.168.1.2/24"]]
    # e1-1 is before e1-2, whose link is the first of the file.
    assert addresses["r1"] == [["192.168.1.1/24"], ["10.9.0.1/30"]]
    assert addresses["r2"] == [["10.9.0.2/30"], ["10.7.0.1/24"]]
    assert [node["routes"] for node in plan["nodes"] if node["name"] == "h1"] == [
        [{"to": "0.0.0.0/0", "via": ["192.168.1.1"]}]
    ]
    assert "# containerlab runs: apk add x\n" in text
    assert "# containerlab has startup-config = r1.cli\n" in text
    assert "# containerlab has binds = ['daemons:/etc/frr/daemons']\n" in text
    for said in (
        "the management network", "images", "the key env of nodes is left out (6 times)",
        "MAC addresses", "commands of containerlab stand in comments", "a lab is closed (2 times)",
    ):  # fmt: skip
        assert any(said in note for note in notes), (said, notes)
    assert all(f"# Note: {note}." in text for note in notes)


CONF = """
LAB_NAME="lab"   # of ours
pc1[0]="A"
pc2[0]="C/02:00:00:00:00:07"
pc3[0]="C"
pc1[image]="kathara/base"

r1[1]="B"
r1[0]="A"
r2[0]=B
r2[1]=C
r2[2]=Z
"""
STARTUPS = {
    "pc1": "ifconfig eth0 195.11.14.5/24 up\nroute add default gw 195.11.14.1 dev eth0\n",
    "pc2": "ip addr add 200.1.1.7/24 dev eth0\nip route add default via 200.1.1.1 dev eth0\n",
    "pc3": "ip addr add 200.1.1.3/24 dev eth0\nip route add default via 200.1.1.1\n",
    "r1": "ifconfig eth0 195.11.14.1 netmask 255.255.255.0\nifconfig eth1 100.0.0.9 netmask 255.255.255.252 broadcast "
    "100.0.0.11 up\nroute add -net 200.1.1.0 netmask 255.255.255.0 gw 100.0.0.10 dev eth1\n",
    "r2": "ip a add 100.0.0.10/30 dev eth0 && ip a add 200.1.1.1/24 dev eth1; /etc/init.d/frr start\n"
    "route add -net 195.11.14.0/24 gw 100.0.0.9\n",
}


def test_a_lab_of_kathara(tmp_path: Path) -> None:
    text, notes = kathara.scenario(CONF, "lab", STARTUPS.get)
    plan = planned(text, tmp_path)
    assert held(plan) == {
        "pc1": [["195.11.14.5/24"]], "pc2": [["200.1.1.7/24"]], "pc3": [["200.1.1.3/24"]],
        "r1": [["195.11.14.1/24"], ["100.0.0.9/30"]],
        "r2": [["100.0.0.10/30"], ["200.1.1.1/24"], ["10.1.0.1/24"]], "lan-C": [], "lan-Z": [],
    }  # fmt: skip
    routes = {node["name"]: [(one["to"], one["via"]) for one in node.get("routes", ())] for node in plan["nodes"]}
    assert routes["r1"] == [("200.1.1.0/24", ["100.0.0.10"])]
    assert routes["r2"] == [("195.11.14.0/24", ["100.0.0.9"])]
    assert "# Kathará runs: /etc/init.d/frr start\n" in text
    assert "# Kathará has image = kathara/base\n" in text
    assert any("MAC addresses" in note for note in notes)


def test_commands_that_say_nothing_of_a_link_are_kept_as_text() -> None:
    found = settings(
        [
            "# a comment", "ip addr add 10.0.0.1/24 brd + dev eth0", "ip -6 addr add fd00::1/64 dev eth0",
            "sysctl -w net.ipv4.ip_forward=1", "sh -c 'ip link set eth0 up'", "ip addr add 127.0.0.2/8 dev lo",
            "ip addr add 10.0.0.300/24 dev eth0", "ip route add blackhole 10.0.0.0/8", "echo 'unfinished",
            "ip route add 10.1.0.0/16 via 10.0.0.2", "ip route add 10.1.0.0/16 via fd00::zz",
        ]
    )  # fmt: skip
    assert found.addresses == {"eth0": ["10.0.0.1/24", "fd00::1/64"]}
    assert found.routes == ["10.1.0.0/16 via 10.0.0.2"]
    assert found.forwards
    assert found.rest == [
        "ip addr add 127.0.0.2/8 dev lo", "ip addr add 10.0.0.300/24 dev eth0", "ip route add blackhole 10.0.0.0/8",
        "echo 'unfinished", "ip route add 10.1.0.0/16 via fd00::zz",
    ]  # fmt: skip


def test_ipv6_and_second_addresses(tmp_path: Path) -> None:
    startups = {"a": "ip a add 10.0.0.1/24 dev eth0\nip a add fd00::1/64 dev eth0\nip a add 10.5.0.1/24 dev eth0\n"}
    startups["b"] = "ip a add 10.0.0.2/24 dev eth0\nip a add fd00::2/64 dev eth0\nip a add 10.6.0.1/24 dev eth7\n"
    text, notes = kathara.scenario('a[0]="N"\nb[0]="N"\n', "six", startups.get)
    assert held(planned(text, tmp_path)) == {"a": [["10.0.0.1/24", "fd00::1/64"]], "b": [["10.0.0.2/24", "fd00::2/64"]]}
    assert "# eth0 also has 10.5.0.1/24\n" in text
    assert "# eth7 has no link: 10.6.0.1/24\n" in text
    assert len(notes) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [", "not YAML"),
        ("a: 1", "no table topology"),
        ("topology: {nodes: 3}", "nodes is not a table"),
        ("topology: {nodes: {a: {}}, links: [{endpoints: [a:eth1]}]}", "no two endpoints"),
        ("topology: {nodes: {a: {}}, links: [{endpoints: ['a:eth1', 'b:eth1']}]}", "a link leads to 'b'"),
        ("topology: {nodes: {b: {kind: bridge}}}", "nothing to import"),
    ],
)
def test_what_is_no_topology_is_refused_in_a_sentence(text: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        containerlab.scenario(text, "net")
    assert said in str(refused.value)


@pytest.mark.parametrize("number", ["1" + ":59" * 200_000, "0x" + "f" * 200_000, "!!int '1" + ":59" * 200_000 + "'"])
def test_a_long_number_of_yaml_is_refused_before_it_is_computed(number: str) -> None:
    """PyYAML takes minutes for numbers to the base 60."""
    text = f"topology: {{nodes: {{a: {{cpu: {number}}}}}}}"
    with pytest.raises(InputError, match="not a containerlab file") as refused:
        containerlab.scenario(text, "n")
    assert "a number has" in refused.value.why


def aliases(key: str, depth: int, width: int) -> str:
    """Each of `depth` values holds the one before `width` times."""
    parts = "".join(f"  x{i}: &a{i} [{', '.join([f'*a{i - 1}'] * width)}]\n" for i in range(1, depth))
    return f"topology:\n  x0: &a0 [x, x]\n{parts}  nodes: {{a: {{{key}: *a{depth - 1}}}}}\n"


def inherited(where: str) -> str:
    """Returns a file whose 1,000 nodes inherit 1,500 commands."""
    lines = "".join(f"        - ip addr add 10.0.0.1/8 dev eth{i}\n" for i in range(1500))
    return f"topology:\n  {where}:\n      exec:\n{lines}  nodes:\n" + "".join(f"    n{i}: {{}}\n" for i in range(1000))


@pytest.mark.parametrize(
    "text",
    [
        aliases("labels", 10, 9),
        aliases("exec", 30, 2),
        "topology:\n  a: &a [*a]\n  nodes: {a: {exec: *a}}",
        "topology:\n  a0: &a0 {k: 1}\n"
        + "".join(f"  a{i}: &a{i} {{<<: [*a{i - 1}, *a{i - 1}]}}\n" for i in range(1, 40))
        + "  nodes: {n: *a39}",
        "topology:\n  x: &a '" + "y" * 10_000 + "'\n  nodes:\n" + "".join(f"    n{i}: {{k: *a}}\n" for i in range(200)),
        inherited("defaults"),
        inherited("kinds:\n    linux"),
        "[" * 100_000,
        "topology: {nodes: {" + "a: {}, " * 200_000 + "}}",
    ],
    ids=["aliases", "commands", "in-itself", "merges", "long-text", "defaults", "kinds", "depth", "size"],
)
def test_a_topology_that_stands_for_a_very_large_one_is_refused(text: str) -> None:
    began = time.process_time()
    with pytest.raises(InputError, match=r"characters|recursion"):
        containerlab.scenario(text, "net")
    assert time.process_time() - began < 5


def test_labs_of_kathara_are_read_in_a_time_like_their_size() -> None:
    began = time.process_time()
    # The names of all collision domains begin alike.
    text = "".join(f"n{i}x{j}[0]=same-first-letters-{i}\n" for i in range(4000) for j in range(3))
    made, _ = kathara.scenario(text, "net", lambda _: None)
    assert "lan-3999" in made
    with pytest.raises(InputError, match="characters"):
        kathara.scenario(text, "net", lambda _: "ip addr add 10.0.0.1/8 dev eth0\n" * 100)
    assert time.process_time() - began < 10


@pytest.mark.parametrize(("text", "said"), [("", "no machine"), ("pc1[0]=A\nhello", "line 2 cannot be read")])
def test_what_is_no_lab_of_kathara_is_refused(text: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        kathara.scenario(text, "net", lambda _: None)
    assert said in str(refused.value)


def test_the_command_knows_files_by_their_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "my lab"
    folder.mkdir()
    (folder / "lab.conf").write_text('pc1[0]="A"\npc2[0]="A"\n')
    (folder / "pc1.startup").write_text("ip addr add 10.3.0.1/24 dev eth0\n")
    assert invoke(["import", str(folder / "lab.conf")]) == 0
    out = capsys.readouterr().out
    assert out.startswith('name = "my-lab"\n# Imported from Kathará. ')
    assert 'addresses = ["10.3.0.1/24", []]' in out
    (folder / "two.clab.yml").write_text(CLAB)
    assert invoke(["import", str(folder / "two.clab.yml")]) == 0
    assert capsys.readouterr().out.startswith('name = "two"\n# Imported from containerlab. ')


def mn_host(number: int, **options: Any) -> dict[str, Any]:
    opts = {"hostname": f"h{number}", "nodeNum": number, "sched": "host", **options}
    return {"number": str(number), "x": "1.0", "y": "2.0", "opts": opts}


def mn_switch(number: int, kind: str, name: str) -> dict[str, Any]:
    opts = {"hostname": name, "nodeNum": number, "switchType": kind, "controllers": []}
    return {"number": str(number), "x": "1.0", "y": "2.0", "opts": opts}


def mn_link(src: str, dest: str, **options: Any) -> dict[str, Any]:
    return {"src": src, "dest": dest, "opts": options}


MN = {
    "version": "2",
    "application": {"ipBase": "10.0.0.0/8"},
    "controllers": [],
    "hosts": [
        mn_host(1, ip="10.0.0.1/8", defaultRoute="10.0.0.7"),
        mn_host(2, ip="10.0.0.7/8"),
        mn_host(3, ip="192.168.5.2/24"),
    ],
    "switches": [mn_switch(1, "legacyRouter", "r1"), mn_switch(2, "legacySwitch", "s1")],
    "links": [
        mn_link("h1", "s1", bw=10, delay="12ms", jitter="2ms", loss=1, max_queue_size=100),
        mn_link("h2", "s1", delay="500us"),
        mn_link("s1", "r1", bw=5, max_queue_size=1000),
        mn_link("r1", "h3", loss=3),
    ],
}


def test_a_drawing_of_miniedit_comes_back_equal(tmp_path: Path) -> None:
    text, _ = miniedit.scenario(json.dumps(MN), "net")
    first = planned(text, tmp_path)
    written, notes = exported(first)
    assert notes == ["MiniEdit has no addresses, routes and protocols of routers: they are left out"]
    found = json.loads(written)
    options = lambda nodes: [node["opts"] for node in nodes]  # noqa: E731
    assert found["links"] == MN["links"]
    assert options(found["hosts"]) == [
        # Beside a router, hosts have a default route.
        {**one, "defaultRoute": one.get("defaultRoute", route["opts"].get("defaultRoute"))}
        for one, route in zip(options(MN["hosts"]), found["hosts"], strict=True)
    ]
    assert options(found["switches"]) == options(MN["switches"])
    again = planned(miniedit.scenario(written, "net")[0], tmp_path)
    assert (again["nodes"], again["links"]) == (first["nodes"], first["links"])


def test_an_export_notes_what_miniedit_cannot_say(tmp_path: Path) -> None:
    text = graph(
        link(
            "h1", "s1", rate="1.5 Mbit/s", buffer="3000 B", queue="fq-codel", delay="1500 ns",
            reverse={"delay": "1 ms"},
        ),
        link("h1", "s1"),
        link("s1", "h2", delay="1 ms", jitter="1 ms"),
        flow(),
        event("1 s", link="h1-s1", up=False),
    )  # fmt: skip
    written, notes = exported(planned(text, tmp_path))
    one, other = json.loads(written)["links"]
    assert one["opts"] == {"bw": 1.5, "delay": "2us", "max_queue_size": 2}
    assert other["opts"] == {"delay": "1ms"}
    for said in ("flows and events", "further ones", "directions differ", "queue", "rounded", "fractions", "jitter"):
        assert any(said in note for note in notes), (said, notes)


def test_the_command_exports_any_kind_of_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.mn"
    assert invoke(["export", "fat-tree", "--output", str(out)]) == 0
    assert "note: flows and events are left out" in capsys.readouterr().err
    assert len(json.loads(out.read_text())["hosts"]) == 16
    assert invoke(["export", "fat-tree", "--output", str(out)]) == 2
    assert invoke(["export", "bbr-vs-cubic"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["opts"]["hostname"] for one in found["switches"]] == ["left", "right"]
    miniedit.scenario(json.dumps(found), "net")


OFFICE = graph(
    link("h1", "s1", rate="10 Mbit/s", delay="5 ms", buffer="30000 B"),
    link("h3", "s1", jitter="2 ms", reordering=True),
    link("s1", "r1"),
    link("r1", "r2", rate="20 Mbit/s", delay="10 ms", buffer="50000 B", loss="1 %", mtu=1400),
    link("r2", "h2", delay="1500 us", reverse={"delay": "1 ms"}),
    nodes={"h2": {"address": "10.9.0.7/24"}},
    ipv6=True,
)


def test_a_network_of_containerlab_comes_back_equal(tmp_path: Path) -> None:
    (tmp_path / "office.toml").write_text(OFFICE)
    first = planned(OFFICE, tmp_path)
    assert invoke(["export", str(tmp_path / "office.toml"), "-o", str(tmp_path / "o.clab.yml")]) == 0
    text, notes = containerlab.scenario((tmp_path / "o.clab.yml").read_text(), "office")
    again = planned(text, tmp_path)
    assert not [note for note in notes if "left out" in note and "images" not in note], notes
    assert held(again) == held(first)
    routes = lambda plan: {node["name"]: node.get("routes") for node in plan["nodes"]}  # noqa: E731
    assert routes(again) == routes(first)
    for link_ in (*first["links"], *again["links"]):
        link_.pop("name")
    key = lambda one: (one["from"], one["to"])  # noqa: E731
    assert sorted(again["links"], key=key) == sorted(first["links"], key=key)


def test_an_export_notes_what_containerlab_cannot_say(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = graph(
        link("h1", "s1", rate="1 Mbit/s", buffer="9 packets", queue="fq-codel"),
        link("s1", "h2", jitter="1 ms", loss={"model": "gilbert-elliott", "p": "1 %", "r": "10 %"}),
        flow(),
    )
    (tmp_path / "net.toml").write_text(text)
    assert invoke(["export", str(tmp_path / "net.toml"), "--format", "containerlab"]) == 0
    told = capsys.readouterr().err
    for said in ("flows and events", "queue", "in packets", "jitter", "losses"):
        assert said in told, (said, told)


@pytest.mark.parametrize("source", [OFFICE, "fat-tree", "bbr-vs-cubic"], ids=["graph", "fat-tree", "dumbbell"])
def test_a_program_draws_the_network_that_it_was_made_from(tmp_path: Path, source: str) -> None:
    scenario = source
    if "\n" in source:
        scenario = str(tmp_path / "net.toml")
        (tmp_path / "net.toml").write_text(source)
    assert invoke(["export", scenario, "-o", str(tmp_path / "net.py")]) == 0
    drawing, _, _ = (tmp_path / "net.py").read_text().partition("with lab:")
    made: dict[str, Any] = {}
    exec(drawing, made)
    networks = [document(expand(one)) for one in (load(scenario), made["lab"].scenario())]
    for node in (node for one in networks for node in one["nodes"]):
        node.pop("sysctl", None)  # Buffers of hosts follow from the flows.
    assert networks[0]["nodes"] == networks[1]["nodes"]
    assert networks[0]["links"] == networks[1]["links"]


def test_an_unknown_format_of_an_export_is_refused_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["export", "fat-tree", "--format", "visio"]) == 2
    assert "formats: miniedit, containerlab, python" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("commands", "keys"),
    [
        (["tc qdisc add dev eth0 root netem delay 10ms 2ms loss 0.5%"],
         {"delay": '"8 ms"', "jitter": '"4 ms"', "reordering": "true", "loss": '"0.5 %"'}),
        (["tc qdisc add dev eth0 root handle 1: netem delay 10ms",
          "tc qdisc add dev eth0 parent 1: handle 2: tbf rate 256kbit burst 1600 limit 3000"],
         {"delay": '"10 ms"', "rate": '"256 kbit/s"', "buffer": '"3000 B"'}),
        (["tc qdisc replace dev eth0 root tbf rate 2mbps burst 32kb latency 400ms"],
         {"rate": '"16 Mbit/s"', "buffer": '"400 ms"'}),
        (["tc qdisc add dev eth0 root netem rate 1.5gbit limit 100"], {"rate": '"1500 Mbit/s"'}),
        (["tc qdisc add dev eth0 root handle 5:0 htb default 1",
          "tc class add dev eth0 parent 5:0 classid 5:1 htb rate 10mbit burst 15k",
          "tc qdisc add dev eth0 parent 5:1 handle 10: netem delay 5ms"],
         {"rate": '"10 Mbit/s"', "delay": '"5 ms"'}),
    ],
)  # fmt: skip
def test_qdiscs_at_an_interface_are_keys_of_its_link(commands: list[str], keys: dict[str, str], tmp_path: Path) -> None:
    assert settings(commands).shaping == {"eth0": keys}
    assert not settings(commands).rest
    text, _ = kathara.scenario('b[0]="A"\na[0]="A"\n', "net", {"a": "\n".join(commands)}.get)
    there, back = planned(text, tmp_path)["links"]
    assert (there["from"], back["from"]) == ("b", "a")
    assert there["rate_bps"] is None
    assert (back["rate_bps"] is not None) == ("rate" in keys), "only what leaves the interface is limited"


@pytest.mark.parametrize(
    "command",
    [
        "tc qdisc add dev eth0 root fq_codel", "tc qdisc add dev eth0 root netem delay", "tc qdisc del dev eth0 root",
        "tc qdisc add dev eth0 root netem delay 10ms corrupt 1%", "tc qdisc add dev eth0 root tbf rate fast",
        "tc class add dev eth0 parent 1: classid 1:1 htb rate 1mbit", 
        "tc qdisc add dev eth0 root handle 1: htb", "tc qdisc add dev eth0 root", "tc",
    ],
)  # fmt: skip
def test_qdiscs_that_a_link_cannot_say_stay_text(command: str) -> None:
    found = settings([command])
    assert (found.shaping, found.rest) == ({}, [command])


def test_a_bridge_is_a_switch_only_if_it_does_nothing_else(tmp_path: Path) -> None:
    conf, bridge = 'b[0]="A"\nb[1]="B"\na[0]="A"\nc[0]="B"\n', "brctl addbr br0\nbrctl addif br0 eth0\n"
    whole = bridge + "brctl addif br0 eth1\nbrctl stp br0 on\nip link set br0 up\n"
    assert 'b = { kind = "switch", bridge = true, stp = true }' in kathara.scenario(conf, "net", {"b": whole}.get)[0]
    for startup in (bridge, whole + "ip address add 10.0.0.9/24 dev br0\n"):
        text, _ = kathara.scenario(conf, "net", {"b": startup}.get)
        assert 'b = { kind = "router" }' in text
        assert "# Kathará runs: brctl addbr br0\n" in text
        planned(text, tmp_path)


def test_links_beside_the_topology_are_not_read_and_mtus_are(tmp_path: Path) -> None:
    head = "topology: {nodes: {a: {kind: linux}, b: {kind: linux}}, links: ["
    text, notes = containerlab.scenario(f"{head}]}}\nlinks: [{{endpoints: ['a:eth1', 'b:eth1']}}]\n", "net")
    assert any("links beside topology are not read" in note for note in notes)
    assert "nodes without a link meet at a switch, as in the management network (2 times)" in notes
    assert planned(text, tmp_path)["links"]
    text, notes = containerlab.scenario(f"{head}{{endpoints: ['a:eth1', 'b:eth1'], mtu: 9000}}]}}\n", "net")
    assert {node["interfaces"][0]["mtu"] for node in planned(text, tmp_path)["nodes"]} == {9000}
    _, notes = containerlab.scenario(f"{head}{{endpoints: ['a:eth1', 'b:eth1'], mtu: 9500}}]}}\n", "net")
    assert notes == ["the MTU 9500 is left out: links have 576 to 9,000 B"]


def test_no_link_brings_a_file_from_elsewhere_into_a_scenario(tmp_path: Path) -> None:
    (folder := tmp_path / "theirs").mkdir()
    (tmp_path / "secret").write_text("secret words\n")
    for name in ("r1.conf", "pc1.startup"):
        (folder / name).symlink_to("../secret")
    clab = (
        "topology: {nodes: {r1: {image: frr, binds: ['r1.conf:/etc/frr/frr.conf']}, h: {}}, "
        "links: [{endpoints: ['r1:eth1', 'h:eth1']}]}"
    )
    assert beside(folder, folder)("r1.conf") is None
    made = [
        containerlab.scenario(clab, "net", beside(folder, folder)),
        kathara.of_folder("pc1[0]=A\npc2[0]=A\n", "net", folder, folder),
    ]
    assert "secret" not in str(made)


def test_configurations_of_frr_beside_a_topology_are_those_of_its_routers() -> None:
    text = "interface eth1\n ip address 10.9.0.1/30\nexit\nrouter ospf\nlog file /var/log/frr/frr.log\n"
    files = {"r1/frr.conf": ("sub/r1/frr.conf", text), "../other.conf": ("no", text)}
    clab = (
        "topology: {nodes: {a.very.long.name.of.a.router: {image: frr, binds: ['r1/frr.conf:/etc/frr/frr.conf']}, "
        "sw: {kind: bridge}, h: {}}, links: [{endpoints: ['a.very.long.name.of.a.router:eth1', 'sw:p1'], mtu: 1400}, "
        "{endpoints: ['sw:p2', 'h:eth1']}]}"
    )
    made, notes = containerlab.scenario(clab, "net", files.get)
    assert 'frr = "sub/r1/frr.conf", routing = ["ospf"], private = ["/var/log/frr"]' in made
    assert "# this is a.very.long.name.of.a.router\na-very-long-nam = {" in made
    assert 'addresses = ["10.9.0.1/30", []]' in made
    assert made.count("mtu = 1400") == 2
    assert "links of a switch have the least MTU of them" in notes
