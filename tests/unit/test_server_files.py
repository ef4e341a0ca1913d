"""Files of the workspace through the server: new ones, other names, the trash, imports and exports, plans."""

from __future__ import annotations

import json
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from serving import Served, serving

from dumbbell.cli import invoke
from dumbbell.scenario import bundled
from dumbbell.server.files import LOOK_S
from dumbbell.server.messages import Layout, Point
from dumbbell.server.transfer import placed, places

DRAWN = """\
name = "drawn"
duration = "5 s"

[topology]
kind = "graph"

[topology.nodes]
h1 = {}
h2 = {}
s1 = { kind = "switch" }

[[topology.links]]
between = ["h1", "s1"]
rate = "10 Mbit/s"
delay = "5 ms"
buffer = "100 packets"

[[topology.links]]
between = ["s1", "h2"]

[[flows]]
from = "h1"
to = "h2"
"""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path) as found:
        yield found


def change(served: Served, status: int = 200, **asked: Any) -> Any:
    found, _, content = served.ask("POST", "/api/files", asked)
    assert found == status, content
    return json.loads(content)


def test_a_new_file_overwrites_nothing(served: Served) -> None:
    entry = change(served, do="new", path="sub/drawn.toml", text=DRAWN, layout={"nodes": {"h1": {"x": 1, "y": 2}}})
    assert (entry["path"], entry["kind"]) == ("sub/drawn.toml", "scenario")
    assert (served.root / "sub" / "drawn.toml").read_text() == DRAWN
    assert tomllib.loads(DRAWN)["name"] == "drawn"
    told = change(served, 400, do="new", path="sub/drawn.toml", text="x")
    assert told["what"] == "sub/drawn.toml is there already"
    assert change(served, 400, do="folder", path="sub")["what"] == "sub is there already"
    with served.page() as page:
        assert page.open("sub/drawn.toml")["layout"]["nodes"] == {"h1": {"x": 1, "y": 2}}


def test_every_template_is_a_scenario(served: Served) -> None:
    templates = served.json("GET", "/api/templates")
    assert {one["group"] for one in templates} == {"start", "bundled"}
    for number, one in enumerate(templates):
        change(served, do="new", path=f"t{number}.toml", template=one["name"])
        data = tomllib.loads((served.root / f"t{number}.toml").read_text())
        assert data["name"] == f"t{number}"
        with served.page() as page:
            state = page.open(f"t{number}.toml")
            assert state["trusted"], one
            assert [told["what"] for told in state["problems"]] == (
                [f"t{number}.toml: flows: missing"] if one["name"] == "blank" else []
            )
            assert len(state["drawing"]["nodes"]) == one["nodes"]


def test_copies_and_other_names_take_layout_and_changes_along(served: Served) -> None:
    change(served, do="new", path="a.toml", text=DRAWN)
    with served.page() as page:
        page.open("a.toml")
        page.do("a.toml", do="move", nodes={"h1": {"x": 5, "y": 6}})
        page.do("a.toml", do="replace_text", text=DRAWN + "# typed\n")
        # At once: what was typed is not saved yet.
        change(served, do="copy", path="a.toml", to="b.toml")
        change(served, do="rename", path="a.toml", to="c.toml")
    for name in ("b", "c"):
        assert (served.root / f"{name}.toml").read_text() == DRAWN + "# typed\n"
        assert json.loads((served.root / f"{name}.layout.json").read_text()) == {"nodes": {"h1": {"x": 5, "y": 6}}}
    assert not (served.root / "a.toml").exists()
    assert not (served.root / "a.layout.json").exists()
    assert change(served, 400, do="rename", path="c.toml", to="b.toml")["what"] == "b.toml is there already"
    # Another file of the old name has nothing to do with it.
    change(served, do="new", path="a.toml", text="x = 1\n")
    with served.page() as page:
        state = page.open("a.toml")
        assert (state["text"], state["can_undo"]) == ("x = 1\n", False)


def test_what_is_deleted_is_in_the_trash(served: Served) -> None:
    change(served, do="new", path="a.toml", text=DRAWN, layout={"nodes": {"h1": {"x": 1, "y": 1}}})
    change(served, do="delete", path="a.toml")
    assert served.json("GET", "/api/files")["entries"] == []
    kept = sorted(path.name.split("-", 3)[3] for path in (served.root / ".dumbbell" / "trash").iterdir())
    assert kept == ["a.layout.json", "a.toml"]
    change(served, 400, do="delete", path="a.toml")


def test_the_list_says_what_things_are(served: Served) -> None:
    bundled.copy("bbr-vs-cubic", served.root / "bbr-vs-cubic.toml")
    (served.root / "notes.txt").write_text("x")
    (served.root / ".hidden").write_text("x")
    (served.root / "old").mkdir()
    (served.root / "a.layout.json").write_text("{}")
    (served.root / "broken.toml").symlink_to("nowhere")
    entries = served.json("GET", "/api/files")["entries"]
    assert [(one["name"], one["kind"]) for one in entries] == [
        ("old", "folder"), ("bbr-vs-cubic.toml", "scenario"), ("notes.txt", "file"),
    ]  # fmt: skip
    assert entries[1]["title"].startswith("CUBIC against BBR")


def test_pages_hear_of_changes_in_folders(served: Served) -> None:
    (served.root / "sub").mkdir()
    with served.page() as page:
        assert page.request(do="subscribe", topic="files")["type"] == "ack"
        time.sleep(LOOK_S / 5)
        (served.root / "sub" / "new.toml").write_text("x = 1\n")
        assert page.hear(10)["event"] == {"folders": ["sub"]}
        (served.root / "sub" / "new.toml").unlink()
        assert page.hear(10)["event"] == {"folders": ["sub"]}


def test_two_tabs_and_another_program_agree_at_the_end(served: Served) -> None:
    change(served, do="new", path="a.toml", text=DRAWN)
    with served.page() as one, served.page() as two:
        first = one.open("a.toml")
        two.open("a.toml")
        base = first["revision"]
        assert one.do("a.toml", do="replace_text", text=DRAWN + "# one\n")["revision"] == base + 1
        stale = two.command("a.toml", {"do": "replace_text", "text": "lost?"}, base=base)
        assert (stale["type"], stale["why"], stale["revision"]) == ("reject", "stale", base + 1)
        assert two.until("a.toml", base + 1)["text"] == DRAWN + "# one\n"
        one.until("a.toml", base + 1, saved=True)
        (served.root / "a.toml").write_text(DRAWN + "# an editor\n")
        for page in (one, two):
            state = page.until("a.toml", base + 2)
            assert state["text"] == DRAWN + "# an editor\n"
            assert state["undo"] == "change by another program"
        assert two.do("a.toml", do="undo")["text"] == DRAWN + "# one\n"
        one.until("a.toml", base + 3, saved=True)
    assert (served.root / "a.toml").read_text() == DRAWN + "# one\n"


def test_a_conflict_is_shown_and_decided(served: Served) -> None:
    change(served, do="new", path="a.toml", text=DRAWN)
    with served.page() as page:
        page.open("a.toml")
        page.command("a.toml", {"do": "replace_text", "text": DRAWN + "# mine\n"})
        (served.root / "a.toml").write_text(DRAWN + "# theirs\n")
        state = page.until("a.toml", 1, on_disk=DRAWN + "# theirs\n")
        assert state["text"] == DRAWN + "# mine\n"
        assert not state["saved"]
        status, _, content = served.ask("POST", "/api/runs", {"path": "a.toml"})
        assert (status, json.loads(content)["what"]) == (400, "a.toml is not saved")
        answer = page.command("a.toml", {"do": "resolve", "take": "disk"})
        assert page.until("a.toml", answer["revision"], saved=True)["text"] == DRAWN + "# theirs\n"
        assert page.do("a.toml", do="undo")["text"] == DRAWN + "# mine\n"


def test_problems_point_at_keys_and_lines(served: Served) -> None:
    text = DRAWN.replace('"10 Mbit/s"', '"10"').replace('to = "h2"', 'to = "h9"')
    change(served, do="new", path="a.toml", text=text)
    with served.page() as page:
        state = page.open("a.toml")
        (told,) = state["problems"]
        assert told["key"] == ["topology", "links", 0, "rate"]
        assert told["line"] == text.splitlines().index('rate = "10"') + 1
        assert state["drawing"]["links"][0]["problems"] == 1
        assert [node["name"] for node in state["drawing"]["nodes"]] == ["h1", "h2", "s1"]
        # The words are those of the command line.
        planned = served.json("POST", "/api/plan", {"path": "a.toml"})
        assert planned["problems"][0]["what"] == told["what"]
        state = page.do("a.toml", do="replace_text", text=text.replace('"10"', '"10 Mbit/s"'))
        assert state["problems"][0]["key"] == ["flows", 0, "to"]
        state = page.do("a.toml", do="replace_text", text="x = ")
        assert (state["problems"][0]["line"], state["drawing"]["current"]) == (1, False)
        assert state["data"]["name"] == "drawn"
        assert page.do("a.toml", do="replace_text", text=DRAWN)["problems"] == []


@pytest.mark.parametrize(
    ("line", "other"),
    [
        ('rate = "10 Mbit/s"', "rate = 10"),
        ('rate = "10 Mbit/s"', 'rte = "10 Mbit/s"'),
        ('to = "h2"', 'to = "nobody"'),
        ('between = ["s1", "h2"]', 'between = ["s1", "s1"]'),
        ('rate = "10 Mbit/s"', 'queue = { kind = "red", min = "9 packets", max = "3 packets" }'),
        ("duration", "durations"),
        ('from = "h1"', 'from = "h1'),
    ],
)
def test_the_words_are_those_of_the_command_line(
    served: Served, line: str, other: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = DRAWN.replace(line, other, 1)
    change(served, do="new", path="sub/a.toml", text=text)
    monkeypatch.chdir(served.root)
    assert invoke(["plan", "sub/a.toml"]) == 2
    told = capsys.readouterr().err
    with served.page() as page:
        problems = page.open("sub/a.toml")["problems"]
    said = ["\n".join(filter(None, ["error: " + one["what"], *(f"  {part}" for part in one["why"].splitlines()),
                                    one["hint"] and f"hint: {one['hint']}"])) for one in problems]  # fmt: skip
    assert "\n".join(said) + "\n" == told
    assert all(one["line"] for one in problems if "missing" not in one["what"])


def test_a_plan_is_that_of_the_command_line(served: Served) -> None:
    asked = {"text": DRAWN, "overrides": {"topology.links.0.rate": "5 Mbit/s", "seed": 7}, "engine": "simulate"}
    found = served.json("POST", "/api/plan", asked)
    assert found["plan"]["links"][0]["rate_bps"] == 5_000_000
    assert found["plan"]["seed"] == 7
    assert "--set 'topology.links.0.rate=5 Mbit/s' --set seed=7 --engine simulate" in found["command"]
    assert [table["title"] for table in found["tables"]][:2] == [
        "Run drawn",
        "Links (and 2 without rate, delay or loss)",
    ]
    wrong = served.json("POST", "/api/plan", {**asked, "overrides": {"topology.links.0.rate": "5"}})
    assert wrong["plan"] is None
    assert wrong["problems"][0]["key"] == ["topology", "links", 0, "rate"]
    assert served.ask("POST", "/api/plan", {"path": "nothing.toml"})[0] == 400
    assert served.ask("POST", "/api/plan", {"text": DRAWN, "engine": "none"})[0] == 400


def miniedit() -> dict[str, Any]:
    def node(kind: str, number: int, x: float, y: float, **options: Any) -> dict[str, Any]:
        hostname = f"{kind}{number}"
        options = {"hostname": hostname, "nodeNum": number, **options}
        return {"number": str(number), "x": str(x), "y": str(y), "opts": options}

    return {
        "version": "2",
        "application": {"ipBase": "10.0.0.0/8"},
        "hosts": [node("h", 1, 100.0, 50.0, sched="host"), node("h", 2, 300.4, 50.6, sched="host", ip="10.0.0.9")],
        "switches": [node("s", 1, 200.0, 150.0, switchType="legacySwitch", controllers=[])],
        "controllers": [],
        "links": [
            {"src": "h1", "dest": "s1", "opts": {"bw": 10, "delay": "5ms", "loss": 1}},
            {"src": "s1", "dest": "h2", "opts": {}},
        ],
    }


def test_a_drawing_of_miniedit_keeps_its_places(served: Served) -> None:
    text = json.dumps(miniedit())
    found = served.json("POST", "/api/import", {"name": "lab.mn", "text": text})
    assert found["name"] == "lab.toml"
    assert found["layout"]["nodes"] == {
        "h1": {"x": 100, "y": 50},
        "h2": {"x": 300, "y": 51},
        "s1": {"x": 200, "y": 150},
    }
    assert not (served.root / "lab.toml").exists()
    new = {"do": "new", "path": "lab.toml", "text": found["text"], "layout": found["layout"], "foreign": True}
    change(served, **new)
    assert served.json("POST", "/api/import", {"name": "lab.mn", "text": text})["name"] == "lab-2.toml"
    exported = served.json("GET", "/api/export?path=lab.toml&as=miniedit")
    assert exported["name"] == "lab.mn"
    again = served.json("POST", "/api/import", {"name": "lab.mn", "text": exported["text"]})
    assert again["layout"] == found["layout"]
    before, after = (tomllib.loads(one["text"])["topology"] for one in (found, again))
    assert after["nodes"] == before["nodes"]
    assert [link["between"] for link in after["links"]] == [link["between"] for link in before["links"]]
    assert after["links"][0]["rate"] == before["links"][0]["rate"]
    assert served.json("GET", "/api/export?path=lab.toml&as=toml")["text"] == found["text"]
    for form, end, said in (("containerlab", ".clab.yml", "topology:"), ("python", ".py", "dumbbell.Lab(")):
        exported = served.json("GET", f"/api/export?path=lab.toml&as={form}")
        assert exported["name"] == f"lab{end}"
        assert said in exported["text"]


def test_routers_of_an_import_run_daemons_on_request_as_on_the_command_line(served: Served, tmp_path: Path) -> None:
    drawn = miniedit()
    drawn["switches"][0]["opts"]["switchType"] = "legacyRouter"
    (file := tmp_path / "lab.mn").write_text(json.dumps(drawn))
    for routers in ("static", "frr"):
        found = served.json("POST", "/api/import", {"name": "lab.mn", "text": file.read_text(), "routers": routers})
        assert found["unconfigured"] == ["s1"]
        assert invoke(["import", str(file), "--routers", routers, "-o", str(made := tmp_path / f"{routers}.toml")]) == 0
        assert found["text"] == made.read_text()
    router = tomllib.loads(found["text"])["topology"]["nodes"]["s1"]
    assert router["bare"] is True
    assert "shortest paths until `routing` names protocols" in found["text"], "the daemons know no way yet"
    assert "bgp" in router["routing"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.mn", "", "the file is empty"),
        ("a.mn", '{"hosts": [', "not a MiniEdit file"),
        ("a.mn", "[]", "not a MiniEdit file"),
        (
            "a.mn",
            json.dumps({**miniedit(), "switches": [], "hosts": miniedit()["hosts"][:1] * 2}),
            "two nodes are named h1",
        ),
        ("a.clab.yml", "a: [", "no"),
        ("a.toml", "x = ", "not TOML"),
    ],
)
def test_what_is_no_network_is_refused_with_a_sentence(served: Served, name: str, text: str, said: str) -> None:
    status, _, content = served.ask("POST", "/api/import", {"name": name, "text": text})
    assert status == 400
    assert said in json.loads(content)["what"]


def test_places_are_read_from_whatever_is_there() -> None:
    for text in (
        "",
        "[]",
        "{}",
        '{"hosts": 1}',
        '{"hosts": [{"x": "?", "y": "1"}]}',
        '{"hosts": [{"x": "1e999", "y": "1"}]}',
    ):
        assert places(text) is None
    old = {"version": "1", "hosts": [{"number": "3", "x": "1.5", "y": "2"}]}
    assert places(json.dumps(old)) == Layout(nodes={"h3": Point(x=2, y=2)})


def test_an_exported_drawing_is_on_the_canvas() -> None:
    found = miniedit()
    layout = Layout(nodes={"h1": Point(x=-500, y=10), "h2": Point(x=0, y=90), "s1": Point(x=-200, y=90)})
    moved = json.loads(placed(json.dumps(found), layout))
    assert [(one["x"], one["y"]) for one in (*moved["hosts"], *moved["switches"])] == [
        ("60.0", "10.0"), ("560.0", "90.0"), ("360.0", "90.0"),
    ]  # fmt: skip


def test_the_page_learns_what_this_machine_has(served: Served) -> None:
    about = served.json("GET", "/api/about")
    assert {one["name"]: one["real_time"] for one in about["engines"]} == {
        "emulate": True, "virtual": False, "simulate": False,
    }  # fmt: skip
    assert {"cubic", "bbr3"} <= set(about["algorithms"])
    assert served.json("GET", "/api/schema")["title"] == "dumbbell scenario"
    described = served.json("GET", "/api/openapi.json")
    assert {"/api/files", "/api/plan", "/api/import"} <= described["paths"].keys()
