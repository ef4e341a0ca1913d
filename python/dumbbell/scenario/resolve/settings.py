"""Settings of hosts and engines that do not fit the rest of the scenario."""

from __future__ import annotations

from collections.abc import Iterator

from dumbbell.hints import nearest, some
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.source import Finding
from dumbbell.scenario.topology.hosts import Hosts


def check_settings(scenario: Scenario) -> Iterator[Finding]:
    """Problems of `[hosts]`, `[emulate]` and `[record]`."""
    yield from _hosts(scenario)
    yield from _emulate(scenario)
    if scenario.record.sample_interval > scenario.duration:
        yield Finding(("record", "sample_interval"), "longer than the run", f"at most {scenario.duration}")


def _hosts(scenario: Scenario) -> Iterator[Finding]:
    known = scenario.topology.hosts
    for name in scenario.hosts.single:
        if name not in known:
            hint = nearest(name, [*known, *Hosts.model_fields])
            yield Finding(("hosts", name), "unknown host", some(known), hint)


def _emulate(scenario: Scenario) -> Iterator[Finding]:
    given = scenario.emulate
    for key, asked in (("merge", bool(given.merge)), ("whole_bursts", given.whole_bursts)):
        if asked and given.path == "wire":
            hint = 'write path = "gso", or leave path out'
            yield Finding(("emulate", key), "there are no bursts on a wire", 'path = "gso"', hint)
