"""Networks of a training environment: one scenario with values that change from episode to episode."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from dumbbell.core import core
from dumbbell.engines.registry import engine
from dumbbell.errors import InputError, RunFailed, ScenarioError
from dumbbell.frozen import dataclass
from dumbbell.gym.terms import Terms
from dumbbell.hints import nearest, some
from dumbbell.pipeline.planned import planned
from dumbbell.plan import wire
from dumbbell.plan.algorithms import objects
from dumbbell.plan.parts import group, kind
from dumbbell.scenario.file.loading import Draft, checked
from dumbbell.scenario.resolve import resolve

if TYPE_CHECKING:
    import numpy as np

    from dumbbell._core import HeldRun

Change = Mapping[str, Any]
"""Overrides of a scenario: `{"topology.rtt": "20 ms"}`."""
Changes = Sequence[Change] | Callable[["np.random.Generator"], Change]

ENGINE: Final = "simulate"
LABEL: Final = "policy"
"""Name of a held flow's congestion control, in place of the scenario's own."""
_STAND_IN: Final = "reno"
_KEPT: Final = 256
_SEEDS: Final = 2**31
_STUDY: Final = ("sweep", "repeat", "expect", "report", "hunt")


@dataclass(frozen=True)
class Network:
    """A network that is ready to be simulated."""

    change: Change
    text: str
    """Plan as JSON."""
    duration_ns: int
    flows: tuple[str, ...]
    """Connections that are held."""
    objects: Mapping[str, bytes | bytearray]


@dataclass(frozen=True)
class Episode:
    """A simulation that goes on."""

    network: Network
    seed: int
    run: HeldRun


class Networks:
    """Draws networks and begins episodes in them."""

    def __init__(self, draft: Draft, entries: tuple[str, ...], terms: Terms, changes: Changes | None) -> None:
        """The scenario's entries `entries` are held. Raises `InputError`."""
        if not entries or len(set(entries)) < len(entries):
            why = f"given: {', '.join(entries)}" if entries else "none is given"
            raise InputError("flows must name entries, each once", why, "an entry has its id, or f1, f2, ...")
        if changes is not None and not callable(changes) and not changes:
            raise InputError("networks is empty", "reset draws one of them", "leave it out to keep the scenario")
        self.draft, self.entries, self.terms = draft.without(_STUDY), entries, terms
        self._changes = changes if callable(changes) else tuple(changes or ({},))
        self._kept: dict[str, Network] = {}
        self.agents = self._network({}).flows
        """Connections that are held, in the scenario without changes."""

    def begin(self, rng: np.random.Generator, change: Change | None = None) -> Episode:
        """A new episode in a network that `rng` draws, or in that of `change`. Raises `InputError`."""
        changes = self._changes
        if change is None:
            change = changes(rng) if callable(changes) else changes[int(rng.integers(len(changes)))]
        network, seed = self._network(change), int(rng.integers(_SEEDS))
        if network.flows != self.agents:
            raise InputError(f"the network {dict(change)} has other flows", f"expected {', '.join(self.agents)}", "")
        terms = self.terms
        try:
            run = core.HeldRun(
                network.text,
                seed,
                list(network.flows),
                interval_us=terms.interval_us,
                interval_rtts=terms.interval_rtts,
                timeout_us=terms.timeout_us,
                paces=terms.paces,
                objects=dict(network.objects),
            )
        except RuntimeError as error:
            what, _, why = str(error).partition(": ")
            raise RunFailed(what, why) from error
        return Episode(network, seed, run)

    def held_as(self, change: Change, label: str, more: Change | None = None) -> Draft:
        """The draft with a change in which held entries have the congestion control `label`."""
        entries = self.draft.data.get("flows") or ()
        names = [str(one.get("id", f"f{i + 1}")) for i, one in enumerate(entries)]
        for name in self.entries:
            if name not in names:
                raise InputError(f"the scenario has no flow {name}", some(names), nearest(name, names))
        labels = {f"flows.{names.index(name)}.cc": label for name in self.entries}
        return self.draft.with_values({**change, **labels, **(more or {})}, "gym")

    def _network(self, change: Change) -> Network:
        key = json.dumps(change, sort_keys=True, default=str)
        if key not in self._kept:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            self._kept[key] = self._made(change)
        return self._kept[key]

    def _made(self, change: Change) -> Network:
        simulator = engine(ENGINE)
        known = checked(self.held_as(change, _STAND_IN))
        problems = simulator.check(known, planned(simulator, known))
        if problems:
            raise ScenarioError(list(problems))
        scenario = checked(self.held_as(change, LABEL))
        plan = planned(simulator, scenario)
        held = [flow for flow in plan.flows if group(flow) in self.entries]
        for flow in held:
            if not kind(flow).is_bulk:
                raise InputError(f"the flow {flow.id} cannot be held", "only bulk flows of TCP can", "")
        ids, programs = tuple(flow.id for flow in held), objects(resolve(scenario).labels.values())
        return Network(change, wire.text(plan), plan.duration_ns, ids, programs)
