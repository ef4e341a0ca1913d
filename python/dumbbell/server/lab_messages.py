"""Messages about labs and their terminals. `messages` has the base."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dumbbell.engines.events import FlowProgress, LinkProgress
from dumbbell.names import PATTERN
from dumbbell.server.messages import Asked, Message

# Labs


class StartLab(Asked):
    """`POST /api/labs`: a network that stays up, of a scenario of the workspace."""

    path: str
    overrides: list[str] = Field(default=[], max_length=200)
    name: str | None = Field(default=None, pattern=PATTERN)


class LabNode(Message):
    """A node of a lab."""

    name: str
    kind: Literal["host", "router", "switch"]
    """A bridge is a switch, as in scenarios."""
    interfaces: list[tuple[str, list[str]]]
    daemons: dict[str, bool]
    """Routing daemons of a router, and whether they run."""
    runs_programs: bool
    """True if programs run in it: a host, a router or a bridge that is up."""
    waits: bool
    """True if it was added, and comes up with its first link."""


class LabLink(Message):
    """One direction of a link, as it is now."""

    name: str
    sender: str
    receiver: str
    up: bool
    rate: str
    """Empty: without a limit."""
    rate_bps: int | None
    delay: str
    words: str
    """All that holds, in words."""


class LabEvent(Message):
    """A change that was made."""

    at_s: float
    what: str


class LabState(Message):
    """`GET /api/labs/{id}`, and the event `state` of the topic `lab/ID`."""

    event: Literal["state"] = "state"
    id: str
    scenario: str
    started: str
    mine: bool
    """True if this server started it: it ends with the server."""
    outside: str | None
    """Router that leads to this machine's network; `None`: the lab reaches nothing outside."""
    nodes: list[LabNode]
    links: list[LabLink]
    cables: list[list[str]]
    """Names of the links of each cable."""
    changes: list[LabEvent]
    recording: bool
    terminals: list[TerminalState]


class LabProgress(Message):
    """An event of the topic `lab/ID`, ten times a second: what each link carries, and the flows of `traffic`."""

    event: Literal["progress"] = "progress"
    time_ns: int
    links: list[LinkProgress]
    flows: list[FlowProgress]
    """Flows that go on, as in the event `progress` of a run; their ids are `h1 > h2`."""


class LabEnded(Message):
    """The last event of the topic `lab/ID`."""

    event: Literal["ended"] = "ended"
    problem: str | None = None


class ChangeLink(Asked):
    """`POST /api/labs/{id}/link`: change a link, or all between two nodes, now."""

    of: list[str] = Field(min_length=1, max_length=2)
    """The name of a link, for one direction; or two nodes."""
    keys: dict[str, str]
    """Keys, as in `[[events]]`: `{"rate": "5 Mbit/s"}`; `{"up": "false", "carrier": "lost"}` pulls the cable."""


class ChangeDaemon(Asked):
    """`POST /api/labs/{id}/daemon`: kill or start a routing daemon."""

    router: str
    daemon: str
    up: bool


class PartKeys(Message):
    """Keys of a node or a link, as in a scenario."""

    fields: dict[str, str] = Field(default={}, max_length=50)
    """Keys with fields of their own: `{"rate": "5 Mbit/s"}`."""
    typed: str = Field(default="", max_length=10_000)
    """Further keys, as the lab's shell takes them: `mtu=9000 name=core`."""


class AddNode(Asked):
    """`POST /api/labs/{id}/add-node`: add a node, also with its first link."""

    kind: Literal["host", "switch", "router"]
    name: str = Field(max_length=200)
    keys: PartKeys = PartKeys()
    neighbour: str | None = None
    """Node at the other end of the link; null: the node waits for a link."""
    link: PartKeys = PartKeys()
    """Keys of the link."""


class AddLink(Asked):
    """`POST /api/labs/{id}/add-link`."""

    ends: list[str] = Field(min_length=2, max_length=2)
    keys: PartKeys = PartKeys()


class Rewired(Message):
    """A network that was changed."""

    links: list[str]
    """Names of both directions of a link that was added."""
    left_to_do: list[str]
    """Routers whose own configuration stays as it is."""


class RemoveNode(Asked):
    """`POST /api/labs/{id}/remove-node`: remove a node with its links."""

    node: str


class RemoveLink(Asked):
    """`POST /api/labs/{id}/remove-link`: remove a link in both directions."""

    of: list[str] = Field(min_length=1, max_length=2)
    """The name of a direction; or two nodes, for all links between them."""


class AskLab(Asked):
    """`POST /api/labs/{id}/ask`: a question about two nodes, or one."""

    do: Literal["ping", "why", "routes", "neighbours", "sockets"]
    node: str
    to: str | None = None


class WhyShown(Message):
    """The way of packets between two nodes, to be drawn."""

    nodes: list[str]
    """Nodes that they come to."""
    links: list[str]
    """Links that they cross."""
    faulty_nodes: list[str]
    """Nodes whose state is a reason for which they are lost."""
    faulty_links: list[str]
    """Links that are such a reason."""


class LabAnswer(Message):
    """Output of a program."""

    command: str
    text: str
    code: int
    why: WhyShown | None = None
    """Answer to `why`."""


class StartTraffic(Asked):
    """`POST /api/labs/{id}/traffic`: a flow from now on; without nodes, the scenario's flows and events."""

    sender: str | None = None
    receiver: str | None = None
    cc: str | None = None
    seconds: float = Field(default=10.0, gt=0, le=3600)


class TrafficResult(Message):
    """The end of flows: what each received."""

    flows: list[str]


class SaveLab(Asked):
    """`POST /api/labs/{id}/save`: what was done as a new scenario, or its changes alone as text."""

    path: str | None = None


class SavedLab(Message):
    """The changes as `[[events]]`, and the file that was written."""

    text: str
    path: str | None
    routers: list[str]
    """Routers into which a configuration was typed. It is written beside the file."""
    rewired: bool
    """True if nodes or links were added or removed. The file has the network of now."""
    waiting: list[str]
    """Nodes that wait for their first link. They are not in the file."""


class RecordLab(Asked):
    """`POST /api/labs/{id}/record`."""

    action: Literal["start", "stop"]
    name: str | None = Field(default=None, pattern=PATTERN)


class Recorded(Message):
    """The run that a recording became; null as it begins."""

    run: str | None
    verdict: str | None = None


# Packets


class StartPackets(Asked):
    """`POST /api/packets`: a list of the packets at a place of a lab, from now on."""

    lab: str
    of: list[str] = Field(min_length=1, max_length=2)
    """A node and its interface; or the name of a link, or two nodes, for both directions between them."""


class PacketList(Message):
    """A list of packets. The topic `packets/ID/WORDS` follows those that have all words."""

    id: str
    lab: str
    place: str


class PacketRow(Message):
    """A packet in a line."""

    number: int
    time_ns: int
    """Nanoseconds since 1970."""
    interface: str
    length: int
    comment: str
    """The fate of the packet on a link; empty at an interface."""
    source: str
    destination: str
    protocol: str
    info: str


class PacketHeader(Message):
    """A header of a packet: names and values of its fields."""

    name: str
    fields: list[tuple[str, str]]


class PacketWhole(PacketRow):
    """`GET /api/packets/{id}/packet/{number}`."""

    headers: list[PacketHeader]
    dump: str
    """Its bytes, as a hexadecimal dump."""


class ListedPackets(Message):
    """An event of a topic `packets/ID/WORDS`: packets that follow those of the event before."""

    rows: list[PacketRow]
    next: int
    """Number of the packet at which the topic goes on."""
    first: int
    """Number of the oldest packet that is kept: earlier ones were let go."""
    end: int
    """Number of the packet that comes next."""
    lost: int
    """Packets that came faster than they were read."""
    is_over: bool
    """True if the capture has ended."""


# Terminals


class OpenTerminal(Asked):
    """`POST /api/terminals`."""

    lab: str
    node: str
    program: Literal["shell", "vtysh", "lab"] = "shell"
    """`shell`: of the node; `vtysh`: of a router's daemons; `lab`: the lab's own, with Mininet's words, and no node."""
    rows: int = Field(default=24, ge=2, le=1000)
    columns: int = Field(default=80, ge=2, le=1000)


class TerminalState(Message):
    """A terminal."""

    id: str
    lab: str
    node: str
    program: str
    code: int | None
    """Its program's exit code; null while it runs."""


LabState.model_rebuild()
