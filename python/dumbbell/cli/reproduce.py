"""`dumbbell reproduce`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from math import inf
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from dumbbell.cli.options import DEFAULT_EXECUTOR, Address, Executor, Json, Set, Store
from dumbbell.frozen import dataclass

if TYPE_CHECKING:
    from dumbbell.execute import Executor as AnyExecutor
    from dumbbell.published.found import JudgedFinding
    from dumbbell.published.model import Reproduction
    from dumbbell.published.running import Lacking, Order, Ordered

_ROOT = Path("reproductions")
_SELDOM = 10
"""A report between parts is written after so many times the time that the last one took."""

WRITING = "judging the findings and drawing the plots, which simulates some runs again with all their records ..."


def command(
    key: Annotated[
        str | None,
        typer.Argument(
            metavar="STUDY",
            help="The published study, or the folder of one, yours or others'. Without it, the command lists all.",
        ),
    ] = None,
    parts: Annotated[
        list[str] | None,
        typer.Option("--part", metavar="NAME", help="Only this part. Repeatable. Default: all except variants."),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            "--engine",
            metavar="ENGINE",
            help="Run the parts that this engine can run, such as virtual. Default: the engine of each part.",
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Run fewer cells and repetitions: minutes, for a first look.")
    ] = False,
    list_: Annotated[
        bool, typer.Option("--list", help="Print the parts and how long they take, and run none.")
    ] = False,
    as_is: Annotated[bool, typer.Option("--as-is", help="Run nothing: report on the finished parts.")] = False,
    jobs: Annotated[int | None, typer.Option("--jobs", metavar="N", min=1, help="Runs at a time.")] = None,
    executor: Executor = DEFAULT_EXECUTOR,
    address: Address = None,
    store: Store = None,
    overrides: Set = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Where reports and runs are kept.")
    ] = _ROOT,
    agree: Annotated[
        bool, typer.Option("--agree", help="Run the programs of a folder, which you have looked at. It is asked once.")
    ] = False,
    json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> int:
    """Repeat a published study, and show its numbers, plots and findings beside ours.

    Before it starts, it says how long it takes. The same command continues where it was stopped; the report includes
    parts that were run before.

    A part whose engine this machine lacks is simulated, if it can be, or else skipped: the command and the report say
    which, and what is missing. A part that --part names is refused instead.

    Exit code: 0 if the report was written, whatever it says; 5 if a part was skipped; 2 for bad input, 130 if
    interrupted.
    """
    from dumbbell.execute.names import executor as named
    from dumbbell.published.registry import KEYS, chosen, reproduction
    from dumbbell.published.running import check, orders, runnable
    from dumbbell.published.stranger import is_folder
    from dumbbell.scenario.file.started import only
    from dumbbell.studies.directory import check_default

    if key is None:
        print("\n".join(f"{one:14} {reproduction(one).title}" for one in KEYS))
        return 0
    check_default(output, _ROOT, "--output")

    def ordered(study: Reproduction) -> list[Order]:
        among = study.parts if list_ and not parts else chosen(study, parts or [])
        return orders(among, engine, quick, overrides or [], named=bool(parts))

    if not is_folder(key):
        study, agreed = reproduction(key), None
    elif list_:
        study, agreed = _looked_at(key, agree, ordered)
    else:
        study, agreed = of_folder(key, agree, ordered)
    wanted = ordered(study)
    if list_:
        with only(agreed):
            _list(wanted, study)
        return 0
    elsewhere = named(executor, address, store, jobs)
    lacking: Sequence[Lacking] = ()
    place = Place(output, study, key, engine, quick, tuple(overrides or ()))
    with only(agreed):
        if as_is:
            wanted = []
        elif elsewhere is None and (parts or engine):
            check(wanted)
        elif elsewhere is None:
            wanted, lacking = runnable(wanted)
        return _reproduce(place, wanted, lacking, jobs, elsewhere, json, quiet)


def of_folder(
    name: str, agree: bool, ordered: Callable[[Reproduction], Sequence[Order]] = lambda study: ()
) -> tuple[Reproduction, list[str]]:
    """The study in a folder, and the programs that it may start. They and its code run only if the user agrees, who is
    asked once for each content.

    Args:
        name: path of the folder.
        agree: true if the user agrees now.
        ordered: returns what the user orders of the study.
    """
    from dumbbell.published.stranger import stranger
    from dumbbell.server.agreement import Agreement, NotAgreed

    found = stranger(Path(name))
    agreement, programs = Agreement(found.folder), found.programs(ordered(found.data))
    if not agreement.has(programs):
        if not agree:
            raise NotAgreed(name, programs, "look at them, and repeat the command with --agree: it is asked once")
        agreement.add(programs)
    return found.trusted(), programs


def _looked_at(
    name: str, agree: bool, ordered: Callable[[Reproduction], Sequence[Order]]
) -> tuple[Reproduction, list[str] | None]:
    """The study in a folder, checked as for a run; without its code, which stderr notes, if the user has not agreed."""
    from dumbbell.cli.output import say
    from dumbbell.published.folder import CODE
    from dumbbell.published.stranger import stranger
    from dumbbell.server.agreement import NotAgreed

    try:
        return of_folder(name, agree, ordered)
    except NotAgreed:
        found = stranger(Path(name))
        if found.code is not None:
            say(f"note: {CODE} is not checked: it runs once you agree (--agree)", sys.stderr)
        return found.data, None


@dataclass(frozen=True)
class Place:
    """A reproduction, and where it is kept."""

    root: Path
    study: Reproduction
    name: str
    """The study as the user named it."""
    engine: str | None
    quick: bool
    overrides: tuple[str, ...] = ()
    """Keys of the user's, as `--set` gives them."""

    @property
    def folder(self) -> Path:
        """The folder of its report."""
        from dumbbell.published.running import folder

        return folder(self.root, self.study, self.quick, self.engine, self.overrides)

    def ordered(self, lacking: Sequence[str] = ()) -> Ordered:
        """The order, and what this machine lacks of it."""
        from dumbbell.published.running import Ordered
        from dumbbell.published.stranger import is_folder

        study = str(Path(self.name).resolve()) if is_folder(self.name) else self.name
        # As a text: a command that a folder keeps is not told (`Ordered.commands`).
        altered = [f"Set by --set, so that all that follows is of another study: {one}" for one in self.overrides]
        return Ordered(study, self.name, self.engine, self.quick, (*altered, *lacking))

    def write(self, lacking: Sequence[Lacking]) -> tuple[list[JudgedFinding], list[Path]]:
        """Write the report of the parts that were run. Returns the outcomes of all findings, and the files."""
        from dumbbell.published import report, running
        from dumbbell.published.found import judged

        ordered = self.ordered([one.text for one in lacking])
        running.keep(self.folder, ordered)
        done = running.done(self.folder, self.study)
        texts = [*ordered.lacking, *ordered.shortened(self.study, done)]
        found = judged(self.study, done)
        commands = ordered.commands(self.study, done)
        return found, report.write(self.study, done, self.folder, commands, texts, found)


def _reproduce(
    place: Place,
    wanted: Sequence[Order],
    lacking: Sequence[Lacking],
    jobs: int | None,
    elsewhere: AnyExecutor | None,
    json: bool,
    quiet: bool,
) -> int:
    from dumbbell.cli.output import say, without_advice_of_matplotlib
    from dumbbell.cli.study_progress import progress
    from dumbbell.errors import ExpectationUndecided
    from dumbbell.published import running

    without_advice_of_matplotlib()
    is_told = not (json or quiet)
    for one in lacking:
        say(one.text, sys.stderr)
    if wanted and is_told:
        print(_forecast(wanted), flush=True)
    written_s, cost_s = -inf, 0.0
    is_there = bool(wanted) and running.is_reproduction(place.folder)
    before = running.done(place.folder, place.study) if is_there else {}
    for order in wanted:
        if is_told:
            say(f"{order.part.name}: {order.part.title}")
        with progress(json or quiet) as show:
            ran = running.run_part(order, place.root / running.STUDIES, jobs, show, elsewhere)
            running.note(place.folder, order, ran)
        if order.part.name in before and before[order.part.name].directory == ran.directory:
            continue
        # The first picture is there after the first new part; later reports take a small share of the time.
        started_s = monotonic()
        if order is not wanted[-1] and started_s - written_s > _SELDOM * cost_s:
            _, files = place.write(lacking)
            written_s = monotonic()
            cost_s = written_s - started_s
            if is_told:
                print(f"report so far: {files[0]}", flush=True)
    if is_told:
        say(WRITING, sys.stderr)
    found, files = place.write(lacking)
    _tell(found, files, json)
    return 0 if all(one.is_simulated for one in lacking) else ExpectationUndecided.exit_code


def _forecast(wanted: Sequence[Order]) -> str:
    """`rincao-2021: 10 parts, 27,000 runs, 13 h 45 min of traffic; about 45 min of computing`."""
    from dumbbell.engines.registry import capabilities
    from dumbbell.published.running import report_s, size
    from dumbbell.report import words
    from dumbbell.units.spans import span

    sizes = [(order, size(order)) for order in wanted]
    said = f"{words.count(len(sizes), 'part')}, {words.count(sum(one.runs for _, one in sizes), 'run')}"
    for real_time, what in ((True, "if emulated one after the other"), (False, "of computing, on one core")):
        found = [one.forecast_s for order, one in sizes if capabilities(order.engine).real_time is real_time]
        if found and None not in found:
            said += f"; at most {span(sum(s for s in found if s is not None))} {what}"
    return f"{said}; about {span(report_s(wanted))} of computing for the report"


def _list(wanted: Sequence[Order], study: Reproduction) -> None:
    from dumbbell.cli.tables import print_table
    from dumbbell.published.running import size
    from dumbbell.report import words
    from dumbbell.table import Table
    from dumbbell.units.spans import span

    rows = []
    for order in wanted:
        found = size(order)
        time = words.UNKNOWN if found.forecast_s is None else span(found.forecast_s)
        other = f" (a variant of {order.part.variant_of})" if order.part.variant_of else ""
        row = [order.part.name, order.part.title + other, order.engine, words.count(found.cells)]
        rows.append([*row, words.count(found.runs), time])
    print_table(Table(study.citation, ["part", "", "engine", "cells", "runs", "time, one by one"], rows))


def _tell(judged: Sequence[JudgedFinding], files: Sequence[Path], json: bool) -> None:
    if json:
        from json import dumps

        findings = [
            {
                "finding": one.finding.text,
                "source": one.finding.source,
                "ours": one.finding.is_ours,
                "reading": one.finding.reading,
                "status": one.judged.status.value,
                "numbers": one.judged.numbers,
                "runs": one.runs,
            }
            for one in judged
        ]
        print(dumps({"findings": findings, "files": [str(path) for path in files]}, indent=2))
        return
    from rich.console import Console
    from rich.text import Text

    from dumbbell.published.judging import NOT_RUN
    from dumbbell.published.model import Status
    from dumbbell.table import printable

    colours = {Status.HOLDS: "green", Status.FAILS: "red", Status.UNKNOWN: "yellow", Status.UNTESTED: "yellow"}
    console = Console(soft_wrap=True)
    for one in judged:
        status, reading = one.judged.status, one.finding.reading
        if reading and one.judged == NOT_RUN:
            continue
        said = f"{one.text} ({reading})" if reading else one.text
        answer = (status.value, f"bold {colours[status]}")
        console.print(Text.assemble(answer, printable(f": {said}: {one.judged.numbers}")))
        if one.runs:
            console.print(Text(printable(f"  {one.runs}"), style="yellow"))
    print("\n".join(map(str, files)))
