"""The networks of the yardstick: the cells of the studies in the folder `networks`, each with a name.

Flows of the entry `mine` have the algorithm that is scored; those of `incumbent` may be harmed. To add a network, add a
value to a study, or a study to the folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from dumbbell.errors import InputError
from dumbbell.frozen import dataclass
from dumbbell.hints import nearest
from dumbbell.scenario.file.loading import Draft, checked, read
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.study import CASE
from dumbbell.studies.cells import KEYS, Cell, cells, values

FOLDER: Final = Path(__file__).parent / "networks"
MINE: Final = "mine"
INCUMBENT: Final = "incumbent"

_CC: Final = "cc"
_RATE: Final = re.compile(r"([kMG]?)bit/s")


@dataclass(frozen=True)
class Group:
    """A study of the yardstick."""

    draft: Draft

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.draft.data["name"])

    @property
    def description(self) -> str:
        """Its purpose, in a line."""
        return str(self.draft.data["description"])

    @cached_property
    def cases(self) -> list[Case]:
        """Its networks."""
        return [Case(self, f"{self.name}/{slug(cell)}", cell) for cell in cells(checked(self.draft).sweep)]


@dataclass(frozen=True)
class Case:
    """A network of the yardstick."""

    group: Group
    name: str
    cell: Cell

    @cached_property
    def incumbent(self) -> str | None:
        """The incumbents' algorithm; `None` without them."""
        at = _entry(self.group.draft, INCUMBENT)
        if at is None:
            return None
        return str(self.cell.get(f"flows.{at}.{_CC}", self.group.draft.data["flows"][at][_CC]))

    def draft(self, cc: str | Mapping[str, Any], seed: int) -> Draft:
        """The study's draft in which `cc` is scored."""
        at = _entry(self.group.draft, MINE)
        return self.group.draft.with_values({f"flows.{at}.{_CC}": cc, "seed": seed}, "score")

    def scenario(self, cc: str | Mapping[str, Any], seed: int) -> Scenario:
        """The scenario in which `cc` is scored, named after the case. Raises `ScenarioError`."""
        own = {"name": re.sub(r"[^A-Za-z0-9._-]+", "-", self.name).strip("-")}
        return checked(self.draft(cc, seed).without(KEYS).with_values({**values(self.cell), **own}, "case"))


def _entry(draft: Draft, name: str) -> int | None:
    return next((i for i, flow in enumerate(draft.data["flows"]) if flow["id"] == name), None)


def groups(folder: Path = FOLDER) -> list[Group]:
    """The studies of the yardstick, by their names."""
    return [Group(read(path)) for path in sorted(folder.glob("*.toml"))]


def chosen(groups: Sequence[Group], names: Sequence[str]) -> list[Case]:
    """The cases with these names, or of the groups with these names; all without a name. Raises `InputError`."""
    every = [case for group in groups for case in group.cases]
    if not names:
        return every
    for name in names:
        known = [case.name for case in every] + [group.name for group in groups]
        if name not in known:
            hint = nearest(name, known, "dumbbell cc score --list names all", 0.4)
            raise InputError(f"the yardstick has no network {name}", "", hint)
    return [case for case in every if case.name in names or case.group.name in names]


def only(name: str) -> Case:
    """The case with this name. Raises `InputError`."""
    found = chosen(groups(), [name])
    if len(found) > 1:
        raise InputError(f"{name} is a group of {len(found)} networks", "", f"name one of them: {found[0].name}")
    return found[0]


def slug(cell: Cell) -> str:
    """A cell's values as a name: `12Mbps-20ms-0.5bdp`; a named case's name comes last."""
    parts = [part for key, value in cell.items() if key not in _named(cell) for part in _written(value)]
    return "-".join([*parts, *([str(cell[CASE])] if CASE in cell else [])])


def _named(cell: Cell) -> set[str]:
    """Keys that a named case sets: its name stands for them."""
    keys = list(cell)
    return set(keys[keys.index(CASE) :]) if CASE in keys else set()


def _written(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        yield "+".join(part for one in value for part in _written(one))
    elif isinstance(value, str) and "/" in value and "bit/s" not in value:
        yield Path(value).stem
    else:
        yield _RATE.sub(r"\1bps", str(value)).replace(" ", "")
