"""Finds of a hunt: scenarios that anyone can run, each with an expectation that fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal

from dumbbell import outputs
from dumbbell.errors import InputError, RunFailed
from dumbbell.frozen import dataclass
from dumbbell.hints import nearest
from dumbbell.hunt.causes import Fault, cause
from dumbbell.hunt.goals import Goal
from dumbbell.hunt.network import Base, values
from dumbbell.plan.expand import expand
from dumbbell.scenario.file import writing
from dumbbell.scenario.file.loading import Draft, checked, read
from dumbbell.scenario.model import Scenario
from dumbbell.statistics.verdicts import Answer
from dumbbell.studies import measures
from dumbbell.studies.cells import KEYS
from dumbbell.studies.directory import check_links

FOLDER: Final = "finds"
SCENARIO: Final = "scenario.toml"
Confirmation = Literal["confirmed", "model only", "undecided", "not replayed"]


@dataclass(frozen=True)
class Find:
    """A shrunk fault on disk."""

    directory: Path
    """Its folder, which has `scenario.toml` and the files that it names."""
    fault: Fault
    metric: str
    confirmation: Confirmation | None = None
    """Whether a kernel shows the fault, too; `None`: nobody asked."""
    said: str = ""
    """The figures behind `confirmation`."""

    @property
    def cause(self) -> str:
        """The cause in words."""
        return cause(self.fault)

    def as_json(self) -> dict[str, object]:
        """The fields as in `hunt.json`."""
        result = self.fault.result
        told: dict[str, object] = {"folder": f"{FOLDER}/{self.directory.name}", "cause": self.cause}
        told |= {"events": len(self.fault.candidate), "subject": result.subject, "metric": self.metric}
        told |= {"value": result.value, "limit": result.limit}
        return told if self.confirmation is None else told | {"kernel": self.confirmation, "kernel_said": self.said}


def check_subject(goal: Goal, scenario: Scenario) -> None:
    """Raises `InputError` if the scenario has nothing that the goal's `of` names."""
    from dumbbell.statistics.metrics import get

    known = measures.names(get(goal.metric), expand(scenario))
    if goal.of not in known:
        why = f"{goal.metric} has values of {', '.join(known)}"
        raise InputError(f"--for {goal.name}: nothing is called {goal.of}", why, nearest(str(goal.of), known))


def draft_of(draft: Draft, base: Base, fault: Fault, metric: str, below: bool, name: str) -> Draft:
    """The scenario of a fault, with the expectation that fails."""
    result = fault.result
    assert result.limit is not None, "a fault has a limit"
    expected: dict[str, object] = {"metric": metric, "min" if below else "max": result.limit}
    if result.subject:
        expected["of"] = result.subject
    said = f"Found by dumbbell hunt: {cause(fault)}."
    changed: Mapping[str, Any] = {**values(base, fault.candidate), "expect": [expected]}
    return draft.without(KEYS).with_values({**changed, "name": name, "description": said}, "hunt")


def write(path: Path, draft: Draft, base: Base, number: int, fault: Fault, goal: Goal) -> Find:
    """Write the fault as a scenario, below the hunt's directory.

    Raises:
        InputError: a folder there is a link.
        OSError: it cannot be written.
    """
    place = path / FOLDER / str(number)
    outputs.make_folder(place)
    for folder in (place.parent, place):
        check_links(folder)
    name = f"{draft.data['name'][:50]}-find-{number}"
    writing.write(checked(draft_of(draft, base, fault, goal.metric, goal.below, name)), place)
    return Find(place, fault, goal.metric)


def confirm(find: Find, kernel: str | None) -> Find:
    """Replay a find in a kernel's TCP, in virtual time. A run that cannot be replayed is a finding, too."""
    from dumbbell.studies.running import run

    try:
        study = run(
            read(find.directory / SCENARIO).name,
            (),
            find.directory / "kernel",
            repeat=1,
            engine="virtual",
            kernel=kernel,
            report=False,
        )
    except (InputError, RunFailed) as error:
        return replace(find, confirmation="not replayed", said=error.problems[0].text().splitlines()[0])
    (found,) = study.manifest["expectations"]
    words: Mapping[str, Confirmation] = {Answer.FAILS: "confirmed", Answer.HOLDS: "model only"}
    return replace(
        find, confirmation=words.get(found["answer"], "undecided"), said=f"{found['expectation']}: {found['why']}"
    )
