"""`dumbbell lab`: networks to live in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dumbbell.cli.group import group
from dumbbell.cli.options import Json, Set, bundled_names
from dumbbell.counts import count as counted

if TYPE_CHECKING:
    from dumbbell.labs.build import LabScenario
    from dumbbell.labs.live import Live

app = group(
    "lab",
    "Keep a scenario's network up, and live in it: run programs in its hosts, start traffic, change links.",
)

Which = Annotated[
    str | None,
    typer.Option(
        "--lab",
        metavar="NAME",
        help="The lab, where several are up. Default: DUMBBELL_LAB, or the only one.",
        show_default=False,
    ),
]

Lines = Annotated[
    list[str] | None,
    typer.Option(
        "--command",
        "-c",
        metavar="LINE",
        help="Carry out this line of the shell, not standard input. Repeatable.",
        show_default=False,
    ),
]


@app.command()
def up(
    scenario: Annotated[
        str | None,
        typer.Argument(
            metavar="[SCENARIO]",
            help="A TOML file, the name of a bundled scenario, or - for standard input.",
            show_default=False,
            autocompletion=bundled_names,
        ),
    ] = None,
    overrides: Set = None,
    topo: Annotated[
        str | None,
        typer.Option(
            "--topo",
            metavar="SHAPE",
            help="A network by Mininet's name: minimal, single,4, linear,3 or linear,3,2, tree,2,3, torus,3,3.",
            show_default=False,
        ),
    ] = None,
    links: Annotated[
        str | None,
        typer.Option(
            "--link",
            metavar="KEY=VALUE,...",
            help='With --topo: keys of all links, such as "rate=10 Mbit/s,delay=5 ms".',
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--name", metavar="NAME", help="Name of the lab. Default: that of the scenario.", show_default=False
        ),
    ] = None,
    detach: Annotated[
        bool, typer.Option("--detach", help="Return when it is up. It stays until dumbbell lab down.")
    ] = False,
    agree: Annotated[
        bool,
        typer.Option("--agree", help="Let the lab reach this machine's network, if it has nat. It is asked once."),
    ] = False,
    lines: Lines = None,
) -> int:
    """Build a lab, and open its shell. It ends with the shell.

    `dumbbell lab up --topo tree,2,3` needs no file. A scenario needs no flows and no duration. Its flows and
    events wait for the word play. The shell reads standard input: `echo pingall | dumbbell lab up FILE` is a test.

    Exit code: that of the shell's last command; 1 if the lab cannot be built, 2 for bad input.
    """
    from dumbbell.labs.owner import detached

    wanted = _scenario(scenario, topo, links, overrides or [])
    is_agreed = _is_agreed(wanted, agree)
    if detach:
        path = detached(wanted, name, is_agreed)
        print(f"lab {path.name} is up: dumbbell lab shell, exec, link, show; dumbbell lab down ends it")
        return 0
    from dumbbell.labs.lab import Lab

    with Lab(wanted, name=name, agree=is_agreed) as lab:
        return _interact(lab, lines)


@app.command("list")
def list_(json: Json = False) -> None:
    """List the labs that are up: yours only."""
    from json import dumps

    from dumbbell.cli.tables import print_table
    from dumbbell.labs import place
    from dumbbell.labs.network import Network
    from dumbbell.table import Table

    found = [(place.facts(path), Network.of(path)) for path in place.alive()]
    if json:
        print(dumps([{**facts, "hosts": network.hosts, "nodes": network.nodes} for facts, network in found], indent=2))
        return
    if not found:
        print("no lab is up; dumbbell lab up FILE starts one")
        return
    rows = [
        [
            facts["name"],
            facts.get("scenario", ""),
            str(len(network.nodes)),
            facts.get("started", "")[:19].replace("T", " "),
        ]
        for facts, network in found
    ]
    print_table(Table("Labs", ["lab", "scenario", "nodes", "started (UTC)"], rows))


@app.command()
def shell(which: Which = None, lines: Lines = None) -> int:
    """Open the shell of a lab that is up. The lab goes on after it.

    Exit code: that of the last command.
    """
    from dumbbell.labs.live import Live

    return _interact(Live.open(which), lines)


@app.command("exec", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def exec_(
    node: Annotated[str, typer.Argument(metavar="NODE", help="A host or router.", show_default=False)],
    arguments: Annotated[
        list[str], typer.Argument(metavar="COMMAND...", help="The program and its arguments.", show_default=False)
    ],
    which: Which = None,
) -> int:
    """Run a command in a host or router of a lab that is up.

    It has this terminal, this environment and this working directory; it sees the node's network, and finds the other
    nodes by their names.

    Exit code: that of the command; 128 and the signal's number if a signal has ended it.
    """
    from dumbbell.labs import place, programs

    return programs.run(place.find(which), node, arguments)


@app.command()
def show(which: Which = None, json: Json = False) -> None:
    """Show a lab: its nodes with their addresses, and its links as they are now."""
    from json import dumps

    from dumbbell.cli.tables import print_table
    from dumbbell.labs import changes
    from dumbbell.labs.live import Live
    from dumbbell.labs.shell.look import described
    from dumbbell.plan import wire
    from dumbbell.scenario.file.started import way_outside
    from dumbbell.table import Table

    lab = Live.open(which)
    now = changes.states(lab.path)
    if json:
        nodes = {name: {"kind": lab.network.kind(name), "address": lab.network.address(name)} for name in lab.nodes}
        print(
            dumps(
                {
                    "name": lab.path.name,
                    "outside": lab.network.outside,
                    "nodes": nodes,
                    "links": [wire.part(link) for link in now.values()],
                },
                indent=2,
            )
        )
        return
    network = lab.network
    rows = [
        [name, network.kind(name), ", ".join(f"{one} {' '.join(held)}" for one, held in network.interfaces(name))]
        for name in network.nodes
    ]
    print_table(Table(f"Nodes of {lab.path.name}", ["node", "kind", "interfaces"], rows))
    if network.outside is not None:
        print(way_outside(network.outside))
    for link in now.values():
        print(described(link))


@app.command(context_settings={"ignore_unknown_options": True})
def link(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="LINK|NODE NODE up|down|silent|KEY=VALUE...",
            help="One direction by the link's name, or both between two nodes; then its new state or keys.",
            show_default=False,
        ),
    ],
    which: Which = None,
) -> None:
    """Change a link of a lab that is up: `dumbbell lab link left right rate="5 Mbit/s" loss="1 %"`.

    The keys are those of the events in a scenario. Interfaces at a link that is down have no carrier, as if the
    cable were pulled; at one that is silent they notice nothing.
    """
    from dumbbell.labs import changes, place
    from dumbbell.labs.shell.look import described

    for change in changes.change(place.find(which), *changes.parsed(words)):
        print(described(change.after))


@app.command()
def capture(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="NODE [INTERFACE] | NODE NODE | LINK",
            help="An interface of a host or router; or links, of switches, too: one direction by its name, or all "
            "between two nodes.",
            show_default=False,
        ),
    ],
    which: Which = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            "-w",
            metavar="FILE",
            help="The pcap or pcapng file. Default, and -: standard output.",
            show_default=False,
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", metavar="N", help="End after N seconds. Default: Ctrl-C.", show_default=False),
    ] = None,
) -> None:
    """Capture frames: `dumbbell lab capture h1 -w - | wireshark -k -i -`.

    At an interface frames of both directions have the kernel's times, in nanoseconds, and are written as pcap while
    they come. Links give pcapng: each frame as it came to the link, with the queue that it found and what became of it
    as a comment, and as it left the link. A file is sorted by time and written at the end; on standard output, frames
    follow when the link is done with them.
    """
    import sys

    from dumbbell.errors import unwritable
    from dumbbell.labs import place
    from dumbbell.labs.capture import capture as captured
    from dumbbell.labs.capture import place_of
    from dumbbell.labs.network import Network
    from dumbbell.outputs import open_named

    path = place.find(which)
    wanted = place_of(Network.of(path), words)
    if output is None or str(output) == "-":
        captured(path, wanted, sys.stdout.buffer, seconds, follows=True)
        return
    try:
        with open_named(output) as file:
            count = captured(path, wanted, file, seconds)
    except OSError as error:
        raise unwritable(output, error) from error
    print(f"{output}: {counted(count, 'frame')} at {wanted}")


@app.command()
def record(
    action: Annotated[str, typer.Argument(metavar="start|stop", help="Begin, or end.", show_default=False)],
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Name of the run. Default: that of the scenario.", show_default=False),
    ] = None,
    which: Which = None,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Where the run is kept.")] = Path(
        "runs"
    ),
) -> None:
    """Keep what is done in a lab as a run with a report: `dumbbell lab record start`, and then `stop`.

    The run has a row per packet and link, samples of TCP and UDP between hosts, the routes of routers with daemons, and
    the changes of links as events. dumbbell report, compare and query read it as any other.
    """
    from dumbbell.errors import InputError
    from dumbbell.labs import place, recording

    if action == "start":
        recording.start(place.find(which), name, output)
        print("recording; dumbbell lab record stop ends it")
    elif action == "stop" and name is None:
        run = recording.stop(place.find(which))
        print(f"{run.verdict}: {run.directory / 'report.html'}")
    else:
        given = " ".join(filter(None, [action, name]))
        raise InputError("record needs start or stop", f"given: {given}", "dumbbell lab record start")


@app.command()
def down(
    which: Which = None,
    all: Annotated[bool, typer.Option("--all", help="End all labs of this user.")] = False,
) -> None:
    """End a lab, and all programs in it."""
    from dumbbell.labs import place
    from dumbbell.labs.down import end

    for path in place.alive() if all else [place.find(which)]:
        end(path)
        print(f"lab {path.name} is down")


def _scenario(scenario: str | None, topo: str | None, links: str | None, overrides: list[str]) -> LabScenario:
    from dumbbell.errors import InputError
    from dumbbell.labs import build
    from dumbbell.labs import topo as shapes

    if (scenario is None) == (topo is None):
        what = "neither a scenario nor --topo" if topo is None else "a scenario and --topo"
        raise InputError(what, "a lab has one network", "dumbbell lab up FILE, or dumbbell lab up --topo tree,2,3")
    if topo is not None:
        return shapes.scenario(topo, links, overrides)
    if links is not None:
        raise InputError("--link without --topo", "the scenario has the keys of its links", "write --set KEY=VALUE")
    assert scenario is not None, "or there is a topo"
    return build.load(scenario, overrides)


def _is_agreed(wanted: LabScenario, agree: bool) -> bool:
    """Returns true if the user agrees, or has agreed before, that the lab reaches this machine's network."""
    import sys

    from dumbbell.cli.output import say
    from dumbbell.labs.outside import ways
    from dumbbell.scenario.file.started import has_agreed

    found = ways(wanted)
    if not found:
        return False
    if not all(map(has_agreed, found)):
        from dumbbell.server.agreement import Agreement, NotAgreed

        agreement = Agreement(wanted.source.folder.resolve())
        if not agreement.has(found):
            if not agree:
                hint = "if it may, repeat the command with --agree: it is asked once"
                raise NotAgreed(wanted.source.name, found, hint, "opens a way")
            agreement.add(found)
    say("\n".join(found), sys.stderr)
    return True


def _interact(lab: Live, lines: list[str] | None) -> int:
    from dumbbell.labs.shell.shell import Shell

    return Shell(lab).interact(lines)
