"""Decides whether a study's expectations hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from dumbbell.counts import count
from dumbbell.frozen import dataclass
from dumbbell.scenario.study import Expectation
from dumbbell.statistics.intervals import of_mean
from dumbbell.statistics.verdicts import Answer
from dumbbell.studies import measures
from dumbbell.studies.cells import Cell, written

if TYPE_CHECKING:
    from dumbbell.statistics.frames import Frames
    from dumbbell.statistics.metrics import Metric

_STATISTICS: Final[dict[str, Callable[[Sequence[float]], float]]] = {"median": median, "least": min, "most": max}


@dataclass(frozen=True)
class ExpectationOutcome:
    """The outcome of an expectation in the cell that decides it."""

    expectation: str
    answer: Answer
    why: str
    """The figures behind it."""

    def as_json(self) -> dict[str, str]:
        """The fields as in `study.json`."""
        return {key: str(value) for key, value in asdict(self).items()}


def judge(study: Frames, expectations: Sequence[Expectation]) -> list[ExpectationOutcome]:
    """The outcome of each expectation, in order. An expectation holds if it holds in each of its cells."""
    return [_judge(study, one) for one in expectations]


def _judge(study: Frames, expected: Expectation) -> ExpectationOutcome:
    from dumbbell.statistics.metrics import get

    metric = get(expected.metric)
    cells = [i for i, cell in enumerate(study.manifest["cells"]) if is_meant(expected, cell)]
    rows = measures.by_run(study, expected.metric, expected.of) if study.has_runs else None
    values: dict[int, list[float]] = {cell: [] for cell in cells}
    for cell, value in () if rows is None else rows.select("cell", "value").iter_rows():
        if cell in values:
            values[cell].append(value)
    runs = _runs(study)
    ceilings = metric.ceilings(study) if study.has_runs else {}
    found = [(*_in_cell(values[c], expected, metric, runs.get(c, 0), ceilings.get(c)), c) for c in cells]
    if not found:
        return ExpectationOutcome(described(expected), Answer.UNDECIDED, "there is no such cell")
    answer, why, cell = max(found, key=lambda one: list(Answer).index(one[0]))
    if len(found) > 1:
        alike = sum(one[0] == answer for one in found)
        why += f" ({written(study.manifest['cells'][cell])}); {alike} of {count(len(found), 'cell')} alike"
    return ExpectationOutcome(described(expected), answer, why)


def is_meant(expected: Expectation, cell: Cell) -> bool:
    """True if an expectation applies to a cell."""
    return all(cell.get(key) == value or _among(cell.get(key), value) for key, value in expected.where.items())


def _among(value: Any, wanted: Any) -> bool:
    return isinstance(wanted, list) and value in wanted


def _runs(study: Frames) -> dict[int, int]:
    """Cell -> number of its usable runs."""
    from dumbbell.statistics.frames import usable

    return dict(usable(study).group_by("cell").len().iter_rows()) if study.has_runs else {}


def _in_cell(
    values: Sequence[float], expected: Expectation, metric: Metric, runs: int, ceiling: float | None
) -> tuple[Answer, str]:
    low, high = (measures.read(metric, bound) for bound in expected.bounds)
    if not values:
        return Answer.UNDECIDED, "no run has it"
    # If only some runs have a value, as with completion times, the answer says so.
    of = f" of {runs}" if runs > len(values) else ""
    n = f"{len(values)}{of} run{'s' if max(runs, len(values)) > 1 else ''}"
    if expected.statistic != "mean":
        value = _STATISTICS[expected.statistic](values)
        return _answer(value, low, high), f"{expected.statistic} {measures.show(metric, value)} of {n}"
    least, most = metric.bounds
    found = of_mean(values, expected.confidence).cut((least, most if ceiling is None else ceiling))
    mean = measures.show(metric, found.value)
    if found.low is None or found.high is None:
        return _answer(found.value, low, high), f"{mean} in {n}"
    ends = found.low, found.high
    why = f"mean {mean}, interval {measures.show(metric, ends[0])} to {measures.show(metric, ends[1])}, {n}"
    answers = {_answer(end, low, high) for end in ends}
    across = low is not None and high is not None and ends[0] < low and ends[1] > high
    return (Answer.UNDECIDED if across or len(answers) > 1 else answers.pop()), why


def _answer(value: float, low: float | None, high: float | None) -> Answer:
    within = (low is None or value >= low) and (high is None or value <= high)
    return Answer.HOLDS if within else Answer.FAILS


def described(expected: Expectation) -> str:
    """`jain_index >= 0.9 where flows.0.cc="bbr"`."""
    parts = [f"{expected.statistic} " if expected.statistic != "mean" else "", expected.metric]
    parts.append(f" of {expected.of}" if expected.of else "")
    parts.append("".join(_bounds(expected)))
    where = written(expected.where)
    return "".join(parts) + (f" where {where}" if where else "")


def _bounds(expected: Expectation) -> Iterator[str]:
    from dumbbell.statistics.metrics import get

    metric = get(expected.metric)
    low, high = (None if bound is None else measures.written(metric, bound) for bound in expected.bounds)
    if low is not None and high is not None:
        yield f" from {low} to {high}"
    elif low is not None:
        yield f" >= {low}"
    elif high is not None:
        yield f" <= {high}"
