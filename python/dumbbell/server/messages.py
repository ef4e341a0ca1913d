"""Messages between the browser and the server: one model for each message and each reply.

TypeScript's types in `web/ui/kit/messages.ts` are made from these models (`make generate`). Those about runs, studies
and comparisons are in `run_messages`, those about labs in `lab_messages`, those of other requests in `http_messages`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Key = list[str | int]
"""The way to a value in a scenario: `["topology", "links", 0, "rate"]`."""


class Message(BaseModel):
    """Base of all messages: no unknown keys, and nothing is converted to another type."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)


class Asked(Message):
    """Base of what the browser sends: a field with a default may be left out."""


class Problem(Message):
    """One thing that is wrong, in the words of the command line. Also what a refused request answers, with 4xx."""

    what: str
    """The first line: the place, the key and its value, and what is wrong with it."""
    why: str = ""
    hint: str = ""
    wrong: str = ""
    """Fault without the place and the key; for a badge or below a field."""
    key: Key | None = None
    """The scenario's key that it is about."""
    line: int | None = None
    """The line in the document's text, from 1."""
    column: int | None = None
    """The first character's column, from 1."""
    length: int | None = None
    """Number of characters, all in this line."""


class Question(Problem):
    """Answer to a refused start, with 428: agree to these programs first."""

    programs: list[str]


class Agree(Asked):
    """`POST /api/agree`: programs that were shown may run, now and later."""

    programs: list[str] = Field(max_length=10_000)


# The document


class Point(Message):
    """A place on the canvas: whole pixels."""

    x: int
    y: int


class Annotation(Message):
    """A text, or a frame around a group, on the canvas."""

    kind: Literal["text", "group"]
    x: int
    y: int
    width: int = 0
    height: int = 0
    text: str = ""


class Layout(Message):
    """Where things are drawn: `mine.layout.json` beside `mine.toml`. The page places nodes that are missing."""

    nodes: dict[str, Point] = {}
    annotations: list[Annotation] = []


class Spot(Message):
    """A place on the earth, in degrees."""

    latitude: float
    longitude: float


class DrawnNode(Message):
    """A node of the drawing."""

    name: str
    kind: Literal["host", "switch", "router"]
    key: Key
    """The place of its keys: `["topology", "nodes", "h1"]`. It need not be written: `topology.nodes.h1` of a preset."""
    given: bool
    """True if the scenario's preset or GraphML file makes it: it can't be changed on its own before `free`."""
    written: dict[str, Any]
    """Its table as it stands in the file."""
    addresses: list[str]
    """Addresses of its interfaces with the lengths of their prefixes, written or assigned."""
    interfaces: list[str] = []
    """Names of its interfaces, in the order of its links; empty where the core forwards packets."""
    place: Spot | None = None
    """Its place on the earth, if a GraphML file says it."""
    problems: int = 0
    """The number of problems that are about it."""


class DrawnDirection(Message):
    """Settings of one direction of a link, defaults filled in, in words with units."""

    name: str
    """The direction's name in events, tables and plots: `h1-s1`."""
    rate: str
    delay: str
    buffer: str
    queue: str
    loss: str
    besides: list[str]
    """Further impairments: jitter, reordering, ..."""
    transparent: bool
    """True if nothing can happen to a packet there: no limit, no delay, no loss."""


class DrawnLink(Message):
    """A link of the drawing: two directions."""

    key: Key
    """The place of its keys: `["topology", "links", 0]`; several links of a preset have the same."""
    between: tuple[str, str] = Field(strict=False)
    given: bool
    """True if a preset or a GraphML file makes it."""
    forward: DrawnDirection | None
    """From the first of `between` to the second; null while the scenario has problems that leave it unknown."""
    back: DrawnDirection | None
    written: dict[str, Any]
    """Its table as it stands in the file."""
    name: str | None = None
    """Its name, if the scenario gives it one."""
    problems: int = 0


class DrawnFlow(Message):
    """An entry of `[[flows]]`."""

    key: Key
    name: str
    """Its id: the given one, or `f1`, `f2`, ... by position."""
    sender: str
    """Sender as written in `from`; `s*` stands for several."""
    receiver: str
    protocol: str
    """The name of its kind, as plans have it."""
    congestion_control: str | None
    """The congestion control's label; null without one. A mix: its parts with `+` between them."""
    connections: int
    start: str
    light: str = ""
    """Its colour in plots on a light ground; empty while it is unknown, or if its connections have several."""
    dark: str = ""
    via: list[str] = []
    """Nodes of its way from sender to receiver; empty while it is unknown, or if its connections take several."""
    written: dict[str, Any]
    problems: int = 0


class Drawing(Message):
    """Content of the canvas and the outline, worked out by the server from the scenario."""

    topology: str
    """The topology's kind: `graph`, `dumbbell`, ..."""
    free: bool
    """True if nodes and links can be added and removed: the kind is `graph`."""
    nodes: list[DrawnNode]
    links: list[DrawnLink]
    flows: list[DrawnFlow]
    current: bool = True
    """False if the text has problems that hide what it means: this is the last drawing that it had."""


class Going(Message):
    """A run, a study or a lab of a scenario that goes on, whoever has started it."""

    kind: Literal["run", "study", "lab"]
    id: str
    """Identifier behind `run/`, `study/` or `lab/` in topics and routes."""


class Document(Message):
    """The whole state of an open scenario: each event of the topic `document/PATH`."""

    path: str
    """Relative to the workspace, with `/`."""
    text: str
    revision: int
    saved: bool
    """True if the file on disk holds this text, and the layout's file this layout."""
    save_problem: Problem | None = None
    """Why it could not be saved; edits are kept, and it is tried again."""
    on_disk: str | None = None
    """The file's text, if another program changed it while this one had changes, too: `resolve` decides."""
    can_undo: bool
    can_redo: bool
    undo: str = ""
    """Label of what `undo` would take back: `set topology.links.0.rate`."""
    redo: str = ""
    layout: Layout
    drawing: Drawing | None
    """Null until the text has meant something for the first time."""
    problems: list[Problem]
    """Why it can't be run, in the order of the scenario's keys."""
    lacks: list[Problem]
    """Problems that keep this machine from running it with the engine `emulate`, each with its fix."""
    duration_s: float | None = None
    """How long traffic flows."""
    study_runs: int | None = None
    """If it varies or repeats: the least number of runs. Null for a single run."""
    runs_programs: list[str] = []
    """The commands and programs in it that a run executes on this machine, to be shown before the first run of a
    foreign file."""
    trusted: bool = True
    """False if this text comes from elsewhere and its programs have not been agreed to."""
    data: dict[str, Any] = {}
    """Values of the text, as JSON, for forms. While the text is no TOML, the last ones."""
    going: list[Going] = []
    """Runs, studies and labs of it that go on: meanwhile the page asks before it changes the text."""


# Commands


class Set(Asked):
    """Write a value. Tables on the way to it are made."""

    do: Literal["set"] = "set"
    key: Key
    value: Any
    """Text, number, truth value, list or table (an object), as JSON says it."""


class Unset(Asked):
    """Remove a key. Nothing happens if it is not there."""

    do: Literal["unset"] = "unset"
    key: Key


class AddNode(Asked):
    """Add a node to a free topology."""

    do: Literal["add_node"] = "add_node"
    kind: Literal["host", "switch", "router"]
    name: str | None = None
    """Null: the next free one: `h1`, `s1`, `r1`, ..."""
    at: Point | None = None
    values: dict[str, Any] = {}
    """Further keys."""


class RemoveNode(Asked):
    """Remove a node with its links, flows, settings and events: one step."""

    do: Literal["remove_node"] = "remove_node"
    name: str


class RenameNode(Asked):
    """Rename a node wherever the scenario names it."""

    do: Literal["rename_node"] = "rename_node"
    name: str
    to: str


class AddLink(Asked):
    """Add a link to a free topology."""

    do: Literal["add_link"] = "add_link"
    between: tuple[str, str] = Field(strict=False)
    values: dict[str, Any] = {}


class RemoveLink(Asked):
    """Remove a link, and the events that name it."""

    do: Literal["remove_link"] = "remove_link"
    key: Key
    """`["topology", "links", 0]`."""


class AddFlow(Asked):
    """Add an entry to `[[flows]]`."""

    do: Literal["add_flow"] = "add_flow"
    sender: str
    receiver: str
    values: dict[str, Any] = {}


class RemoveFlow(Asked):
    """Remove an entry of `[[flows]]`."""

    do: Literal["remove_flow"] = "remove_flow"
    key: Key
    """`["flows", 0]`."""


class AddItem(Asked):
    """Add an entry to a list of tables: `events`, `programs`, `expect`. `at`: its place; null: behind the last."""

    do: Literal["add_item"] = "add_item"
    key: Key
    """The list's key: `["events"]`."""
    value: Any
    at: int | None = None


class RemoveItem(Asked):
    """Remove an entry of a list."""

    do: Literal["remove_item"] = "remove_item"
    key: Key
    """`["events", 0]`."""


class Move(Asked):
    """Put nodes elsewhere on the canvas. It changes the layout only."""

    do: Literal["move"] = "move"
    nodes: dict[str, Point]


class Annotate(Asked):
    """Replace all annotations of the layout."""

    do: Literal["annotate"] = "annotate"
    annotations: list[Annotation]


class ReplaceText(Asked):
    """Replace the text, as typing does. What is typed without a pause of 500 ms is one step of undo."""

    do: Literal["replace_text"] = "replace_text"
    text: str


class Free(Asked):
    """Write the network that a preset stands for as nodes and links (`kind = "graph"`)."""

    do: Literal["free"] = "free"


Edit = (
    Set
    | Unset
    | AddNode
    | RemoveNode
    | RenameNode
    | AddLink
    | RemoveLink
    | AddFlow
    | RemoveFlow
    | AddItem
    | RemoveItem
    | Move
    | Annotate
    | ReplaceText
    | Free
)
"""A command that changes the text or the layout."""


class Batch(Asked):
    """Several commands as one step: all of them, or none."""

    do: Literal["batch"] = "batch"
    commands: list[Annotated[Edit, Field(discriminator="do")]]
    label: str = ""
    """Label of undo: `paste 10 nodes`."""


class Undo(Asked):
    """Take back the last step, whoever made it."""

    do: Literal["undo"] = "undo"


class Redo(Asked):
    """Make the step again that was taken back last."""

    do: Literal["redo"] = "redo"


class Save(Asked):
    """Write the file now, instead of in 300 ms."""

    do: Literal["save"] = "save"


class Resolve(Asked):
    """Both the file and the document have changed: take `mine` or `disk`. The other one can be had by undo."""

    do: Literal["resolve"] = "resolve"
    take: Literal["mine", "disk"]


Command = Annotated[
    Edit | Batch | Undo | Redo | Save | Resolve,
    Field(discriminator="do"),
]


# The socket


class Subscribe(Asked):
    """Get the events of a topic: `document/PATH`, `run/ID`, `study/ID`, `lab/ID`, `packets/ID/WORDS`,
    `files`."""

    id: int
    do: Literal["subscribe"] = "subscribe"
    topic: str
    since: int | None = None
    """The number of the first event wanted, for topics that keep theirs; null: from now on."""


class Unsubscribe(Asked):
    """Get no more events of a topic."""

    id: int
    do: Literal["unsubscribe"] = "unsubscribe"
    topic: str


class SendCommand(Asked):
    """Change a document."""

    id: int
    do: Literal["command"] = "command"
    topic: str
    base: int | None = None
    """The revision that the client saw. A change of an older one is refused as `stale`. `undo`, `redo`, `save`
    and `resolve` need none."""
    command: Command


Request = Annotated[Subscribe | Unsubscribe | SendCommand, Field(discriminator="do")]
"""Message of a client."""


class Ack(Message):
    """A request was carried out."""

    id: int
    type: Literal["ack"] = "ack"
    revision: int | None = None
    """Revision of a document now."""
    made: list[Key] = []
    """The keys of what a command added, so that it can be selected."""


class Reject(Message):
    """A request was refused, and nothing has changed."""

    id: int | None
    type: Literal["reject"] = "reject"
    revision: int | None = None
    """Revision of a document now. Its state comes as an event."""
    why: Literal["stale", "problem"]
    problem: Problem | None = None


class TopicEvent(Message):
    """Something happened."""

    type: Literal["event"] = "event"
    topic: str
    event: Any
    """`document/PATH`: a `Document`. `files`: a `FilesChanged`."""


class Ping(Message):
    """Every 20 s, so that a dead connection is noticed; no answer is needed."""

    type: Literal["ping"] = "ping"


class FilesChanged(Message):
    """Files or folders of the workspace came, went or changed: get the list again."""

    folders: list[str]
    """Folders whose lists changed; `""` is the workspace itself."""


Reply = Annotated[Ack | Reject | TopicEvent | Ping, Field(discriminator="type")]
"""Message of the server."""
