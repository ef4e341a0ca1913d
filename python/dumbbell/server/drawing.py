"""Drawing of a scenario for the canvas, as far as it is known: a network that is being drawn is seldom complete."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from json import dumps, loads
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from dumbbell.errors import DumbbellError
from dumbbell.plan import words
from dumbbell.plan.links import shaped
from dumbbell.plan.types import Link
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import Resolved, resolve
from dumbbell.scenario.resolve.direction import Direction, both
from dumbbell.scenario.resolve.drawn.check import link_names, named
from dumbbell.scenario.resolve.drawn.network import delays
from dumbbell.scenario.resolve.network import ShapedLink
from dumbbell.scenario.resolve.outline import Ends
from dumbbell.scenario.topology.cables import Cable
from dumbbell.scenario.topology.drawing import Drawing as Network
from dumbbell.scenario.topology.graph import Graph
from dumbbell.scenario.topology.kinds import Topology
from dumbbell.scenario.traces import FOLDER
from dumbbell.scenario.traffic.flows import kind_of
from dumbbell.server.expansion import topology_of
from dumbbell.server.messages import Drawing, DrawnDirection, DrawnFlow, DrawnLink, DrawnNode, Key, Problem, Spot
from dumbbell.server.problems import count_below
from dumbbell.units import Duration, QuantityError, Time
from dumbbell.units.mtu import MTU

Data = Mapping[str, Any]
KINDS: Final = ("host", "switch", "router")
Pair = tuple[DrawnDirection | None, DrawnDirection | None]
"""Both directions of a link, as far as they are known."""
_NO_ENDS: Final = Ends(None, None, 1)
"""For words about a link, which say nothing of its interfaces."""
_SOME_TIME: Final = Duration(10 * 10**9)
"""The duration of a scenario that gives none, for rates that change."""


def draw(
    data: Data, folder: Path, scenario: Scenario | None, problems: Sequence[Problem], network: Scenario | None = None
) -> Drawing | None:
    """The drawing of a scenario's values; none if its preset is not understood.

    Args:
        data: the values as they are written.
        folder: where relative paths begin.
        scenario: what they mean, if there is nothing wrong with them.
        problems: what is wrong with them.
        network: what they mean without the traffic, if it is the traffic that is wrong.
    """
    resolved = None if scenario is None else resolve(scenario)
    written = data.get("topology")
    kind = written.get("kind") if isinstance(written, Mapping) else None
    if written is None or kind is None:
        # Nothing drawn yet: the first node makes it a graph.
        return Drawing(topology="graph", free=True, nodes=[], links=[], flows=_flows(data, resolved, problems))
    topology = _topology(data, folder) if scenario is None else scenario.topology
    known = Known(problems, resolved, None if network is None else resolve(network))
    if kind == "graph":
        nodes, links = _graph(written, topology, folder, known)
    elif topology is None:
        return None
    else:
        nodes, links = _preset(topology.drawing, topology.mtu, written, known)
    return Drawing(
        topology=str(kind), free=kind == "graph", nodes=nodes, links=links, flows=_flows(data, resolved, problems)
    )


class Known:
    """Nodes and links by name, as far as they are known: all, once there is nothing wrong with the scenario."""

    def __init__(self, problems: Sequence[Problem], resolved: Resolved | None, network: Resolved | None) -> None:
        """`problems`: those of the scenario; `network`: without its traffic, from which nodes have addresses."""
        self.found = problems
        placed = resolved or network
        self.nodes = {} if placed is None else {node.name: node for node in placed.network.nodes}
        self.directions = None if resolved is None else _all_directions(resolved)


def _topology(data: Data, folder: Path) -> Topology | None:
    """The topology, though other parts of the scenario may be wrong; `None` if it is itself."""
    try:
        return topology_of(data, folder)
    except ValidationError:
        return None


def _node(name: str, kind: str, written: Data, given: bool, known: Known) -> DrawnNode:
    key: Key = ["topology", "nodes", name]
    node = known.nodes.get(name)
    if node is None:
        address = written.get("address", [])
        addresses = [str(one) for one in (address if isinstance(address, list) else [address])]
    else:
        addresses = [address for interface in node.interfaces for address in interface.addresses]
        addresses = addresses or ([node.address] if node.address else [])
    return DrawnNode(
        name=name,
        kind=kind if kind in KINDS else "host",  # type: ignore[arg-type]
        key=key,
        given=given,
        written=plain(written),
        addresses=addresses,
        interfaces=[] if node is None else [interface.name for interface in node.interfaces],
        problems=count_below(key, known.found),
    )


# A free network: what is written, and what of it is understood


def _graph(
    written: Data, topology: Topology | None, folder: Path, known: Known
) -> tuple[list[DrawnNode], list[DrawnLink]]:
    tables = written.get("nodes")
    tables = tables if isinstance(tables, Mapping) else {}
    nodes, links = [], []
    listed = written.get("links")
    listed = listed if isinstance(listed, list) else []
    if isinstance(topology, Graph) and topology.file is not None:
        drawn = topology.drawing
        nodes = [
            _node(name, node.kind, {}, True, known).model_copy(update={"place": _spot(drawn.spots.get(name))})
            for name, node in drawn.nodes.items()
            if name not in tables
        ]
        count = len(drawn.cables) - len(topology.links)
        of_file = replace(drawn, cables=drawn.cables[:count], keys=drawn.keys[:count])
        links = _preset(of_file, topology.mtu, written, known)[1]
    nodes += [_node(str(name), _kind(table), _table(table), False, known) for name, table in tables.items()]
    mtu = written.get("mtu", MTU)
    between = [(i, table, ends) for i, table in enumerate(listed) if (ends := _ends(table)) is not None]
    cables: list[Cable | None] = [None] * len(between)
    if known.directions is None:
        cables = [_cable(dumps(plain(table), sort_keys=True), str(folder)) for _, table, _ in between]
    names = _names([(ends, _table(table).get("name")) for _, table, ends in between])
    for (i, table, ends), cable, name in zip(between, cables, names, strict=True):
        pair = _directions(cable, name, mtu if type(mtu) is int else MTU, known)
        links.append(_link(["topology", "links", i], ends, False, pair, _table(table), known))
    return nodes, links


def _spot(place: tuple[float, float] | None) -> Spot | None:
    return None if place is None else Spot(latitude=place[0], longitude=place[1])


def _kind(table: Any) -> str:
    kind = table.get("kind", "host") if isinstance(table, Mapping) else "host"
    return kind if kind in KINDS else "host"


def _table(table: Any) -> Data:
    return table if isinstance(table, Mapping) else {}


def _ends(table: Any) -> tuple[str, str] | None:
    between = table.get("between") if isinstance(table, Mapping) else None
    if isinstance(between, list) and len(between) == 2 and all(isinstance(one, str) for one in between):
        return between[0], between[1]
    return None


def _names(links: Iterable[tuple[tuple[str, str], Any]]) -> list[tuple[str, str]]:
    """The names of both directions of each link, by the rule of all drawings."""
    return named((ends, name if isinstance(name, str) else None) for ends, name in links)


@lru_cache(maxsize=4096)
def _cable(text: str, folder: str) -> Cable | None:
    """A link that is written; none if it is not understood."""
    try:
        return Cable.model_validate(loads(text), context={FOLDER: Path(folder)})
    except ValidationError:
        return None


def _directions(cable: Cable | None, names: tuple[str, str], mtu: int, known: Known) -> Pair:
    if known.directions is not None:
        return known.directions.get(names[0]), known.directions.get(names[1])
    if cable is None:
        return None, None
    there, back = both(cable.given(), cable.reverse.given(), _SOME_TIME, cable.mtu or mtu, delays(cable))
    return _unsettled(names[0], cable.between, there), _unsettled(names[1], cable.between[::-1], back)


def _unsettled(name: str, ends: Sequence[str], link: Direction) -> DrawnDirection | None:
    """A direction in words before its flows are known: a BDP stays one."""
    rtt = Time(max(2 * int(link.delay), 1))
    try:
        plan = shaped(ShapedLink(name, ends[0], ends[1], ((Time(0), link),), rtt, _NO_ENDS), link.settled(rtt))
        said = _direction(plan, 0, link.frame)
    except (QuantityError, ValueError, ArithmeticError, DumbbellError):
        return None
    return said.model_copy(update={"buffer": str(link.buffer)})


def _all_directions(resolved: Resolved) -> dict[str, DrawnDirection]:
    """The directions of all links of a network by name, as they are at the start."""
    network = resolved.network
    found: dict[str, DrawnDirection] = {}
    # Links with the same keys share their values.
    known: dict[tuple[int, int], DrawnDirection] = {}
    for link in network.links:
        same = id(link.first), int(link.rtt)
        if same not in known:
            known[same] = _direction(shaped(link, link.first), int(link.rtt), link.first.frame)
        found[link.name] = known[same].model_copy(update={"name": link.name})
    return found


def _direction(link: Link, rtt_ns: int, frame: int) -> DrawnDirection:
    besides = words.impairments(link)
    return DrawnDirection(
        name=link.name,
        rate=words.rate(link),
        delay=words.delay(link),
        buffer=words.buffer(link, frame, rtt_ns),
        queue=words.queue(link),
        loss=words.losses(link),
        besides=besides,
        transparent=link.rate_bps is None
        and not (link.delay_ns or link.delays or link.loss_before or link.loss_after or besides or link.overhead_bytes),
    )


# Presets


def _preset(drawing: Network, mtu: int, written: Data, known: Known) -> tuple[list[DrawnNode], list[DrawnLink]]:
    nodes = [_node(name, node.kind, {}, True, known) for name, node in drawing.nodes.items()]
    links = []
    for cable, key, names in zip(drawing.cables, drawing.keys, link_names(drawing.structure), strict=True):
        pair = _directions(cable, names, mtu, known)
        table = _table(written.get(str(key[-1])))
        links.append(_link(list(key), (cable.between[0], cable.between[1]), True, pair, table, known))
    return nodes, links


def _link(key: Key, ends: tuple[str, str], given: bool, pair: Pair, written: Data, known: Known) -> DrawnLink:
    name = written.get("name")
    return DrawnLink(
        key=key,
        between=ends,
        given=given,
        forward=pair[0],
        back=pair[1],
        written=plain(written),
        name=name if isinstance(name, str) else None,
        problems=count_below(key, known.found),
    )


# Flows


def _flows(data: Data, resolved: Resolved | None, problems: Sequence[Problem]) -> list[DrawnFlow]:
    listed = data.get("flows")
    labels = {} if resolved is None else dict(_labels(resolved))
    flows = []
    for i, table in enumerate(listed if isinstance(listed, list) else []):
        if isinstance(table, Mapping):
            flow = _flow(i, table, labels.get(i))
            flows.append(flow.model_copy(update={"problems": count_below(flow.key, problems)}))
    return flows


def _labels(resolved: Resolved) -> Iterator[tuple[int, str]]:
    several: dict[int, dict[str, None]] = {}
    for connection in resolved.connections:
        label = resolved.label(connection)
        if label is not None:
            several.setdefault(connection.entry, {})[label] = None
    for entry, found in several.items():
        yield entry, " + ".join(found)


def _flow(index: int, table: Data, label: str | None) -> DrawnFlow:
    kind = kind_of(table)
    cc, connections = table.get("cc"), table.get("connections", 1)
    said = cc.get("name") or cc.get("bpf") or cc.get("kernel") if isinstance(cc, Mapping) else cc
    if label is None and kind.default_cc() is not None:
        mix = table.get("mix")
        label = " + ".join(map(str, mix)) if isinstance(mix, Mapping) else str(said or kind.default_cc())
    return DrawnFlow(
        key=["flows", index],
        name=str(table.get("id") or f"f{index + 1}"),
        sender=str(table.get("from", "")),
        receiver=str(table.get("to", "")),
        protocol=kind.kind,
        congestion_control=label,
        connections=connections if type(connections) is int else 1,
        start=str(table.get("start", "0 s")),
        written=plain(table),
    )


def plain(value: Any) -> Any:
    """Values of TOML as JSON has them: dates become texts."""
    kind = type(value)
    # Nearly all of a large network is of these.
    if kind is str or kind is int or kind is bool:
        return value
    if kind is list or isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, dict | Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, float) and value - value != 0:
        return str(value)  # nan and inf
    return value if isinstance(value, str | int | float) else str(value)
