"""Carrying out the parts of a published study."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

from dumbbell import outputs
from dumbbell.command import command
from dumbbell.engines.capabilities import BESIDE_S
from dumbbell.engines.events import OnEvent
from dumbbell.engines.names import SIMULATE
from dumbbell.engines.registry import capabilities, names
from dumbbell.errors import Damaged, DamagedFile, DumbbellError, InputError
from dumbbell.execute import Executor
from dumbbell.frozen import dataclass
from dumbbell.published.model import Part, Reproduction
from dumbbell.records import manifest as manifests
from dumbbell.records.files import read_json, write_json
from dumbbell.report import words
from dumbbell.scenario.file.loading import Draft, read
from dumbbell.scenario.source import show
from dumbbell.studies.directory import MANIFEST, check_place
from dumbbell.studies.prepared import prepared
from dumbbell.studies.results import Study

ORDERED: Final = "reproduction.json"
"""File with the command behind a reproduction."""
STUDIES: Final = "studies"
"""Folder of all parts' studies, beside the folders of reports."""
DONE: Final = "parts.json"
"""File with the study of each part."""


@dataclass(frozen=True)
class Order:
    """A part, and how to run it."""

    part: Part
    engine: str
    quick: bool
    overrides: tuple[str, ...] = ()
    """Overrides as after `--set`, which take precedence."""

    @property
    def settings(self) -> dict[str, object]:
        """Overrides of the study file."""
        quick = self.part.quick if self.quick else {}
        return {**self.part.set, **self.part.by_engine.get(self.engine, {}), **quick}

    @property
    def draft(self) -> Draft:
        """The study file with all overrides. Raises `InputError`."""
        return read(Path(self.part.scenario), self.settings).with_values(self.overrides)


@dataclass(frozen=True)
class Size:
    """The size of an order."""

    cells: int
    repetitions: int
    """The most repetitions."""
    seconds: float
    """Traffic time of all runs."""
    forecast_s: float | None
    """Time of all runs one after the other, or on one core; `None` if unknown."""

    @property
    def runs(self) -> int:
        """The most runs."""
        return self.cells * self.repetitions


def orders(
    parts: Sequence[Part], engine: str | None, quick: bool, overrides: Sequence[str] = (), *, named: bool = True
) -> list[Order]:
    """Each part with its engine, or with `engine`. Parts that `engine` can't run are left out, unless they were named.

    Raises `InputError` if a named part can't be run by it, or none can.
    """
    able = [part for part in parts if engine is None or engine in part.engines]
    if named or not able:
        for part in parts:
            if part not in able:
                why = f"it can be run by {', '.join(part.engines)}"
                hint = "choose others: --part NAME"
                raise InputError(f"the engine {engine} can't run part {part.name}", why, hint)
    return [Order(part, engine or part.engines[0], quick, tuple(overrides)) for part in able]


def size(order: Order) -> Size:
    """The order's size. Raises `ScenarioError` if the study file with its overrides is wrong."""
    base, cells = prepared(order.draft)
    runs, duration_s = len(cells) * base.repeat.most, float(base.duration) / 1e9
    if capabilities(order.engine).real_time:
        forecast: float | None = runs * (duration_s + BESIDE_S)
    else:
        forecast = None if order.part.cpu_s is None else runs * order.part.cpu_s
    return Size(len(cells), base.repeat.most, runs * duration_s, forecast)


def report_s(wanted: Sequence[Order]) -> float:
    """CPU seconds of starting, judging and drawing, which are most of a small study.

    Measured in November 2026 on a virtual machine: 8 s for part 1 of bernardi-2020 (quick: 10 runs, all of them made
    again with their records), 4 s for a part of 8 runs with two plots, of which two runs are made again.
    """
    plots = [plot.kind for order in wanted for plot in order.part.plots]
    again = [size(order).runs for order in wanted if {"series", "columns"} & {plot.kind for plot in order.part.plots}]
    return 2.0 + len(plots) + 3.0 * plots.count("columns") + sum(min(0.3 * runs, 10.0) for runs in again)


@dataclass(frozen=True)
class Lacking:
    """A part that this machine can't run by the engine that it should have."""

    order: Order
    why: DumbbellError
    is_simulated: bool
    """True if it is simulated instead, false if it is skipped."""

    @property
    def text(self) -> str:
        """`Part 4 is skipped: there is no kernel 6.12 (dumbbell kernel build 6.12)`."""
        what = "simulated" if self.is_simulated else "skipped"
        return f"Part {self.order.part.name} is {what}, and not run by the engine {self.order.engine}: {self.why.line}"


def runnable(wanted: Sequence[Order]) -> tuple[list[Order], list[Lacking]]:
    """The orders that this machine can carry out, with the simulator in the place of an engine that can't run here, and
    what it lacks for the others. Simulated parts come first: their pictures are there at once."""
    found, lacking = [], []
    for order in wanted:
        try:
            check([order])
            found.append(order)
        except DumbbellError as error:
            is_simulated = SIMULATE in order.part.engines
            lacking.append(Lacking(order, error, is_simulated))
            if is_simulated:
                found.append(replace(order, engine=SIMULATE))
    return sorted(found, key=lambda order: not capabilities(order.engine).batches), lacking


def check(wanted: Sequence[Order]) -> None:
    """Raise `ScenarioError` if this machine can't carry out a part, before any begins. What can be simulated can be
    simulated everywhere."""
    from dumbbell.engines.registry import engine
    from dumbbell.studies.planning import Planner

    for order in wanted:
        if not capabilities(order.engine).batches:
            _, cells = prepared(order.draft)
            planner = Planner(order.draft, 1, engine(order.engine), manifests.core_version() or "none")
            for cell in cells:
                planner.plan(cell)


def run_part(
    order: Order, studies: Path, jobs: int | None, on_event: OnEvent, executor: Executor | None = None
) -> Study:
    """Carry out the missing runs of a part, here or by `executor`. Raises as `dumbbell.run`."""
    from dumbbell.engines.registry import engine
    from dumbbell.studies import rounds

    wanted = rounds.Wanted(order.draft, engine(order.engine), jobs, elsewhere=executor)
    return rounds.run_study(wanted, studies, on_event)


def folder(root: Path, study: Reproduction, quick: bool, engine: str | None, overrides: Sequence[str] = ()) -> Path:
    """The report's folder. Quick runs, those of another engine, and those with keys of the user's have their own."""
    own = [hashlib.sha256("\n".join(overrides).encode()).hexdigest()[:6]] if overrides else []
    return root / "-".join([study.key, *(["quick"] if quick else []), *([engine] if engine else []), *own])


def note(place: Path, order: Order, study: Study) -> None:
    """Record where a part's runs are, for the next report."""
    _make(place)
    write_json(place / DONE, {**_noted(place), order.part.name: str(study.directory.resolve())})


@dataclass(frozen=True)
class Ordered:
    """The order of a study, kept in the folder of its reproduction."""

    study: str
    """The study's name, or the path of its folder."""
    named: str
    """The same as the user named it."""
    engine: str | None = None
    quick: bool = False
    lacking: tuple[str, ...] = ()

    def commands(self, study: Reproduction, parts: Collection[str]) -> str:
        """The commands that repeat these parts, a line each. A folder may be a stranger's, so none is kept there:
        readers copy it."""
        default = {part.name for part in study.parts if part.variant_of is None and self._can_run(part)}
        named = [part.name for part in study.parts if part.name in parts]
        is_whole = default <= {*named} or not named
        rest = [name for name in named if not (is_whole and name in default)]
        asked = [*(["--engine", self.engine] if self.engine else []), *["--quick"] * self.quick]
        lines = [*([[]] if is_whole else []), *([[one for name in rest for one in ("--part", name)]] if rest else [])]
        return "\n".join(command("reproduce", self.named, *asked, *options) for options in lines)

    def _can_run(self, part: Part) -> bool:
        return self.engine is None or self.engine in part.engines

    def shortened(self, study: Reproduction, parts: Collection[str]) -> list[str]:
        """The keys that `--quick` sets, by which runs of these parts are fewer or shorter; nothing without it."""
        same: dict[str, list[str]] = {}
        for part in study.parts if self.quick else ():
            if part.name in parts and part.quick:
                same.setdefault(", ".join(_set(part.quick)), []).append(part.name)
        return [f"--quick sets {keys} in {words.listed(names)}." for keys, names in same.items()]


def _set(quick: Mapping[str, object]) -> Iterator[str]:
    """Keys with their values: `duration = "15 s"`, `fewer values of flows.0.cc`."""
    for key, value in quick.items():
        if key == "sweep" and isinstance(value, Mapping):
            rows = [value, *(row for table in ("zip", "cases") for row in value.get(table, ()))]
            keys = [name for row in rows for name in row if name not in ("zip", "cases", "name")]
            yield f"a sweep of its own of {words.listed(list(dict.fromkeys(keys)))}"
        else:
            yield f"{key} = {show(value)}"


def is_reproduction(place: Path) -> bool:
    """True if a folder has the report of a reproduction."""
    return (place / DONE).is_file() and (place / "report.html").exists()


def keep(place: Path, ordered: Ordered) -> None:
    """Record what was ordered, for `dumbbell report`."""
    _make(place)
    write_json(place / ORDERED, asdict(ordered))


def kept(place: Path) -> Ordered:
    """Read the order of a reproduction. Raises `InputError` if the folder is no reproduction, or an older one."""
    path = place / ORDERED
    if not path.is_file():
        raise InputError(f"no reproduction at {place}", f"there is no {ORDERED}", "repeat its command with --as-is")
    try:
        found = read_json(path)
        known, quick = found["engine"], found["quick"]
        if known is not None and known not in names():
            raise ValueError(f"there is no engine {known!r}")
        if not isinstance(quick, bool):
            raise ValueError("quick is neither true nor false")
        if (named := str(found["named"])).startswith("-"):
            raise ValueError(f"{named!r} is an option, and no study")
        return Ordered(str(found["study"]), named, known, quick, tuple(map(str, found["lacking"])))
    except (KeyError, TypeError, ValueError, Damaged) as error:
        raise InputError(f"{path} is damaged", str(error), "repeat its command with --as-is") from None


def _make(place: Path) -> None:
    """Make the folder of a report. Raises `InputError` if it, or a part of it, is a link."""
    outputs.make_folder(place)
    check_place(place)


def done(place: Path, study: Reproduction) -> dict[str, Study]:
    """The parts that were run, in the study's order, without those whose runs were deleted.

    Studies lie beside the report, which may be a stranger's: wherever its notes lead, no other study is opened. Those
    that are damaged, or of which no run is left, are absent, and a warning tells of them.
    """
    noted, beside = _noted(place), place.parent / STUDIES
    found = {part.name: beside / Path(str(noted[part.name])).name for part in study.parts if part.name in noted}
    studies = {name: _opened(name, path) for name, path in found.items() if (path / MANIFEST).exists()}
    return {name: one for name, one in studies.items() if one is not None and one.has_runs}


def _opened(part: str, path: Path) -> Study | None:
    """A part's study; `None` if its manifest is damaged, of which a warning tells."""
    try:
        return Study(path)
    except Damaged as error:
        said = f"{error.what} ({error.why}): part {part} is left out. The same command with --part {part} mends it"
        warnings.warn(said, DamagedFile, stacklevel=2)
        return None


def _noted(place: Path) -> Mapping[str, str]:
    path = place / DONE
    try:
        return read_json(path) if path.exists() else {}
    except Damaged as error:
        said = f"{error.what} ({error.why}): the report lacks each part until it is run again, which keeps its runs"
        warnings.warn(said, DamagedFile, stacklevel=2)
        return {}
