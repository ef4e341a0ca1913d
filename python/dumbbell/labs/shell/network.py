"""Words that add nodes and links to the network, and remove them."""

from __future__ import annotations

from typing import Any

from dumbbell.errors import InputError
from dumbbell.labs import changes, rewire
from dumbbell.labs.shell.look import described
from dumbbell.labs.shell.words import Session, word


@word(
    "add",
    "[host|switch|router] NODE | link NODE NODE [KEY=VALUE...]",
    "Add a node, which joins the network with its first link, or a link: add h3, then add link h3 s1 rate=10 Mbit/s. "
    "Keys are those of a scenario's nodes and links.",
)
def add(session: Session, words: list[str]) -> None:
    """A node without a kind is a host."""
    names, keys = typed_keys(words)
    lab = session.lab.path
    if names[:1] == ["link"]:
        added, left_to_do = rewire.add_link(lab, names[1:], keys)
        for name in added:
            print(described(changes.states(lab, [name])[name]))
        print(*left_to_do, sep="\n", end="\n" if left_to_do else "")
        return
    kind = names.pop(0) if names[:1] and names[0] in rewire.KINDS and len(names) > 1 else "host"
    if len(names) != 1:
        given = f"given: {' '.join(words) or 'nothing'}"
        raise InputError("add needs a node, or link and two nodes", given, "add h3, or add link h3 s1")
    rewire.add_node(lab, kind, names[0], keys)
    print(f"{names[0]} comes up with its first link: add link {names[0]} {session.network.nodes[-1]}")


@word(
    "remove",
    "NODE | link LINK|NODE NODE",
    "Remove a node with its links, or the links between two nodes: remove h3, remove link h3 s1.",
)
def remove(session: Session, words: list[str]) -> None:
    """Programs in a node that is removed are killed."""
    lab = session.lab.path
    if words[:1] == ["link"] and len(words) in (2, 3):
        left_to_do = rewire.remove_link(lab, words[1:])
    elif len(words) == 1 and words[0] != "link":
        left_to_do = rewire.remove_node(lab, words[0])
    else:
        given = f"given: {' '.join(words) or 'nothing'}"
        raise InputError("remove needs a node, or link and two nodes", given, "remove h3, or remove link h3 s1")
    print(*left_to_do, sep="\n", end="\n" if left_to_do else "")


def typed_keys(words: list[str]) -> tuple[list[str], dict[str, Any]]:
    """Splits words into names, and keys with their values: `h3 s1 rate=10 Mbit/s`. `up` and `down` are names here."""
    first = next((at for at, one in enumerate(words) if "=" in one), len(words))
    _, keys = changes.parsed(words[first:])
    return words[:first], {key: changes.value_of(text.strip(chr(34))) for key, text in keys.items()}
