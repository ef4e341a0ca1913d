"""Configurations of routers in the web application: shown, checked by FRR, written beside the scenario, asked about."""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Iterator

import pytest
from serving import Served, serving

NET = """\
name = "as"  # two systems

[topology]
kind = "graph"

[topology.nodes]
r1 = { kind = "router", asn = 100, routing = ["bgp"], bare = true }
r2 = { kind = "router", asn = 200, routing = ["bgp"] }

[[topology.links]]
between = ["r1", "r2"]
"""
THEIRS = NET.replace("bare = true", 'frr = "r1.conf"')
ROUTE = "/api/configuration"

needs_frr = pytest.mark.skipif(shutil.which("vtysh") is None, reason="apt-get install frr")


@pytest.fixture
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("configuration")) as started:
        yield started


@needs_frr
def test_a_configuration_is_written_beside_its_scenario(served: Served) -> None:
    (served.root / "mine.toml").write_text(NET)
    (served.root / "r2.conf").write_text("! of somebody else\n")
    shown = served.json("GET", f"{ROUTE}?path=mine.toml&router=r2")
    assert shown["file"] == "mine-r2.conf", "what is there is not overwritten"
    assert "router bgp 200" in shown["text"]
    assert not shown["is_written"]

    text = "router bgp 100\n no bgp ebgp-requires-policy\nexit"
    saved = served.json("POST", ROUTE, {"path": "mine.toml", "router": "r1", "text": text})
    assert saved == {"is_checked": True, "line": None, "said": ""}
    assert (served.root / "r1.conf").read_text() == f"{text}\n"
    with served.page() as page:
        state = page.open("mine.toml")
        assert tomllib.loads(state["text"])["topology"]["nodes"]["r1"]["frr"] == "r1.conf"
        assert "bare" not in state["text"]
        assert "# two systems" in state["text"]
        assert state["undo"] == "configuration of r1"
    shown = served.json("GET", f"{ROUTE}?path=mine.toml&router=r1")
    assert shown == {"file": "r1.conf", "text": f"{text}\n", "is_written": True}
    # An unfinished configuration is written, too, and the line is named.
    saved = served.json("POST", ROUTE, {"path": "mine.toml", "router": "r1", "text": "hostname r1\nrouter bgpp 1\n"})
    assert saved["line"] == 2
    assert "`router bgpp 1`" in saved["said"]
    assert (served.root / "r1.conf").read_text() == "hostname r1\nrouter bgpp 1\n"


@needs_frr
def test_a_check_carries_nothing_out(served: Served) -> None:
    for line in ("write file", "start-shell touch done", "copy /etc/hostname running-config"):
        answer = served.json("POST", f"{ROUTE}/check", {"router": "r1", "text": f"! mine\n{line}\n"})
        assert answer["line"] == 2, line
    assert [*served.root.glob("[!.]*")] == []


def test_what_is_written_is_asked_about_before_it_runs(served: Served) -> None:
    (served.root / "r1.conf").write_text("! theirs\n")
    served.json("POST", "/api/files", {"do": "new", "path": "theirs.toml", "text": THEIRS, "foreign": True})
    asked = [json.loads(served.ask("POST", "/api/labs", {"path": "theirs.toml"})[2])["programs"]]
    served.json("POST", "/api/agree", {"programs": asked[0]})
    served.json("POST", ROUTE, {"path": "theirs.toml", "router": "r1", "text": "! another text\n"})
    status, _, content = served.ask("POST", "/api/labs", {"path": "theirs.toml"})
    assert status == 428
    assert json.loads(content)["programs"] != asked[0]


def test_to_name_a_file_in_a_strangers_scenario_is_no_agreement(served: Served) -> None:
    text = NET + '\n[[programs]]\nnode = "r1"\ncommand = "touch done"\n'
    served.json("POST", "/api/files", {"do": "new", "path": "theirs.toml", "text": text, "foreign": True})
    served.json("POST", ROUTE, {"path": "theirs.toml", "router": "r1", "text": "! mine\n"})
    status, _, content = served.ask("POST", "/api/labs", {"path": "theirs.toml"})
    assert status == 428
    assert any("touch done" in one for one in json.loads(content)["programs"])


@pytest.mark.parametrize("name", ["../outside.conf", "/etc/hostname", ".dumbbell/own.conf"])
def test_nothing_is_written_elsewhere(served: Served, name: str) -> None:
    outside = served.root.parent / "outside.conf"
    outside.write_text("! theirs\n")
    (served.root / "theirs.toml").write_text(THEIRS.replace("r1.conf", name))
    status, _, _ = served.ask("POST", ROUTE, {"path": "theirs.toml", "router": "r1", "text": "! mine\n"})
    assert status == 400
    assert outside.read_text() == "! theirs\n"
    assert not (served.root / ".dumbbell" / "own.conf").exists()


def test_no_link_leads_writing_out_of_the_folder(served: Served) -> None:
    outside = served.root.parent / "linked.conf"
    outside.write_text("! theirs\n")
    (served.root / "r1.conf").symlink_to(outside)
    (served.root / "theirs.toml").write_text(THEIRS)
    status, _, _ = served.ask("POST", ROUTE, {"path": "theirs.toml", "router": "r1", "text": "! mine\n"})
    assert status == 400
    assert outside.read_text() == "! theirs\n"


def test_only_routers_of_their_own_have_one(served: Served) -> None:
    (served.root / "mine.toml").write_text(NET)
    for router in ("h1", "r9"):
        status, _, content = served.ask("GET", f"{ROUTE}?path=mine.toml&router={router}")
        assert (status, json.loads(content)["what"]) == (400, f"mine.toml has no router {router}")
