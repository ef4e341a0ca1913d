"""The cells of a study that have one value of a varied key, as a study of their own; and which of two are equal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import polars as pl

from dumbbell.errors import InputError
from dumbbell.scenario.study import free
from dumbbell.statistics.frames import Frames

_NUMBERS: Final = ("run", "run_id", "cell", "repetition", "seed")
_NAMES: Final = ("label", "cc")
"""Columns of `flows` that name the algorithm."""


class Part:
    """The cells of a study with one value of a varied key, which they vary no more: see `Frames`."""

    def __init__(self, study: Frames, key: str, value: Any) -> None:
        """Takes the cells of `study` in which `key` is `value`."""
        self._study = study
        self._key = key
        self._value = value
        self.directory: Path = study.directory
        self.manifest: Mapping[str, Any] = study.manifest
        # The name of a case stands for the values that it sets.
        varied = free(study.cells.iter_rows(named=True), study.keys)
        self.keys: Sequence[str] = [other for other in varied if other != key]
        self.has_runs = study.has_runs

    def _of(self, rows: pl.DataFrame) -> pl.DataFrame:
        return rows.filter(pl.col(self._key) == self._value).drop(self._key)

    @cached_property
    def cells(self) -> pl.DataFrame:
        """A row per cell."""
        return self._of(self._study.cells)

    @cached_property
    def runs(self) -> pl.DataFrame:
        """A row per run."""
        return self._of(self._study.runs)

    @cached_property
    def flows(self) -> pl.DataFrame:
        """A row per run and flow."""
        return self._of(self._study.flows)

    @cached_property
    def links(self) -> pl.DataFrame:
        """A row per run and link."""
        return self._of(self._study.links)

    @cached_property
    def copies(self) -> Mapping[int, Sequence[int]]:
        """Cell whose repetitions are all equal -> the numbers of its runs but the first."""
        own = set(self.cells["cell"])
        return {cell: runs for cell, runs in self._study.copies.items() if cell in own}

    def scan(self, table: str) -> pl.LazyFrame:
        """`runs`, `flows` or `links` as a lazy frame."""
        return self._study.scan(table).filter(pl.col(self._key) == self._value).drop(self._key)


def split(study: Frames, key: str) -> tuple[Part, Part, str, str]:
    """Splits a study by the two values of a key: both parts, and the values.

    Raises:
        InputError: the study does not vary the key, or not with two values.
    """
    if key not in study.keys:
        varied = f"it varies {', '.join(study.keys)}" if study.keys else "it varies nothing"
        raise InputError(f"{study.directory} does not vary {key}", varied, "name a key that it varies")
    values = study.cells[key].unique(maintain_order=True).drop_nulls().to_list()
    if len(values) != 2:
        why = f"it has {', '.join(map(str, values))}, and two values are compared"
        raise InputError(f"{study.directory} cannot be split by {key}", why, f"run it with --vary {key}=A,B")
    a, b = values
    return Part(study, key, a), Part(study, key, b), str(a), str(b)


def prints(study: Frames) -> Mapping[int, Sequence[tuple[int, str, str]]]:
    """Cell -> seed, and hashes of all figures of flows and of links, of each of its usable runs by seed.

    Names of algorithms and values of varied keys are no figures.
    """
    found = study.runs.filter(pl.col("error").is_null()).select("run", "cell", "seed")
    for name, rows in (("flows", study.flows), ("links", study.links)):
        figures = rows.select(pl.exclude(*_NUMBERS, *_NAMES, *study.keys))
        hashes = rows.select("run", hash=figures.hash_rows().cast(pl.String))
        own = hashes.group_by("run").agg(pl.col("hash").sort().str.join().alias(name))
        found = found.join(own, on="run", how="left", maintain_order="left").with_columns(pl.col(name).fill_null(""))
    told: dict[int, list[tuple[int, str, str]]] = {}
    for cell, *each in found.sort("cell", "seed").select("cell", "seed", "flows", "links").iter_rows():
        told.setdefault(cell, []).append((each[0], each[1], each[2]))
    return told
