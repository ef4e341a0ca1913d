"""The keys that make a scenario a study: `[sweep]`, `repeat`, `[[expect]]`.

The module has their shape. Checks that need the cells are in `dumbbell.studies.check`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, model_validator

from dumbbell.counts import count
from dumbbell.scenario.ranges import MOST as LONGEST_RANGE
from dumbbell.scenario.ranges import Range, listed
from dumbbell.scenario.table import Table
from dumbbell.units import Percent, QuantityError

CASE: Final = "case"
"""The varied key that holds the name of a case."""


def free(cells: Iterable[Mapping[str, Any]], keys: Sequence[str]) -> list[str]:
    """The varied keys of which a cell's value is not known by the name of its case.

    Args:
        cells: of each its values by key.
        keys: the varied ones.
    """
    if CASE not in keys:
        return list(keys)
    values: dict[tuple[object, str], set[str]] = {}
    for cell in cells:
        for key in keys:
            values.setdefault((cell[CASE], key), set()).add(str(cell.get(key)))
    several = {key for (_, key), found in values.items() if len(found) > 1}
    return [key for key in keys if key == CASE or key in several]


Values = Annotated[
    list[Any],
    Field(min_length=1, description="Values of a key, one for each cell: a list, or a range."),
    BeforeValidator(listed, json_schema_input_type=list[Any] | Range),
]


def _same_length(table: dict[str, list[Any]]) -> dict[str, list[Any]]:
    lengths = {key: len(values) for key, values in table.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{key} has {length}" for key, length in lengths.items())
        raise QuantityError(f"lists of different lengths ({told})", "one value for each of the others'", "")
    return table


Zip = Annotated[dict[str, Values], Field(min_length=1), AfterValidator(_same_length)]


class Case(BaseModel):
    """A cell, or a row of cells, with a name: values of several keys."""

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, Any] = Field(init=False)

    name: str = Field(min_length=1, description="Name in tables and plots.", examples=["BBRv2 with ECN"])

    @property
    def values(self) -> Mapping[str, Any]:
        """The value of each key."""
        return self.__pydantic_extra__


class Sweep(BaseModel):
    """Axes of a study: each key with its values, all combinations of which are cells."""

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, Values] = Field(init=False)

    zip: list[Zip] = Field(default=[], description="Keys that vary in step: tables whose lists have the same length.")
    cases: list[Case] = Field(default=[], description="Cells with a name, each with the values of several keys.")

    @property
    def lists(self) -> Mapping[str, list[Any]]:
        """The values of each key that varies by itself."""
        return self.__pydantic_extra__

    @property
    def axes(self) -> Iterator[list[Mapping[str, Any]]]:
        """The lists from which each cell takes one item: values by key."""
        for key, values in self.lists.items():
            yield [{key: value} for value in values]
        for table in self.zip:
            yield [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
        if self.cases:
            yield [{CASE: case.name, **case.values} for case in self.cases]

    @model_validator(mode="before")
    @classmethod
    def _few_ranges(cls, given: Any) -> Any:
        # A range is twenty letters, and ten thousand values.
        if _ranges(given) > MOST_VALUES // LONGEST_RANGE:
            what = f"at most {MOST_VALUES // LONGEST_RANGE} ranges"
            raise QuantityError("too many ranges", what, "list the values, or split the study")
        return given

    @model_validator(mode="after")
    def _not_too_large(self) -> Self:
        axes = list(self.axes)
        cells, keys = math.prod(map(len, axes)), sum(len({key for one in axis for key in one}) for axis in axes)
        if cells * keys > MOST_VALUES:
            what = f"{cells:,} cells of {count(keys, 'key')}"
            raise QuantityError(what, f"at most {MOST_VALUES:,} values in all", "give fewer values, or split the study")
        return self

    @model_validator(mode="after")
    def _each_key_once(self) -> Self:
        named = Counter(case.name for case in self.cases)
        twice = next((name for name, cases in named.items() if cases > 1), None)
        if twice is not None:
            raise QuantityError(f"two cases are named {twice!r}", "a name of its own for each", "")
        seen: set[str] = set()
        for axis in self.axes:
            keys = {key for one in axis for key in one}
            if seen & keys:
                raise QuantityError(f"{min(seen & keys)} is varied twice", "each key once", "")
            seen |= keys
        return self


def _ranges(given: Any) -> int:
    """The number of ranges in a table, or in lists of tables in it."""
    tables = [given]
    tables += (
        [one for values in given.values() if isinstance(values, list) for one in values]
        if isinstance(given, dict)
        else []
    )
    return sum(isinstance(value, dict) for table in tables if isinstance(table, dict) for value in table.values())


MOST_VALUES: Final = 4_000_000
"""Values of all cells of a study, which are in memory at once: a text of a few lines can ask for more than there is
memory for."""
MOST_RUNS: Final = 1_000_000
"""Runs of one cell: their seeds and rows are in memory at once."""


class Repeat(Table):
    """How often each cell is run: so many times, or until its figures are known well enough."""

    until: Percent | None = Field(
        default=None,
        description="Half of the width of the confidence interval (Student's t), as a share of the mean, at which a "
        "cell has enough runs. Default: none; a table must have it.",
        examples=["5 %"],
    )
    of: str = Field(
        default="goodput",
        description="The metric, of all flows together or of the bottleneck.",
        examples=["goodput"],
    )
    least: int = Field(default=5, ge=1, le=MOST_RUNS, strict=True, description="The least number of runs of each cell.")
    most: int = Field(
        default=30, ge=1, le=MOST_RUNS, strict=True, description="The largest number of runs of each cell."
    )
    confidence: float = Field(default=0.95, gt=0, lt=1, description="Confidence of the interval.")


def _repeat(value: Any) -> Any:
    if type(value) is int:
        if value < 1:
            raise QuantityError("no runs", "at least 1", "write repeat = 10")
        if value > MOST_RUNS:
            raise QuantityError("too many runs of each cell", f"at most {MOST_RUNS:,}", "write repeat = 10")
        return {"least": value, "most": value}
    if isinstance(value, dict) and "until" not in value:
        raise QuantityError(
            "no until", "how narrow the interval must be", 'write repeat = { until = "5 %", most = 30 }'
        )
    if not isinstance(value, dict | Repeat):
        raise QuantityError("not a number of runs", "a whole number, or a table with until", "write repeat = 10")
    return value


def _written(repeat: Repeat) -> Any:
    return repeat.most if repeat.until is None else repeat.model_dump(mode="json", exclude_unset=True)


Repetitions = Annotated[
    Repeat,
    BeforeValidator(_repeat, json_schema_input_type=int | Repeat),
    PlainSerializer(_written, when_used="json"),
]
ONCE: Final = Repeat(least=1, most=1)


class Expectation(Table):
    """Expectation of a study: its command ends with an exit code of its own if it is not met."""

    metric: str = Field(description="The metric, such as jain_index or goodput.", examples=["jain_index"])
    of: str | None = Field(
        default=None,
        description="A flow's id, a group, an algorithm, or a link. Default: all flows together; the bottleneck.",
        examples=["f1"],
    )
    where: dict[str, Any] = Field(
        default={},
        description="Values of varied keys (or of `case`) that select cells; a list: any of these. Default: all cells.",
    )
    statistic: Literal["mean", "median", "least", "most"] = Field(
        default="mean",
        description="Statistic of each cell's runs.",
    )
    min: int | float | str | None = Field(
        default=None,
        description="Lower bound: a number in the metric's unit (a share from 0 to 1), or a text such as `9 Mbit/s` "
        "or `95 %`.",
        examples=[0.9, "90 %", "9 Mbit/s"],
    )
    max: int | float | str | None = Field(
        default=None, description="Upper bound, written as `min` is.", examples=["50 ms"]
    )
    within: list[int | float | str] | None = Field(
        default=None, min_length=2, max_length=2, description="Both bounds, in a list.", examples=[["45 %", "55 %"]]
    )
    confidence: float = Field(default=0.95, gt=0, lt=1, description="Confidence of the mean's interval.")

    @model_validator(mode="after")
    def _has_bounds(self) -> Self:
        if self.within is not None and (self.min is not None or self.max is not None):
            raise QuantityError("within beside min or max", "within, or min and max", "")
        if self.within is None and self.min is None and self.max is None:
            raise QuantityError("no bounds", "min, max or within", "add min = 0.9")
        return self

    @property
    def bounds(self) -> tuple[int | float | str | None, int | float | str | None]:
        """From, to; `None`: no bound."""
        return (self.within[0], self.within[1]) if self.within is not None else (self.min, self.max)


PlotKind = Literal["auto", "lines", "bars", "boxes", "cdf", "heat", "matrix", "effects"]


class Plot(Table):
    """A picture of a study, the same on the page and in PNG, PDF, SVG, LaTeX, CSV and Python."""

    name: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
        description="Name of its files. Default: the metric's name and the kind.",
        examples=["fairness"],
    )
    kind: PlotKind = Field(
        default="auto",
        description="`lines`: means with bands. `boxes`: medians, quartiles, all runs. `cdf`: distribution over "
        "runs. `heat`: two keys. `matrix`: one algorithm beside another. `effects`: which key matters. "
        "`auto`: by the keys.",
    )
    metric: str = Field(default="goodput", description="The metric.", examples=["goodput_share"])
    by: Literal["run", "algorithm", "group", "link"] | None = Field(
        default=None, description="Scope that has a value of its own. Default: each that the page shows."
    )
    across: str | None = Field(
        default=None,
        description="The varied key on the horizontal axis, or its last part. Default: the numbers with most values.",
        examples=["buffer"],
    )
    curves: str | None = Field(
        default=None,
        description="The varied key whose values are curves, or `none`. Default: the algorithm.",
        examples=["algorithm"],
    )
    panels: list[str] = Field(
        default=[], description="Keys of which each value has a plot, in this order; keys left over follow."
    )
    where: dict[str, Any] = Field(
        default={}, description="Values of varied keys that select cells; a list: any of these. Default: all cells."
    )
    order: list[str] = Field(
        default=[], description="Values that come first, in this order.", examples=[["bbr3", "cubic"]]
    )
    labels: dict[str, str] = Field(
        default={}, description="Texts in place of the names of keys and values.", examples=[{"cubic": "CUBIC (Linux)"}]
    )
    colours: dict[str, Annotated[str, Field(pattern="^#[0-9a-fA-F]{6}$")]] = Field(
        default={}, description="Colours of algorithms or values, as `#rrggbb`.", examples=[{"cubic": "#0072b2"}]
    )


class Report(Table):
    """The report of a study."""

    plots: list[Plot] = Field(default=[], description="Plots before those of all metrics.")
    columns: str | None = Field(
        default=None,
        description="The varied key of which each value has a column in a figure over time: what is sent, the "
        "congestion window, the RTT, the queue, and the bytes in flight of the first run of each cell. "
        "Default: no such figure.",
        examples=["flows.0.cc"],
    )
