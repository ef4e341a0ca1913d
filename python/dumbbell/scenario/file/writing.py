"""A checked scenario as files that give the same plan anywhere: `scenario.toml`, and the files that it names."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel

from dumbbell import below, outputs
from dumbbell.cc.source import LINKED_SUFFIX
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import resolve
from dumbbell.scenario.resolve.labels import Labelled
from dumbbell.scenario.source import Source, lookup
from dumbbell.scenario.table import Table
from dumbbell.scenario.traces import FOLDER, File
from dumbbell.scenario.traffic.algorithms import LinkedFile, ProgramFile, is_program

TRACES = "traces"
ALGORITHMS = "algorithms"
"""Folders beside `scenario.toml`: of traces, and of congestion controls of the user's."""


def write(scenario: Scenario, directory: Path, cells: Iterable[Scenario] = ()) -> None:
    """Write the scenario into `directory`, its overrides applied.

    It is the text that it came from, comments and all, as far as there is one. Copies of the files that it names go to
    `traces/` and `algorithms/`, and their paths with them.

    Args:
        scenario: to be written.
        directory: that exists.
        cells: of a study, scenarios that name the other files among its varied values.
    """
    moved: dict[str, str] = {}
    source, every = scenario.source, (scenario, *cells)
    for one in every:
        _copy_programs(one, directory, moved)
    for file in (file for one in every for file in _files(one)):
        if file.name not in moved:
            moved[file.name] = f"{TRACES}/{_free(Path(file.name), moved)}"
            _write_copy(directory, moved[file.name], file.text)
    if source.text and source.is_whole and not source.overrides and not moved:
        # The scenario is what its text says, and names no files that could be elsewhere.
        outputs.write(directory / "scenario.toml", source.text)
        return
    plain = _moved(scenario.model_dump(mode="json", by_alias=True, exclude_unset=True), moved)
    wanted = _values(plain, directory, type(scenario))
    texts = _candidates(source, plain, moved)
    text = next(text for text in texts if _read(text, directory, type(scenario)) == wanted)
    outputs.write(directory / "scenario.toml", text)


def names_files(key: str, value: Any) -> bool:
    """True if a value of `key`, which may be dotted, holds paths of files."""
    if isinstance(value, dict):
        return any(names_files(inner, part) for inner, part in value.items())
    if isinstance(value, list):
        return any(names_files(key, part) for part in value)
    # The value of `kernel` is a file only if it is called like one.
    is_name = key.rpartition(".")[2] == "kernel" and not str(value).endswith(LINKED_SUFFIX)
    return isinstance(value, str) and (is_program(value) or (_is_path(key) and not is_name))


def _is_path(key: str) -> bool:
    return key.rpartition(".")[2] in path_keys(Table)


@cache
def path_keys(table: type[Table]) -> frozenset[str]:
    """Keys of a table, and of those that are made from it, that hold the path of a file."""
    own = {field.alias or name for name, field in table.model_fields.items() if _holds_a_path(field.annotation)}
    return frozenset(own).union(*map(path_keys, table.__subclasses__()))


def _holds_a_path(annotation: Any) -> bool:
    return annotation in (File, ProgramFile, LinkedFile) or any(map(_holds_a_path, get_args(annotation)))


def _copy_programs(scenario: Scenario, directory: Path, moved: dict[str, str]) -> None:
    """Copy the user's congestion controls; add their names in the scenario, and where they are now."""
    for found in resolve(scenario).labels.values():
        own = found.algorithm.file if isinstance(found, Labelled) else None
        if isinstance(found, Labelled) and own is not None and own.name not in moved:
            # Another cell's may have the same name; and it keeps its name, by which tables call it.
            folders = (ALGORITHMS, *(f"{ALGORITHMS}/{number}" for number in range(2, len(moved) + 2)))
            places = (f"{folder}/{found.file}" for folder in folders)
            moved[own.name] = next(place for place in places if place not in moved.values())
            _write_copy(directory, moved[own.name], own.program.content)


def _write_copy(directory: Path, name: str, content: str | bytes) -> None:
    """Writes a file below a directory, which may be a stranger's: no link there leads out. Raises `OSError`."""
    with below.confined(below.Below(directory)):
        outputs.make_folder((directory / name).parent)
        outputs.write(directory / name, content)


def _files(scenario: Scenario) -> Iterator[File]:
    """The files that a scenario names, in its order. A large network is fifty thousand values."""
    rest: list[Any] = [scenario]
    while rest:
        value = rest.pop()
        if isinstance(value, File):
            yield value
        elif isinstance(value, dict):
            rest += reversed(value.values())
        elif isinstance(value, list):
            rest += reversed(value)
        elif isinstance(value, BaseModel):
            rest += reversed([part for _, part in value])


def _free(path: Path, moved: Mapping[str, str]) -> str:
    """A name that no other file has: two of the same name may come from two folders."""
    names = [path.name, *(f"{path.stem}-{number}{path.suffix}" for number in range(2, len(moved) + 2))]
    return next(name for name in names if f"{TRACES}/{name}" not in moved.values())


def _moved(value: Any, moved: Mapping[str, str]) -> Any:
    """The same values with the files' new paths; a tomlkit document keeps its shape."""
    if isinstance(value, dict):
        for key, part in value.items():
            value[key] = _renamed(part, moved) if _is_path(key) else _moved(part, moved)
    elif isinstance(value, list):
        for i, part in enumerate(value):
            value[i] = _moved(part, moved)
    elif is_program(value):  # The key of the table for which it stands is not written.
        return moved.get(value, value)
    return value


def _renamed(value: Any, moved: Mapping[str, str]) -> Any:
    """A path, or several that are varied."""
    if isinstance(value, list):
        for i, part in enumerate(value):
            value[i] = _renamed(part, moved)
        return value
    return moved.get(value, value) if isinstance(value, str) else _moved(value, moved)


def _candidates(source: Source, plain: dict[str, object], moved: Mapping[str, str]) -> Iterator[str]:
    """Texts, the nearest to what the user wrote first. The last one holds all values, the others maybe not."""
    if source.text:
        yield source.text
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    if source.text:
        # An override from Python may be a value that is not valid TOML.
        with suppress(TOMLKitError, TypeError, ValueError):
            yield _edited(source, moved)
    yield tomlkit.dumps(_without_none(plain))


def _read(text: str, directory: Path, model: type[Scenario]) -> dict[str, object] | None:
    try:
        return _values(tomllib.loads(text), directory, model)
    except ValueError:  # tomllib's and pydantic's, both
        return None


def _values(data: dict[str, object], directory: Path, model: type[Scenario]) -> dict[str, object]:
    return model.model_validate(data, context={FOLDER: directory}).model_dump()


def _edited(source: Source, moved: Mapping[str, str]) -> str:
    """The file with each override set in its place, and the new paths."""
    import tomlkit

    document = tomlkit.parse(source.text)
    for key in source.overrides:
        here: Any = document
        # Missing parts of the file are made: from the first part on that is missing, or is no table, the whole value is
        # new.
        depth = min(lookup(document, key[:-1])[0], len(key) - 1)
        while depth and not isinstance(lookup(document, key[:depth])[1], dict | list):
            depth -= 1
        for part in key[:depth]:
            here = here[part]
        here[key[depth]] = lookup(source.data, key[: depth + 1])[1]
    return tomlkit.dumps(_moved(document, moved))


def _without_none(value: Any) -> Any:
    """TOML has no null: a key without a value is left out."""
    if isinstance(value, dict):
        return {key: _without_none(part) for key, part in value.items() if part is not None}
    return [_without_none(part) for part in value] if isinstance(value, list) else value
