"""Nodes and links that are added to a lab that is up, or removed.

The lab's scenario is edited, and planned anew. What both networks have keeps its addresses, interfaces and MAC
addresses: where the planner would give others, those of now are written into the scenario. The lab then becomes the
network of the new plan. What it cannot become is refused by name, and nothing has changed.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dumbbell import outputs
from dumbbell.errors import InputError, RunFailed
from dumbbell.hints import nearest
from dumbbell.labs import changes, daemons, identities, place, refusals, routers, traffic
from dumbbell.labs.agent import ask
from dumbbell.labs.identities import Kept
from dumbbell.labs.network import Network
from dumbbell.scenario.file import toml
from dumbbell.scenario.source import Key

if TYPE_CHECKING:
    from dumbbell.labs.build import LabScenario
    from dumbbell.plan.types import Plan

WAITING: Final = "waiting.json"
"""The nodes that were added and have no link yet, with their keys, in the lab's directory."""
_NEXT: Final = "next-plan.json"
_REWIRED: Final = "rewired"
KINDS: Final = ("host", "switch", "router")
_TRIES: Final = 3
"""Times that a scenario is planned until it keeps what the lab has."""

Topology = dict[str, Any]


def add_node(lab: Path, kind: str, name: str, keys: Mapping[str, Any]) -> None:
    """Add a node, which joins the network with its first link.

    Args:
        lab: the lab's directory.
        kind: one of `KINDS`.
        name: of the node.
        keys: as in `[topology.nodes]`.

    Raises:
        InputError: there is a node of this name, or it cannot be so.
    """
    if kind not in KINDS:
        raise InputError(f"cannot add a {kind}", f"kinds of nodes: {', '.join(KINDS)}", "add host h3")
    with _turn(lab):
        known = [*Network.of(lab).nodes, *waiting(lab)]
        if name in known:
            raise InputError(f"cannot add {name}", "another node has this name", "choose another name")
        if "cpu" in keys or keys.get("nat"):
            key = "cpu" if "cpu" in keys else "nat"
            raise InputError(f"cannot add {name}", f"`{key}` takes effect only as a lab starts", f"leave {key} out")
        node = {**({} if kind == "host" else {"kind": kind}), **keys}
        # With a link to any node it must be a network.
        _check_node(lab, name, node)
        outputs.write(lab / WAITING, json.dumps({**waiting(lab), name: node}))


def add_link(lab: Path, ends: Sequence[str], keys: Mapping[str, Any]) -> tuple[tuple[str, ...], list[str]]:
    """Add a link between two nodes. Returns the names of its two directions, and what is left to the user.

    Args:
        lab: the lab's directory.
        ends: the nodes. One that was added and waits for its first link joins the network.
        keys: as in `[[topology.links]]`.

    Raises:
        InputError: there is no such node, or the network cannot be so.
        RunFailed: the lab has ended, or refuses it.
    """
    what = f"cannot add a link {' '.join(ends)}"
    if len(ends) != 2:
        raise InputError(what, "a link joins two nodes", 'add link h3 s1 rate="10 Mbit/s" delay="5 ms"')
    with _turn(lab):
        pending = waiting(lab)
        known = [*Network.of(lab).nodes, *pending]
        for name in ends:
            if name not in known:
                hint = nearest(name, known) or f"add host {name}"
                raise InputError(what, f"there is no node {name}", hint)

        def edit(topology: Topology) -> Key:
            for name in ends:
                if name in pending:
                    topology.setdefault("nodes", {})[name] = pending[name]
            topology.setdefault("links", []).append({"between": list(ends), **keys})
            return ("topology", "links", len(topology["links"]) - 1)

        def kept(cables: int) -> Kept:
            return [(place, place) for place in range(cables)]

        plan, left_to_do = _become(lab, what, edit, kept, ())
        left = {name: node for name, node in pending.items() if name not in ends}
        outputs.write(lab / WAITING, json.dumps(left))
        return tuple(link.name for link in plan.links[-2:]), left_to_do


def remove_node(lab: Path, name: str) -> list[str]:
    """Remove a node with its links. Programs in it are killed. Returns what is left to the user.

    Raises:
        InputError: there is no such node, or something needs it.
        RunFailed: the lab has ended, or refuses it.
    """
    what = f"cannot remove {name}"
    with _turn(lab):
        pending = waiting(lab)
        if name in pending:
            outputs.write(lab / WAITING, json.dumps({one: node for one, node in pending.items() if one != name}))
            return []
        network = Network.of(lab)
        network.check_node(name)
        if name == network.outside:
            raise InputError(what, "it leads to this machine's network", "end the lab")
        gone = [place for place, cable in enumerate(network.cables) if name in cable.ends]
        refusals.check_left(network, what, gone, (name,), "remove {} first")

        def edit(topology: Topology) -> Key:
            listed = topology.get("nodes", {})
            if name not in listed:
                raise InputError(what, "it is of the file that the scenario names", "write the nodes one by one")
            del listed[name]
            _drop(topology, what, gone, len(network.cables))
            return ()

        return _become(lab, what, edit, _without(gone), (name,))[1]


def remove_link(lab: Path, words: Sequence[str]) -> list[str]:
    """Remove the links between two nodes, or the one of this name, both ways. Returns what is left to the user.

    Raises:
        InputError: there is no such link, or something needs it.
        RunFailed: the lab has ended, or refuses it.
    """
    what = f"cannot remove the link {' '.join(words)}"
    with _turn(lab):
        network = Network.of(lab)
        names = network.named(*words)
        gone = [place for place, cable in enumerate(network.cables) if set(cable.links) & set(names)]
        refusals.check_left(network, what, gone, (), "remove {}, or add another link first")

        def edit(topology: Topology) -> Key:
            _drop(topology, what, gone, len(network.cables))
            return ()

        return _become(lab, what, edit, _without(gone), ())[1]


def waiting(lab: Path) -> dict[str, dict[str, Any]]:
    """The nodes that were added and have no link yet, with their keys."""
    try:
        found: dict[str, dict[str, Any]] = json.loads((lab / WAITING).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return found


@contextmanager
def _turn(lab: Path) -> Iterator[None]:
    """Within, nobody else changes the network."""
    descriptor = os.open(lab / "network", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _without(gone: Sequence[int]) -> Callable[[int], Kept]:
    def kept(cables: int) -> Kept:
        left = [place for place in range(cables) if place not in gone]
        return [(before, after) for after, before in enumerate(left)]

    return kept


def _drop(topology: Topology, what: str, gone: Sequence[int], cables: int) -> None:
    """Drop cables from the links that are listed, which come last."""
    listed = topology.get("links", [])
    first = cables - len(listed)
    if any(cable < first for cable in gone):
        raise InputError(what, "it is of the file that the scenario names", "write the links one by one")
    for cable in sorted(gone, reverse=True):
        del listed[cable - first]


def _check_node(lab: Path, name: str, node: Mapping[str, Any]) -> None:
    """Raise `InputError` if the node's keys are wrong."""
    from dumbbell.labs.build import of_draft
    from dumbbell.scenario.file.loading import copied

    draft, topology = _listed(lab, f"cannot add {name}")
    topology = copied(topology)
    other = Network.of(lab).nodes[-1]
    topology.setdefault("nodes", {})[name] = dict(node)
    topology.setdefault("links", []).append({"between": [name, other]})
    with refusals.refusing(f"cannot add {name}", ("topology", "nodes", name), only=True):
        of_draft(_with(draft, topology))


def _listed(lab: Path, what: str) -> tuple[Any, Topology]:
    """The lab's scenario as it was written, and its topology as a list of nodes and links.

    Raises:
        InputError: the network has none.
    """
    from dumbbell.labs.build import of_draft
    from dumbbell.scenario.file.loading import copied, read
    from dumbbell.scenario.resolve.drawn.listed import listed
    from dumbbell.scenario.topology.graph import Graph

    draft = read(lab / "scenario.toml")
    topology: Topology = copied(draft.data["topology"])
    drawn = of_draft(draft).topology
    if not isinstance(drawn, Graph):
        if drawn.drawing.addresses:
            why = f"hosts of a network of kind {drawn.kind} have no interfaces of their own"
            raise InputError(what, why, 'draw it with kind = "graph"')
        topology = listed(drawn, topology)
    return draft, topology


def _with(draft: Any, topology: Topology) -> Any:
    """The draft with another topology, and with the text that says so."""
    from dataclasses import replace

    data = {**draft.data, "topology": topology}
    return replace(draft, text=_text(draft.text, data), data=data, places={}, is_whole=True)


def _text(before: str, data: Mapping[str, Any]) -> str:
    """The text of a scenario; nodes and links are written anew, comments elsewhere stay."""
    import tomlkit

    document = tomlkit.parse(before)
    topology = tomlkit.table()
    for key, value in data["topology"].items():
        if key not in ("nodes", "links"):
            topology[key] = value
    nodes = tomlkit.table()
    for name, keys in data["topology"].get("nodes", {}).items():
        nodes[name] = tomlkit.inline_table()
        nodes[name].update(keys)
    links = tomlkit.aot()
    for keys in data["topology"].get("links", []):
        link = tomlkit.table()
        link.update({"between": keys["between"], **keys})
        links.append(link)
    topology["nodes"], topology["links"] = nodes, links
    document["topology"] = topology
    text = tomlkit.dumps(document)
    if toml.parse(text) != data:
        text = tomlkit.dumps(dict(data))
    return text


def _become(
    lab: Path, what: str, edit: Callable[[Topology], Key], kept: Callable[[int], Kept], gone: Sequence[str]
) -> tuple[Plan, list[str]]:
    """Let the lab be the network of its scenario after `edit`. Returns its plan, and what is left to the user.

    Args:
        lab: the lab's directory.
        what: begins the error.
        edit: changes the topology. Returns the key of the table that is added; of a removal `()`.
        kept: the cables that stay, of so many.
        gone: the nodes that are removed.
    """
    from dumbbell.plan import wire

    if place.is_recorded(lab):
        raise InputError(what, "the lab is being recorded", "end that first: record stop")
    before = json.loads((lab / "plan.json").read_text(encoding="utf-8"))
    refusals.check_uses(lab, what, gone)
    draft, topology = _listed(lab, what)
    typed = edit(topology)
    pairs = kept(len(before["links"]) // 2)
    with refusals.refusing(what, typed):
        scenario, after, planned = _planned(draft, topology, before, pairs, what)
    identities.check(what, before, after, gone)
    states = changes.states(lab)
    changed = {change.link for change in changes.changes(lab)}
    now = {**after, "links": [_state(link, states, changed) for link in after["links"]]}
    outputs.write(lab / _NEXT, json.dumps(now))
    try:
        told = ask(lab, {"do": "rewire", "plan": _NEXT})["event"]
    finally:
        (lab / _NEXT).unlink(missing_ok=True)
    if told["event"] != "rewired":
        raise RunFailed(what, f"{told['what']}: {told['why']}", told["hint"])
    _write(lab, scenario, after, planned, gone)
    if refused := [*told["refused"], *routers.configure(lab, before, after)]:
        raise RunFailed("the network is another now, but a part was refused", "\n".join(refused), "")
    return wire.parsed(after), routers.own(topology, before, after)


def _state(link: dict[str, Any], states: Mapping[str, Any], changed: set[str]) -> dict[str, Any]:
    """A link as it is to be: those that somebody has changed stay so."""
    from dumbbell.plan import wire

    if link["name"] not in changed:
        return link
    ends = {key: link[key] for key in ("from_interface", "to_interface") if key in link}
    return {**wire.part(states[link["name"]]), **ends}


def _planned(
    draft: Any, topology: Topology, before: dict[str, Any], kept: Kept, what: str
) -> tuple[LabScenario, dict[str, Any], Plan]:
    """The scenario with this topology and what it needs to keep addresses, its lab's plan, and its own."""
    from dumbbell.labs.build import of_draft, plan_of
    from dumbbell.plan import wire

    for _ in range(_TRIES):
        scenario = of_draft(_with(draft, topology))
        lab, planned = plan_of(scenario)
        after = json.loads(wire.text(lab))
        if not identities.pin(what, topology, before, after, kept):
            return scenario, identities.settled(before, after, kept, routers.with_own(topology)), planned
    raise InputError(what, "other nodes would get other addresses", "give them addresses in the scenario")


def _write(lab: Path, scenario: LabScenario, after: dict[str, Any], planned: Plan, gone: Sequence[str]) -> None:
    """Write what the lab is now into its directory."""
    from dumbbell.plan import wire

    links = {link["name"] for link in after["links"]}
    _keep_lines(lab / changes.FILE, lambda line: line["link"] in links)
    _keep_lines(lab / daemons.FILE, lambda line: line["router"] not in gone)
    _keep_lines(lab / traffic.FILE, lambda line: not any({one["from"], one["to"]} & {*gone} for one in line["flows"]))
    # Identities are those of the lab; flows and events are the scenario's own.
    own = json.loads(wire.text(planned))
    outputs.write(lab / "planned.json", json.dumps({**own, "nodes": after["nodes"], "links": after["links"]}))
    outputs.write(lab / "scenario.toml", scenario.source.text)
    outputs.write(lab / "plan.json", json.dumps(after))
    (lab / _REWIRED).touch()


def is_rewired(lab: Path) -> bool:
    """True if the network is another than that with which the lab began."""
    return (lab / _REWIRED).exists()


def _keep_lines(file: Path, wanted: Callable[[Any], bool]) -> None:
    """Drop the other lines of a journal."""
    if file.exists():
        lines = [line for line in file.read_text(encoding="utf-8").splitlines() if wanted(json.loads(line))]
        outputs.write(file, "".join(f"{line}\n" for line in lines))
