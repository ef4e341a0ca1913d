"""Networks in GraphML files: those of the Internet Topology Zoo, and what networkx writes.

Source: "The Internet Topology Zoo" (Knight et al., IEEE JSAC 2011), whose files have labels, coordinates and the speeds
of links.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import asin, cos, isfinite, radians, sin, sqrt
from typing import Any, Final
from xml.etree.ElementTree import ParseError

from pydantic import ValidationError

from dumbbell.scenario.source import Key
from dumbbell.scenario.topology.cables import Cable, CableKeys
from dumbbell.scenario.topology.drawing import Drawing, Node
from dumbbell.scenario.topology.nodes import LONGEST_NAME, Host, Router, Switch
from dumbbell.scenario.traces import File, LineError
from dumbbell.units import MAX, QuantityError, Rate, Time

EARTH_KM: Final = 6371.0
"""Mean radius of the earth."""

FIBRE_KM_PER_S: Final = 200_000.0
"""Speed of light in glass, whose refractive index is about 1.5."""

LARGEST: Final = 8 << 20
"""Characters of a file; the Topology Zoo's have less than one million."""

LONGEST_LABEL: Final = 1000
"""Characters of a label that its node's name is made of."""

KEY: Key = ("topology", "file")


_DECLARES: Final = re.compile("<!(ENTITY|ATTLIST)")


@dataclass
class GraphFile:
    """The nodes and edges of a file, with their attributes."""

    nodes: dict[str, Mapping[str, object]]
    edges: list[tuple[str, str, Mapping[str, object]]]


@lru_cache(maxsize=8)
def parsed(text: str) -> GraphFile:
    """Reads a file. Raises `LineError` for what is no GraphML or no network; `QuantityError`: no networkx."""
    try:
        import networkx
    except ImportError:
        hint = "pip install 'dumbbell[graphml]'"
        raise QuantityError("GraphML takes networkx, which is not installed", "the package networkx", hint) from None
    if len(text) > LARGEST:
        raise LineError(
            0, f"more than {LARGEST:,} characters", "a graph in GraphML", "leave out what is not the network"
        )
    if declared := _DECLARES.search(text):
        # A short file could stand for a very large one.
        raise LineError(0, f"it declares parts of itself: {declared[0]}", "GraphML without a DTD", "write it out")
    try:
        graph = networkx.parse_graphml(text)
    # networkx lets errors of Python through at attributes that it does not expect.
    except (
        ParseError,
        networkx.NetworkXError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        ArithmeticError,
        RecursionError,
    ) as error:
        raise LineError(0, f"not GraphML: {error}", "a graph in GraphML", "the Topology Zoo has many") from None
    nodes: dict[str, Mapping[str, object]] = {str(name): dict(keys) for name, keys in graph.nodes(data=True)}
    found = GraphFile(nodes, [(str(a), str(b), dict(keys)) for a, b, keys in graph.edges(data=True)])
    try:
        _Drawer(found, CableKeys()).done()
    except QuantityError as error:
        raise LineError(0, f"a link: {error.wrong}", error.expected, error.hint) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        wrong = f"a link: {'.'.join(map(str, first['loc']))}: {first['msg'].lower()}"
        raise LineError(0, wrong, "links as a scenario has them", "change the file") from None
    return found


def draw(file: File, keys: CableKeys) -> Drawing:
    """The file's network; `keys` win over what it says of its links."""
    return _Drawer(parsed(file.text), keys).done()


@dataclass
class _Drawer:
    found: GraphFile
    keys: CableKeys
    notes: list[str] = field(default_factory=list)

    def done(self) -> Drawing:
        nodes: dict[str, Node] = {}
        spots: dict[str, tuple[float, float]] = {}
        names: dict[str, str] = {}
        numbers: dict[tuple[str, int], int] = {}
        has_hosts = any(keys.get("kind") == "host" for keys in self.found.nodes.values())
        for id_, keys in self.found.nodes.items():
            longest = LONGEST_NAME - (0 if has_hosts else len("h-"))
            label = str(keys.get("label") or keys.get("name") or id_)
            name = names[id_] = node_name(label, nodes, longest, numbers)
            nodes[name] = _node(keys)
            if (place := _place(keys)) is not None:
                spots[name] = place
        cables = list(self._cables(names))
        if not has_hosts:
            for router in [name for name, node in nodes.items() if isinstance(node, Router)]:
                nodes[f"h-{router}"] = Host()
                cables.append(Cable(between=[f"h-{router}", router]))
        return Drawing(nodes, cables, [KEY] * len(cables), self._counted_notes(), spots=spots)

    def _cables(self, names: Mapping[str, str]) -> Iterator[Cable]:
        for a, b, keys in self.found.edges:
            if a == b:
                self.notes.append(f"a link of {names[a]} to itself is left out")
                continue
            said: dict[str, object] = {"rate": self._rate(keys), "delay": self._delay(a, b, keys)}
            if type(cost := keys.get("cost")) is int:
                said["cost"] = cost
            given = {key: getattr(self.keys, key) for key in self.keys.model_fields_set}
            said = {key: value for key, value in said.items() if value is not None}
            yield Cable(between=[names[a], names[b]], **{**said, **given})

    def _rate(self, keys: Mapping[str, object]) -> Rate | None:
        if (text := keys.get("rate")) is not None:
            return Rate.parse(text)
        raw = _number(keys.get("LinkSpeedRaw"))
        if raw is None or not 1 <= raw <= MAX:
            self.notes.append("rate")
            return None
        return Rate(int(raw))

    def _delay(self, a: str, b: str, keys: Mapping[str, object]) -> Time | None:
        if (text := keys.get("delay")) is not None:
            return Time.parse(text)
        places = [_place(self.found.nodes[end]) for end in (a, b)]
        if places[0] is None or places[1] is None:
            self.notes.append("delay")
            return None
        return Time(round(_km(places[0], places[1]) / FIBRE_KM_PER_S * 1e9))

    def _counted_notes(self) -> list[str]:
        """The notes, with the links whose rate or delay the file does not say counted."""
        told = [note for note in self.notes if note not in ("rate", "delay")]
        for key, what in (("rate", "have no limit"), ("delay", "have no delay")):
            count, of = self.notes.count(key), len(self.found.edges)
            if count and key not in self.keys.model_fields_set:
                told.append(
                    f"the file says no {key} of {count} of its {of} links, which {what}: link = {{ {key} = ... }}"
                )
        return told


def node_name(label: str, taken: Container[str], longest: int, numbers: dict[tuple[str, int], int]) -> str:
    """A node's name: the label without what names cannot have, short enough, and unique.

    Args:
        label: any text.
        taken: names of other nodes.
        longest: characters of a name.
        numbers: the last number behind each beginning of a name, for each length of numbers.
    """
    base = re.sub(r"[^A-Za-z0-9_]+", "-", label[:LONGEST_LABEL]).strip("-_")[:longest].rstrip("-_") or "node"
    if base not in taken:
        return base
    digits = 1
    while True:
        begins = base[: longest - 1 - digits]
        for number in range(numbers.get((begins, digits), max(1, 10 ** (digits - 1) - 1)) + 1, 10**digits):
            numbers[begins, digits] = number
            if (name := f"{begins}-{number}") not in taken:
                return name
        digits += 1


def _node(keys: Mapping[str, object]) -> Node:
    match keys.get("kind"):
        case "host":
            return Host()
        case "switch":
            return Switch(kind="switch")
        case _:
            return Router(kind="router")


def _place(keys: Mapping[str, object]) -> tuple[float, float] | None:
    """Latitude and longitude in degrees."""
    latitude, longitude = _number(keys.get("Latitude")), _number(keys.get("Longitude"))
    if latitude is None or longitude is None or not (abs(latitude) <= 90 and abs(longitude) <= 360):
        return None
    return latitude, longitude


def _number(value: Any) -> float | None:
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return found if isfinite(found) else None


def _km(a: tuple[float, float], b: tuple[float, float]) -> float:
    """The great-circle distance, by the haversine formula."""
    (lat1, lon1), (lat2, lon2) = ((radians(one[0]), radians(one[1])) for one in (a, b))
    half = sin((lat2 - lat1) / 2) ** 2 + cos(lat1) * cos(lat2) * sin((lon2 - lon1) / 2) ** 2
    return 2 * EARTH_KM * asin(min(sqrt(half), 1))  # Rounding may exceed 1 at the other end of the earth.
