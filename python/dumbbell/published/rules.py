"""Rules by which a claim is judged: comparisons of our figures with bounds and with each other.

    bbr2 > 85e6                       a bound: the whole interval must lie on one side of it
    0.7 < bbr / cubic < 1.4           a ratio of geometric means, paired where runs share a seed
    bbr > bbr2                        an order: the intervals must not overlap
    cubic - 40 > 10 * (bbr - 40)      figures may be shifted by a number, and multiplied by one above 0
    after - before > 0                a difference of two figures that are independent

A figure is a name of the claim's `values`, or one of its members: `goodput.bbr2`, `share["2 bdp"]`. Several comparisons
are joined by `and`. The grammar is a small part of Python's.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import hypot, inf, isfinite, sqrt
from typing import Final

from dumbbell.errors import InputError
from dumbbell.frozen import dataclass
from dumbbell.published.comparing import compared
from dumbbell.published.figures import Seeded
from dumbbell.published.judging import all_of, within
from dumbbell.published.model import Status
from dumbbell.published.ratios import ratio
from dumbbell.published.sides import scaled, shifted
from dumbbell.statistics.intervals import Interval

LONGEST: Final = 500
"""Characters of a rule."""


@dataclass(frozen=True)
class Figure:
    """Our value: its interval, and its runs where a ratio needs them."""

    interval: Interval | None
    samples: Seeded | None = None


Known = Callable[[str, str | None], Figure]
"""The figure of a name and a member."""
Value = Figure | float


@dataclass(frozen=True)
class Rule:
    """A rule that was checked."""

    text: str
    comparisons: tuple[ast.Compare, ...]
    confidence: float

    def names(self) -> Iterator[tuple[str, str | None]]:
        """The figures that it compares."""
        for node in self.comparisons:
            yield from _names(node)

    def judge(self, known: Known) -> list[Status]:
        """The status of each comparison."""
        return [_compare(node, known, self.confidence) for node in self.comparisons]

    def subject(self, known: Known) -> Interval | None:
        """The subject of the first comparison: its first side that is no number."""
        node = self.comparisons[0]
        for side in (node.left, *node.comparators):
            value = _value(side, known, self.confidence)
            if isinstance(value, Figure):
                return value.interval
        return None

    def ratio(self) -> tuple[tuple[str, str | None], tuple[str, str | None]] | None:
        """The two figures of the first ratio; `None` if it compares no ratio."""
        for node in ast.walk(self.comparisons[0]):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and not _is_number(node):
                return next(_names(node.left)), next(_names(node.right))
        return None

    @property
    def bound(self) -> float:
        """The first number that it compares with; 0 if there is none."""
        node = self.comparisons[0]
        return next((_number(side) for side in (node.left, *node.comparators) if _is_number(side)), 0.0)

    @property
    def most(self) -> float:
        """The upper bound of the first comparison; infinite if it has none."""
        node = self.comparisons[0]
        return _number(node.comparators[-1]) if _is_number(node.comparators[-1]) else inf

    def distance(self, known: Known) -> float:
        """How far figures are from what is asked of them: from the geometric mean of each comparison's two bounds."""
        return sum(_distance(node, known, self.confidence) for node in self.comparisons)


def rule(text: str, confidence: float) -> Rule:
    """The rule of a text. Raises `InputError` if it is none."""
    if len(text) > LONGEST:
        raise _refused(text[:40] + " ...", f"it has more than {LONGEST} characters")
    try:
        return _parsed(text, confidence)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # 500 signs may be 500 levels.
        raise _refused(text, "it is not a comparison") from None


def _parsed(text: str, confidence: float) -> Rule:
    node = ast.parse(text, mode="eval").body
    parts = node.values if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And) else [node]
    comparisons = []
    for part in parts:
        if not isinstance(part, ast.Compare) or not all(isinstance(op, ast.Lt | ast.Gt) for op in part.ops):
            raise _refused(text, "it is not a comparison by < or >")
        sides = [part.left, *part.comparators]
        for side in sides:
            _check(side, text)
        if all(map(_is_number, sides)):
            raise _refused(text, "it compares numbers only")
        comparisons.append(part)
    return Rule(text, tuple(comparisons), confidence)


def _refused(text: str, why: str) -> InputError:
    return InputError(f"{text!r} is not a rule", why, 'such as "bbr > cubic", "0.5 < bbr / cubic < 2" or "bbr > 85e6"')


def _check(node: ast.expr, text: str) -> None:
    """Raise `InputError` unless a side of a comparison has a value."""
    match node:
        case ast.Constant(int() | float()) | ast.UnaryOp(ast.USub(), ast.Constant()) if _is_number(node):
            return
        case ast.Name() | ast.Attribute(ast.Name()) | ast.Subscript(ast.Name(), ast.Constant(str())):
            return
        case ast.BinOp(left, ast.Div() | ast.Sub() | ast.Mult() as op, right):
            _check(left, text)
            _check(right, text)
            numbers = _is_number(left), _is_number(right)
            if isinstance(op, ast.Mult) and numbers == (True, False) and _number(left) > 0:
                return
            if isinstance(op, ast.Sub) and numbers != (True, False):
                return
            is_ratio = isinstance(op, ast.Div) and isinstance(left, _FIGURE) and isinstance(right, _FIGURE)
            if is_ratio or _is_number(node):
                return
    raise _refused(text, f"{ast.unparse(node)} has no value")


_FIGURE: Final = (ast.Name, ast.Attribute, ast.Subscript)


def _is_number(node: ast.expr) -> bool:
    try:
        return isfinite(_number(node))
    except (TypeError, ZeroDivisionError, OverflowError):
        return False


def _number(node: ast.expr) -> float:
    """The value of a constant expression. Raises `TypeError` if it has names."""
    match node:
        case ast.Constant(int() | float() as value) if not isinstance(value, bool):
            return float(value)
        case ast.UnaryOp(ast.USub(), one):
            return -_number(one)
        case ast.BinOp(left, op, right):
            a, b = _number(left), _number(right)
            return a / b if isinstance(op, ast.Div) else a * b if isinstance(op, ast.Mult) else a - b
    raise TypeError


def _names(node: ast.AST) -> Iterator[tuple[str, str | None]]:
    match node:
        case ast.Attribute(ast.Name(name), member):
            yield name, member
        case ast.Subscript(ast.Name(name), ast.Constant(member)):
            yield name, str(member)
        case ast.Name(name):
            yield name, None
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _names(child)


def _value(node: ast.expr, known: Known, confidence: float) -> Value:
    if _is_number(node):
        return _number(node)
    match node:
        case ast.Name() | ast.Attribute() | ast.Subscript():
            return known(*next(_names(node)))
        case ast.BinOp(left, ast.Mult(), right):
            found = _interval(_value(right, known, confidence))
            return Figure(None if found is None else scaled(found, _number(left)))
        case ast.BinOp(left, ast.Div(), right):
            a, b = (known(*next(_names(side))).samples for side in (left, right))
            return Figure(None if a is None or b is None else ratio(a, b, confidence))
        case ast.BinOp(left, ast.Sub(), right):
            found = _interval(_value(left, known, confidence))
            if _is_number(right):
                return Figure(None if found is None else shifted(found, -_number(right)))
            return Figure(_difference(found, _interval(_value(right, known, confidence))))
    raise TypeError(ast.unparse(node))


def _interval(value: Value) -> Interval | None:
    return value.interval if isinstance(value, Figure) else None


def _difference(interval: Interval | None, other: Interval | None) -> Interval | None:
    """The difference of two independent means."""
    if interval is None or other is None or interval.half_width is None or other.half_width is None:
        return None
    centre, half = interval.value - other.value, hypot(interval.half_width, other.half_width)
    return Interval(centre, centre - half, centre + half, interval.n)


def _compare(node: ast.Compare, known: Known, confidence: float) -> Status:
    values = [_value(side, known, confidence) for side in (node.left, *node.comparators)]
    if (bounds := _bounds(node, values)) is not None:
        return within(_interval(values[1]), *bounds)
    return all_of([_pair(a, op, b) for op, (a, b) in zip(node.ops, pairwise(values), strict=True)])


def _bounds(node: ast.Compare, values: Sequence[Value]) -> tuple[float, float] | None:
    """The bounds on both sides of a figure."""
    match values:
        case [float() as low, Figure(), float() as high] if all(isinstance(op, ast.Lt) for op in node.ops):
            return low, high
    return None


def _pair(value: Value, op: ast.cmpop, other: Value) -> Status:
    is_above = isinstance(op, ast.Gt)
    match value, other:
        case Figure(first), Figure(second):
            return compared(first, ">" if is_above else "<", second)
        case Figure(found), float() as bound:
            return within(found, bound, inf) if is_above else within(found, -inf, bound)
        case float() as bound, Figure(found):
            return within(found, -inf, bound) if is_above else within(found, bound, inf)
    return Status.UNKNOWN


def _distance(node: ast.Compare, known: Known, confidence: float) -> float:
    values = [_value(side, known, confidence) for side in (node.left, *node.comparators)]
    bounds, found = _bounds(node, values), _interval(values[1])
    return inf if bounds is None or found is None else abs(found.value - sqrt(bounds[0] * bounds[1]))
