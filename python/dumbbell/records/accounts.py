"""The accounts of a run's engine: JSON files beside the tables, which differ between engines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from dumbbell.engines.registry import capabilities
from dumbbell.frozen import dataclass
from dumbbell.plan.types import Plan
from dumbbell.records.files import read_json

if TYPE_CHECKING:
    from dumbbell.records.run import Run

Json = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Accounts:
    """The accounts of one run."""

    engine: str
    """The engine that wrote them."""
    plan: Plan
    network: Json
    """The accounts of links and packets: the file that the engine names. All engines use the same names for the
    accounts that they have."""
    traffic: Json
    """The account of flows: traffic.json."""
    lab: Json
    """The account of hosts and machine: lab.json; empty without a lab."""
    probe: Json | None = None
    """The account of the record of ACKs: probe.json; `None` if it did not come from a probe."""

    @classmethod
    def of(cls, run: Run) -> Self:
        """Read those of `run`. Raises `DumbbellError` if one is missing that every run of its engine has."""
        probe, has = run.directory / "probe.json", capabilities(run.engine)
        return cls(
            engine=run.engine,
            plan=run.plan,
            network=read_json(run.directory / has.network),
            traffic=read_json(run.directory / "traffic.json"),
            lab=read_json(run.directory / "lab.json") if has.has_lab else {},
            probe=read_json(probe) if probe.exists() else None,
        )
