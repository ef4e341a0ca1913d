"""`dumbbell compare`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dumbbell.cli.options import Confidence, Json
from dumbbell.cli.output import say
from dumbbell.counts import by_number, count, number

if TYPE_CHECKING:
    from dumbbell.captures import Capture
    from dumbbell.comparison.settings import Setting
    from dumbbell.comparison.studies import Comparison, Row
    from dumbbell.records import Run


def command(
    a: Annotated[
        str,
        typer.Argument(
            metavar="A", help="A study, a run, or an analysed capture: a directory, or a name.", show_default=False
        ),
    ],
    b: Annotated[str | None, typer.Argument(metavar="B", help="Another of the same kind.", show_default=False)] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="NAME",
            help="Compare this metric of studies; `all` compares all. Repeatable.",
            show_default=False,
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="KEY",
            help="Compare the cells of one study: those with the second value of this varied key against those with "
            "the first.",
            show_default=False,
        ),
    ] = None,
    differing: Annotated[
        bool, typer.Option("--differing", help="Of studies, show only metrics that differ, and count equal cells.")
    ] = False,
    confidence: Confidence = None,
    json: Json = False,
) -> None:
    """Compare two studies: the settings that differ, then metrics of the cells that both have, B against A.

    Differences have intervals: paired where both studies have runs with the same seeds, and Welch's otherwise. It also
    compares two runs; a single run has no interval. Or two captures that dumbbell pcap analysed. Or two halves of a
    study, by the values of a key.
    """
    from dumbbell.captures import Capture, is_capture
    from dumbbell.cli.studies import find, is_study
    from dumbbell.command import command as as_typed
    from dumbbell.errors import InputError
    from dumbbell.records import Run

    percent = 95 if confidence is None else confidence
    if by is not None:
        if b is not None or not is_study(place := find(a)):
            raise InputError("--by compares the cells of one study", "it takes a study and no B", "omit B, or --by")
        _parts(place, by, metric, percent, differing, json)
        return
    if b is None:
        raise InputError("B is missing", "two studies, runs or captures are compared", "name B; --by splits a study")
    places = [find(one) for one in (a, b)]
    if any(map(is_capture, places)):
        for name, place in zip((a, b), places, strict=True):
            if not is_capture(place):
                why = "the other argument is an analysed capture, and two of a kind are compared"
                hint = f"analyse it first: {as_typed('pcap', name)}"
                raise InputError(f"{name} is not an analysed capture", why, hint)
        _refuse_differing(differing, f"{a} is a capture")
        _refuse_options(metric, confidence, f"{a} is a capture")
        _captures([Capture(place) for place in places], json)
        return
    kinds = [is_study(place) for place in places]
    if kinds[0] != kinds[1]:
        what = f"{a} is a {'study' if kinds[0] else 'run'}, {b} a {'study' if kinds[1] else 'run'}"
        raise InputError(what, "a study has many runs", "compare two studies, or two runs")
    if kinds[0]:
        _studies(places, metric, percent, differing, json)
    else:
        _refuse_differing(differing, f"{a} is a run")
        _refuse_options(metric, confidence, f"{a} is a run")
        _runs([Run(place) for place in places], json)


def _refuse_options(metric: list[str] | None, confidence: int | None, why: str) -> None:
    """Raises `InputError` if an option is given that only studies have."""
    from dumbbell.errors import InputError

    for option, value in (("--metric", metric), ("--confidence", confidence)):
        if value is not None:
            raise InputError(f"{option} applies to studies", why, f"omit {option}")


def _refuse_differing(differing: bool, why: str) -> None:
    """Raises `InputError` if only differences are asked for."""
    from dumbbell.errors import InputError

    if differing:
        raise InputError("--differing applies to studies", why, "omit --differing")


def _captures(captures: Sequence[Capture], json: bool) -> None:
    from dumbbell.cli.tables import print_table
    from dumbbell.comparison import captures as compared
    from dumbbell.table import Table

    differing, rows = compared.settings(*captures), compared.rows(*captures)
    if json:
        told = [{"of": one.of, "metric": one.measure, "unit": one.unit, "a": one.a, "b": one.b} for one in rows]
        _print_json(differing, told, warnings={"a": captures[0].warnings, "b": captures[1].warnings})
        return
    for name, capture in zip("AB", captures, strict=True):
        for warning in capture.warnings:
            say(f"{name}: warning: {warning}")
    _print_settings(differing)
    if not rows:
        say("No connection is in both: the same client, server and port.")
        return
    cells = [[one.of, _named(one.measure, one.unit), *_change(one.a, one.b)] for one in rows]
    print_table(Table("Connections that are in both", ["of", "quantity", "A", "B", "B - A", "change"], cells))


def _studies(
    places: Sequence[Path], metrics: Sequence[str] | None, percent: int, only_differing: bool, json: bool
) -> None:
    from dumbbell.cli.studies import open_study
    from dumbbell.comparison import settings
    from dumbbell.comparison.studies import compare
    from dumbbell.report.study import confidence
    from dumbbell.statistics.frames import told_equal

    a, b = (open_study(place) for place in places)
    found = compare(a, b, _names(metrics), confidence(percent))
    equal = [f"{name}: {said}" for name, study in (("A", a), ("B", b)) if (said := told_equal(study))]
    _print_comparison(found, settings.of_studies(a, b), equal, percent, only_differing, json)


def _parts(
    place: Path, key: str, metrics: Sequence[str] | None, percent: int, only_differing: bool, json: bool
) -> None:
    from dumbbell.cli.studies import open_study
    from dumbbell.comparison.parts import split
    from dumbbell.comparison.settings import Setting
    from dumbbell.comparison.studies import compare
    from dumbbell.report.study import confidence
    from dumbbell.statistics.frames import told_equal

    study = open_study(place)
    a, b, *values = split(study, key)
    found = compare(a, b, _names(metrics), confidence(percent), are_parts=True)
    equal = [said] if (said := told_equal(study)) else []
    _print_comparison(found, [Setting(key, *values)], equal, percent, only_differing, json)


def _names(metrics: Sequence[str] | None) -> Sequence[str]:
    """The metrics that are asked for. Raises `InputError` if there is no such metric."""
    from dumbbell.comparison.studies import DEFAULT
    from dumbbell.statistics.metrics import METRICS, get

    metrics = metrics or DEFAULT
    return list(METRICS) if "all" in metrics else [get(name).name for name in metrics]


def _print_comparison(
    comparison: Comparison,
    differing: Sequence[Setting],
    equal: Sequence[str],
    percent: int,
    only_differing: bool,
    json: bool,
) -> None:
    from dumbbell.comparison.studies import as_row

    rows = comparison.differing if only_differing else comparison.rows
    if json:
        judged = {"a": comparison.verdicts_a.as_json(), "b": comparison.verdicts_b.as_json()}
        cells = {"both": comparison.cells, "equal": len(comparison.equal)}
        _print_json(differing, [as_row(row, comparison.keys) for row in rows], verdicts=judged, cells=cells)
        return
    _print_verdicts(comparison)
    if equal:
        say("\n".join([*equal, ""]))
    _print_settings(differing)
    if comparison.equal:
        say(f"{len(comparison.equal):,} of {count(comparison.cells, 'cell')} have the same figures in A and B.\n")
    _print_metrics(comparison, rows, percent)


def _print_verdicts(comparison: Comparison) -> None:
    """The runs behind the figures, and whether differences between A and B can be trusted."""
    for name, judged in (("A", comparison.verdicts_a), ("B", comparison.verdicts_b)):
        say(f"{name}: {count(judged.runs, 'run')}: {judged}")
    doubted = comparison.verdicts_a.suspect + comparison.verdicts_b.suspect
    if doubted:
        of = comparison.verdicts_a.usable + comparison.verdicts_b.usable
        say(
            f"{doubted:,} of the {count(of, 'run')} compared {by_number(doubted, 'is', 'are')} suspect: "
            "differences may be the machine's, not the settings'"
        )
    say()


def _print_metrics(comparison: Comparison, shown: Sequence[Row], percent: int) -> None:
    from itertools import groupby

    from dumbbell.cli.tables import print_table
    from dumbbell.report.study.panel import unit_of
    from dumbbell.table import Table

    names = heads(comparison.keys)
    columns = [*names, "of", "A", "B", "B - A", f"{percent} % interval", "change", "Hedges' g", "n", "by"]
    for metric, rows in groupby(shown, lambda row: row.metric):
        mine = list(rows)
        factor, unit = unit_of(metric.unit, max(abs(row.contrast.mean) for row in mine))
        print_table(Table(_named(metric.title, unit), columns, [_cells(row, factor) for row in mine], len(names) + 1))
    for what, places in (("A", comparison.only_a), ("B", comparison.only_b)):
        if places:
            say(f"Only in {what}: {count(len(places), 'cell')}, the first with {', '.join(places[0])}.")
    for what, missing in (("A", comparison.of_only_a), ("B", comparison.of_only_b)):
        if missing:
            say(f"Only in {what}: {', '.join(missing)}.")


def heads(keys: Sequence[str]) -> list[str]:
    """The end of each key that no other key has: `buffer`; `0.cc` and `1.cc`."""

    def end(key: str, parts: int) -> str:
        return ".".join(key.split(".")[-parts:])

    found = []
    for key in keys:
        parts = 1
        while any(end(other, parts) == end(key, parts) for other in keys if other != key):
            parts += 1
        found.append(key if key.startswith("flows.") and parts > 1 else end(key, parts))
    return found


def _cells(row: Row, factor: float) -> list[str]:

    found = row.contrast
    low, high = found.difference.low, found.difference.high
    span = "one run" if low is None or high is None else f"{number(low / factor, 4)} to {number(high / factor, 4)}"
    change = "" if found.relative is None else f"{100 * found.relative.value:+.1f} %"
    clear = "" if low is None or found.is_clear or low == high == 0 else " (not significant)"
    numbers = [number(value / factor, 4) for value in (found.reference, found.mean, found.difference.value)]
    effect = "" if found.hedges_g is None else f"{found.hedges_g:.2g}"
    runs = str(row.n_a) if row.n_a == row.n_b else f"{row.n_a}, {row.n_b}"
    if row.suspect_a or row.suspect_b:
        runs += f" ({row.suspect_a}, {row.suspect_b} suspect)"
    return [*row.place, row.of, *numbers, span, change + clear, effect, runs, found.by]


def _runs(runs: Sequence[Run], json: bool) -> None:
    from dumbbell.agree.figures import common, figures
    from dumbbell.cli.tables import print_table
    from dumbbell.comparison import settings
    from dumbbell.table import Table

    differing = settings.of_runs(runs[0], runs[1])
    a, b = (figures(run) for run in runs)
    both = common([a, b])
    if json:
        rows = [{"of": one.of, "metric": one.measure, "unit": one.unit, "a": a[one], "b": b[one]} for one in both]
        _print_json(differing, rows, verdicts={"a": runs[0].verdict, "b": runs[1].verdict})
        return
    for name, run in zip("AB", runs, strict=True):
        say(f"{name}: {run.verdict}{_checks(run)}")
    say()
    _print_settings(differing)
    cells = [[one.of or "run", _named(one.measure, one.unit), *_change(a[one], b[one])] for one in both]
    print_table(
        Table("Figures of one run each, without intervals", ["of", "quantity", "A", "B", "B - A", "change"], cells)
    )


def _checks(run: Run) -> str:
    checks = ", ".join(reason["check"] for reason in run.summary["reasons"])
    return f" ({checks})" if checks else ""


def _named(title: str, unit: str) -> str:
    return f"{title} ({unit})" if unit else title


def _change(a: float, b: float) -> list[str]:

    return [number(a, 4), number(b, 4), number(b - a, 4), f"{100 * (b / a - 1):+.1f} %" if a else ""]


def _print_settings(differing: Sequence[Setting]) -> None:
    from dumbbell.cli.tables import print_table
    from dumbbell.table import Table

    if not differing:
        say("No settings differ.\n")
        return
    rows = [[one.key, one.a, one.b] for one in differing]
    print_table(Table("Settings that differ", ["key", "A", "B"], rows))


def _print_json(differing: Sequence[Setting], rows: Sequence[Mapping[str, object]], **more: Any) -> None:
    from json import dumps

    settings = [{"key": one.key, "a": one.a, "b": one.b} for one in differing]
    print(dumps({**more, "settings": settings, "metrics": rows}, indent=2))
