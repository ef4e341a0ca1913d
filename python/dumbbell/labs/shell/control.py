"""Words that change the network."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

from dumbbell.errors import InputError
from dumbbell.labs import changes, daemons, record
from dumbbell.labs.shell.look import described
from dumbbell.labs.shell.words import Session, word


@word(
    "link",
    "LINK|NODE NODE up|down|silent|KEY=VALUE...",
    "Change a link, or both directions between two nodes: link s1 s2 down, link h1 s1 rate=5 Mbit/s loss=1 %. "
    "At a link that is down, interfaces have no carrier; at one that is silent, they notice nothing.",
)
def link(session: Session, words: list[str]) -> None:
    """The keys are those of a scenario's events."""
    names, keys = changes.parsed(words)
    for change in changes.change(session.lab.path, names, keys):
        print(described(change.after))


@word("switch", "NODE start|stop", "Take all links of a switch up or down.")
def switch(session: Session, words: list[str]) -> None:
    """Take a switch's links up or down, as Mininet's word does."""
    if len(words) != 2 or words[1] not in ("start", "stop"):
        raise InputError("switch needs a node, and start or stop", f"given: {' '.join(words)}", "switch s1 stop")
    session.network.check_node(words[0])
    for cable in session.network.cables:
        if words[0] in cable.ends:
            for name in cable.links:
                changes.change(session.lab.path, [name], changes.WORDS["up" if words[1] == "start" else "down"])


@word("daemon", "ROUTER DAEMON start|stop", "Kill a routing daemon as a crash does, or start it: daemon r1 bgpd stop.")
def daemon(session: Session, words: list[str]) -> None:
    """Without words: the daemons of all routers, and whether they run."""
    if not words:
        for router, known in daemons.states(session.lab.path).items():
            print(f"{router}: {', '.join(name if runs else f'{name} (stopped)' for name, runs in known.items())}")
        return
    if len(words) != 3 or words[2] not in ("start", "stop"):
        what = "daemon needs a router, a daemon, and start or stop"
        raise InputError(what, f"given: {' '.join(words)}", "daemon r1 bgpd stop")
    session.network.check_node(words[0])
    session.lab[words[0]].daemon(words[1], words[2] == "start")


@word("vtysh", "ROUTER [COMMAND]", "Talk to a router's daemons, or carry out one command: vtysh r1 show ip route.")
def vtysh(session: Session, words: list[str]) -> int:
    """FRRouting's shell."""
    if not words:
        raise InputError("vtysh needs a router", "none is given", "vtysh r1 show ip route")
    session.network.check_place(words[0])
    command = f" -c {quote(' '.join(words[1:]))}" if words[1:] else ""
    return session.execute(f"{words[0]} vtysh{command}")


@word(
    "record",
    "start [NAME] | stop",
    "Keep what is done from now on as a run with a report: packets of all links, TCP and UDP between hosts, changes.",
)
def recorded(session: Session, words: list[str]) -> None:
    """The run is kept in runs/ of this directory."""
    from dumbbell.labs import recording

    if words[:1] == ["start"] and len(words) <= 2:
        recording.start(session.lab.path, words[1] if words[1:] else None)
    elif words == ["stop"]:
        run = recording.stop(session.lab.path)
        print(f"{run.verdict}: {run.directory}/report.html")
    else:
        what, given = "record needs start or stop", f"given: {' '.join(words) or 'nothing'}"
        raise InputError(what, given, "record start; then record stop")


@word("events", "", "Show the changes of links and daemons so far as [[events]] of a scenario.")
def events(session: Session, words: list[str]) -> None:
    """Prints the changes as TOML."""
    import tomlkit

    print(tomlkit.dumps({"events": changes.events(session.lab.path)}), end="")


@word(
    "save",
    "FILE",
    "Write what was done as a scenario: traffic as flows, changes of links as events, and beside it the configurations "
    "that were typed into routers. A run repeats it.",
)
def save(session: Session, words: list[str]) -> None:
    """The file is new."""
    if len(words) != 1:
        raise InputError("save needs a file", f"given: {' '.join(words) or 'nothing'}", "save done.toml")
    for path in record.save(session.lab.path, Path(words[0])):
        print(path)
