"""The figures of a study's runs on disk: few files, however many runs there are.

A simulated study has the shards of `_core.simulate_many`, whose names say which runs they hold. An emulated one has
parts, which hold any runs; `index.json` lists those that count. Parts are small: a killed command leaves few runs to be
read again from their directories. Many parts are merged.
"""

from __future__ import annotations

import shutil
import time
import warnings
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dumbbell import parquet
from dumbbell.documents import read_as
from dumbbell.errors import Damaged, DamagedFile, unwritable
from dumbbell.outputs import write_parquet
from dumbbell.records.files import unreadable, write_json
from dumbbell.studies import model
from dumbbell.studies.directory import SHARDS

if TYPE_CHECKING:
    import polars as pl

INDEX: Final = "index.json"
TABLES: Final = ("runs", "flows", "links")
REFUSED: Final = "refused.json"
"""File beside the manifest with the runs that were given up."""

SMALL: Final = 4096
"""Runs up to which a part is merged into another."""
MANY: Final = 64
"""Small parts that are merged into one."""


def folders(study: Path) -> list[Path]:
    """Folders that hold figures, in order; without those that are damaged, of which a warning tells."""
    found, bad = _folders(study), damaged(study)
    for path, why in bad.items():
        said = f"{path} cannot be read ({why}): its runs are left out. To get them again, repeat the study's command"
        warnings.warn(said, DamagedFile, stacklevel=2)
    return [path for path in found if not any(file.parent == path for file in bad)]


def damaged(study: Path, whole: bool = False) -> dict[Path, str]:
    """The files of figures that cannot be read, and why. `whole`: look at each value. Findings are remembered."""
    found = {}
    for path in (folder / f"{table}.parquet" for folder in _folders(study) for table in TABLES):
        if why := _why(path, whole):
            found[path] = why
    return found


def set_aside(study: Path) -> None:
    """Rename damaged folders, so that their runs count as missing."""
    for folder in {path.parent for path in damaged(study, whole=True)}:
        folder.rename(folder.with_name(f".damaged-{folder.name}-{time.time_ns()}"))


def _why(path: Path, whole: bool) -> str:
    try:
        known = path.stat()
    except OSError as error:
        return error.strerror or str(error)
    key = (path, known.st_mtime_ns, known.st_size)
    if whole and not _DAMAGED.get(key):
        _DAMAGED[key] = unreadable(path, whole=True)
    elif key not in _DAMAGED:
        _DAMAGED[key] = unreadable(path, whole=False)
    return _DAMAGED[key]


_DAMAGED: Final[dict[tuple[Path, int, int], str]] = {}
"""File, time and size -> why it cannot be read."""


def _folders(study: Path) -> list[Path]:
    place = study / SHARDS
    if (place / INDEX).exists():
        return [place / part["name"] for part in _index(place)]
    return sorted(path for path in place.glob("[0-9]*") if path.is_dir()) if place.is_dir() else []


def _index(place: Path) -> list[dict[str, Any]]:
    """The parts that count: `name` and `runs` of each. Raises `DumbbellError`."""
    hint = "remove it, and repeat the study's command, which writes it anew from the runs"
    found: Any = read_as(place / INDEX, model.INDEX, hint)
    return list(found["parts"])


def scan(study: Path, table: str) -> pl.LazyFrame:
    """A table's rows of all runs, in the order of the files; an empty table if there are none."""
    import polars as pl

    from dumbbell.studies.tables import SCHEMAS

    found = folders(study)
    if not found:
        return pl.LazyFrame(schema=SCHEMAS[table])
    return _scan([folder / f"{table}.parquet" for folder in found], table)


def _scan(paths: Sequence[Path], table: str) -> pl.LazyFrame:
    """The rows of files that any version wrote; null in the columns that an older one lacked.

    Raises:
        DumbbellError: a file has columns that this version doesn't know. To drop them would lose figures when parts are
            merged.
    """

    from dumbbell.studies.tables import SCHEMAS

    schema = SCHEMAS[table]
    for path in paths:
        if unknown := [name for name in parquet.columns(path) if name not in schema]:
            why = f"this version of dumbbell does not know its columns {', '.join(unknown)}"
            raise Damaged(f"{path} cannot be read", why, "use the version that wrote it, or a later one")
    return parquet.scan_all(paths, schema=schema, missing_columns="insert")


def finished(study: Path) -> set[int]:
    """The numbers of the runs that have figures."""
    return set(scan(study, "runs").select("run").collect()["run"])


def refused(study: Path) -> list[dict[str, Any]]:
    """Runs that were given up, as rows of `runs`."""
    path = study / REFUSED
    if not path.exists():
        return []
    found: Any = read_as(path, model.REFUSED, "remove it, and repeat the study's command")
    return list(found["runs"])


def write_refused(study: Path, runs: Sequence[Mapping[str, Any]]) -> None:
    """Write these rows in place of earlier ones."""
    write_json(study / REFUSED, {"runs": list(runs)})


class Parts:
    """The parts of an emulated study, for the command that writes them."""

    def __init__(self, study: Path) -> None:
        """Read the index. Folders that it doesn't list were left by a killed command, and are removed."""
        self._place = study / SHARDS
        self._place.mkdir(exist_ok=True)
        self._parts = _index(self._place) if (self._place / INDEX).exists() else []
        # Their runs are read again from the runs' own directories.
        bad = {path.parent.name for path in damaged(study, whole=True)}
        self._parts = [part for part in self._parts if part["name"] not in bad]
        self._write_index()
        listed = {part["name"] for part in self._parts}
        for path in self._place.iterdir():
            if path.is_dir() and path.name not in listed:
                shutil.rmtree(path)

    def add(self, rows: Mapping[str, Sequence[Mapping[str, Any]]], instead: Collection[int] = ()) -> None:
        """Write the rows of some runs, by table, in place of those that the runs `instead` have."""
        import polars as pl

        from dumbbell.studies.tables import SCHEMAS

        frames = {name: pl.DataFrame(list(rows[name]), schema=schema) for name, schema in SCHEMAS.items()}
        self._put(*self._without(frames, instead))
        small = [part for part in self._parts if part["runs"] < SMALL]
        if len(small) >= MANY:
            merged = {
                table: _scan([self._place / part["name"] / f"{table}.parquet" for part in small], table).collect()
                for table in SCHEMAS
            }
            self._put(merged, small)

    def _without(
        self, frames: Mapping[str, pl.DataFrame], instead: Collection[int]
    ) -> tuple[Mapping[str, pl.DataFrame], Sequence[Mapping[str, Any]]]:
        """The rows together with those of the parts that have a run of `instead`, without these; and the parts."""
        import polars as pl

        if not instead:
            return frames, []
        own = pl.col("run").is_in(list(instead))
        paths = {part["name"]: self._place / part["name"] for part in self._parts}
        old = [
            part
            for part in self._parts
            if parquet.scan(paths[part["name"]] / "runs.parquet").filter(own).select(pl.len()).collect().item()
        ]
        kept = {
            table: [_scan([paths[part["name"]] / f"{table}.parquet"], table).filter(~own).collect() for part in old]
            for table in frames
        }
        return {table: pl.concat([*kept[table], frame]) for table, frame in frames.items()}, old

    def _put(self, frames: Mapping[str, pl.DataFrame], instead: Sequence[Mapping[str, Any]]) -> None:
        number = 1 + max((int(part["name"]) for part in self._parts), default=0)
        path = self._place / f"{number:08}"
        try:
            path.mkdir()
            for table, frame in frames.items():
                write_parquet(frame, path / f"{table}.parquet")
        except OSError as error:
            raise unwritable(path, error, "runs are kept: the same command continues from there") from error
        new = {"name": path.name, "runs": frames["runs"].height}
        self._parts = [*(part for part in self._parts if part not in instead), new]
        self._write_index()
        for part in instead:
            shutil.rmtree(self._place / part["name"])

    def _write_index(self) -> None:
        # It syncs the names in its folder, those of the parts among them.
        write_json(self._place / INDEX, {"parts": self._parts})
