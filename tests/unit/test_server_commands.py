"""Commands on a scenario: what they change, what follows, and what stays as it was."""

from __future__ import annotations

import difflib
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dumbbell.core import core
from dumbbell.errors import DumbbellError, InputError
from dumbbell.plan.expand import expand
from dumbbell.plan.wire import document
from dumbbell.scenario import bundled, load
from dumbbell.server import messages as m
from dumbbell.server.check import check
from dumbbell.server.commands import Work, apply
from dumbbell.server.draft import Draft
from dumbbell.server.templates import FOLDER

NETWORK = """\
# A network of mine.
name = "mine"
duration = "20 s" # as long as a cup of tea
repeat = 3

[topology]
kind = "graph"

# The nodes.
[topology.nodes]
h1 = {} # the client
h2 = {}
h3 = {}
r1 = { kind = "router", routing = ["bgp"], asn = 1, peers = ["r2"] }
r2 = { kind = "router", routing = ["bgp"], asn = 2, peers = ["r1"] }

# The client's link.
[[topology.links]]
between = ["h1", "r1"]

# In the middle.
[[topology.links]]
between = ["r1", "r2"]
rate = "50 Mbit/s" # measured

[[topology.links]]
between = ["r1", "r2"]
rate = "20 Mbit/s"

# The servers' links.
[[topology.links]]
between = ["r2", "h2"]

[[topology.links]]
between = ["r2", "h3"]

[[flows]]
from = "h1"
to = "h2"

# The other one.
[[flows]]
from = "h3"
to = "h1"
cc = "bbr" # not in our kernel

[[events]]
at = "5 s"
link = "r1-r2-2"
up = false

[[events]]
at = "6 s"
link = "r2-h2"
delay = "1 ms"

[[programs]]
node = "h2"
command = "true"

[hosts]
h2 = { sysctl = { "net.ipv4.tcp_sack" = 0 } }

[sweep]
"topology.links.1.rate" = ["10 Mbit/s", "20 Mbit/s"]
"topology.links.3.delay" = ["1 ms", "2 ms"]
"flows.1.cc" = ["bbr", "reno"]

[[expect]]
metric = "goodput"
of = "r2-h2"
min = "1 Mbit/s"

[[expect]]
metric = "goodput"
of = "f2"
min = "1 Mbit/s"
"""


def done(text: str, *commands: Any, layout: m.Layout | None = None) -> Work:
    work = Work("mine.toml", text, layout or m.Layout())
    for command in commands:
        apply(command, work)
    return work


def changed(before: str, after: str) -> list[str]:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def changes(*commands: Any) -> list[str]:
    return changed(NETWORK, done(NETWORK, *commands).text)


def test_a_value_changes_in_its_line_alone() -> None:
    assert changes(m.Set(key=["topology", "links", 1, "rate"], value="5 Mbit/s")) == [
        '-rate = "50 Mbit/s" # measured',
        '+rate = "5 Mbit/s" # measured',
    ]
    assert changes(m.Set(key=["flows", 0, "cc"], value="bbr3")) == ['+cc = "bbr3"']
    assert changes(m.Unset(key=["flows", 1, "cc"])) == ['-cc = "bbr" # not in our kernel']
    assert changes(m.Set(key=["duration"], value="20 s")) == []


def test_a_name_that_stands_for_a_table_becomes_one() -> None:
    made = changes(m.Set(key=["flows", 1, "cc", "parameters"], value={"beta_keep": 200}))
    assert made == [
        '-cc = "bbr" # not in our kernel',
        '+cc = { name = "bbr", parameters = { beta_keep = 200 } } # not in our kernel',
    ]


def test_a_table_that_becomes_empty_goes() -> None:
    work = done(NETWORK, m.Set(key=["topology", "links", 1, "reverse", "delay"], value="1 ms"))
    assert changed(NETWORK, work.text) == ['+reverse = { delay = "1 ms" }']
    assert done(work.text, m.Unset(key=["topology", "links", 1, "reverse", "delay"])).text == NETWORK
    assert "h1 = {}" in done(NETWORK, m.Unset(key=["topology", "nodes", "h1", "address"])).text


def test_nodes_and_links_come_and_go_without_a_trace() -> None:
    work = done(NETWORK, m.AddNode(kind="switch", at=m.Point(x=1, y=2)))
    assert changed(NETWORK, work.text) == ['+s1 = { kind = "switch" }']
    assert work.made == [["topology", "nodes", "s1"]]
    assert work.layout.nodes == {"s1": m.Point(x=1, y=2)}
    linked = done(work.text, m.AddLink(between=("s1", "h1"), values={"rate": "1 Gbit/s"}), layout=work.layout)
    assert linked.made == [["topology", "links", 5]]
    gone = done(linked.text, m.RemoveNode(name="s1"), layout=work.layout)
    assert gone.text == NETWORK
    assert gone.layout.nodes == {}


def test_new_nodes_have_the_next_free_name() -> None:
    work = done(NETWORK, m.AddNode(kind="host"), m.AddNode(kind="host"), m.AddNode(kind="router"))
    assert [key[2] for key in work.made] == ["h4", "h5", "r3"]


def test_a_node_goes_with_all_that_is_about_it() -> None:
    work = done(NETWORK, m.RemoveNode(name="h2"))
    data = tomllib.loads(work.text)
    assert "h2" not in work.text
    assert [link["between"] for link in data["topology"]["links"]] == [
        ["h1", "r1"], ["r1", "r2"], ["r1", "r2"], ["r2", "h3"],
    ]  # fmt: skip
    assert data["flows"] == [{"from": "h3", "to": "h1", "cc": "bbr"}]
    assert [event["link"] for event in data["events"]] == ["r1-r2-2"]
    assert "programs" not in data
    assert "hosts" not in data
    assert list(data["sweep"]) == ["topology.links.1.rate", "flows.0.cc"]
    assert [one["of"] for one in data["expect"]] == ["f1"]
    for comment in ("# A network of mine.", "# the client", "# In the middle.", "# measured", "# The other one."):
        assert comment in work.text
    assert "# The servers' links." not in work.text


def test_a_router_goes_from_its_neighbours_lists() -> None:
    data = tomllib.loads(done(NETWORK, m.RemoveNode(name="r2")).text)
    assert "peers" not in data["topology"]["nodes"]["r1"]
    assert len(data["topology"]["links"]) == 1
    assert "events" not in data


def test_the_space_of_a_hunt_follows() -> None:
    text = NETWORK + '\n[hunt]\nlink = "r2-h2"\nflows = ["f2"]\n'
    assert tomllib.loads(done(text, m.RenameNode(name="r2", to="edge")).text)["hunt"]["link"] == "edge-h2"
    assert tomllib.loads(done(text, m.RemoveNode(name="h2")).text)["hunt"] == {"flows": ["f1"]}


def test_all_follows_a_new_name() -> None:
    work = done(NETWORK, m.RenameNode(name="r2", to="edge"), layout=m.Layout(nodes={"r2": m.Point(x=1, y=1)}))
    data = tomllib.loads(work.text)
    assert "r2" not in work.text
    assert data["topology"]["nodes"]["r1"]["peers"] == ["edge"]
    assert list(data["topology"]["nodes"]) == ["h1", "h2", "h3", "r1", "edge"]
    assert [event["link"] for event in data["events"]] == ["r1-edge-2", "edge-h2"]
    assert data["expect"][0]["of"] == "edge-h2"
    assert work.layout.nodes == {"edge": m.Point(x=1, y=1)}
    assert done(work.text, m.RenameNode(name="edge", to="r2"), layout=work.layout).text == NETWORK

    data = tomllib.loads(done(NETWORK, m.RenameNode(name="h2", to="server")).text)
    assert (data["flows"][0]["to"], data["programs"][0]["node"]) == ("server", "server")
    assert list(data["hosts"]) == ["server"]
    assert len(changes(m.RenameNode(name="h2", to="server"))) == 2 * 7


def test_parallel_links_keep_their_events() -> None:
    """The second of two links becomes the first, and so has another name."""
    data = tomllib.loads(done(NETWORK, m.RemoveLink(key=["topology", "links", 1])).text)
    assert [event["link"] for event in data["events"]] == ["r1-r2", "r2-h2"]
    assert list(data["sweep"]) == ["topology.links.2.delay", "flows.1.cc"]
    data = tomllib.loads(done(NETWORK, m.RemoveLink(key=["topology", "links", 2])).text)
    assert [event["link"] for event in data["events"]] == ["r2-h2"]


def test_a_batch_is_all_or_nothing() -> None:
    work = Work("mine.toml", NETWORK, m.Layout())
    commands = [m.AddNode(kind="host", name="h9"), m.AddLink(between=("h9", "r1")), m.RemoveNode(name="nobody")]
    with pytest.raises(InputError, match="no node nobody"):
        apply(m.Batch(commands=commands), work)
    work = done(NETWORK, m.Batch(commands=commands[:2], label="paste"))
    assert work.made == [["topology", "nodes", "h9"], ["topology", "links", 5]]


def test_sixty_nodes_go_and_a_group_comes_twice() -> None:
    nodes: list[Any] = [m.AddNode(kind="switch" if i == 0 else "host", name=f"n{i}") for i in range(60)]
    links: list[Any] = [m.AddLink(between=("n0", f"n{i}"), values={"rate": f"{i} Mbit/s"}) for i in range(1, 60)]
    blank = 'name = "a"\nduration = "1 s"\n\n# The network.\n[topology]\nkind = "graph"\n'
    full = done(blank, m.Batch(commands=[*nodes, *links]))
    assert len(full.made) == 119
    assert [told.what for told in check(full.text, Path("a.toml")).problems] == ["a.toml: flows: missing"]
    assert done(full.text, m.Batch(commands=[m.RemoveNode(name=f"n{i}") for i in range(60)])).text == blank
    for copy in "ab":
        group: list[Any] = [m.AddNode(kind="host", name=f"{copy}{i}") for i in range(10)]
        group += [m.AddLink(between=(f"{copy}{i % 10}", f"{copy}{(i + 1 + i // 10) % 10}")) for i in range(12)]
        full = done(full.text, m.Batch(commands=group))
    data = tomllib.loads(full.text)["topology"]
    assert (len(data["nodes"]), len(data["links"])) == (80, 83)


@pytest.mark.parametrize(
    "command",
    [
        m.AddNode(kind="host", name="h1"),
        m.RenameNode(name="h1", to="h2"),
        m.RenameNode(name="h9", to="h8"),
        m.AddLink(between=("h1", "h9")),
        m.AddLink(between=("h1", "h1")),
        m.RemoveLink(key=["topology", "links", 9]),
        m.RemoveLink(key=["flows", 0]),
        m.RemoveFlow(key=["flows", 7]),
        m.RemoveFlow(key=["flows"]),
        m.RemoveItem(key=["events", 9]),
        m.RemoveItem(key=[]),
        m.AddItem(key=["duration"], value={}),
        m.AddItem(key=[], value={}),
        m.Set(key=[], value=1),
        m.Set(key=["flows", 9, "cc"], value="x"),
        m.Set(key=["duration", "x"], value=1),
        m.Set(key=["seed"], value=None),
        m.Set(key=["seed"], value=2**64),
        m.Set(key=["flows", "x"], value=1),
        m.Set(key=["topology", 3], value=1),
        m.Set(key=["flows", -1, "cc"], value="x"),
        m.Free(),
    ],
)
def test_what_can_not_be_done_is_refused(command: Any) -> None:
    work = Work("mine.toml", NETWORK, m.Layout())
    with pytest.raises(DumbbellError):
        apply(command, work)
    assert work.text == NETWORK


def test_a_text_that_is_no_toml_can_only_be_typed_in() -> None:
    with pytest.raises(DumbbellError, match="not TOML"):
        done("x = ", m.AddNode(kind="host"))
    assert done("x = ", m.ReplaceText(text="x = 1\r\n")).text == "x = 1\n"


def test_an_empty_text_becomes_a_network() -> None:
    work = done("", m.AddNode(kind="host"), m.AddNode(kind="host"), m.AddLink(between=("h1", "h2")))
    work = done(work.text, m.AddFlow(sender="h1", receiver="h2"), m.Set(key=["duration"], value="1 s"))
    work = done(work.text, m.Set(key=["name"], value="new"))
    assert check(work.text, Path("new.toml")).problems == []
    assert work.text.startswith('duration = "1 s"\nname = "new"\n')


def preset_names() -> list[str]:
    return [
        name
        for name in bundled.names()
        if (data := tomllib.loads(bundled.text(name)))["topology"]["kind"] != "graph" and "sweep" not in data
    ]


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_that_is_made_free_is_the_same_network(name: str, tmp_path: Path) -> None:
    work = Work("mine.toml", bundled.text(name), m.Layout(), bundled.FOLDER)
    apply(m.Free(), work)
    path = tmp_path / "mine.toml"
    path.write_text(work.text)
    for trace in bundled.FOLDER.glob("*.trace"):
        (tmp_path / trace.name).write_bytes(trace.read_bytes())
    free, preset = (document(expand(load(one))) for one in (path, name))
    assert [node["name"] for node in free["nodes"]] == [node["name"] for node in preset["nodes"]]
    own = {"name", "from", "to", "from_interface", "to_interface", "cost"}

    def facts(links: Any) -> dict[tuple[str, str], Any]:
        return {(one["from"], one["to"]): {k: v for k, v in one.items() if k not in own} for one in links}

    assert facts(free["links"]) == facts(preset["links"])
    assert [event["at_ns"] for event in free["events"]] == [event["at_ns"] for event in preset["events"]]
    with pytest.raises(InputError, match="free already"):
        apply(m.Free(), work)


@pytest.mark.parametrize("file", [*sorted(bundled.FOLDER.glob("*.toml")), *sorted(FOLDER.glob("*.toml"))], ids=str)
def test_each_value_of_each_scenario_can_be_set_and_taken_back(file: Path) -> None:
    """Every leaf: another value changes one line and no comment; the former value gives the former text."""
    text = file.read_text(encoding="utf-8")
    for key, value in leaves(tomllib.loads(text)):
        other = not value if isinstance(value, bool) else value + 1 if isinstance(value, int | float) else f"{value} "
        changed_text = done(text, m.Set(key=key, value=other)).text
        assert len(changed(text, changed_text)) == 2 or "\n" in str(value), key
        assert comments(changed_text) == comments(text)
        assert tomllib.loads(done(changed_text, m.Set(key=key, value=value)).text) == tomllib.loads(text)


def leaves(value: Any, key: tuple[Any, ...] = ()) -> list[tuple[list[Any], Any]]:
    if isinstance(value, dict):
        return [found for name, part in value.items() for found in leaves(part, (*key, name))]
    if isinstance(value, list):
        return [found for i, part in enumerate(value) for found in leaves(part, (*key, i))]
    return [(list(key), value)]


def comments(text: str) -> list[str]:
    return [line.partition("#")[2] for line in text.splitlines() if "#" in line]


# The edits themselves, against Python's own reader of TOML

KEYS = st.sampled_from(["a", "b", "c.d", "é", "x y"])
SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-(10**9), 10**9).map(lambda number: number / 1000),
    st.text(max_size=8).filter(lambda text: "#" not in text),
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6
)
LINES = st.sampled_from(
    [
        "a = 1 # one",
        'b = "two"',
        "c = [1, 2] # list",
        "c = [\n  1, # first\n  2,\n]",
        'd = { x = 1, "y z" = [ { q = 1 } ] } # table',
        "e.f = 1",
        "e.g.h = 2",
        "# a comment",
        "",
        "[t] # header",
        "[t.u]",
        "[[l]] # item",
        "[[l]]",
        "[l.m]",
        "[[t.n]]",
        "i = '''\nlong\n'''",
        "  j  =  1.5  # spaces",
        "k = 1979-05-27T07:32:00Z",
    ]
)


@st.composite
def documents(draw: Any) -> str:
    lines = draw(st.lists(LINES, max_size=14))
    text = "\n".join(lines) + draw(st.sampled_from(["", "\n"]))
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return 'a = 1 # one\n\n# of t\n[t]\nb = "two"\n'
    return text


def containers(value: Any, key: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    own = [key] if isinstance(value, dict | list) else []
    return own + [found for name, part in inner for found in containers(part, (*key, name))]


@settings(max_examples=400, deadline=None)
@given(text=documents(), data=st.data())
def test_edits_mean_what_they_say_to_pythons_reader(text: str, data: st.DataObject) -> None:
    assert core.edit_toml(text, "[]") == text
    draft = Draft(text)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.sampled_from(containers(draft.data)))
        here = draft.get(at)
        what = data.draw(st.sampled_from(["set", "unset", "insert", "rename"]))
        try:
            if what == "insert" and isinstance(here, list):
                draft.insert(at, data.draw(VALUES), data.draw(st.none() | st.integers(0, 3)))
            elif what == "rename" and isinstance(here, dict) and here:
                draft.rename([*at, data.draw(st.sampled_from(sorted(here)))], data.draw(KEYS))
            elif what == "unset" and here:
                names = list(here) if isinstance(here, dict) else list(range(len(here)))
                draft.unset([*at, data.draw(st.sampled_from(names))])
            elif isinstance(here, dict):
                draft.set([*at, data.draw(KEYS | st.sampled_from(sorted(here) or ["a"]))], data.draw(VALUES))
            elif here:
                draft.set([*at, data.draw(st.integers(0, len(here) - 1))], data.draw(VALUES))
        except InputError:
            continue
    try:
        edited = draft.finished()  # It compares by itself, and would raise RunFailed.
    except InputError:
        assert "[[" in text  # What is no table can't be among `[[tables]]`.
        return
    assert tomllib.loads(edited) == draft.data
    assert set(comments(edited)) <= set(comments(text))
