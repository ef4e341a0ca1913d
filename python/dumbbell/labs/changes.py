"""Changes of a lab's links, by the words of a scenario's events; what was changed can be written down as such."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dumbbell import outputs
from dumbbell.errors import InputError, RunFailed
from dumbbell.frozen import dataclass
from dumbbell.labs import daemons
from dumbbell.labs.agent import ask
from dumbbell.labs.network import Network

if TYPE_CHECKING:
    from dumbbell.plan.types import Link

FILE = "changes.jsonl"
WORDS: Final = {
    "up": {"up": "true"},
    "down": {"up": "false", "carrier": "lost"},
    "silent": {"up": "false"},
}
"""The keys of an event that words mean."""


@dataclass(frozen=True)
class Change:
    """A change of a link that was made."""

    time_ns: int
    """Since the lab's start."""
    link: str
    keys: Mapping[str, str]
    """Keys of a scenario's event, and what they were set to."""
    after: Link
    """The link from then on."""


def changes(lab: Path) -> list[Change]:
    """All changes so far, in order of time."""
    from dumbbell.plan import wire

    return [Change(**{**one, "after": wire.link(one["after"])}) for one in _lines(lab)]


def _lines(lab: Path) -> list[Any]:
    """The lines of the journal."""
    try:
        lines = (lab / FILE).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in lines]


def states(lab: Path, names: Collection[str] | None = None) -> dict[str, Link]:
    """Returns the links as they are now, by name: all of them, or those of `names`."""
    from dumbbell.plan import wire

    plan = json.loads((lab / "plan.json").read_text(encoding="utf-8"))
    now = {link["name"]: link for link in plan["links"]} | {one["link"]: one["after"] for one in _lines(lab)}
    return {name: wire.link(now[name]) for name in (now if names is None else names)}


def planned(lab: Path) -> dict[str, Link]:
    """Returns the links as the scenario has them, by name."""
    from dumbbell.plan import wire

    plan = json.loads((lab / "plan.json").read_text(encoding="utf-8"))
    return {link["name"]: wire.link(link) for link in plan["links"]}


def change(lab: Path, words: Sequence[str], keys: Mapping[str, str]) -> list[Change]:
    """Change links, and return what was changed.

    Args:
        lab: the lab's directory.
        words: the name of a link, for one direction; or two nodes, for both directions of all links between them.
        keys: keys of a scenario's event and their values as texts: `{"rate": "10 Mbit/s"}`, `{"up": "false"}`. A cable
            without carrier is down in both directions, whichever is named.

    Raises:
        InputError: there is no such link, or it cannot be so.
        RunFailed: the lab has ended, or refuses it.
    """
    done = []
    network = Network.of(lab)
    names = network.named(*words)
    links = states(lab, names)
    if "up" in keys and (keys.get("carrier") == "lost" or any(link.carrier == "lost" for link in links.values())):
        names = [link for name in names for link in _pulled_with(network, name)]
        links = states(lab, names)
    for name in dict.fromkeys(names):
        before = links[name]
        # Between two switches there is no interface that could lose its carrier.
        is_between_switches = network.kind(before.from_) == network.kind(before.to) == "switch"
        own = {key: value for key, value in keys.items() if key != "carrier" or not is_between_switches}
        wanted = as_wanted(lab, name, before, own)
        if wanted == before:
            continue
        done.append(make(lab, wanted, own))
    return done


def make(lab: Path, wanted: Link, keys: Mapping[str, str]) -> Change:
    """Change a link to what it is to be, and note it with the keys of an event that says so.

    Raises:
        RunFailed: the lab has ended, or refuses it.
    """
    from dumbbell.plan import wire

    told = ask(lab, {"do": "change-link", "link": wire.part(wanted)})["event"]
    if told["event"] != "changed":
        raise RunFailed(told["what"], told["why"], told["hint"])
    noted = {"time_ns": told["time_ns"], "link": wanted.name, "keys": dict(keys), "after": told["link"]}
    outputs.append(lab / FILE, json.dumps(noted) + "\n")
    return Change(told["time_ns"], wanted.name, dict(keys), wire.link(told["link"]))


def _pulled_with(network: Network, name: str) -> tuple[str, ...]:
    """The links that a pulled cable takes down: both directions, unless no end of it is an interface."""
    cable = next(cable for cable in network.cables if name in cable.links)
    return (name,) if all(network.kind(end) == "switch" for end in cable.ends) else cable.links


def as_wanted(lab: Path, name: str, before: Link, keys: Mapping[str, str]) -> Link:
    """The link as it is to be."""
    if not keys:
        raise InputError(
            f"nothing to change on {name}", "no key is given", "write: link A B down, or link A B rate=10 Mbit/s"
        )
    if keys.keys() <= {"up", "carrier"} and keys.get("up") in ("true", "false"):
        return _down_or_up(before, keys)
    from dumbbell.labs.build import LONGEST, LabScenario
    from dumbbell.plan.expand import expand
    from dumbbell.scenario.file.loading import checked, read

    draft = read(lab / "scenario.toml")
    earlier = [one for one in changes(lab) if one.link == name]
    events = [{"at": f"{number} ns", "link": name} for number in range(1, len(earlier) + 2)]
    data = {**draft.data, "duration": str(LONGEST), "events": events}
    draft = type(draft)(draft.name, draft.text, data, draft.folder, draft.places)
    try:
        for number, values in enumerate((*(one.keys for one in earlier), keys)):
            draft = draft.with_values([f"events.{number}.{key}={spaced(value)}" for key, value in values.items()])
        plan = expand(checked(draft, LabScenario))
    except InputError as error:
        # Nobody has written the event that stands for the change.
        first, begin = error.problems[0], f"--set events.{len(earlier)}."
        if not first.what.startswith(begin):
            raise
        raise InputError(first.what.removeprefix(begin), first.why, first.hint) from None
    # An event that changes nothing is none of the plan's.
    states_of = [*plan.links, *(event.link for event in plan.events)]
    return [link for link in states_of if link.name == name][-1]


def _down_or_up(before: Link, keys: Mapping[str, str]) -> Link:
    """The link that only goes down or up."""
    up, carrier = keys["up"] == "true", keys.get("carrier", "kept")
    if carrier not in ("kept", "lost"):
        raise InputError(f"carrier={carrier}", "expected kept or lost", "link A B down, or link A B silent")
    return replace(before, up=up, carrier="lost" if carrier == "lost" and not up else "kept")


def spaced(value: str) -> str:
    """A quantity with the space before its unit, which a shell's words often lack: `10Mbit/s` becomes `10 Mbit/s`."""
    return re.sub(r"^(\d+(?:\.\d+)?)([A-Za-z%].*)$", r"\1 \2", value.strip())


def parsed(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The links that words name, and what becomes of them: `a b down`, `core rate=10 Mbit/s loss=1 %`.

    A link that is `down` takes the carrier from the interfaces at its ends, as Mininet's do; one that is `silent` does
    not.
    """
    names: list[str] = []
    keys: dict[str, str] = {}
    last = None
    for word in words:
        key, equals, value = word.partition("=")
        if equals:
            keys[last := key] = value
        elif last is not None:
            keys[last] = f"{keys[last]} {word}".strip()
        elif word in WORDS and names:
            keys = {key: value for key, value in keys.items() if key not in ("up", "carrier")} | WORDS[word]
        else:
            names.append(word)
    return names, keys


def events(lab: Path, begin_ns: int = 0) -> list[dict[str, object]]:
    """The changes as a scenario's events, whose time 0 is `begin_ns`; earlier ones are at its start."""
    found: list[tuple[int, dict[str, object]]] = []
    for one in changes(lab):
        values = {key: value_of(value) for key, value in one.keys.items()}
        found.append((one.time_ns, {"link": one.link, **values}))
    for of in daemons.changes(lab):
        found.append((of.time_ns, {"router": of.router, "daemon": of.daemon, "up": of.up}))
    found.sort(key=lambda pair: pair[0])
    return [{"at": _seconds(max(time_ns - begin_ns, 0)), **event} for time_ns, event in found]


def _seconds(ns: int) -> str:
    return f"{ns / 1e9:.9f}".rstrip("0").rstrip(".") + " s"


def as_text(value: Any) -> str:
    """A value of a scenario's key as a user writes it behind `KEY=`: texts as they are, all else as TOML."""
    import tomlkit

    if isinstance(value, str):
        return value
    # A table alone would be written as lines.
    made = tomlkit.inline_table() if isinstance(value, Mapping) else tomlkit.item(value)
    if isinstance(value, Mapping):
        made.update(value)
    return made.as_string()


def value_of(text: str) -> Any:
    """The value that a text behind `KEY=` stands for: what is no TOML is a text."""
    from dumbbell.scenario.file import toml

    try:
        return toml.parse(f"value = {text}")["value"]
    except toml.TOMLDecodeError:
        return spaced(text)


def now_ns(lab: Path) -> int:
    """The time of the lab: nanoseconds since it was up."""
    from dumbbell.labs.place import facts

    return time.monotonic_ns() - int(facts(lab).get("origin_ns", 0))
