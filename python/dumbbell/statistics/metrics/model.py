"""The declaration of a metric."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal, get_args

import polars as pl

from dumbbell.frozen import dataclass
from dumbbell.statistics.frames import Frames

Scope = Literal["run", "algorithm", "group", "flow", "link"]
"""The subject of a value: all flows of a run, those of one congestion control, those of one entry of the scenario's
`flows`, one flow; or one link."""
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)

Direction = Literal["higher", "lower", "neither"]
"""The better direction."""

OF_FLOWS: Final[tuple[Scope, ...]] = ("run", "algorithm", "group", "flow")
OF_ALGORITHMS: Final[tuple[Scope, ...]] = ("algorithm", "run", "group", "flow")
OF_LINKS: Final[tuple[Scope, ...]] = ("link",)


@dataclass(frozen=True)
class Metric:
    """A quantity that has a value for each run of a study."""

    name: str
    """The name in `[[expect]]`, tables and files."""
    title: str
    unit: str
    """`bit/s`, `B`, `ms`, `s`, `segments`, `packets`, `/min`; `share`, from 0 to 1; empty for an index."""
    direction: Direction
    scopes: tuple[Scope, ...]
    """The first is the default."""
    formula: str
    source: str
    """The source of the definition."""
    compute: Callable[[Frames, Scope], pl.DataFrame]
    """Columns `run`, `of` (an algorithm, a group, a flow, a link; empty for the run itself) and `value`."""
    least: float | None = 0.0
    """The least possible value; `None`: there is none."""
    ceilings: Callable[[Frames], Mapping[int, float]] = lambda _: {}
    """Cell -> its largest possible mean, where that is known: what a link carries."""

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        """The least and the largest possible value; `None`: there is none."""
        return self.least, 1.0 if self.unit in ("share", "") else None


def over_flows(value: pl.Expr) -> Callable[[Frames, Scope], pl.DataFrame]:
    """Compute from the rows of the flows in question, by an aggregation of their columns.

    Beside the columns of `flows` there is `run_received_bytes`, the bytes that all flows of the run received.
    """

    def compute(frames: Frames, scope: Scope) -> pl.DataFrame:
        rows = frames.flows.with_columns(
            of=_of(frames.flows, scope), run_received_bytes=pl.col("received_bytes").sum().over("run")
        )
        return rows.group_by("run", "of", maintain_order=True).agg(value=value.cast(pl.Float64))

    return compute


def capacities_bps(frames: Frames) -> dict[int, float]:
    """Cell -> what its bottleneck carries while flows are active, if it is the bottleneck of all flows in all runs.

    It is the bytes that the link could have carried in the whole run, over the time until the last flow stops.
    """
    link, run = pl.col("bottleneck"), ("run", "cell")
    flows = frames.flows.group_by(run).agg(link.first(), one=link.n_unique() == 1, stop_s=pl.col("stop_s").max())
    known = flows.filter(pl.col("one") & link.is_not_null() & (pl.col("stop_s") > 0))
    rows = known.join(frames.links, left_on=[*run, "bottleneck"], right_on=[*run, "link"]).filter(
        pl.col("utilisation") > 0
    )
    found = rows.select("cell", most=8 * pl.col("delivered_bytes") / pl.col("utilisation") / pl.col("stop_s"))
    whole = flows.group_by("cell").len().join(rows.group_by("cell").len("known"), on="cell")
    every = whole.filter(pl.col("len") == pl.col("known"))
    return dict(found.join(every, on="cell", how="semi").group_by("cell").agg(pl.col("most").max()).iter_rows())


def over_links(value: pl.Expr) -> Callable[[Frames, Scope], pl.DataFrame]:
    """Compute from a link's own columns."""
    return lambda frames, _: frames.links.select("run", of="link", value=value.cast(pl.Float64))


def total(column: str) -> pl.Expr:
    """The sum over the flows in question; null if no flow has a value."""
    return pl.when(pl.col(column).is_not_null().any()).then(pl.col(column).sum())


def ratio(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    """`part` / `whole`; null where the whole is 0."""
    return pl.when(whole > 0).then(part / whole)


def _of(flows: pl.DataFrame, scope: Scope) -> pl.Expr:
    match scope:
        case "algorithm":
            return pl.coalesce("cc", "protocol")
        case "group":
            return group_of(flows)
        case "flow":
            return pl.col("id")
        case _:
            return pl.lit("")


def group_of(flows: pl.DataFrame) -> pl.Expr:
    """The scenario's entry of a flow: `f1` for `f1.1`, `f1.2`, ..."""
    entry = pl.col("id").str.replace(r"\.\d+$", "")
    return pl.coalesce("group", entry) if "group" in flows.columns else entry
