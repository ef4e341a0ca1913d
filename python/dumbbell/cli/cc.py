"""`dumbbell cc`: congestion controls that are BPF programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dumbbell.cli.group import check_name_or_all, group
from dumbbell.cli.options import Json

_SCORES = Path("scores")

app = group("cc", "Load, check and list congestion controls: those that come with dumbbell, and your own BPF programs.")

File = Annotated[Path, typer.Argument(metavar="FILE", help="A program in C: my_cc.bpf.c.", show_default=False)]
NameOrFile = Annotated[
    str,
    typer.Argument(
        metavar="NAME|FILE",
        help="An algorithm that comes with dumbbell, or my_cc.bpf.c, or my_cc.bpf.o.",
        show_default=False,
    ),
]
SetParameter = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PARAMETER=VALUE", help="Set a parameter. Repeatable.", show_default=False),
]


@app.command()
def build(
    file: File,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="File of the object. Default: beside the program, as .bpf.o.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Compile a program, with the headers that come with dumbbell. Prints the object's path.

    A scenario needs no object: it compiles the file that `cc = { bpf = "my_cc.bpf.c" }` names. Machines without clang
    can use an object: `cc = { bpf = "my_cc.bpf.o" }`.
    """
    from dumbbell import outputs
    from dumbbell.cc.algorithm import program_in
    from dumbbell.cc.compile import compiled
    from dumbbell.errors import InputError, unwritable

    program = program_in(str(file))
    if program.compiled:
        raise InputError(f"{file} is an object already", "", "dumbbell cc check reads it")
    found = compiled(program, whole=True)
    out = output or file.with_name(f"{program.stem}.bpf.o")
    try:
        outputs.write_named(out, found.object)
    except OSError as error:
        raise unwritable(out, error) from None
    if found.text:
        typer.echo(found.text, err=True)
    typer.echo(out)


@app.command()
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name: my_cc.", show_default=False)],
    directory: Annotated[
        Path | None,
        typer.Option("--directory", metavar="DIR", help="The new folder. Default: its name.", show_default=False),
    ] = None,
) -> None:
    """Make a folder to begin with: a program in C that is Reno, a test of it, and a study.

    Exit code: 0, or 2 if the name is none for an algorithm, or the folder is there already.
    """
    from dumbbell.cc.new import create

    folder = directory or Path(name)
    for path in create(name, folder):
        typer.echo(path)
    typer.echo(
        f"\ncd {folder}\n"
        "dumbbell run test.toml --engine simulate\n"
        f"dumbbell cc trace {name}.bpf.c test.toml --changes\n"
        f"dumbbell cc score {name}.bpf.c --beside cubic\n"
        "dumbbell run study.toml --engine simulate"
    )


@app.command()
def export(
    policy: Annotated[Path, typer.Argument(metavar="POLICY", help="A policy: policy.json.", show_default=False)],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="The program: mine.bpf.c.", show_default=False)
    ],
) -> None:
    """Write a policy that was trained in dumbbell.gym as a program in C, in fixed point. Prints its path.

    The file's name is that of the algorithm. Exit code: 0, or 2 if it is no policy, or the name cannot be an
    algorithm's.
    """
    from dumbbell.cc.new import checked_name
    from dumbbell.gym.export import write
    from dumbbell.gym.policy import Policy

    name = checked_name(output.name.removesuffix(".c").removesuffix(".bpf"))
    write(Policy.read(policy), name, output)
    typer.echo(output)


@app.command()
def headers(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder; created if it does not exist.", show_default=False)
    ],
) -> None:
    """Write the headers that programs include to a folder, for editors: pass the folder to them with -I."""
    from dumbbell.cc.headers import write

    write(directory)
    typer.echo(directory)


@app.command()
def check(algorithm: NameOrFile, overrides: SetParameter = None, json: Json = False) -> None:
    """Compile a program, list its contents, and let the kernel's verifier check it. Registers nothing.

    Exit code: 0 if the kernel accepts it; 1 if it does not compile, is not a congestion control, is refused by the
    verifier, or if you may not load BPF programs; 2 if there is no such file.
    """
    from json import dumps

    from dumbbell.cc import core
    from dumbbell.cc.algorithm import opened, parse
    from dumbbell.cli.cc_tables import print_held, print_seen
    from dumbbell.errors import RunFailed

    with opened(algorithm, parse(overrides or ())) as found:
        held = core.inspect(found.entry)
        allowed = core.can_load()
        if not json:
            print_held(found, held)
        if not allowed["ok"]:
            raise RunFailed(
                "the verifier did not run: this user may not load BPF programs",
                core.why_not(allowed),
                "run it as root",
            )
        seen = core.check(found.entry)
    if json:
        print(dumps({**held, **seen, "compiler": found.compiler, "warnings": found.text}, indent=2))
    else:
        print_seen(seen)


@app.command()
def score(
    algorithm: NameOrFile,
    overrides: SetParameter = None,
    beside: Annotated[
        list[str] | None,
        typer.Option("--beside", metavar="NAME|FILE", help="Score this one, too. Repeatable.", show_default=False),
    ] = None,
    case: Annotated[
        list[str] | None,
        typer.Option(
            "--case", metavar="NAME", help="Only this network, or this group of them. Repeatable.", show_default=False
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Seed of all networks.")] = 1,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write the network of --case as a scenario to FILE, and simulate nothing.",
            show_default=False,
        ),
    ] = None,
    directory: Annotated[
        Path, typer.Option("--directory", metavar="DIR", help="Where the page and the figures are kept.")
    ] = _SCORES,
    list_: Annotated[bool, typer.Option("--list", help="List the networks, and simulate nothing.")] = False,
    json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> None:
    """Score an algorithm in about 200 networks, in the simulator: alone, beside itself and others, with losses, ...

    Prints the scores of groups of networks and the worst networks; writes NAME.html and NAME.json.

    Exit code: 0; 1 if the program does not compile, or no network could be simulated; 2 for bad input; 130 if
    interrupted.
    """
    from dumbbell.cc.algorithm import parse
    from dumbbell.cli import cc_score
    from dumbbell.studies.directory import check_default
    from dumbbell.yardstick.cases import chosen, groups
    from dumbbell.yardstick.subject import subject

    cases = chosen(groups(), case or [])
    if list_:
        cc_score.print_cases(cases, json)
        return
    own = subject(algorithm, parse(overrides or ()))
    if output is not None:
        cc_score.write_case(cases, own, seed, output)
        return
    check_default(directory, _SCORES, "--directory")
    others = [subject(name, {}) for name in beside or ()]
    # A page of some networks does not replace that of all.
    part = "-part" if case else ""
    cc_score.run([own, *others], cases, seed, algorithm, part, directory, json, quiet)


@app.command()
def trace(
    file: File,
    scenario: Annotated[
        str,
        typer.Argument(metavar="[SCENARIO]", help="A TOML file, or the name of a bundled scenario."),
    ] = "single-flow",
    overrides: SetParameter = None,
    case: Annotated[
        str | None,
        typer.Option("--case", metavar="NAME", help="A network of dumbbell cc score instead.", show_default=False),
    ] = None,
    flow: Annotated[
        list[str] | None,
        typer.Option("--flow", metavar="ID", help="Only this flow, or group. Repeatable.", show_default=False),
    ] = None,
    call: Annotated[
        list[str] | None,
        typer.Option(
            "--call", metavar="NAME", help="Only this callback, such as ssthresh. Repeatable.", show_default=False
        ),
    ] = None,
    since: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help='First moment: "2 s".', show_default=False)
    ] = None,
    until: Annotated[
        str | None, typer.Option("--to", metavar="TIME", help="Moment after the last.", show_default=False)
    ] = None,
    changes: Annotated[bool, typer.Option("--changes", help="Only calls that change a field.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1_000_000, metavar="N", help="The most calls.")] = 100,
    json: Annotated[bool, typer.Option("--json", help="Print a JSON object per call.")] = False,
) -> None:
    """Print each call of a program in a simulated run: the fields that it read, and those that it set, old -> new.

    The first flow of the scenario gets the program, unless another flow names it. The simulation ends with the last
    call that is printed.

    Exit code: 0; 1 if the program does not compile, or did what no kernel lets it do; 2 for bad input.
    """
    from dumbbell.cc.algorithm import parse
    from dumbbell.cli import cc_trace
    from dumbbell.cli.times import time_of
    from dumbbell.errors import InputError
    from dumbbell.hints import nearest
    from dumbbell.pipeline.traced import CALLBACKS, Wanted

    for name in call or ():
        if name not in CALLBACKS:
            hint = nearest(name, CALLBACKS, f"one of {', '.join(CALLBACKS)}")
            raise InputError(f"--call {name}: no such callback", "", hint)
    chosen = cc_trace.scenario_of(str(file), parse(overrides or ()), scenario, case)
    first = 0 if since is None else time_of("--from", since)
    last = 1 << 63 if until is None else time_of("--to", until)
    cc_trace.run(chosen, Wanted(flow or (), call or (), first, last, changes, limit), json)


@app.command()
def load(algorithm: NameOrFile, overrides: SetParameter = None, json: Json = False) -> None:
    """Load an algorithm to stay, for every user, until `dumbbell cc unload` or a reboot.

    A run loads the algorithms that it needs, if its user may. An algorithm that is loaded to stay serves every user's
    runs that ask for the same program with the same parameters.
    """
    from json import dumps

    from dumbbell.cc import core
    from dumbbell.cc.algorithm import opened, parse
    from dumbbell.command import as_root
    from dumbbell.errors import RunFailed

    with opened(algorithm, parse(overrides or ())) as found:
        allowed = core.can_load()
        if not allowed["ok"]:
            sets = [part for text in overrides or () for part in ("--set", text)]
            what = f"{found.entry['label']} is not loaded: this user may not load BPF programs"
            failure = None if allowed["missing"] else allowed["failure"]
            hint = as_root("cc", "load", algorithm, *sets) if failure is None else failure["hint"]
            raise RunFailed(what, core.why_not(allowed), hint)
        told = core.load(found.entry)
    if json:
        print(dumps(told, indent=2))
        return
    was = "was loaded already" if told["already"] else "is loaded to stay"
    typer.echo(f"{told['label']} {was}; the kernel calls it {told['name']}")
    if told["mounted"]:
        typer.echo(f"a BPF file system was mounted at {told['mounted']} to keep it")


@app.command()
def unload(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="The name under which it was loaded, or the kernel's name for it.", show_default=False
        ),
    ] = None,
    all: Annotated[bool, typer.Option("--all", help="Unload all algorithms that were loaded to stay.")] = False,
    json: Json = False,
) -> None:
    """Unload what `dumbbell cc load` has loaded. Connections that use it continue."""
    from json import dumps

    from dumbbell import names
    from dumbbell.cc import core
    from dumbbell.cc.algorithm import label_of

    check_name_or_all("unload", name, all, "dumbbell cc list shows what is loaded")
    if all:
        gone = [went for label in dict.fromkeys(one["name"] for one in core.registered()["stay"])
                for went in core.unload(label)]  # fmt: skip
    else:
        label = label_of(name or "")
        gone = core.unload(label if label != name else names.checked("congestion control", label))
    if json:
        print(dumps({"unloaded": gone}, indent=2))
        return
    for went in gone:
        typer.echo(f"{went} is unloaded")
    if not gone:
        typer.echo("nothing was loaded to stay")


@app.command("list")
def list_(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME|FILE]", help="Show the parameters of this algorithm.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """List congestion controls: those that come with dumbbell, those that are loaded, and the kernel's own.

    With a name, list the parameters of that algorithm, with defaults and meanings.
    """
    from json import dumps

    from dumbbell.cc import core
    from dumbbell.cc.algorithm import opened
    from dumbbell.cli.cc_tables import known, print_parameters
    from dumbbell.cli.tables import print_table

    if name is None:
        told = core.registered()
        if json:
            print(dumps(told, indent=2))
            return
        for table in known(told):
            print_table(table)
        return
    with opened(name, {}) as found:
        held = core.inspect(found.entry)
    if json:
        print(dumps(held, indent=2))
    else:
        print_parameters(core.parameters(held), found.parameters, {})
