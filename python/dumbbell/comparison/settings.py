"""Settings that differ between two studies or two runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from dumbbell import inputs
from dumbbell.cc.names import label
from dumbbell.core import core
from dumbbell.engines.registry import capabilities
from dumbbell.frozen import dataclass
from dumbbell.plan.wire import document
from dumbbell.records.run import Run
from dumbbell.scenario.file.loading import LARGEST
from dumbbell.scenario.file.toml import parse
from dumbbell.scenario.source import leaves
from dumbbell.statistics.frames import Frames

ABSENT: Final = "–"  # noqa: RUF001  a dash in a table cell, not a hyphen


@dataclass(frozen=True)
class Setting:
    """A key whose values differ."""

    key: str
    a: str
    b: str


def of_many(runs: Sequence[Run]) -> list[tuple[str, list[str]]]:
    """Keys whose values are not the same in all runs, with the value of each, as `of_runs` compares two."""
    found = _differing([_manifest(run.manifest) for run in runs])
    # The plan is in no user's words: it tells what differs only where the scenarios don't.
    scenarios = _differing([_of_scenario(run.directory) for run in runs])
    return found + (scenarios or _differing([flat(document(run.plan)) for run in runs]))


def of_studies(a: Frames, b: Frames) -> list[Setting]:
    """Compares scenario, varied values, engine, versions and repetitions."""
    return differing(_of_study(a), _of_study(b))


def of_runs(a: Run, b: Run) -> list[Setting]:
    """Compares engine, versions, and the scenarios' keys; of equal scenarios the plans with every default filled in."""
    return [Setting(key, *values) for key, values in of_many([a, b])]


def differing(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[Setting]:
    """Keys of either whose values differ, in the order of the first, then of the second."""
    return [Setting(key, *values) for key, values in _differing([a, b])]


def _differing(settings: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[str]]]:
    keys = dict.fromkeys(key for one in settings for key in one)
    values = ((key, [_text(one, key) for one in settings]) for key in keys)
    return [(key, each) for key, each in values if len(set(each)) > 1]


def flat(data: Mapping[str, Any]) -> dict[str, object]:
    """`topology.bottleneck.rate`, `flows.0.cc`, ... with their values; an algorithm by its label."""
    return {
        ".".join(at): label(value) if at[-1] == "cc" and isinstance(value, Mapping) else value
        for at, value in leaves(data)
    }


def of_documents(manifest: Mapping[str, Any], scenario: bytes) -> dict[str, str]:
    """Returns all settings of a run, by its manifest and its scenario. A damaged scenario has none."""
    found = dict(_manifest(manifest))
    with suppress(ValueError):  # TOMLDecodeError and UnicodeDecodeError are among them.
        found |= _of_text(scenario.decode())
    return {key: _text(found, key) for key in found}


def _of_scenario(directory: Path) -> Mapping[str, Any]:
    """Keys of the scenario that a run or a study keeps; empty if it keeps none."""
    try:
        return _of_text(inputs.read_own(directory, "scenario.toml", LARGEST))
    except (OSError, ValueError):
        return {}


@lru_cache(maxsize=256)
def _of_text(text: str) -> Mapping[str, Any]:
    values = core.toml_values(text)
    scenario = parse(text) if values is None else json.loads(values)
    # Varied keys are compared by all their values, and a description is no setting.
    return flat({key: value for key, value in scenario.items() if key not in ("sweep", "repeat", "description")})


def _of_study(study: Frames) -> dict[str, object]:
    varied = {f"varied: {key}": list(dict.fromkeys(map(_word, study.cells[key].to_list()))) for key in study.keys}
    about = {"repetitions": study.manifest.get("repetitions")}
    return {**_manifest(study.manifest), **about, **varied, **_of_scenario(study.directory)}


def _word(value: Any) -> str:
    """A value of a cell; an algorithm by its label."""
    return label(value) if isinstance(value, str) else str(value)


def _manifest(manifest: Mapping[str, Any]) -> dict[str, object]:
    tool, machine = manifest.get("tool") or {}, manifest.get("machine") or {}
    about = {"engine": manifest.get("engine"), "dumbbell": tool.get("dumbbell"), "core": tool.get("core")}
    engine = manifest.get("engine")
    # The machine is no setting of an engine that works by no machine's clock.
    if engine is None or capabilities(engine).real_time:
        return about | {"kernel": machine.get("kernel")}
    return about | ({"kernel": own.get("version")} if (own := manifest.get("kernel")) else {})


def _text(settings: Mapping[str, Any], key: str) -> str:
    if key not in settings or settings[key] is None:
        return ABSENT
    value = settings[key]
    if isinstance(value, list | tuple) and value and all(isinstance(one, str | int | float) for one in value):
        return ", ".join(map(_text_of, value))
    return _text_of(value)


def _text_of(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
