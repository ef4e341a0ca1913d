"""The output of `dumbbell run` for a study. This module is not a verb."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dumbbell.cli.output import say
from dumbbell.counts import by_number, count
from dumbbell.engines.registry import capabilities
from dumbbell.table import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dumbbell.studies import Study
    from dumbbell.studies.status import Status

MOST_CELLS: Final = 10
"""The most cells that are named one by one."""
COLOURS = {"holds": "green", "cannot be told": "yellow", "fails": "red"}


def show(study: Study, json: bool) -> int:
    """Print the results of a finished study. Returns the command's exit code."""
    from dumbbell.studies.outcome import exit_code, failures

    if json:
        from json import dumps

        from dumbbell.cli.study_table import cells
        from dumbbell.statistics.verdicts import verdicts

        told = {"study_dir": str(study.directory), "runs": study.runs.height, "failed": len(failures(study))}
        told |= {"verdicts": verdicts(study.runs).as_json()}
        told |= {key: study.manifest.get(key, []) for key in ("too_wide", "expectations", "equal_cells")}
        told |= {"report": _report(study), "cells": cells(study)}
        print(dumps(told, indent=2))
    else:
        _print(study)
    return exit_code(study)


def _print(study: Study) -> None:
    from dumbbell.cli.study_table import table
    from dumbbell.cli.tables import print_table
    from dumbbell.studies.outcome import failures

    say(_verdicts(study))
    _print_redone(study)
    say()
    print_table(table(study))
    print_equal(study)
    print_too_wide(study)
    print_expectations(study.manifest.get("expectations", []))
    failed = failures(study)
    if failed:
        first = failed[0]
        place = f"--cell {first['cell']} --repetition {first['repetition']}"
        say(f"{count(len(failed), 'run')} can't be used; the first ({place}): {first['error']}")
    print(_report(study) or study.directory)


def _verdicts(study: Study) -> str:
    """`12 runs: 10 valid, 1 suspect (lateness 1), 1 failed`."""
    from dumbbell.statistics.verdicts import verdicts

    return f"{count(study.runs.height, 'run')}: {verdicts(study.runs)}"


def _print_redone(study: Study) -> None:
    """Print the runs that this command has carried out again, and how to do so later."""
    from dumbbell.studies.recorded import disturbed

    if not capabilities(study.manifest["engine"]).real_time:
        return
    cost = study.manifest.get("cost", {})
    if cost.get("redone"):
        say(_redone(cost["redone"], cost["cured"]))
    if disturbed(study.directory):
        say("dumbbell run ... --suspect repeats the disturbed runs: use it when the machine is quieter")


def _redone(attempts: int, cured: int) -> str:
    """`Repeated 2 disturbed runs; both are now valid.`"""
    if attempts == cured:
        who = {1: "it is", 2: "both are"}.get(cured, "all are")
        return f"Repeated {count(cured, 'disturbed run')}; {who} now valid."
    valid = f"{count(cured, 'run')} {by_number(cured, 'is', 'are')}" if cured else "no run is"
    return f"Repeated disturbed runs in {count(attempts, 'attempt')}; {valid} now valid."


def _report(study: Study) -> str | None:
    """Path of the report that a command has written; `None` if there is none."""
    path = study.directory / "report.html"
    return str(path) if path.exists() else None


def print_equal(study: Study) -> None:
    """Print which cells are the same runs, and in how many cells all repetitions are."""
    from dumbbell.statistics.frames import told_equal

    said = [f"{one}: equal results, not further evidence" for one in study.manifest.get("equal", [])]
    said += [told_equal(study)] if study.has_usable_runs and study.copies else []
    if said:
        say("\n".join([*said, ""]))


def print_too_wide(study: Study) -> None:
    """Print the cells that have `most` runs and whose interval is still wider than `until` asks for."""
    found, repeat = study.manifest.get("too_wide", []), study.manifest.get("repeat", {})
    if not found:
        return
    from dumbbell.studies.cells import written

    cells = study.manifest["cells"]
    say(f"{len(found):,} of {count(len(cells), 'cell')} not within {repeat['until']} of the mean {repeat['of']}:")
    for one in found[:MOST_CELLS]:
        width = "no interval" if one["half_width"] is None else f"{100 * one['half_width']:.3g} %"
        where = written(cells[one["cell"]])
        say(f"  {width} after {count(one['n'], 'run')}{f': {where}' if where else ''}")
    if len(found) > MOST_CELLS:
        say(f"  and {len(found) - MOST_CELLS:,} more, with narrower intervals: see too_wide in study.json")
    say(f"raise repeat.most (now {repeat['most']:,}) to repeat them more often\n")


def print_expectations(expectations: Any) -> None:
    """Print a line for each expectation: its outcome, and why."""
    from rich.console import Console
    from rich.text import Text

    console = Console(soft_wrap=True)
    for one in expectations:
        answer = (one["answer"], f"bold {COLOURS[one['answer']]}")
        console.print(Text.assemble(answer, printable(f": {one['expectation']}: {one['why']}")))
    if expectations:
        console.print()


def print_status(study: Study, status: Status) -> None:
    """Print the study's progress in a few lines, and its directory last."""
    from dumbbell.report import words
    from dumbbell.studies.directory import INCOMPLETE

    suspect = f", {status.suspect:,} of them suspect{_because(status.suspicions)}" if status.suspect else ""
    say(f"{study.manifest['name']} ({study.manifest['engine']}): {status.status}")
    say(f"{status.done:,} of {count(status.runs, 'run')}{suspect}")
    for why, runs in sorted(status.refused.items(), key=lambda one: -one[1]):
        say(f"{count(runs, 'run')} can't be used: {why}")
    if status.ends_at is not None:
        say(f"done at about {status.ends_at:%H:%M (%d %b)}")
    elif status.status == INCOMPLETE:
        say(f"{words.count(study.missing, 'run')} missing: the same command as before carries out what is missing")
    elif status.status not in ("complete", "running"):
        say("the same command continues from there")
    if status.refused and not capabilities(study.manifest["engine"]).deterministic:
        say("dumbbell run ... --failed repeats these")
    print_equal(study)
    print_too_wide(study)
    print_expectations(study.manifest.get("expectations", []))
    print(study.directory)


def _because(suspicions: Mapping[str, int]) -> str:
    told = ", ".join(f"{check} {count:,}" for check, count in suspicions.items())
    return f" ({told})" if told else ""
