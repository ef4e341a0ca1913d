"""`dumbbell run`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dumbbell.cli.options import (
    DEFAULT_EXECUTOR,
    Address,
    Engine,
    Executor,
    Json,
    Kernel,
    Repeat,
    ScenarioArgument,
    Set,
    Store,
    Vary,
)
from dumbbell.counts import count
from dumbbell.engines.registry import DEFAULT, capabilities
from dumbbell.table import printable

if TYPE_CHECKING:
    from dumbbell.pipeline.results import Run


def command(
    scenario: ScenarioArgument,
    overrides: Set = None,
    engine: Engine = DEFAULT,
    kernel: Kernel = None,
    vary: Vary = None,
    repeat: Repeat = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            metavar="N",
            min=1,
            help="Runs of a study at a time; on a cluster, on each node. Default: as many as stay valid.",
        ),
    ] = None,
    executor: Executor = DEFAULT_EXECUTOR,
    address: Address = None,
    store: Store = None,
    failed: Annotated[
        bool, typer.Option("--failed", help="Repeat only the runs of a study that failed or were invalid.")
    ] = False,
    suspect: Annotated[
        bool,
        typer.Option("--suspect", help="Repeat only the disturbed (suspect) runs of a study in real time."),
    ] = False,
    no_redo: Annotated[
        bool,
        typer.Option("--no-redo", help="Leave disturbed runs of a study suspect, without repeating them."),
    ] = False,
    cell: Annotated[
        int | None,
        typer.Option(
            "--cell",
            metavar="N",
            help="Run this cell of a study once, with all its records.",
            show_default=False,
        ),
    ] = None,
    repetition: Annotated[
        int | None,
        typer.Option(
            "--repetition",
            metavar="N",
            help="With --cell: the number of the run, from 0. Default: 0.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="Directory for runs or studies. Default: runs, or studies.",
            show_default=False,
        ),
    ] = None,
    tags: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="NAME", help="Tag the run; see dumbbell runs. Repeatable.", show_default=False),
    ] = None,
    no_report: Annotated[
        bool, typer.Option("--no-report", help="Write no report; dumbbell report writes it later.")
    ] = False,
    events: Annotated[
        str | None,
        typer.Option(
            "--events",
            metavar="FILE",
            help="Write the progress as lines of JSON to FILE, or to stderr (-).",
            show_default=False,
        ),
    ] = None,
    keep_events: Annotated[
        bool,
        typer.Option("--keep-events", help="Keep the progress in the run's directory, as events.jsonl."),
    ] = False,
    json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> int:
    """Run a scenario, and say whether to trust the result; or run a study, which repeats a scenario many times.

    Shows progress, then a table per flow and per rate-limited link, the verdict with its reasons, and the path of the
    HTML report. Ctrl-C stops early and keeps the measurements; a second one ends at once.

    A scenario with a sweep, repetitions or expectations is a study, and so is one with --vary or --repeat. It ends with
    a row per combination, with means over its runs, the outcome of the expectations, and the path of its report. The
    same command continues where it was stopped; a larger --repeat adds runs.

    Exit code: 0 for a valid or suspect run, 3 for an invalid one, 1 if it failed, 2 for bad input, 130 if interrupted.
    For a study: 4 if an expectation fails, or else 1 or 3 if there are such runs, 5 if an expectation can't be decided.
    """
    if not (json or quiet):
        # Prints before the imports below, so that something shows at once.
        print(f"{printable(scenario)}: checking", flush=True)
    from dumbbell.errors import InputError
    from dumbbell.execute.names import executor as named
    from dumbbell.execute.names import refuse_single
    from dumbbell.pipeline.planned import kernel_override
    from dumbbell.scenario.file.loading import read
    from dumbbell.studies.cells import is_study, varied

    if repetition is not None and cell is None:
        raise InputError("--repetition without --cell", "it names a run of a cell", "add --cell 0, or write --repeat N")
    overrides = [*(overrides or ()), *kernel_override(kernel)]
    draft = varied(read(scenario, overrides), vary, repeat)
    elsewhere = named(executor, address, store, jobs)
    wanted: Any = scenario
    if cell is not None:
        from dumbbell.studies.single import single

        for option, given in (("--failed", failed), ("--suspect", suspect), ("--no-redo", no_redo)):
            if given:
                hint = "omit one of them"
                raise InputError(f"{option} beside --cell", "--cell does one run, whatever came of it before", hint)
        wanted, overrides = single(draft, cell, repetition or 0), None
    elif vary or repeat is not None or failed or suspect or is_study(draft):
        if keep_events:
            why = "a study keeps its progress anyway, in progress.json"
            raise InputError("--keep-events applies to single runs", why, "omit --keep-events, or write --events FILE")
        if tags:
            raise InputError("--tag applies to single runs", "this is a study", "name the study: --set name=baseline")
        from dumbbell.cli import study
        from dumbbell.cli.display import with_events
        from dumbbell.cli.study_progress import progress as study_progress
        from dumbbell.studies import RunOptions
        from dumbbell.studies import run as run_study

        options: RunOptions = {"engine": engine, "report": not no_report, "jobs": jobs, "executor": elsewhere}
        options |= {"failed": failed, "suspect": suspect, "redo": not no_redo}
        with with_events(study_progress(json or quiet), events) as show:
            options["on_event"] = show
            found = run_study(scenario, overrides, output, vary=vary or [], repeat=repeat, **options)
        return study.show(found, json)
    refuse_single(elsewhere)
    for option, given in (("--jobs", jobs is not None), ("--no-redo", no_redo)):
        if given:
            raise InputError(f"{option} applies to studies", "this is one run", f"add --repeat 10, or omit {option}")
    from dumbbell.cli.display import with_events
    from dumbbell.cli.progress import progress
    from dumbbell.errors import RunInvalid
    from dumbbell.pipeline.run import run

    with with_events(progress(json or quiet), events) as show:
        root, report = output or "runs", not no_report
        finished = run(wanted, overrides or (), root, show, engine, report, keep_events=keep_events)
    if tags:
        from dumbbell.records.kept import tag

        tag(finished.directory, tags)
    if json:
        from json import dumps

        print(dumps({**finished.summary, "run_dir": str(finished.directory)}, indent=2))
    else:
        print_run(finished, not no_report)
    return RunInvalid.exit_code if finished.verdict == "invalid" else 0


def print_run(run: Run, report: bool) -> None:
    """Print the verdict, the tables, and the path of the report, or of the run's directory."""
    from dumbbell.cli.tables import print_table
    from dumbbell.report import words
    from dumbbell.report.facts import above_capacity, facts

    _print_verdict(run)
    print_table(_kinds(run) or flows_table(run.summary, with_bottlenecks=facts(run).has_several))
    if any(link["rate_bps"] is not None for link in run.summary["links"]):
        print_table(links_table(run.summary))
    if above := above_capacity(run):
        print(f"note: {above}")
    _print_figures(run.summary)
    if not capabilities(run.engine).real_time and (speed := words.speed(run.manifest.get("cost"))):
        print(f"{words.timing(run.engine)} {speed}")
    print(run.report() if report else run.directory)


def _kinds(run: Run) -> Any:
    """A row for each kind if there are many flows, else none."""
    from dumbbell.report.groups import groups, has_kinds
    from dumbbell.report.render.group_rows import COLUMNS, rows
    from dumbbell.table import Table

    found = groups(run)
    title = f"{count(len(run.summary['flows']), 'flow')} by kind (the report and --json have each flow)"
    return Table(title, [*COLUMNS], rows(run.summary["flows"], found)) if has_kinds(found) else None


def flows_table(summary: Any, with_bottlenecks: bool) -> Any:
    """Returns the table of flows, with columns for what occurred."""
    from dumbbell.report import words
    from dumbbell.table import Table

    marked = any(flow["ce_packets"] for flow in summary["flows"])
    sized = any(flow["fct_s"] is not None for flow in summary["flows"])
    columns = ["flow", "path", "goodput", "RTT min", "p50", "p95 (ms)", "retransmitted"]
    columns += [*(["ECN-marked"] if marked else []), *(["completed in"] if sized else [])]
    columns += ["bottleneck"] if with_bottlenecks else []
    rows = []
    for flow in summary["flows"]:
        rtt = flow["rtt_ms"]
        row = [
            flow["label"],
            f"{flow['from']} > {flow['to']}",
            words.measured_rate(flow["goodput_bps"]),
            *(words.milliseconds(rtt[key]) for key in ("min", "p50", "p95")),
            words.count(flow["retransmitted_segments"]),
        ]
        if marked:
            row.append(words.share(flow["ce_share"]))
        if sized:
            fct_s = flow["fct_s"]
            row.append(words.UNKNOWN if fct_s is None else words.seconds(round(fct_s, 3)))
        if with_bottlenecks:
            row.append(words.bottleneck(flow))
        rows.append(row)
    return Table("Flows", columns, rows)


def links_table(summary: Any) -> Any:
    """Returns the table of links with a rate, the most used ones if there are many."""
    from dumbbell.report import words
    from dumbbell.report.events import REASONS
    from dumbbell.table import Table

    every = [link for link in summary["links"] if link["rate_bps"] is not None]
    limited, title = every, "Rate-limited links"
    if len(every) > _MOST_LINKS:
        limited = sorted(every, key=lambda link: (-(link["bottleneck_share"] or 0), -(link["utilisation"] or 0)))
        limited = limited[:_MOST_LINKS]
        title += f": {_MOST_LINKS} of {len(every):,}, first bottlenecks, then the busiest (all are in the report)"
    reasons = [fate for fate in REASONS if any(link["drops_by_reason"].get(fate) for link in limited)]
    # A full buffer is the plain case; every other reason gets its own column.
    by_reason = reasons if any(fate != "dropped-tail" for fate in reasons) else []
    others = [key for key in _BESIDES if any(link[key] for link in limited)]
    drops = [f"{REASONS[fate].word} drops" for fate in by_reason] or ["drops"]
    columns = ["link", "rate", "utilisation", *drops, *others, "queue p50", "p95", "max (ms)"]
    rows = []
    for link in limited:
        counts = [link["drops_by_reason"][fate] for fate in by_reason] or [link["drops"]]
        row = [link["name"], words.rate(link["rate_bps"]), words.share(link["utilisation"])]
        row += [words.count(n) for n in (*counts, *(link[key] for key in others))]
        rows.append(row + [words.milliseconds((link["queue_ms"] or {}).get(key)) for key in ("p50", "p95", "max")])
    return Table(title, columns, rows)


_MOST_LINKS = 12
"""Links that a console lists."""
_BESIDES = ("losses", "marks", "duplicates", "reordered", "corrupted")


def _print_verdict(run: Run) -> None:
    """The verdict with its reasons, and what was not recorded."""
    from rich.console import Console
    from rich.text import Text

    from dumbbell.report.acks import absent

    console = Console(soft_wrap=True)
    colour = {"valid": "green", "suspect": "yellow", "invalid": "red"}
    summary, verdict = run.summary, run.verdict
    after = {"valid": "", "suspect": ": read the reasons before you trust it", "invalid": ": do not use these figures"}
    console.print(Text.assemble("verdict: ", (verdict, f"bold {colour[verdict]}"), after[verdict]))
    for reason in summary["reasons"]:
        console.print(
            Text.assemble(
                ("  ", ""),
                (reason["check"], f"bold {colour[reason['verdict']]}"),
                f": {reason['measured']} (allowed: {reason['threshold']}): {reason['why']}",
            )
        )
    if (why := absent(run)) is not None:
        console.print(Text(why))
    if (again := _in_virtual_time(run)) is not None:
        console.print(Text(f"hint: in virtual time this machine's load has no part in the result: {again}"))
    console.print()


def _in_virtual_time(run: Run) -> str | None:
    """The command that runs it where no machine disturbs it; `None` if none has, or if that cannot be done."""
    from itertools import chain

    from dumbbell.analysis.rules import timing
    from dumbbell.command import command as shown
    from dumbbell.engines.registry import first
    from dumbbell.plan.types import ObjectSource

    disturbed = {rule.name for rule in timing.RULES} & {reason["check"] for reason in run.summary["reasons"]}
    scenario = run.manifest.get("scenario_source")
    own = any(isinstance(one.source, ObjectSource) for one in run.plan.algorithms)
    if not (disturbed and capabilities(run.engine).real_time) or scenario is None or own:
        return None
    sets = chain.from_iterable(("--set", text) for text in run.manifest.get("overrides") or ())
    virtual = first(lambda engine: not (engine.real_time or engine.models_tcp))
    return shown("run", scenario, *sets, "--engine", virtual)


def _print_figures(summary: Any) -> None:
    if summary["jain_index"] is not None:
        print(f"Jain's fairness index: {summary['jain_index']:.3f}")
    if (found := summary["responsiveness"]) is not None:
        print(f"responsiveness under load: {count(round(found['rpm']), 'round trip')} per minute")
    for one in summary["rerouting"] or ():
        print(_rerouted(one))


def _rerouted(rerouting: Any) -> str:
    """`at 2 s, core down: routes changed for 150 ms, 12 packets were lost, f1 had an outage of 210 ms`."""
    from dumbbell.report import words

    converged = rerouting["converged_s"]
    said = ["no route changed" if converged is None else f"routes changed for {words.seconds(round(converged, 3))}"]
    if rerouting["lost_packets"] is not None:
        said.append(f"{count(rerouting['lost_packets'], 'packet')} lost on the way")
    if rerouting["outages_s"]:
        longest = max(rerouting["outages_s"], key=lambda outage: float(outage["outage_s"]))
        said.append(f"nothing of {longest['flow']} arrived for {words.seconds(round(longest['outage_s'], 3))}")
    return f"at {words.seconds(rerouting['at_s'])}, {words.listed(rerouting['events'])}: {', '.join(said)}"
