"""The settings of a claim, and our figures in each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from functools import cached_property
from statistics import mean
from typing import Any

from dumbbell.published.claims import Claim, Value, filled
from dumbbell.published.figures import Figures, Seeded
from dumbbell.published.judging import above, all_of
from dumbbell.published.model import Cell, Part, Status, Studies
from dumbbell.published.rules import Figure, Rule
from dumbbell.report import words
from dumbbell.statistics.intervals import Interval, of_mean


def settings(
    claim: Claim, rules: tuple[Rule, ...], parts: Mapping[str, Part], studies: Studies, confidence: float
) -> Iterator[Setting]:
    """All settings of a claim, in order. `parts`: those of the published study, by name."""
    for names in claim.settings:
        part = filled(claim.part, names)
        listed = [values or _varied(studies, part, key) for key, values in claim.along.items()]
        for values in itertools.product(*(one or [None] for one in listed)):
            cell = {key: value for key, value in zip(claim.along, values, strict=True) if value is not None}
            yield Setting(claim, rules, parts, studies, confidence, {"part": part, **names}, cell)


def _varied(studies: Studies, part: str, key: str) -> list[Any]:
    return Figures(studies[part]).along(key) if part in studies else []


class Setting:
    """A claim in one setting."""

    def __init__(
        self,
        claim: Claim,
        rules: tuple[Rule, ...],
        parts: Mapping[str, Part],
        studies: Studies,
        confidence: float,
        names: Mapping[str, Any],
        cell: Cell,
    ) -> None:
        """`names`: what `{name}` stands for; `cell`: the values of the keys along which settings differ."""
        self._claim, self._rules, self._parts, self._studies = claim, rules, parts, studies
        self._confidence, self._names, self._cell = confidence, {**names, **cell}, cell

    @property
    def name(self) -> str:
        """`100 packets, reno`."""
        if self._claim.setting:
            return str(filled(self._claim.setting, self._names))
        return ", ".join(map(words.value, self._cell.values()))

    def members(self, name: str) -> list[str | None]:
        """The members of a value; `[None]` if it is a figure by itself."""
        value = self._claim.values[name]
        if isinstance(value.of, dict):
            return list(value.of)
        if value.by is None:
            return [None]
        figures, where = self._place(value, None, None)
        found = [] if figures is None else list(map(str, figures.along(value.by, where)))
        return [one for one in found if one in value.only or not value.only]

    def figure(self, name: str, member: str | None) -> Figure:
        """Our figure of a value, or of its member."""
        value = self._claim.values[name]
        of = self._of(value, member)
        figures, where = self._place(value, member, of)
        if figures is None:
            return Figure(None)
        samples = self._samples(figures, value, of, where)
        found = of_mean(list(samples.values()), self._confidence) if samples else None
        return Figure(found, samples) if value.apart_from is None else Figure(_apart(found, value.apart_from))

    def printed(self, name: str, member: str | None) -> tuple[float, str] | None:
        """The printed value, and its cells: ` with 5 and 30 connections`; empty if all were run."""
        value = self._claim.values[name]
        of = self._of(value, member)
        part = self._parts.get(self._part(value, of))
        figures, where = self._place(value, member, of)
        if part is None or figures is None or not value.beside:
            return None
        over = _cells(value.over)
        run = [cell for cell in over if not value.change or self._changes(figures, value, of, {**where, **cell})]
        found = [_printed(part, value, of, {**where, **cell}) for cell in run]
        known = [one for one in found if one is not None]
        if not known or len(known) < len(run):
            return None
        listed = [
            words.listed([words.value(cell[key]) for cell in run]) + f" {key.rsplit('.')[-1]}" for key in value.over
        ]
        return mean(known), "" if run == over else f" with {', '.join(listed)}"

    def name_of(self, name: str, member: str | None) -> str:
        """The name of a figure in a text."""
        value = self._claim.values[name]
        return member or self._of(value, member) or value.title or name

    @cached_property
    def _figures(self) -> dict[tuple[str, str | None], Figure]:
        return {one: self.figure(*one) for rule in self._rules for one in rule.names()}

    def known(self, name: str, member: str | None) -> Figure:
        """A figure that a rule names."""
        return self._figures[name, member]

    @cached_property
    def statuses(self) -> list[Status]:
        """The outcome of each comparison."""
        return [status for rule in self._rules for status in rule.judge(self.known)]

    @property
    def status(self) -> Status:
        """The outcome of all comparisons."""
        return all_of(self.statuses)

    @cached_property
    def subject(self) -> Interval | None:
        """The subject of the first rule."""
        return self._rules[0].subject(self.known)

    @property
    def is_above(self) -> bool:
        """True if what the first rule is about lies surely above its upper bound."""
        return above(self.subject, self._rules[0].most) is Status.HOLDS

    @property
    def distance(self) -> float:
        """How far our figures are from the middles of the rules' bounds."""
        return sum(rule.distance(self.known) for rule in self._rules)

    @property
    def is_missing(self) -> bool:
        """True if a figure is not known."""
        return self.subject is None or any(one.interval is None for one in self._figures.values())

    @property
    def is_empty(self) -> bool:
        """True if no figure is known."""
        return all(one.interval is None for one in self._figures.values())

    def _of(self, value: Value, member: str | None) -> str | None:
        of = value.of.get(member or "") if isinstance(value.of, dict) else value.of
        return None if of is None else str(filled(of, self._names))

    def _part(self, value: Value, of: str | None) -> str:
        return str(filled(value.part, {**self._names, "of": of or ""}) if value.part else self._names["part"])

    def _place(self, value: Value, member: str | None, of: str | None) -> tuple[Figures | None, Cell]:
        """The figures of a value's part, and its cells in the claim's keys."""
        name = self._part(value, of)
        if name not in self._studies:
            return None, {}
        figures = Figures(self._studies[name])
        member_of = {value.by: member} if value.by and member is not None else {}
        where = {**self._cell, **filled(value.where, self._names), **member_of}
        for key, one in where.items():
            if isinstance(one, dict) and one.keys() == {"at"}:
                known = figures.along(key)
                where[key] = known[one["at"]] if one["at"] < len(known) else None
        return figures, where

    def _samples(self, figures: Figures, value: Value, of: str | None, where: Cell) -> Seeded:
        if not value.change and not value.over:
            return self._plain(figures, value, of, where)
        found = [self._changes(figures, value, of, {**where, **cell}) for cell in _cells(value.over)]
        run = [one for one in found if one]
        seeds = sorted(set.intersection(*map(set, run))) if run else []
        return {(0, seed): mean(one[seed] for one in run) for seed in seeds}

    def _changes(self, figures: Figures, value: Value, of: str | None, where: Cell) -> dict[int, float]:
        """Seed -> value, or its relative change."""
        pairs = [
            {seed: one for (_, seed), one in self._plain(figures, value, of, {**where, **cell}).items()}
            for cell in _ends(value)
        ]
        if len(pairs) == 1:
            return pairs[0]
        before, after = pairs
        return {seed: after[seed] / before[seed] - 1 for seed in before if seed in after}

    def _plain(self, figures: Figures, value: Value, of: str | None, where: Cell) -> Seeded:
        part = self._parts.get(self._part(value, of))
        return figures.samples(value.metric, of, where if part is None else part.translated(where))


def _apart(interval: Interval | None, centre: float) -> Interval | None:
    """The distance of a value from a number."""
    if interval is None or interval.low is None or interval.high is None:
        return None
    ends = sorted(abs(end - centre) for end in (interval.low, interval.high))
    low = 0.0 if interval.low < centre < interval.high else ends[0]
    return Interval(abs(interval.value - centre), low, ends[1], interval.n)


def _cells(over: Mapping[str, list[Any]]) -> list[Cell]:
    return [dict(zip(over, values, strict=True)) for values in itertools.product(*over.values())]


def _ends(value: Value) -> list[Cell]:
    """The cells between which a value changes; one without a key if it doesn't."""
    return [{key: ends[i] for key, ends in value.change.items()} for i in (0, 1)] if value.change else [{}]


def _printed(part: Part, value: Value, of: str | None, where: Cell) -> float | None:
    found = [part.printed(value.beside, of, {**where, **cell}) for cell in _ends(value)]
    if None in found:
        return None
    first, last = found[0], found[-1]
    assert first is not None
    assert last is not None
    return last / first - 1 if value.change else first
