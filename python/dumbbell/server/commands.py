"""Carries commands out on a document's text and layout. A command is all or nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from dumbbell.counts import count
from dumbbell.errors import InputError, ScenarioError
from dumbbell.scenario.file.loading import not_toml
from dumbbell.scenario.file.toml import TOMLDecodeError
from dumbbell.scenario.source import dotted
from dumbbell.server import layout as layouts
from dumbbell.server import messages as m
from dumbbell.server import references
from dumbbell.server.draft import Draft
from dumbbell.server.expansion import expand_preset
from dumbbell.server.references import LINKS
from dumbbell.server.workspace import LARGEST

LETTERS: Final = {"host": "h", "switch": "s", "router": "r"}
"""How new nodes are called, with a number behind it."""


@dataclass
class Work:
    """A text and a layout while commands are carried out."""

    name: str
    """The file's name, for errors."""
    text: str
    layout: m.Layout
    folder: Path = field(default_factory=Path)
    """Where relative paths in the text begin."""
    made: list[m.Key] = field(default_factory=list)
    """Keys of what was added."""
    _draft: Draft | None = None

    def draft(self) -> Draft:
        """The text's values. Raises `ScenarioError` if it is no TOML."""
        if self._draft is None:
            try:
                self._draft = Draft(self.text)
            except TOMLDecodeError as error:
                raise ScenarioError([not_toml(self.name, self.text, str(error))]) from None
        return self._draft

    def settle(self) -> None:
        """Write the draft's changes into the text."""
        if self._draft is not None:
            self.text = self._draft.finished()
            self._draft = None

    def replace(self, text: str) -> None:
        """Take another text."""
        self.settle()
        self.text = text


def apply(command: m.Edit | m.Batch, work: Work) -> str:
    """Carry out a command. Returns what undo calls it. Raises `DumbbellError`; then `work` is of no use any more."""
    if isinstance(command, m.Batch):
        labels = [_DO[type(one)](one, work) for one in command.commands]
        label = command.label or (labels[0] if len(labels) == 1 else count(len(labels), "change"))
    else:
        label = _DO[type(command)](command, work)
    work.settle()
    if len(work.text) > LARGEST:
        raise InputError("the scenario is too large to be edited here", f"at most {LARGEST:,} characters")
    return label


def _set(command: m.Set, work: Work) -> str:
    work.draft().set(command.key, command.value)
    return f"set {dotted(tuple(command.key))}"


def _unset(command: m.Unset, work: Work) -> str:
    work.draft().unset(command.key)
    return f"remove {dotted(tuple(command.key))}"


def _graph(work: Work) -> Draft:
    """The draft of a free network, which an empty topology becomes. Raises `InputError` for a preset."""
    draft = work.draft()
    kind = draft.get(("topology", "kind"))
    if kind is None and not draft.get(("topology",)):
        draft.set(("topology", "kind"), "graph")
    elif kind != "graph":
        why = f'topology.kind = "{kind}" makes its nodes and links by itself'
        raise InputError("this network is a preset", why, "make it free first, or change the preset's keys")
    return draft


def _add_node(command: m.AddNode, work: Work) -> str:
    draft = _graph(work)
    nodes = draft.get(("topology", "nodes")) or {}
    name = command.name
    if name is None:
        known = {*nodes, *(node for link in references.tables(draft, *LINKS) for node in _between(link))}
        letter = LETTERS[command.kind]
        name = next(f"{letter}{n}" for n in range(1, len(known) + 2) if f"{letter}{n}" not in known)
    if name in nodes:
        raise InputError(f"a node is named {name} already", "", "choose another name")
    kind = {} if command.kind == "host" else {"kind": command.kind}
    draft.set(["topology", "nodes", name], {**kind, **command.values})
    if command.at is not None:
        work.layout = layouts.moved(work.layout, {name: command.at})
    work.made.append(["topology", "nodes", name])
    return f"add {name}"


def _between(link: Any) -> list[str]:
    between = link.get("between") if isinstance(link, dict) else None
    return [one for one in between if isinstance(one, str)] if isinstance(between, list) else []


def _remove_node(command: m.RemoveNode, work: Work) -> str:
    draft, name = _graph(work), command.name
    links = references.tables(draft, *LINKS)
    gone = [i for i, link in enumerate(links) if name in _between(link)]
    if name not in (draft.get(("topology", "nodes")) or {}) and not gone:
        raise InputError(f"there is no node {name}")
    _without_links(draft, gone)
    references.remove_node(draft, name)
    draft.unset(["topology", "nodes", name])
    work.layout = layouts.without(work.layout, name)
    return f"remove {name}"


def _without_links(draft: Draft, gone: list[int]) -> None:
    """Remove links, and what is about them."""
    before = references.link_names(draft)
    for i in sorted(gone, reverse=True):
        references.remove_item(draft, [*LINKS, i])
    kept = [i for i in range(len(before)) if i not in gone]
    now = {old: new for new, old in enumerate(kept)}
    references.follow_links(draft, before, [now.get(i) for i in range(len(before))])


def _rename_node(command: m.RenameNode, work: Work) -> str:
    draft, name, to = _graph(work), command.name, command.to
    if name == to:
        return f"rename {name}"
    before = references.link_names(draft)
    draft.rename(["topology", "nodes", name], to)
    references.rename_node(draft, name, to)
    references.follow_links(draft, before, list(range(len(before))))
    work.layout = layouts.renamed(work.layout, name, to)
    work.made.append(["topology", "nodes", to])
    return f"rename {name} to {to}"


def _add_link(command: m.AddLink, work: Work) -> str:
    draft = _graph(work)
    a, b = command.between
    nodes = draft.get(("topology", "nodes")) or {}
    for name in (a, b):
        if name not in nodes and draft.get(("topology", "file")) is None:
            raise InputError(f"there is no node {name}", "", "add it first")
    if a == b:
        raise InputError(f"a link from {a} to itself", "expected two different nodes")
    index = draft.insert(LINKS, {"between": [a, b], **command.values})
    work.made.append([*LINKS, index])
    return f"link {a} and {b}"


def _remove_link(command: m.RemoveLink, work: Work) -> str:
    draft, key = _graph(work), command.key
    if len(key) != 3 or tuple(key[:2]) != LINKS or not isinstance(key[2], int) or draft.get(key) is None:
        raise InputError(f"there is no link {dotted(tuple(key))}")
    ends = " and ".join(_between(draft.get(key)))
    _without_links(draft, [key[2]])
    return f"remove the link of {ends}"


def _add_flow(command: m.AddFlow, work: Work) -> str:
    draft = work.draft()
    index = draft.insert(["flows"], {"from": command.sender, "to": command.receiver, **command.values})
    work.made.append(["flows", index])
    return f"add a flow from {command.sender} to {command.receiver}"


def _remove_flow(command: m.RemoveFlow, work: Work) -> str:
    if len(command.key) != 2 or command.key[0] != "flows":
        raise InputError(f"there is no flow {dotted(tuple(command.key))}")
    return _remove(command.key, work)


def _add_item(command: m.AddItem, work: Work) -> str:
    draft = work.draft()
    index = draft.insert(command.key, command.value, command.at)
    work.made.append([*command.key, index])
    return f"add to {dotted(tuple(command.key))}"


def _remove_item(command: m.RemoveItem, work: Work) -> str:
    if tuple(command.key[:2]) == LINKS and len(command.key) == 3:
        return _remove_link(m.RemoveLink(key=command.key), work)
    return _remove(command.key, work)


def _remove(key: m.Key, work: Work) -> str:
    draft = work.draft()
    if not key or not isinstance(key[-1], int) or draft.get(key) is None:
        raise InputError(f"there is no {dotted(tuple(key))}")
    if len(key) == 2 and key[0] == "flows":
        references.remove_flow(draft, key[-1])
    else:
        references.remove_item(draft, key)
    return f"remove {dotted(tuple(key))}"


def _move(command: m.Move, work: Work) -> str:
    work.layout = layouts.moved(work.layout, command.nodes)
    return f"move {next(iter(command.nodes))}" if len(command.nodes) == 1 else f"move {len(command.nodes)} nodes"


def _annotate(command: m.Annotate, work: Work) -> str:
    work.layout = layouts.annotated(work.layout, command.annotations)
    return "change annotations"


def _replace_text(command: m.ReplaceText, work: Work) -> str:
    work.replace(command.text.replace("\r\n", "\n").replace("\r", "\n"))
    return "typing"


def _free(command: m.Free, work: Work) -> str:
    expand_preset(work.draft(), work.name, work.folder)
    return "make the network free"


_DO: Final[dict[type, Callable[[Any, Work], str]]] = {
    m.Set: _set,
    m.Unset: _unset,
    m.AddNode: _add_node,
    m.RemoveNode: _remove_node,
    m.RenameNode: _rename_node,
    m.AddLink: _add_link,
    m.RemoveLink: _remove_link,
    m.AddFlow: _add_flow,
    m.RemoveFlow: _remove_flow,
    m.AddItem: _add_item,
    m.RemoveItem: _remove_item,
    m.Move: _move,
    m.Annotate: _annotate,
    m.ReplaceText: _replace_text,
    m.Free: _free,
}
