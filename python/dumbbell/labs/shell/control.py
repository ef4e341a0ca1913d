"""Words that change the network."""

from __future__ import annotations

from pathlib import Path

from dumbbell.errors import InputError
from dumbbell.labs import changes, record
from dumbbell.labs.shell.look import described
from dumbbell.labs.shell.words import Session, word


@word(
    "link",
    "LINK|NODE NODE up|down|KEY=VALUE...",
    "Change a link, or both directions between two nodes: link s1 s2 down, link h1 s1 rate=5 Mbit/s loss=1 %.",
)
def link(session: Session, words: list[str]) -> None:
    """The keys are those of a scenario's events."""
    names, keys = changes.parsed(words)
    for change in changes.change(session.lab.path, names, keys):
        print(described(dict(change.after)))


@word("switch", "NODE start|stop", "Take all links of a switch up or down.")
def switch(session: Session, words: list[str]) -> None:
    """Take a switch's links up or down, as Mininet's word does."""
    if len(words) != 2 or words[1] not in ("start", "stop"):
        raise InputError("switch needs a node, and start or stop", f"given: {' '.join(words)}", "switch s1 stop")
    session.network.check_node(words[0])
    for cable in session.network.cables:
        if words[0] in cable.ends:
            for name in cable.links:
                changes.change(session.lab.path, [name], {"up": "true" if words[1] == "start" else "false"})


@word("events", "", "Show the changes of links so far as [[events]] of a scenario.")
def events(session: Session, words: list[str]) -> None:
    """As TOML."""
    import tomlkit

    print(tomlkit.dumps({"events": changes.events(session.lab.path)}), end="")


@word(
    "save", "FILE", "Write what was done as a scenario: traffic as flows, changes of links as events. A run repeats it."
)
def save(session: Session, words: list[str]) -> None:
    """The file is new."""
    if len(words) != 1:
        raise InputError("save needs a file", f"given: {' '.join(words) or 'nothing'}", "save done.toml")
    record.save(session.lab.path, Path(words[0]))
