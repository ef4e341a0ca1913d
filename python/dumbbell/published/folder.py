"""Reads the folder of a published study: `study.toml`, `scenarios`, `numbers`, and `code.py`."""

from __future__ import annotations

import csv
import inspect
import io
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Final, get_args

from pydantic import Field, ValidationError

from dumbbell import inputs
from dumbbell.engines.names import SIMULATE
from dumbbell.engines.registry import names
from dumbbell.errors import InputError
from dumbbell.hints import nearest
from dumbbell.names import PATTERN
from dumbbell.published.checking import check_unit
from dumbbell.published.claims import Claim, Value
from dumbbell.published.expanding import Origin, expanded
from dumbbell.published.judge import Judge
from dumbbell.published.judging import NOT_RUN
from dumbbell.published.model import (
    Finding,
    Judged,
    Part,
    Plot,
    Published,
    Reproduction,
    Seconds,
    Signal,
    Status,
    Studies,
)
from dumbbell.published.model import Table as Printed
from dumbbell.published.refusing import refused, unknown
from dumbbell.published.rules import Rule, rule
from dumbbell.published.settings import settings
from dumbbell.published.telling import values_told
from dumbbell.report.overlay import plots_of
from dumbbell.scenario.file.overrides import value_of
from dumbbell.scenario.file.toml import TOMLDecodeError, parse
from dumbbell.scenario.table import Table
from dumbbell.statistics.metrics import METRICS, get
from dumbbell.studies import measures
from dumbbell.units import QuantityError

FILE: Final = "study.toml"
CODE: Final = "code.py"
LARGEST: Final = 1 << 20
"""Bytes of a file of the folder."""
MOST_FILES: Final = 100
"""Files of printed numbers."""
_COLUMNS: Final = ("part", "metric", "of", "value", "source", "relative_to")
"""Columns of printed numbers; any other one is a swept key."""

Code = Callable[[], ModuleType]
"""Loads the study's code, which runs it: only who may do that gives it."""


class _Tells(Table):
    """Figures of a part, in a sentence."""

    title: str
    values: dict[str, Value]


class _Part(Table):
    """A part as the file has it."""

    name: Annotated[str, Field(pattern=PATTERN)]
    """Files of its plots have this name."""
    title: str = ""
    scenario: Annotated[str, Field(pattern=r"^([\w-][\w.-]*\.toml)?$")] = ""
    """A file of the folder `scenarios`."""
    set: dict[str, Any] = Field(default_factory=dict)
    engines: Annotated[list[str], Field(min_length=1)] = [SIMULATE]  # noqa: RUF012  pydantic copies it
    by_engine: dict[str, dict[str, Any]] = Field(default_factory=dict)
    quick: dict[str, Any] = Field(default_factory=dict)
    tables: list[Printed] = Field(default_factory=list)
    plots: list[Plot] = Field(default_factory=list)
    seconds: list[Seconds] = Field(default_factory=list)
    variant_of: str | None = None
    like: str | None = None
    """The part whose keys this one has, unless it gives its own; those of `set` are added to it."""
    cells: dict[str, str | dict[str, Any]] = Field(default_factory=dict)
    without: list[str] = Field(default_factory=list)
    """Keys of `set` that it does not take."""
    numbers: dict[str, list[Any]] = Field(default_factory=dict)
    """Swept key -> values: the printed numbers that it takes are those of these cells."""
    stands_in: dict[str, str] = Field(default_factory=dict)
    """Algorithm of the part that it is like -> the one in its place."""
    notes: list[str] = Field(default_factory=list)
    """Notes, or the names of notes that several parts have."""
    tells: _Tells | None = None
    """Figures that stand below the part."""
    evidence: list[str] = Field(default_factory=list)
    """Functions of the study's code whose sentences stand below the part."""
    cpu_s: Annotated[float, Field(ge=0)] | None = None
    """CPU time of a simulated run; 0: it cannot be simulated."""


class _File(Table):
    """`study.toml`."""

    key: Annotated[str, Field(pattern="^[a-z0-9][a-z0-9-]{0,63}$")]
    title: str
    citation: str
    question: str = ""
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    open: list[str] = Field(default_factory=list)
    """Points that the text leaves open, and what was chosen."""
    notes: dict[str, str] = Field(default_factory=dict)
    """Differences between their set-up and ours: the part that has theirs, or "not tested". By name, for parts."""
    parts: Annotated[list[_Part], Field(min_length=1)]
    claims: list[Claim] = Field(default_factory=list)


def read(folder: Path, code: Code | None = None) -> Reproduction:
    """The published study in a folder.

    Args:
        folder: it has `study.toml`.
        code: loads `code.py`. Without it nothing of it runs, and what it judges or tells raises `InputError`.

    Raises:
        InputError: what is wrong with which file.
    """
    file = _file(folder)
    numbers = list(_numbers(folder))
    module = code() if code and (folder / CODE).is_file() else ModuleType("none") if code else None
    parts: dict[str, Part] = {}
    for one in file.parts:
        if one.name in parts:
            raise _wrong(folder, f"two parts are called {one.name!r}")
        made = _part(folder, one, parts, numbers, module, file.confidence)
        parts[one.name] = replace(made, notes=tuple(file.notes.get(note, note) for note in made.notes))
    _check_claims(folder, file.claims, parts)
    findings = tuple(_finding(folder, claim, parts, file.confidence, module) for claim in file.claims)
    _check_subjects(folder, findings)
    return Reproduction(file.key, file.title, file.citation, tuple(parts.values()), findings, tuple(file.open),
                        file.confidence, file.question)  # fmt: skip


def _check_claims(folder: Path, claims: Sequence[Claim], parts: Mapping[str, Part]) -> None:
    """Raise `InputError` if a claim is judged twice under one reading, or by a part that there is not."""
    seen: set[tuple[str, str]] = set()
    for one in claims:
        if (one.text, one.reading) in seen:
            raise _wrong(folder, f"the claim {one.text!r} stands twice with the reading {one.reading!r}",
                         "give each its own reading, or another text")  # fmt: skip
        seen.add((one.text, one.reading))
        for name in (one.part, *one.others):
            # Names with a place are those of settings, which fill it.
            if name and "{" not in name and name not in parts:
                raise _wrong(folder, f"the claim {one.text!r} is judged by part {name!r}, which there is not",
                             nearest(name, parts, "name one of [[parts]]"))  # fmt: skip


def _check_subjects(folder: Path, findings: Sequence[Finding]) -> None:
    """Raise `InputError` if a subject has claims of one text only: its name would tell nothing."""
    for subject in dict.fromkeys(one.about for one in findings if one.about):
        texts = {one.text for one in findings if one.about == subject}
        if len(texts) == 1:
            raise _wrong(folder, f"only the claim {texts.pop()!r} has about = {subject!r}",
                         "name the subject in another claim, too, or leave it out")  # fmt: skip


def _wrong(folder: Path, wrong: str, hint: str = "") -> InputError:
    return InputError(f"{folder / FILE}: {wrong}", hint=hint)


def _file(folder: Path) -> _File:
    path = folder / FILE
    text = inputs.read_named(path, LARGEST, path)
    origins: dict[Any, Origin] = {}
    try:
        try:
            data, origins = expanded(parse(text))
        except InputError as error:
            raise InputError(f"{path}: {error.what}", error.why, error.hint) from None
        return _File.model_validate(data)
    except RecursionError:
        raise _wrong(folder, "tables that stand for others are nested too deeply") from None
    except TOMLDecodeError as error:
        raise InputError(f"{path} is no TOML", str(error)) from None
    except ValidationError as error:
        raise refused(path, error, _File, origins) from None


def _numbers(folder: Path) -> Iterator[tuple[str, Published]]:
    """Each printed number with the part in whose cells it is."""
    place = folder / "numbers"
    for path in sorted(place.glob("*.csv"))[:MOST_FILES] if place.is_dir() else ():
        rows = csv.DictReader(io.StringIO(inputs.read_named(path, LARGEST, path)))
        try:
            if not {"part", "metric", "value"} <= {*(rows.fieldnames or ())}:
                raise InputError(f"{path} lacks a column", "part, metric and value are needed")
            for row in rows:
                yield row["part"] or "", _number(f"{path}:{rows.line_num}", row)
        except csv.Error as error:
            raise InputError(f"{path} is no CSV", str(error)) from None


def _number(place: str, row: Mapping[str, str]) -> Published:
    metric = row["metric"]
    _check_metric(place, metric)
    try:
        value = measures.read(get(metric), value_of(row["value"] or "", "value"))
    except QuantityError as error:
        raise InputError(f"{place}: {row['value']!r}: {error.wrong}", error.expected, error.hint) from None
    if value is None or not isfinite(value):
        raise InputError(f"{place}: {row['value']!r} is not a finite number")
    where = {key: value_of(text, key) for key, text in row.items() if key not in _COLUMNS and key and text}
    return Published(
        where, metric, row.get("of") or None, value, row.get("source") or "", row.get("relative_to") or None
    )


def _check_metric(place: str, metric: str, known: Collection[str] = METRICS) -> None:
    if metric not in known:
        raise unknown(f"{place}: there is no metric {metric!r}", metric, known, "metrics")


def _check_part(folder: Path, part_keys: _Part) -> None:
    """Raise `InputError` if a part names a metric or an engine that there is not."""
    place = f"{folder / FILE}: part {part_keys.name}"
    for plot in part_keys.plots:
        if plot.kind == "columns":
            if plot.key is None:
                raise InputError(f"{place}: the plot {plot.title!r} has columns and no key", hint='key = "flows.0.cc"')
            plots_of(",".join(plot.rows))
            continue
        _check_metric(place, plot.metric, get_args(Signal) if plot.kind == "series" else METRICS)
    for table in part_keys.tables:
        _check_metric(place, table.metric)
    for engine in (*part_keys.engines, *part_keys.by_engine):
        if engine not in names():
            raise InputError(f"{place}: there is no engine {engine!r}", f"there are {', '.join(names())}")


def _part(
    folder: Path,
    part_keys: _Part,
    known: Mapping[str, Part],
    numbers: list[tuple[str, Published]],
    code: ModuleType | None,
    confidence: float,
) -> Part:
    _check_part(folder, part_keys)
    own = tuple(number for part, number in numbers if part == part_keys.name)
    base = None
    if part_keys.like is not None:
        if part_keys.like not in known:
            raise _wrong(folder, f"part {part_keys.name!r} is like {part_keys.like!r}, which is not a part before it")
        base = known[part_keys.like]
    given = {key: getattr(part_keys, key) for key in part_keys.model_fields_set & _TAKEN}
    lists: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}
    taken = {key: value for key, value in base.set.items() if key not in part_keys.without} if base else {}
    given_settings = {**taken, **part_keys.set}
    if "scenario" in given:
        lists["scenario"] = str(folder / "scenarios" / part_keys.scenario)
    elif base is None:
        raise _wrong(folder, f"part {part_keys.name!r} has no scenario")
    if part_keys.tells or part_keys.evidence:
        lists["evidence"] = _evidence(folder, part_keys, known, confidence, code)
    cells = {key: {"key": to} if isinstance(to, str) else to for key, to in part_keys.cells.items()}
    start = base or Part(part_keys.name, part_keys.title, "")
    lists |= {"name": part_keys.name, "set": given_settings, "cells": cells}
    for key in ("variant_of", "cpu_s"):
        lists |= {} if lists.get(key, key) else {key: None}
    made = replace(start, **lists)
    if base is not None:
        made = _in_own_cells(made, base, part_keys, own)
        if part_keys.variant_of is None:
            made = replace(made, variant_of=base.variant_of or base.name)
    return replace(made, published=own) if own else made


_TAKEN: Final = frozenset(
    ["title", "scenario", "engines", "by_engine", "quick", "tables", "plots", "seconds", "variant_of", "notes", "cpu_s"]
)
"""Keys that a part takes from the part that it is like, unless it has its own."""


def _in_own_cells(part: Part, base: Part, part_keys: _Part, own: tuple[Published, ...]) -> Part:
    """The keys that a part takes from the part that it is like, in its own cells and with its own algorithms."""

    def of(name: str | None) -> str | None:
        return name if name is None else part_keys.stands_in.get(name, name)

    def key(name: str | None) -> str | None:
        return name if name is None else part.cells.get(name, {}).get("key", name)

    published = tuple(
        replace(number, where=part.translated(number.where), of=of(number.of))
        for number in base.published
        if all(number.where.get(name) in values for name, values in part_keys.numbers.items())
    )
    tables = tuple(
        replace(
            table, rows=key(table.rows) or "", columns=key(table.columns) or "", of=of(table.of),
            reference=part.translated({table.columns: table.reference}).get(key(table.columns) or ""),
        )
        for table in base.tables
    )  # fmt: skip
    plots = tuple(
        replace(plot, key=key(plot.key), curves=key(plot.curves), where=part.translated(plot.where),
                of=tuple(of(name) or "" for name in plot.of))
        for plot in base.plots
    )  # fmt: skip
    seconds = tuple(replace(part_keys, where=part.translated(part_keys.where)) for part_keys in base.seconds)
    taken: dict[str, Any] = {"published": published, "tables": tables, "plots": plots, "seconds": seconds}
    return replace(part, **{name: value for name, value in taken.items() if name not in part_keys.model_fields_set})


def _evidence(
    folder: Path, part_keys: _Part, parts: Mapping[str, Part], confidence: float, code: ModuleType | None
) -> Callable[[Any], str]:
    """Tells a part's figures, and what its functions say, of its study."""
    tellers = [_function(folder, name, code) for name in part_keys.evidence]
    tells = part_keys.tells

    def tell(study: Any) -> str:
        found = []
        if tells:
            claim = Claim(text="", source=" ", printed="", part=part_keys.name, values=tells.values)
            (setting,) = settings(claim, (), parts, {part_keys.name: study}, confidence)
            figures = values_told(claim, setting)
            found = [f"{tells.title}: {'; '.join(figures)}."] if figures else []
        return " ".join([*found, *(teller(study) for teller in tellers)])

    return tell


def _function(folder: Path, name: str, code: ModuleType | None) -> Callable[..., Any]:
    if code is None:

        def not_run(*_: Any, **__: Any) -> Any:
            raise InputError(f"{name} is a function of {folder / CODE}, which did not run")

        return not_run
    found: Callable[..., Any] | None = getattr(code, name, None)
    if found is None or not callable(found):
        raise _wrong(folder, f"there is no function {name!r} in {CODE}")
    return found


def _finding(
    folder: Path, claim: Claim, parts: Mapping[str, Part], confidence: float, code: ModuleType | None
) -> Finding:
    if [bool(claim.holds), bool(claim.judge), bool(claim.untested)].count(True) != 1:
        raise _wrong(folder, f"the claim {claim.text!r} needs one of `holds`, `judge` and `untested`")
    if not (claim.part or claim.untested):
        raise _wrong(folder, f"the claim {claim.text!r} needs a part")
    judge: Callable[[Studies], Judged]
    if claim.untested:

        def judge(_: Studies) -> Judged:
            return Judged(Status.UNTESTED, claim.untested)
    elif claim.judge:
        function = _function(folder, claim.judge, code)
        try:
            inspect.signature(function).bind(None, **claim.arguments, **({"others": []} if claim.others else {}))
        except TypeError as error:
            wrong = f"the claim {claim.text!r}: {claim.judge} of {CODE} does not take these arguments: {error}"
            raise _wrong(folder, wrong) from None

        def judge(studies: Studies) -> Judged:
            if not {claim.part, *claim.others} <= studies.keys():
                return NOT_RUN
            others = {"others": [studies[part] for part in claim.others]} if claim.others else {}
            judged: Judged = function(studies[claim.part], **claim.arguments, **others)
            return judged
    else:
        at = f"{folder / FILE}: the claim {claim.text!r}"
        for key, value in claim.values.items():
            _check_metric(at, value.metric)
            check_unit(f"{at}: values.{key}", value)
        rules = tuple(rule(text, confidence) for text in claim.holds)
        for one in rules:
            _check_names(f"{at}: the rule {one.text!r}", claim, one)
        if claim.tell == "ratios" and rules[0].ratio() is None:
            raise InputError(f"{at}: tell = 'ratios' without a ratio", f"its rule is {rules[0].text!r}")
        judge = Judge(claim, rules, parts, confidence)
    return Finding(claim.text, judge, claim.printed, claim.reading, claim.rule, claim.source, claim.ours, claim.about)


def _check_names(at: str, claim: Claim, rule: Rule) -> None:
    """Raise `InputError` if a rule names a value, or a member of one, that the claim has not."""
    for name, member in rule.names():
        value = claim.values.get(name)
        if value is None:
            raise unknown(f"{at}: the claim has no value {name}", name, claim.values, "its values")
        if isinstance(value.of, dict) and member not in value.of:
            raise unknown(f"{at}: {name} has no member {member}", member or "", value.of, "its members")
        if member is not None and value.by is None and not isinstance(value.of, dict):
            hint = f'write {name}, or values.{name}.by = "flows.0.cc"'
            raise InputError(f"{at}: {name} has no member {member}", f"{name} is one figure", hint)
