"""A run as the table of runs knows it: settings, figures, and the text that is searched."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Final

from dumbbell import inputs
from dumbbell.agree.figures import What, of_summary
from dumbbell.comparison.settings import of_documents
from dumbbell.errors import DumbbellError
from dumbbell.frozen import dataclass
from dumbbell.records import kept
from dumbbell.scenario.file.loading import LARGEST
from dumbbell.server.run_messages import RunRow

SHOWN_SETTINGS: Final = 3
"""Settings by which a run is told from others of its name, at most."""


@dataclass(frozen=True, slots=True)
class Row:
    """A run."""

    id: str
    name: str
    verdict: str
    checks: list[str]
    started_at: str
    tags: list[str]
    overridden: tuple[str, ...]
    """Keys of settings that the command changed."""
    settings: Mapping[str, str]
    figures: Mapping[What, float]
    text: str
    """All that is searched, in small letters."""
    problem: str

    def message(self, columns: list[str], told_by: tuple[str, ...]) -> RunRow:
        """Returns the row with the cells of `columns`; `told_by` are settings that differ among runs of its name."""
        return RunRow(
            id=self.id,
            name=self.name,
            label=self._label(told_by),
            verdict=self.verdict,
            checks=self.checks,
            started_at=self.started_at,
            tags=self.tags,
            left_over=kept.is_left_over(self.id, self.verdict),
            problem=self.problem,
            cells=[self.value(key) for key in columns],
        )

    def value(self, key: str) -> str | float | None:
        """Returns the value of a column, or of a fact by which rows are sorted; `None` if the run has none."""
        facts = {"name": self.name, "verdict": self.verdict, "tags": ", ".join(self.tags), "started": self.started_at}
        if key in facts:
            return facts[key] or None
        what = figure(key)
        return self.settings.get(key) if what is None else self.figures.get(what)

    def _label(self, told_by: tuple[str, ...]) -> str:
        first = [key for key in self.overridden if key in told_by]
        keys = list(dict.fromkeys(key for key in [*first, *told_by] if key in self.settings))[:SHOWN_SETTINGS]
        return ", ".join(f"{short(key)} {self.settings[key]}" for key in told_by if key in keys)


def short(key: str) -> str:
    """The end of a setting's key that means something by itself: `buffer`, `flows.1.cc`."""
    parts = key.split(".")
    at = max((number for number, part in enumerate(parts) if part.isdecimal()), default=0)
    return ".".join(parts[at - 1 :]) if at else parts[-1]


_FIGURE: Final = "figure "


@lru_cache(maxsize=4096)
def key_of(what: What) -> str:
    """The key of a figure's column. No setting's key begins so."""
    key = f"{_FIGURE}{what.of}/{what.measure}"
    _WHATS[key] = what
    return key


_WHATS: Final[dict[str, What]] = {}


def figure(key: str) -> What | None:
    """The figure of a column; `None` if it is a setting's, or if no run has such a figure."""
    return _WHATS.get(key)


def read(path: Path, documents: kept.Documents) -> Row:
    """Returns the row of a run, which may be damaged."""
    run = kept.state(path, documents)
    manifest, summary = run.manifest, run.summary
    scenario = documents[4]
    if scenario is None:  # It is large, or there is none.
        with suppress(OSError):
            scenario = inputs.read(path / "scenario.toml", LARGEST)
    settings: Mapping[str, str] = {}
    with suppress(DumbbellError):  # The manifest names an engine that this version lacks.
        settings = of_documents(manifest, scenario or b"")
    overrides = list(manifest.get("overrides") or ())
    checks = [reason["check"] for reason in summary.get("reasons", ())]
    tags = list(manifest.get("tags", ()))
    name = _name(str(manifest.get("name", path.name)), manifest.get("scenario_source"))
    words = [path.name, name, run.verdict, *overrides, *tags, *checks]
    words += [flow["label"] for flow in summary.get("flows", ())]
    words += [f"{key}={value}" for key, value in settings.items()]
    return Row(
        id=path.name,
        name=name,
        verdict=run.verdict,
        checks=checks,
        started_at=str(manifest.get("started_at", "")),
        tags=tags,
        overridden=tuple(one.partition("=")[0] for one in overrides),
        settings=settings,
        figures=of_summary(summary) if summary else {},
        text=" ".join(words).lower(),
        problem=run.problem,
    )


def _name(name: str, source: str | None) -> str:
    """The scenario's name, with its file if that is called otherwise: copies of a file often keep the name in it."""
    stem = PurePath(source).stem if source else name
    return name if stem == name else f"{name} ({PurePath(str(source)).name})"
