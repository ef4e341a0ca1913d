"""The input of statistics: a study's frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    import polars as pl

BOTTLENECK: Final = "bottleneck"
"""The link whose figures are shown first."""


class Frames(Protocol):
    """A study on disk. Each frame has `run`, `run_id`, `cell`, `repetition`, `seed` and a column per varied key."""

    @property
    def directory(self) -> Path:
        """The study's directory."""

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The manifest: scenario, engine, versions, status."""

    @property
    def keys(self) -> Sequence[str]:
        """The varied keys."""

    @property
    def cells(self) -> pl.DataFrame:
        """A row per cell."""

    @property
    def runs(self) -> pl.DataFrame:
        """A row per run: `error`, `jain_index`, and `verdict` if runs are judged."""

    @property
    def flows(self) -> pl.DataFrame:
        """A row per run and flow."""

    @property
    def links(self) -> pl.DataFrame:
        """A row per run and link."""

    def scan(self, table: str) -> pl.LazyFrame:
        """`runs`, `flows` or `links` as a lazy frame."""


def usable(frames: Frames) -> pl.DataFrame:
    """The runs that statistics use: those that did not fail and are not invalid."""
    import polars as pl

    runs = frames.runs
    good = pl.col("error").is_null()
    if "verdict" in runs.columns:
        good &= pl.col("verdict").is_null() | (pl.col("verdict") != "invalid")
    return runs.filter(good).select("run", "run_id", "cell", "repetition", "seed", "verdict", "reasons")


def suspects(runs: pl.DataFrame) -> dict[str, int]:
    """Check -> number of runs that it made suspect, largest first."""
    import polars as pl

    if "reasons" not in runs.columns:
        return {}
    checks = runs.filter(pl.col("error").is_null() & (pl.col("verdict") == "suspect")).select(
        pl.col("reasons").str.split(", ").explode().drop_nulls()
    )
    return dict(checks.to_series().value_counts(sort=True).iter_rows())


def main_link(frames: Frames) -> str | None:
    """The study's main link, the first of `limited_links`; `None` without links."""
    return next(iter(limited_links(frames)), None)


def limited_links(frames: Frames) -> list[str]:
    """The study's links: `bottleneck` alone if there is one, or else all that limited flows at some time.

    First comes the link that was the bottleneck of its flows for the longest time, then the most utilised. If no link
    ever limited a flow, it is the most utilised alone.
    """
    import polars as pl

    links = frames.links
    if (links["link"] == BOTTLENECK).any():
        return [BOTTLENECK]
    means = pl.col("bottleneck_share", "utilisation").mean().fill_null(0)
    found = links.group_by("link", maintain_order=True).agg(means)
    found = found.sort("bottleneck_share", "utilisation", descending=True, maintain_order=True)
    limiting = found.filter(pl.col("bottleneck_share") > 0)
    return (found.head(1) if limiting.is_empty() else limiting)["link"].to_list()
