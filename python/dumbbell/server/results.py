"""The list of runs: pages of it, search, tags; and removing runs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from fastapi import APIRouter

from dumbbell import below
from dumbbell.engines.registry import DEFAULT
from dumbbell.records import kept
from dumbbell.records.directory import PARTIAL, RUNS
from dumbbell.records.index import Stamp, stamp
from dumbbell.records.model import MANIFEST
from dumbbell.report import words
from dumbbell.server import run_places
from dumbbell.server.run_messages import RemoveRuns, RunEntry, RunList, TagRuns

PAGE: Final = 100
SHOWN_FLOWS: Final = 3


class Listing:
    """The runs of a workspace. What was read is kept until it changes: 10,000 runs are read once."""

    def __init__(self, root: Path) -> None:
        """Runs in the workspace `root`."""
        self._folder = root / RUNS
        self._known: dict[str, tuple[Stamp, RunEntry]] = {}

    def page(self, cursor: int, search: str, tag: str, verdict: str) -> RunList:
        """The runs from number `cursor` on that match, the latest first."""
        names = [name for _, name in sorted(self._begun(), reverse=True)]
        if search or tag or verdict:
            names = [one.id for one in self._entries(names) if _matches(one, search, tag, verdict)]
        shown = self._entries(names[cursor : cursor + PAGE])
        following = cursor + PAGE
        return RunList(
            runs=shown,
            total=len(names),
            cursor=str(following) if following < len(names) else None,
            tags=sorted({tag for _, entry in self._known.values() for tag in entry.tags}),
        )

    def _entries(self, names: Sequence[str]) -> list[RunEntry]:
        """The rows of runs."""
        for path, one in kept.documents(self._folder, [name for name in names if self._is_changed(name)]):
            self._known[path.name] = one[3], _read(path, one)
        return [self._known[name][1] for name in names]

    def _is_changed(self, name: str) -> bool:
        known = self._known.get(name)
        # A run that goes on ends without a change of its files if it is killed.
        return known is None or known[1].verdict == "running" or known[0] != stamp(f"{self._folder}/{name}")

    def _begun(self) -> Iterator[tuple[int, str]]:
        """When each run's scenario was written, which is at its start. One look at each: there are many."""
        if below.leads_out(self._folder):
            return
        with suppress(FileNotFoundError, NotADirectoryError), os.scandir(self._folder) as found:
            for one in found:
                if one.name.startswith(".") and not one.name.startswith(PARTIAL):
                    continue
                try:
                    yield os.stat(f"{one.path}/scenario.toml").st_mtime_ns, one.name
                except OSError:
                    with suppress(OSError):  # It failed before that, or is no run.
                        yield os.stat(f"{one.path}/{MANIFEST}").st_mtime_ns, one.name


def router(root: Path) -> APIRouter:
    """The routes of the list of runs in the workspace `root`."""
    made = APIRouter(prefix="/api/runs")
    listing = Listing(root)

    @made.get("")
    def runs(cursor: int = 0, search: str = "", tag: str = "", verdict: str = "") -> RunList:
        """A page of runs, the latest first."""
        return listing.page(max(0, cursor), search, tag, verdict)

    @made.post("/tags")
    def tags(asked: TagRuns) -> dict[str, int]:
        """Give runs a tag, or take it away."""
        for run in asked.ids:
            kept.tag(run_places.find(root, run), [asked.tag], asked.remove)
        return {"runs": len(asked.ids)}

    @made.post("/remove")
    def remove(asked: RemoveRuns) -> dict[str, int]:
        """Remove runs with all their records."""
        found = [run_places.find(root, run) for run in asked.ids]
        for path in found:
            kept.remove(kept.look(path))
        return {"runs": len(found)}

    return made


def _matches(entry: RunEntry, search: str, tag: str, verdict: str) -> bool:
    if tag and tag not in entry.tags:
        return False
    if verdict and entry.verdict != verdict:
        return False
    text = " ".join([entry.id, entry.name, entry.engine, *entry.overrides, *entry.tags, *entry.flows, *entry.checks])
    return all(word in text.lower() for word in search.lower().split())


def _read(path: Path, documents: kept.Documents) -> RunEntry:
    run = kept.state(path, documents)
    manifest, summary, verdict = run.manifest, run.summary, run.verdict
    flows: Sequence[Mapping[str, Any]] = summary.get("flows", ())
    return RunEntry(
        id=path.name,
        name=str(manifest.get("name", path.name)),
        engine=str(manifest.get("engine", DEFAULT)),
        verdict=verdict,
        checks=[reason["check"] for reason in summary.get("reasons", ())],
        started_at=str(manifest.get("started_at", "")),
        duration_s=summary.get("duration_s"),
        scenario_source=manifest.get("scenario_source"),
        overrides=list(manifest.get("overrides") or ()),
        tags=list(manifest.get("tags", ())),
        flows=[f"{flow['label']} {words.measured_rate(flow['goodput_bps'])}" for flow in flows[:SHOWN_FLOWS]],
        more_flows=max(0, len(flows) - SHOWN_FLOWS),
        left_over=kept.is_left_over(path.name, verdict),
        problem=run.problem,
    )
