"""A network that a program draws: it is a scenario's, and errors name the call."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell.errors import InputError, ScenarioError
from dumbbell.labs.build import load, plan_of
from dumbbell.plan.wire import document


def drawn(**keys: Any) -> dumbbell.Lab:
    lab = dumbbell.Lab(**keys)
    h1, s1 = lab.host("h1"), lab.switch("s1")
    lab.host("h2", address="10.1.0.9/24")
    r1 = lab.router("r1", sysctl={"net.ipv4.ip_default_ttl": 9})
    lab.link(h1, s1, rate="10 Mbit/s", delay="5 ms", buffer="50 kB", reverse={"rate": "1 Mbit/s"})
    lab.link("h2", s1)
    lab.link(s1, r1, name="up")
    return lab


def test_it_is_the_scenario_that_a_file_would_hold(tmp_path: Path) -> None:
    lab = drawn(ipv6=True)
    lab.save(tmp_path / "net.toml")
    text = (tmp_path / "net.toml").read_text()
    assert 'h2 = {address = "10.1.0.9/24"}\n' in text
    assert '[[topology.links]]\nbetween = ["h1", "s1"]\nrate = "10 Mbit/s"\n' in text
    assert tomllib.loads(text)["topology"]["ipv6"] is True
    plans = [document(plan_of(one)[0]) for one in (lab.scenario(), load(tmp_path / "net.toml"))]
    assert plans[0] == plans[1]
    with pytest.raises(InputError, match="nothing is overwritten"):
        lab.save(tmp_path / "net.toml")


def test_a_scenario_s_file_is_saved_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('# mine\nname = "a"\n[topology]\nkind = "star"\nsize = 2\n')
    lab = dumbbell.Lab(tmp_path / "a.toml")
    lab.save(tmp_path / "b.toml")
    assert (tmp_path / "b.toml").read_text() == (tmp_path / "a.toml").read_text()
    dumbbell.Lab(tmp_path / "a.toml", {"topology.size": 3}).save(tmp_path / "c.toml")
    assert tomllib.loads((tmp_path / "c.toml").read_text())["topology"]["size"] == 3


def test_a_scenario_that_names_files_stays_beside_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r1.conf").write_text("hostname r1\n")
    lab = dumbbell.Lab()
    lab.router("r1", routing=["bgp"], frr="r1.conf")
    for name in ("h1", "h2"):
        lab.link(lab.host(name), "r1")
    (tmp_path / "other").mkdir()
    with pytest.raises(InputError, match="names files"):
        lab.save("other/net.toml")
    lab.save("net.toml")
    assert load("net.toml").name == "lab"


def test_an_error_names_the_call_and_its_line() -> None:
    lab = drawn()
    lab.link("h1", "s9", rate="10")
    lab.host("h7", ip="10.0.0.1")  # type: ignore[call-arg]
    with pytest.raises(ScenarioError) as refused:
        lab.scenario()
    node, link = (str(problem.text()) for problem in refused.value.problems)
    assert f"{__file__}:" in link
    assert 'lab.link("h1", "s9", rate="10"): no unit\n' in link
    assert 'lab.host("h7", ip="10.0.0.1"): unknown key\n  expected one of' in node
    lab = drawn()
    lab.link("h1", "s9")
    with pytest.raises(ScenarioError, match=r'lab\.link\("h1", "s9"\): unknown node s9'):
        lab.scenario()
    lab = drawn()
    lab.host("alone")
    with pytest.raises(ScenarioError, match=r'lab\.host\("alone"\): no link leads to alone'):
        lab.scenario()


def test_what_is_no_network_is_refused_at_once() -> None:
    lab = drawn()
    with pytest.raises(InputError, match="another node is called h1"):
        lab.router("h1")
    with pytest.raises(InputError, match="a link joins two"):
        lab.link("h1")
    with pytest.raises(InputError, match="begin with Lab"):
        dumbbell.Lab("bbr-vs-cubic").host("h1")
    with pytest.raises(InputError, match="has no more nodes"):
        dumbbell.Lab.from_topology("tree", depth=1, fanout=2).switch("s9")
    with pytest.raises(InputError, match="overrides"):
        dumbbell.Lab("bbr-vs-cubic", ipv6=True)
    with pytest.raises(dumbbell.RunFailed, match="not up") as failed:
        lab.ping_all()
    assert "lab.start()" in failed.value.hint


def test_presets_have_their_keys() -> None:
    lab = dumbbell.Lab.from_topology("tree", depth=2, fanout=2, link={"delay": "1 ms"})
    plan, _ = plan_of(lab.scenario())
    assert [node.name for node in plan.nodes][:4] == ["h1", "h2", "h3", "h4"]
    with pytest.raises(ScenarioError) as refused:
        dumbbell.Lab.from_topology("tree", depth=2, fanot=2).scenario()
    assert 'Lab.from_topology("tree", fanot=2): unknown key' in str(refused.value)
    assert "did you mean fanout?" in str(refused.value)
    with pytest.raises(ScenarioError, match='"clique"'):
        dumbbell.Lab.from_topology("clique", size=3).scenario()


def test_overrides_win_over_calls() -> None:
    lab = drawn(overrides={"topology.links.0.rate": "3 Mbit/s", "seed": 7})
    plan = document(plan_of(lab.scenario())[0])
    assert (plan["seed"], plan["links"][0]["rate_bps"]) == (7, 3_000_000)


def test_without_flows_a_bdp_is_reckoned_by_the_longest_rtt_between_hosts_across_the_link() -> None:
    lab = dumbbell.Lab()
    lab.host("h1"), lab.host("h2"), lab.host("h3"), lab.host("alone"), lab.host("beside"), lab.router("r1")
    lab.switch("s1")
    lab.link("h1", "r1", delay="5 ms")
    lab.link("r1", "s1", rate="10 Mbit/s", delay="15 ms")
    lab.link("s1", "h2", rate="100 Mbit/s", buffer="2 bdp")
    lab.link("s1", "h3", rate="8 Mbit/s", buffer="3 packets")
    # Nobody else reaches them, and their delays are small.
    lab.link("alone", "beside", rate="80 Mbit/s", delay="1 ms")
    links = {link["name"]: link["buffer"] for link in document(plan_of(lab.scenario())[0])["links"]}
    # 40 ms there and back; 10 ms at least.
    assert links["r1-s1"] == {"bytes": 50_000}
    assert links["s1-h2"] == {"bytes": 2 * 500_000}
    assert links["s1-h3"] == {"packets": 3}
    assert links["alone-beside"] == {"bytes": 100_000}


def test_with_flows_it_is_that_of_the_flows() -> None:
    lab = dumbbell.Lab(overrides={"flows": [{"from": "h1", "to": "h2"}]})
    lab.host("h1"), lab.host("h2"), lab.host("h3"), lab.switch("s1")
    lab.link("h1", "s1", rate="800 Mbit/s", delay="1 ms")
    lab.link("s1", "h2")
    lab.link("s1", "h3", delay="50 ms")
    links = {link["name"]: link["buffer"] for link in document(plan_of(lab.scenario())[0])["links"]}
    assert links["h1-s1"] == {"bytes": 200_000}
