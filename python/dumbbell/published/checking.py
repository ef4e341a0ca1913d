"""Refuses names in a study's file that its parts do not have: they would pass as figures that were not run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Final

from dumbbell.errors import InputError
from dumbbell.plan.expand import expand
from dumbbell.plan.types import Plan
from dumbbell.published.claims import Claim, Value, filled, places
from dumbbell.published.figures import same
from dumbbell.published.judge import Judge
from dumbbell.published.model import Cell, Part, Reproduction
from dumbbell.published.refusing import unknown
from dumbbell.published.running import Order
from dumbbell.published.telling import UNITS
from dumbbell.scenario.file.loading import Draft, checked
from dumbbell.scenario.source import show
from dumbbell.statistics.metrics import METRICS, get
from dumbbell.statistics.metrics.model import Metric
from dumbbell.studies import cells as grid
from dumbbell.studies import measures
from dumbbell.studies.prepared import prepared

_TOLD: Final = {"bit/s": ("Gbit/s", "Mbit/s", "kbit/s", "bit/s"), "share": ("%",), "": ("%",)}
"""Unit of a metric -> the units in which its values can be told; others are told in their own."""
assert all(unit in UNITS for unit in ("Gbit/s", "Mbit/s", "kbit/s", "%"))


def check(file: Path, study: Reproduction) -> None:
    """Raise `InputError` with the first name that there is not, or `ScenarioError` if a part's study file is wrong."""
    cells = _Cells(study.parts)
    for part in study.parts:
        for plot in part.plots:
            at = f"{file}: part {part.name}: the plot {plot.title!r}"
            for key, name in (("key", plot.key), ("curves", plot.curves)):
                if name is not None:
                    cells.check_key(f"{at}: {key} = {name!r}", part.name, name)
            cells.check_cell(f"{at}: where", part.name, plot.where)
            named = [("of", of) for of in plot.of] + [("relative_to", plot.relative_to)]
            for column, of in named if plot.kind != "columns" else ():
                if of is not None:
                    cells.check_of(f"{at}: {column} = {of!r}", part.name, plot.metric, of)
        for table in part.tables:
            if table.of is not None:
                at = f"{file}: part {part.name}: the table {table.title!r}: of = {table.of!r}"
                cells.check_of(at, part.name, table.metric, table.of)
        for number in part.published:
            at = f"{file.parent / 'numbers'}: a number of part {part.name} ({number.source})"
            for key in number.where:
                cells.check_key(f"{at}: the column {key!r}", part.name, key)
            cells.check_cell(at, part.name, number.where)
            for column, of in (("of", number.of), ("relative_to", number.relative_to)):
                if of is not None:
                    cells.check_of(f"{at}: {column} = {of!r}", part.name, number.metric, of)
    for finding in study.findings:
        if isinstance(finding.judge, Judge):
            _check_claim(f"{file}: the claim {finding.text!r}", finding.judge.claim, finding.judge, cells)


def check_unit(at: str, value: Value) -> None:
    """Raise `InputError` if the values of a metric are not told in this unit."""
    metric = get(value.metric)
    known = ("%",) if value.change else _TOLD.get(metric.unit, (metric.unit,))
    if value.unit and value.unit not in known:
        raise unknown(f"{at}.unit = {value.unit!r}: {value.metric} is not told in it", value.unit, known, "its units")


def _check_claim(at: str, claim: Claim, judge: Judge, cells: _Cells) -> None:
    if not claim.model_fields_set & {"along", "settings"}:
        for key in claim.model_fields_set & {"within", "left_out", "setting"}:
            hint = 'name them: along."flows.0.cc" = [], or settings = [{ ... }, { ... }]'
            raise InputError(f"{at}: {key} is for several settings", "the claim has one", hint)
    every = [{"part": filled(claim.part, names), **names} for names in claim.settings]
    for names, known in zip(claim.settings, every, strict=True):
        _check_filled(f"{at}: part", claim.part, names)
        _check_filled(f"{at}: setting", claim.setting, {*known, *claim.along})
        part = str(known["part"])
        if not cells.has(part) and any(cells.has(str(one["part"])) for one in every):
            continue  # A reading may lack some settings: they count as left out.
        cells.check_part(f"{at}: part = {part!r}", part)
        for key, values in claim.along.items():
            cells.check_key(f"{at}: along.{key!r}", part, key)
            for one in values:
                cells.check_cell(f"{at}: along", part, {key: one})
        for name, value in claim.values.items():
            _check_value(f"{at}: values.{name}", value, {*known, *claim.along}, known, cells)
    for one in judge.rules:
        for name, member in one.names():
            _check_member(f"{at}: the rule {one.text!r}", claim, name, member, cells)


def _check_value(at: str, value: Value, names: Collection[str], known: Mapping[str, Any], cells: _Cells) -> None:
    _check_filled(f"{at}.where", value.where, names)
    _check_filled(f"{at}.of", value.of, names)
    _check_filled(f"{at}.part", value.part, {*names, "of"})
    for part, names_of in _parts(value, known).items():
        cells.check_part(f"{at}.part = {part!r}", part)
        where = filled(value.where, known)
        cells.check_cell(f"{at}.where", part, {key: one for key, one in where.items() if not places(one)})
        for of in names_of:
            if not places(of):
                cells.check_of(f"{at}.of = {of!r}", part, value.metric, of)
        if value.by is not None:
            cells.check_key(f"{at}.by = {value.by!r}", part, value.by)
            for one in value.only:
                cells.check_cell(f"{at}.only", part, {value.by: one})
        for what, each in (("change", value.change), ("over", value.over)):
            for key, values in each.items():
                for one in values:
                    cells.check_cell(f"{at}.{what}", part, {key: one})


def _check_member(at: str, claim: Claim, name: str, member: str | None, cells: _Cells) -> None:
    """Raise `InputError` if no part has the value of a swept key that a rule names."""
    value = claim.values[name]
    if value.by is None or member is None:
        return
    parts = [part for names in claim.settings for part in _parts(value, {"part": filled(claim.part, names), **names})]
    there = [str(one) for part in parts if cells.has(part) for one in cells.values(part, value.by)]
    known = [one for one in there if one in value.only or not value.only]
    if member not in known:
        raise unknown(f"{at}: {name} has no member {member!r}", member, known, f"its members, by {value.by}")


def _parts(value: Value, known: Mapping[str, Any]) -> dict[str, list[str]]:
    """The parts of a value, each with the names that the value's figures there are of."""
    found = dict[str, list[str]]()
    for one in value.of.values() if isinstance(value.of, dict) else [value.of]:
        of = None if one is None else str(filled(one, known))
        part = str(filled(value.part, {**known, "of": of or ""}) if value.part else known["part"])
        found.setdefault(part, []).extend([] if of is None else [of])
    return found


def _check_filled(at: str, value: Any, names: Collection[str]) -> None:
    for name in places(value):
        if name not in names:
            raise unknown(f"{at}: nothing fills {{{name}}}", name, names, "names that are filled")


class _Cells:
    """The cells of each part: of quick runs and each engine, and of all its variants.

    A claim is judged under several readings, of which a variant may run some cells only: the others count as left out.
    """

    def __init__(self, parts: Iterable[Part]) -> None:
        self._parts = {part.name: part for part in parts}
        self._of, self.keys, self.values = cache(self._read), cache(self._read_keys), cache(self._read_values)
        self._there = set[tuple[str, str, str]]()
        """Part, key and value of cells that there are."""
        self._plan, self._named, self._texts = cache(self._expand), cache(self._read_names), cache(self._read_texts)

    def _read(self, root: str) -> list[tuple[Draft, Cell]]:
        found = dict[str, Order]()
        for part in self._parts.values():
            if _root(part) == root:
                orders = [Order(part, engine, quick) for engine, quick in product(part.engines, (False, True))]
                found |= {f"{part.scenario} {one.settings}": one for one in orders}
        return [(draft, cell) for draft in (one.draft for one in found.values()) for cell in prepared(draft)[1]]

    def _expand(self, root: str, number: int) -> Plan:
        draft, cell = self._of(root)[number]
        return expand(checked(draft.without(grid.KEYS).with_values(grid.values(cell))))

    def _read_keys(self, root: str) -> list[str]:
        return list(dict.fromkeys(name for _, cell in self._of(root) for name in cell))

    def _read_values(self, part: str, key: str) -> list[Any]:
        own = self._parts[part].cells.get(key, {}).get("key", key)
        cells = [cell for _, cell in self._of(_root(self._parts[part]))]
        return list({show(cell[own]): cell[own] for cell in cells if own in cell}.values())

    def has(self, part: str) -> bool:
        """True if there is such a part."""
        return part in self._parts

    def check_part(self, at: str, part: str) -> None:
        """Raise `InputError` if there is no such part."""
        if part not in self._parts:
            raise unknown(f"{at}: there is no such part", part, self._parts, "the parts")

    def check_key(self, at: str, part: str, key: str) -> None:
        """Raise `InputError` if a part does not vary a key."""
        keys = self.keys(_root(self._parts[part]))
        if self._parts[part].cells.get(key, {}).get("key", key) not in keys:
            raise unknown(f"{at}: part {part} does not vary this key", key, keys, "it varies")

    def check_cell(self, at: str, part: str, where: Cell) -> None:
        """Raise `InputError` if no cell of a part has one of these values."""
        for key, value in where.items():
            written = (part, key, show(value))
            if written not in self._there:
                self._check_value(f"{at}.{key!r}", part, key, value)
                self._there.add(written)

    def _check_value(self, at: str, part: str, key: str, value: Any) -> None:
        self.check_key(at, part, key)
        if isinstance(value, dict) and value.keys() == {"at"}:
            return
        values = self.values(part, key)
        own = self._parts[part].translated({key: value})
        if not any(same(one, wanted) for one in values for wanted in (value, *own.values())):
            raise unknown(f"{at}: no cell of part {part} has {value!r}", str(value), map(str, values), "it has")

    def check_of(self, at: str, part: str, metric: str, of: str) -> None:
        """Raise `InputError` if no cell of a part has this algorithm, group, flow or link."""
        root, kinds = _root(self._parts[part]), measures.kinds(_metric(metric))
        if measures.LINK not in kinds and of in self._texts(root):
            return
        known, unread = self._named(root, *kinds)
        while of not in known:
            plan = next(unread, None)
            if plan is None:
                raise unknown(f"{at}: no run of part {part} has it", of, known, "it has")
            known |= dict.fromkeys(measures.names(_metric(metric), plan))

    def _read_texts(self, root: str) -> set[str]:
        """All that the flows of a part write: algorithms and groups are among it, and reading it needs no plan."""
        drafts = {id(draft): draft for draft, _ in self._of(root)}
        return {
            text for draft in drafts.values() for name in ("flows", "sweep") for text in _texts(draft.data.get(name))
        }

    def _read_names(self, root: str, *_kinds: str) -> tuple[dict[str, None], Iterator[Plan]]:
        """The names of these kinds that were read, and the plans that were not."""
        return {}, (self._plan(root, number) for number in range(len(self._of(root))))


def _texts(written: Any) -> Iterator[str]:
    """The texts and the keys in a value of TOML."""
    if isinstance(written, Mapping):
        written = [*written, *written.values()]
    if isinstance(written, str):
        yield written
    elif isinstance(written, Sequence):
        for one in written:
            yield from _texts(one)


def _metric(name: str) -> Metric:
    """A metric; a signal over time has the names of flows, as goodput does."""
    return METRICS.get(name, get("goodput"))


def _root(part: Part) -> str:
    """The part that a part is a variant of, or itself."""
    return part.variant_of or part.name
