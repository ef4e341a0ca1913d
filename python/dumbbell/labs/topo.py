"""Networks by Mininet's short names: `tree,2,3`, with keys for all links."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from dumbbell.errors import InputError
from dumbbell.labs.build import LabScenario, of_draft
from dumbbell.labs.changes import spaced
from dumbbell.scenario.file.loading import Draft
from dumbbell.scenario.file.overrides import Overrides
from dumbbell.scenario.source import Key

SHAPES: Final[Mapping[str, tuple[str, tuple[tuple[str, int | None], ...], str]]] = {
    "minimal": ("star", (), "two hosts at a switch"),
    "single": ("star", (("size", 2),), "single,K: K hosts at a switch"),
    "linear": ("linear", (("switches", 2), ("each", 1)), "linear,K,N: K switches in a row with N hosts at each"),
    "torus": (
        "torus",
        (("rows", 3), ("columns", 3), ("each", 1)),
        "torus,X,Y,N: bridges in rings with a spanning tree, N hosts at each",
    ),
    "tree": ("tree", (("depth", 1), ("fanout", 2)), "tree,DEPTH,FANOUT: switches in a tree, hosts as its leaves"),
}
"""By name: the kind of network, its keys with their defaults in the order of the text, and how to write it."""


def scenario(text: str, link: str | None = None, overrides: Overrides = ()) -> LabScenario:
    """The scenario of a lab.

    Args:
        text: the name of a shape, and its numbers after commas.
        link: keys of all links, `rate=10 Mbit/s,delay=5 ms`.
        overrides: values of the scenario that win.

    Raises:
        InputError: there is no such shape, or it cannot be so.
    """
    name, *numbers = (part.strip() for part in text.split(","))
    if name not in SHAPES:
        why = f"shapes: {', '.join(SHAPES)}"
        raise InputError(f"--topo {text}: no shape {name}", why, "draw it in a scenario: dumbbell lab up FILE")
    kind, keys, form = SHAPES[name]
    if len(numbers) > len(keys) or not all(number.isascii() and number.isdigit() for number in numbers):
        raise InputError(f"--topo {text}: not a {name}", form if keys else f"{name} has no numbers", form)
    given = [*map(int, numbers), *(default for _, default in keys[len(numbers) :])]
    topology: dict[str, object] = {"kind": kind, **{key: number for (key, _), number in zip(keys, given, strict=True)}}
    if name == "minimal":
        topology["size"] = 2
    places: dict[Key, str] = dict.fromkeys([("topology",), *(("topology", key) for key in topology)], f"--topo {text}")
    if link:
        tables = ("link",) if kind == "star" else ("link", "trunk")
        topology |= dict.fromkeys(tables, _keys(link))
        places |= {("topology", table): f"--link {link}" for table in tables}
    draft = Draft(f"--topo {text}", "", {"name": name, "topology": topology}, Path(), places)
    return of_draft(draft.with_values(overrides))


def _keys(text: str) -> dict[str, str]:
    found = {}
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not equals:
            raise InputError(f"--link {text}: {part!r} is not a key with a value", "", 'write --link "rate=10 Mbit/s"')
        found[key.strip()] = spaced(value)
    return found
