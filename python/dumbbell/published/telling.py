"""Our numbers behind a claim, in words."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from statistics import mean
from typing import Final

from dumbbell.published.claims import Claim, Value
from dumbbell.published.comparing import listed
from dumbbell.published.judging import interval_text
from dumbbell.published.model import Status
from dumbbell.published.rules import Rule
from dumbbell.published.settings import Setting
from dumbbell.report import words
from dumbbell.statistics.intervals import Interval
from dumbbell.statistics.metrics import get

UNITS: Final = {"Gbit/s": 1e9, "Mbit/s": 1e6, "kbit/s": 1e3, "%": 0.01}
"""Unit in which values are told -> its size in the metric's own unit; 1 for others."""


def told_of(claim: Claim, rules: Sequence[Rule], settings: Sequence[Setting]) -> str:
    """The numbers of a claim in these settings, as it asks for them."""
    match claim.tell:
        case "values":
            said = _values(claim, settings)
        case "ratios":
            said = _ratios(claim, rules, settings)
        case "nearest":
            nearest = min(settings, key=lambda one: one.distance)
            n = min(one.n for one in _intervals(claim, nearest))
            return f"nearest: {nearest.name}: {_in_setting(claim, nearest)}, n = {n}"
        case "most":
            most = max(settings, key=lambda one: one.statuses.count(Status.HOLDS))
            n = min(one.n for one in _intervals(claim, most))
            times = f"{most.statuses.count(Status.HOLDS)} of the {len(most.statuses)}"
            return f"most in {most.name}: {times} hold, n = {n}"
        case "summary":
            return _summary(claim, rules, settings)
        case "count":
            holds = [one.status for one in settings].count(Status.HOLDS)
            least = min(settings, key=lambda one: _subject(one).value)
            said = f"in {holds} of {len(settings)} comparisons; least in {_extreme(claim, rules, least)}"
        case "least" | "largest":
            extreme = min if claim.tell == "least" else max
            said = f"most in {_extreme(claim, rules, extreme(settings, key=lambda one: _subject(one).value))}"
            if rules[0].ratio() is None:
                said += f", of {words.count(len(settings), 'cell')}"
    return f"{claim.title}: {said}" if claim.title else said


def _values(claim: Claim, settings: Sequence[Setting]) -> str:
    if len(settings) == 1 and not claim.along and len(claim.settings) == 1:
        return "; ".join(_of_value(claim, settings[0], name) for name in claim.values)
    if len(claim.values) == 1 and all(settings[0].members(name) == [None] for name in claim.values):
        (name, value), *_ = claim.values.items()
        return listed({one.name: _possible(one, value, name, None) for one in settings}, factor(value), value.unit)
    counts = [min(one.n for one in _intervals(claim, setting)) for setting in settings]
    is_same = len(set(counts)) == 1
    said = "; ".join(
        f"{one.name}: {_in_setting(claim, one)}" + ("" if is_same else f", n = {n}")
        for one, n in zip(settings, counts, strict=True)
    )
    return f"{said}, n = {counts[0]}" if is_same else said


def values_told(claim: Claim, setting: Setting) -> list[str]:
    """The values of a claim that are known, one by one."""
    known = [
        name for name in claim.values if any(setting.figure(name, member).interval for member in setting.members(name))
    ]
    return [_of_value(claim, setting, name) for name in known]


def _of_value(claim: Claim, setting: Setting, name: str) -> str:
    """A value with its members, or alone, and what is printed of it."""
    value = claim.values[name]
    members = setting.members(name)
    if members == [None]:
        one = _possible(setting, value, name, None)
        if one is None:
            return f"{value.title or name} not known"
        said = listed({value.title: one}, factor(value), value.unit).strip()
        return said + _beside(setting, name, None, factor(value), value.unit)
    intervals = {setting.name_of(name, member): _possible(setting, value, name, member) for member in members}
    return f"{value.title} {listed(intervals, factor(value), value.unit)}".strip()


def _possible(setting: Setting, value: Value, name: str, member: str | None) -> Interval | None:
    """The interval of a figure within the values that its metric can have. Rules judge the whole interval."""
    found = setting.figure(name, member).interval
    is_metric = found is not None and not value.change and value.apart_from is None
    return found.cut(get(value.metric).bounds) if found is not None and is_metric else found


def _beside(setting: Setting, name: str, member: str | None, by: float, unit: str) -> str:
    """`, printed -37.7 % with 5 and 30 connections`; empty if nothing is printed."""
    theirs = setting.printed(name, member)
    if theirs is None:
        return ""
    value, only = theirs
    return f", printed {value / by:.1f} {unit}".rstrip() + only


def _in_setting(claim: Claim, setting: Setting) -> str:
    """`TCP 0.5 [0.4, 0.6], UDP 9.3 [9.2, 9.4]`."""
    shown = []
    for name, value in claim.values.items():
        for member in setting.members(name):
            one = _possible(setting, value, name, member)
            if one is not None:
                shown.append(f"{value.title or member or ''} {interval_text(one, factor(value))}".strip())
    return ", ".join(shown)


def _intervals(claim: Claim, setting: Setting) -> list[Interval]:
    every = (setting.figure(name, member).interval for name in claim.values for member in setting.members(name))
    return [one for one in every if one is not None]


def _subject(setting: Setting) -> Interval:
    assert setting.subject is not None
    return setting.subject


def _extreme(claim: Claim, rules: Sequence[Rule], setting: Setting) -> str:
    return f"{setting.name}: {_subject_told(claim, rules, setting)}"


def _subject_told(claim: Claim, rules: Sequence[Rule], setting: Setting) -> str:
    """The figure that the first rule is about: `-60 [-70, -50] %, n = 5`, `bbr 39 [30, 50] times cubic; n = 5`."""
    one, pair = _subject(setting), rules[0].ratio()
    if pair is None:
        name, _ = next(iter(rules[0].names()))
        value = claim.values[name]
        return f"{interval_text(one, factor(value))} {value.unit}".rstrip() + f", n = {one.n}"
    return f"{_ratio_told(setting, one, pair)}; n = {one.n}"


def _ratio_told(
    setting: Setting, interval: Interval, pair: tuple[tuple[str, str | None], tuple[str, str | None]]
) -> str:
    above, below = pair
    theirs = setting.printed(*above), setting.printed(*below)
    beside = "" if None in theirs else f" (printed {words.number(theirs[0][0] / theirs[1][0])})"  # type: ignore[index]
    return f"{setting.name_of(*above)} {interval_text(interval)} times {setting.name_of(*below)}{beside}"


def _ratios(claim: Claim, rules: Sequence[Rule], settings: Sequence[Setting]) -> str:
    """`2-none, 0 ms, 5 %: bbr 39 [30, 50] times cubic (printed 39); n = 10`."""
    pair = rules[0].ratio()
    assert pair is not None
    said = [f"{one.name}: {_ratio_told(one, _subject(one), pair)}".removeprefix(": ") for one in settings]
    return f"{'; '.join(said)}; n = {min(_subject(one).n for one in settings)}"


def _summary(claim: Claim, rules: Sequence[Rule], settings: Sequence[Setting]) -> str:
    """In how many settings a figure is above the rule's bound, its mean, and the least."""
    values, statuses = [_subject(one).value for one in settings], [one.status for one in settings]
    bound, least = rules[0].bound, min(settings, key=lambda one: _subject(one).value)
    is_geometric = min(values) > 0
    middle = exp(mean(map(log, values))) if is_geometric else mean(values)
    average = "in the geometric mean" if is_geometric else "on average"
    cells = words.count(len(settings), "cell")
    return (
        f"above {bound:g} in {sum(value > bound for value in values)} of {cells}; the whole interval is above in "
        f"{statuses.count(Status.HOLDS)}, below in {statuses.count(Status.FAILS)}; "
        f"{claim.title.replace('#', f'{middle:.2g}')} {average}, least in {least.name}: "
        f"{interval_text(_subject(least))}, n = {_subject(least).n}"
    )


def factor(value: Value) -> float:
    """Base units in the unit in which a value is told."""
    return UNITS.get(value.unit, 1.0)
