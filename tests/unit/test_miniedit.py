"""Files of MiniEdit become scenarios."""

from __future__ import annotations

import copy
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dumbbell.cli import invoke
from dumbbell.errors import InputError
from dumbbell.plan.expand import expand
from dumbbell.plan.wire import document
from dumbbell.scenario.file.foreign.miniedit import scenario
from dumbbell.scenario.file.loading import load
from dumbbell.server.transfer import places


def host(number: int, **options: Any) -> dict[str, Any]:
    opts = {"hostname": f"h{number}", "nodeNum": number, "sched": "host", **options}
    return {"number": str(number), "x": "100.0", "y": "50.0", "opts": opts}


def switch(number: int, kind: str = "default", **options: Any) -> dict[str, Any]:
    opts = {
        "hostname": f"{'r' if kind == 'legacyRouter' else 's'}{number}",
        "nodeNum": number,
        "switchType": kind,
        **options,
    }
    return {"number": str(number), "x": "200.0", "y": "50.0", "opts": opts}


def link(src: str, dest: str, **options: Any) -> dict[str, Any]:
    return {"src": src, "dest": dest, "opts": options}


def network(**parts: Any) -> dict[str, Any]:
    return {
        "version": "2",
        "application": {"ipBase": "10.0.0.0/8"},
        "controllers": [],
        "links": [],
        "switches": [],
        **parts,
    }


def planned(found: dict[str, Any], folder: Path) -> tuple[dict[str, Any], list[str]]:
    text, notes = scenario(json.dumps(found), "net")
    path = folder / "net.toml"
    ends = [str(one["opts"]["hostname"]) for one in found["hosts"]]
    traffic = f'\n[[flows]]\nfrom = "{ends[0]}"\nto = "{ends[1]}"\n'
    path.write_text('duration = "5 s"\n' + text + traffic)
    return document(expand(load(path))), notes


TWO = network(hosts=[host(1), host(3)], switches=[switch(1)], links=[link("h1", "s1"), link("s1", "h3")])


def test_hosts_have_the_addresses_that_mininet_gives_them(tmp_path: Path) -> None:
    plan, notes = planned(TWO, tmp_path)
    assert [(node["name"], node.get("address")) for node in plan["nodes"]] == [
        ("h1", "10.0.0.1"), ("h3", "10.0.0.3"), ("s1", None),
    ]  # fmt: skip
    assert notes == []


def test_a_link_has_the_same_values_in_both_directions(tmp_path: Path) -> None:
    shaped = link("h1", "s1", bw=10, delay="10ms", loss=1, max_queue_size=100, speedup=2)
    plan, notes = planned({**TWO, "links": [shaped, link("s1", "h3", delay="500", bw="5")]}, tmp_path)
    links = {one["name"]: one for one in plan["links"]}
    for name in ("h1-s1", "s1-h1"):
        assert (links[name]["rate_bps"], links[name]["delay_ns"]) == (10_000_000, 10_000_000)
        assert links[name]["buffer"] == {"packets": 100}
        assert links[name]["loss_before"] or links[name]["loss_after"]
    assert (links["s1-h3"]["delay_ns"], links["s1-h3"]["buffer"]) == (500_000, {"packets": 1000})
    assert notes == ["speedup of links is left out", "delays without a unit are microseconds, as tc reads them"]


def test_numbers_may_be_texts_and_mininets_own_options_are_passed_over(tmp_path: Path) -> None:
    mininets = {"node1": "h1", "node2": "s1", "port1": 0, "port2": 1, "bw": "1.5", "loss": "0.5"}
    plan, notes = planned(
        {**TWO, "links": [link("h1", "s1", **mininets), link("s1", "h3", max_queue_size=5)]}, tmp_path
    )
    assert plan["links"][0]["rate_bps"] == 1_500_000
    assert plan["links"][0]["loss_before"][0]["probability"] == 0.005
    # Without bandwidth there is no limit, and no queue.
    assert (plan["links"][2]["rate_bps"], plan["links"][2]["buffer"]) == (None, "unlimited")
    assert notes == ["queue sizes of links without bandwidth are left out: nothing waits there"]


def test_jitter_is_around_the_delay_and_reorders(tmp_path: Path) -> None:
    plan, _ = planned({**TWO, "links": [link("h1", "s1", delay="10ms", jitter="2ms"), link("s1", "h3")]}, tmp_path)
    one = plan["links"][0]
    assert (one["delay_ns"], one["reordering"]) == (8_000_000, True)
    assert one["jitter"]["distribution"] == {"kind": "uniform", "min_ns": 0, "max_ns": 4_000_000}


def test_what_a_scenario_cannot_say_is_noted_and_no_command_is_a_key(tmp_path: Path) -> None:
    more = {
        "startCommand": "rm -rf /\necho x",
        "cpu": 0.5,
        "cores": "0",
        "vlanInterfaces": [["10.1.0.1", "5"]],
        "externalInterfaces": ["eth7"],
        "privateDirectory": ["/var/log", ["/var/run", "/tmp/run"]],
        "defaultRoute": "10.0.0.9",
    }
    found = {
        **TWO,
        "hosts": [host(1, ip="10.0.0.7", **more), host(3)],
        "switches": [switch(1, "ovs", netflow="1", controllers=["c0"])],
        "controllers": [{"x": "1", "y": "1", "opts": {"hostname": "c0", "controllerType": "ref"}}],
    }
    text, notes = scenario(json.dumps(found), "net")
    assert 'h1 = { address = "10.0.0.7/8", routes = ["default via 10.0.0.9"] }' in text
    assert "# MiniEdit runs at the start: rm -rf / echo x\n" in text
    assert {note.split(" ")[0] for note in notes} == {
        "commands", "shares", "choices", "VLAN", "external", "private", "NetFlow", "kinds", "controllers",
    }  # fmt: skip
    assert all(f"# Note: {note}." in text for note in notes)
    planned(found, tmp_path)


def test_version_1_has_a_table_of_controllers_and_names_may_be_missing() -> None:
    hosts = [{"number": "1", "x": "1", "y": "1", "opts": {"nodeNum": 1}}]
    text, notes = scenario(
        json.dumps({"version": "1", "hosts": hosts, "controllers": {"c0": {}}, "switches": []}), "net"
    )
    assert 'h1 = { address = "10.0.0.1/8" }' in text
    assert notes[0] == "controllers are left out: switches learn by themselves"


def test_beside_a_router_hosts_get_addresses_of_their_subnets(tmp_path: Path) -> None:
    found = network(
        hosts=[host(1), host(2)], switches=[switch(1, "legacyRouter")], links=[link("h1", "r1"), link("r1", "h2")]
    )
    plan, notes = planned(found, tmp_path)
    assert [node["kind"] for node in plan["nodes"]] == ["host", "host", "router"]
    assert notes == [
        "hosts beside routers have addresses of their subnets: MiniEdit gives all of them one subnet (2 times)"
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file is empty"),
        ("b'{}'", "not JSON"),
        ("[]", "neither hosts nor switches"),
        (json.dumps(network(hosts=3)), "hosts is not a list"),
        (json.dumps(network(hosts=[host(1), host(2, hostname="h1")])), "two nodes are named h1"),
        (json.dumps(network(hosts=[], switches=[switch(1)])), "nothing to import"),
        (json.dumps(network(hosts=[host(1, ip="10.0.0")])), "a host's address"),
        (json.dumps(network(hosts=[host(1)], links=[link("h1", "s9")])), "a link leads to 's9'"),
        (json.dumps({**TWO, "links": [link("h1", "s1", bw="fast")]}), "bw = 'fast'"),
        (json.dumps({**TWO, "links": [link("h1", "s1", delay="soon")]}), "a delay of 'soon'"),
        ("[" * 100_000, "not a MiniEdit file"),
        (json.dumps(network(hosts=[host(1, nodeNum="x")])), "a host's address ''"),
    ],
)
def test_what_is_no_network_is_refused_in_a_sentence(text: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        scenario(text, "net")
    assert said in str(refused.value)


def test_what_a_default_route_cannot_say_is_a_comment(tmp_path: Path) -> None:
    routes = ["via 10.0.0.9", "dev h1-eth0", '1", "2']
    texts = [scenario(json.dumps({**TWO, "hosts": [host(1, defaultRoute=one), host(3)]}), "net") for one in routes]
    assert 'routes = ["default via 10.0.0.9"]' in texts[0][0]
    assert "# MiniEdit has defaultRoute = dev h1-eth0\n" in texts[1][0]
    for text, notes in texts[1:]:
        assert notes == ["default routes that are no address are left out"]
        assert "routes" not in tomllib.loads(text)["topology"]["nodes"]["h1"]


FULL = network(
    application={"ipBase": "10.0.0.0/8"},
    hosts=[host(1, ip="10.0.0.1", defaultRoute="10.0.0.9", startCommand="a", cpu=0.5), host(2)],
    switches=[switch(1, netflow="1", controllers=["c0"])],
    controllers=[{"x": "1", "y": "1", "opts": {"hostname": "c0"}}],
    links=[link("h1", "s1", bw=10, delay="5ms", jitter="1ms", loss=1, max_queue_size=9, speedup=1), link("s1", "h2")],
)
WRONG = st.one_of(
    st.sampled_from([None, True, -1, 10**400, 1e300, float("nan"), float("inf"), "", "9" * 400, "٣", "\ud800", "\x07"]),
    st.sampled_from([[], {}, [[]], [1], {"a": 1}, [{}], [{"opts": 3}]]),
    st.text(max_size=6),
)


def ways(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way, *(found for name, part in inner for found in ways(part, (*way, name)))]


@settings(max_examples=400, deadline=None)
@given(way=st.sampled_from(ways(FULL)[1:]), wrong=WRONG, is_left_out=st.booleans())
def test_whatever_is_wrong_in_a_file_is_refused_or_makes_a_text_that_can_be_edited(
    way: tuple[Any, ...], wrong: Any, is_left_out: bool
) -> None:
    found = copy.deepcopy(FULL)
    here: Any = found
    for part in way[:-1]:
        here = here[part]
    if is_left_out:
        del here[way[-1]]
    else:
        here[way[-1]] = wrong
    text = json.dumps(found)
    places(text)
    try:
        made, notes = scenario(text, "net")
    except InputError:
        return
    assert tomllib.loads(made)["topology"]["kind"] == "graph"
    assert "\n".join([made, *notes]).encode()


def test_the_command_writes_a_scenario_and_never_overwrites(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "my net.mn", tmp_path / "net.toml"
    file.write_text(json.dumps(TWO))
    assert invoke(["import", str(file)]) == 0
    assert capsys.readouterr().out.startswith('name = "my-net"\n# Imported from MiniEdit. ')
    assert invoke(["import", str(file), "--output", str(out)]) == 0
    assert invoke(["import", str(file), "--output", str(out)]) == 2
    assert "nothing is overwritten" in capsys.readouterr().err
    file.write_text("")
    assert invoke(["import", str(file)]) == 2
    assert f"{file}: the file is empty" in capsys.readouterr().err
