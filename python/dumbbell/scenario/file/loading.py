"""Loads a checked scenario from a file, a bundled name or a dict."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from dumbbell import inputs
from dumbbell.errors import Place, Problem, ScenarioError
from dumbbell.frozen import dataclass
from dumbbell.scenario import bundled
from dumbbell.scenario.file.overrides import Overrides, apply
from dumbbell.scenario.file.refusals import findings
from dumbbell.scenario.file.started import refuse_others
from dumbbell.scenario.file.toml import TOMLDecodeError, parse, plain
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import resolve
from dumbbell.scenario.source import Key, Source, show
from dumbbell.scenario.traces import FOLDER
from dumbbell.scenario.understood import UNDERSTOOD, Understood
from dumbbell.units import Time

LARGEST: Final = 16 << 20
"""Bytes of a scenario: a hundred thousand flows, written one by one."""


@dataclass(frozen=True)
class Draft:
    """A scenario that was read and not checked yet."""

    name: str
    """Path of the file, or a bundled scenario's name."""
    text: str
    """Text of the file; empty if there is none."""
    data: dict[str, Any]
    """Its values."""
    folder: Path
    """The folder in which relative paths begin."""
    places: Mapping[Key, str]
    """Values that were set outside the file, and the text that set each."""
    is_whole: bool = True
    """True if no key was dropped."""

    @property
    def source(self) -> Source:
        """The places of its values, for errors."""
        return Source(self.name, self.text, self.data, self.places, self.folder, self.is_whole)

    def with_values(self, overrides: Overrides, by: str = "override") -> Draft:
        """A copy in which more values are set; errors call them `by`. Raises `InputError`."""
        data = copied(self.data)
        return replace(self, data=data, places={**self.places, **apply(data, overrides, self.name, by)})

    def without(self, keys: Iterable[str]) -> Draft:
        """A copy without these keys at the top."""
        dropped = set(keys)
        data = {key: value for key, value in self.data.items() if key not in dropped}
        return replace(
            self,
            data=data,
            places={key: text for key, text in self.places.items() if key[0] not in dropped},
            is_whole=self.is_whole and len(data) == len(self.data),
        )


def load(source: str | os.PathLike[str] | Mapping[str, Any] | Scenario, overrides: Overrides | None = None) -> Scenario:
    """Read and check a scenario.

    `source` is a bundled scenario's name (`bbr-vs-cubic`), the path of a TOML file (it ends in `.toml` or has a `/`), a
    dict of the same shape, or a `Scenario`. Relative paths in it begin where the file lies (of a dict: here).
    `overrides` are texts such as `flows.1.cc=bbr`, or a dict from such a key to a value. Raises `InputError` if there
    is no such file or it is no TOML, and `ScenarioError` with all that is wrong with it.
    """
    return checked(read(source, overrides))


def read(source: str | os.PathLike[str] | Mapping[str, Any] | Scenario, overrides: Overrides | None = None) -> Draft:
    """Read a scenario, of which a study makes many; `load` says what from."""
    name, text, data, folder = _read(source)
    # A cell of a study, or a changed copy, is not what its text says; a scenario is, if nothing has set values since.
    places = apply(data, overrides or (), name)
    if isinstance(source, Scenario):
        before = source.source
        is_whole = before.is_whole and not before.overrides
        return Draft(name, text, data, folder, {**before.overrides, **places}, is_whole)
    return Draft(name, text, data, folder, places)


def checked(draft: Draft, model: type[Scenario] = Scenario, understood: Understood | None = None) -> Scenario:
    """The scenario of a draft, by `model`. Raises `ScenarioError` with all that is wrong with it.

    `understood`: tables of drafts in this folder that were checked before.
    """
    origin = draft.source
    context = {FOLDER: draft.folder} | ({} if understood is None else {UNDERSTOOD: understood})
    try:
        scenario = model.model_validate(draft.data, context=context)
    except ValidationError as error:
        raise ScenarioError([origin.problem(finding) for finding in findings(error, draft.data)]) from None
    scenario._source = origin
    resolve(scenario)
    refuse_others(scenario, origin.name)
    return scenario


def seeded(scenario: Scenario, seed: int) -> Scenario:
    """The same scenario with another seed; a fraction of what loading it again costs."""
    return replaced(scenario, "seed", seed)


def replaced(scenario: Scenario, key: str, value: int | Time) -> Scenario:
    """The same scenario with another value of a key at its top, for a repetition of a study. It is not checked."""
    other = scenario.model_copy(update={key: value})
    origin, written = scenario.source, str(value) if isinstance(value, Time) else value
    other._source = replace(
        origin,
        data={**origin.data, key: written},
        overrides={**origin.overrides, (key,): f"repetition {key}={show(written)}"},
    )
    return other


def copied(value: Any) -> Any:
    """Tables and lists anew, which are all that can be changed; a fraction of what `deepcopy` costs."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    return [copied(item) for item in value] if isinstance(value, list) else value


def _read(source: str | os.PathLike[str] | Mapping[str, Any] | Scenario) -> tuple[str, str, dict[str, Any], Path]:
    """Name, text (empty for a dict) and values of a scenario, and where the paths in it begin."""
    if isinstance(source, Scenario):
        origin = source.source
        return (
            origin.name,
            origin.text,
            source.model_dump(mode="json", by_alias=True, exclude_unset=True),
            origin.folder,
        )
    if isinstance(source, Mapping):
        return "scenario", "", _of_dict(source), Path()
    name = os.fspath(source)
    if name == inputs.STANDARD_INPUT:
        text = _text_of_file(Path("standard input"), inputs.standard_input)
        return "standard input", text, _parse("standard input", text), Path()
    path = Path(name) if isinstance(source, os.PathLike) or name.endswith(".toml") or "/" in name else None
    text = _text_of_file(path, partial(inputs.read_text, path)) if path else bundled.text(name)
    return name, text, _parse(name, text), path.parent if path else bundled.FOLDER


def _of_dict(given: Mapping[str, Any]) -> dict[str, Any]:
    data = {}
    for key, value in given.items():
        try:
            data[key] = plain(value)
        except RecursionError:
            wrong = f"{key}: tables or lists that are nested too deeply"
            raise ScenarioError([Problem.at(Place("scenario"), wrong, key=str(key))]) from None
    return data


def _text_of_file(path: Path, read: Callable[[int], str]) -> str:
    try:
        return read(LARGEST)
    except FileNotFoundError:
        here = [str(p) for p in path.parent.glob("*.toml")] if path.parent.is_dir() else []
        raise _refused(path, "no such file", hint=bundled.suggest(str(path), here)) from None
    except UnicodeDecodeError as error:
        why = f"byte {error.object[error.start]:#04x} at offset {error.start} is no UTF-8"
        raise _refused(path, "not TOML", why, "a scenario is a text file in UTF-8") from None
    except OSError as error:
        hint = f"a pipe can be standard input: {inputs.STANDARD_INPUT}" if error.errno == errno.EINVAL else ""
        raise _refused(path, "cannot read the scenario", error.strerror or str(error), hint) from None


def _refused(path: Path, wrong: str, why: str = "", hint: str = "") -> ScenarioError:
    return ScenarioError([Problem.at(Place(str(path)), wrong, why, hint)])


def _parse(name: str, text: str) -> dict[str, Any]:
    try:
        return parse(text)
    except TOMLDecodeError as error:
        raise ScenarioError([not_toml(name, text, str(error))]) from None


def not_toml(name: str, text: str, message: str) -> Problem:
    """tomllib says `... (at line 3, column 7)`: put the place first and show the line."""
    what, at_all, place = message.rpartition(" (at ")
    if not at_all:
        return Problem.at(Place(name), f"not TOML: {message}")
    if not place.startswith("line "):
        wrong = f"not TOML: {message.replace(' (at end of document)', ', at the end of the file')}"
        lines = text.split("\n")
        end = Place(name, len(lines), len(lines[-1]) + 1, 0)
        return Problem(f"{name}: {wrong}", wrong=wrong, place=end)
    line, column = (int(part.rsplit(" ", 1)[1]) for part in place.rstrip(")").split(","))
    shown = text.splitlines()[line - 1] if line <= len(text.splitlines()) else ""
    why = f"{shown}\n{' ' * (column - 1)}^" if shown.strip() else ""
    wrong = f"not TOML: {what}"
    at = Place(name, line, column, 1)
    return Problem(f"{at}:{column}: {wrong}", why, _toml_hint(shown), wrong, place=at)


def _toml_hint(line: str) -> str:
    if ";" in line and line.count("=") > 1:
        return "TOML takes one key per line (no semicolons), or an inline table: { a = 1, b = 2 }"
    if "=" in line and line.count('"') == 0 and line.count("'") == 0:
        return 'texts and quantities stand in quotes, such as duration = "20 s"'
    return "see https://toml.io for the format"
