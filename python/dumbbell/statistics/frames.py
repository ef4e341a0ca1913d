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
    def has_runs(self) -> bool:
        """True if any run is finished."""

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

    @property
    def copies(self) -> Mapping[int, Sequence[int]]:
        """Returns the result of `equal_runs`."""

    def scan(self, table: str) -> pl.LazyFrame:
        """`runs`, `flows` or `links` as a lazy frame."""


def usable(frames: Frames) -> pl.DataFrame:
    """The runs that statistics use: those that did not fail and are not invalid; of equal ones, the first."""
    import polars as pl

    copies = [run for some in frames.copies.values() for run in some]
    runs = _good(frames).filter(~pl.col("run").is_in(copies))
    return runs.select("run", "run_id", "cell", "repetition", "seed", "verdict", "reasons")


def equal_runs(frames: Frames) -> dict[int, list[int]]:
    """Cell whose repetitions all have the same figures -> its runs but the first.

    They say nothing about the spread, and count as one run. A cell in which only some are equal keeps all: by chance,
    several runs may lose no packet.
    """
    import polars as pl

    few = _good(frames).group_by("cell").agg(pl.len(), pl.col("packets", "jain_index").n_unique())
    cells = few.filter((pl.col("len") > 1) & (pl.col("packets") == 1) & (pl.col("jain_index") == 1))["cell"].to_list()
    if not cells:
        return {}
    runs = _good(frames).filter(pl.col("cell").is_in(cells)).select("cell", "run").sort("run")
    for name, table in (("flows", frames.flows), ("links", frames.links)):
        rows = table.filter(pl.col("run").is_in(runs["run"].to_list()))
        own = ("run", "run_id", "cell", "repetition", "seed")
        hashes = rows.select("run", hash=rows.select(pl.exclude(own)).hash_rows().cast(pl.String))
        found = hashes.group_by("run").agg(pl.col("hash").sort().str.join().alias(name))
        runs = runs.join(found, on="run", how="left", maintain_order="left")
    told = runs.group_by("cell").agg("run", pl.col("flows", "links").n_unique()).sort("cell")
    same = told.filter((pl.col("flows") == 1) & (pl.col("links") == 1))
    return {cell: numbers[1:] for cell, numbers in same.select("cell", "run").iter_rows()}


def told_equal(frames: Frames) -> str:
    """`In 2 of 4 cells all repetitions are equal: ...`; empty if there are none."""
    equal, cells = len(frames.copies), frames.cells.height
    if not equal:
        return ""
    where = "" if equal == cells == 1 else f"In {equal:,} of {cells:,} cells "
    said = f"{where}all repetitions are equal and count as one run: the seed changes nothing"
    return f'{said[0].upper()}{said[1:]}. starts = "10 ms" makes them differ.'


def _good(frames: Frames) -> pl.DataFrame:
    import polars as pl

    runs = frames.runs
    good = pl.col("error").is_null()
    if "verdict" in runs.columns:
        good &= pl.col("verdict").is_null() | (pl.col("verdict") != "invalid")
    return runs.filter(good)


def suspects(runs: pl.DataFrame) -> dict[str, int]:
    """Check -> number of runs that it made suspect, largest first."""
    import polars as pl

    if "reasons" not in runs.columns:
        return {}
    checks = runs.filter(pl.col("error").is_null() & (pl.col("verdict") == "suspect")).select(
        pl.col("reasons").str.split(", ").explode().drop_nulls()
    )
    return dict(checks.to_series().value_counts(sort=True).iter_rows())


def main_link(frames: Frames) -> str:
    """The study's main link, the first of `limited_links`; empty without links, as no link is called so."""
    return next(iter(limited_links(frames)), "")


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
