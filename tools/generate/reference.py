"""The sections of the reference that follow from declarations.

Comments mark their places in a page; the rest of the page is written by hand:

    <!-- generated: keys of topology -->
    <!-- end -->
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from dumbbell.scenario import hunt, model, study
from dumbbell.scenario.links import changes, delays, link, losses, part, queues, rates
from dumbbell.scenario.topology import cables, drawing, nodes
from dumbbell.scenario.topology import kinds as kinds_of_networks
from dumbbell.scenario.traffic import algorithms, flows, programs, shares
from dumbbell.scenario.traffic.kinds.flow import AnyFlow
from tools.generate import event_lines, gym, tables, yardstick
from tools.generate.keys import keys, kinds
from tools.generate.options import options
from tools.generate.quantities import quantities

DOCS: Final = Path(__file__).resolve().parents[2] / "docs" / "reference"

_DRAWN: Final = {name: kind for name, kind in kinds_of_networks.KINDS.items() if issubclass(kind, drawing.Drawn)}

SECTIONS: Final[Mapping[str, Mapping[str, Callable[[], str]]]] = {
    "scenario.md": {
        "quantities": quantities,
        "keys of the file": lambda: keys(model.Scenario),
        "keys of topology": lambda: keys([kinds_of_networks.Dumbbell, kinds_of_networks.Path]),
        "keys of topology.bottleneck": lambda: keys(link.Bottleneck),
        "networks": lambda: kinds(_DRAWN, "kind", quoted=True),
        "keys of drawn networks": lambda: keys(drawing.Drawn, besides=drawing.AnyTopology),
        "keys of topology.nodes": lambda: keys(list(nodes.NODES.values())),
        "keys of topology.links": lambda: keys(cables.Cable, besides=link.DirectionKeys),
        "keys of pools": lambda: keys(drawing.Pools),
        "keys of rates that change": lambda: keys([rates.Steps, rates.Ramp, rates.RateFile, rates.Trace]),
        "keys of delays that change": lambda: keys(delays.DelayTrace),
        "queue disciplines": lambda: kinds(queues.KINDS, "kind", quoted=False),
        "distributions of jitter": lambda: kinds(delays.DISTRIBUTIONS, "distribution", quoted=True),
        "keys of reorder": lambda: keys(delays.Reorder),
        "models of loss": lambda: kinds(losses.MODELS, "model", quoted=True),
        "keys of impairments by chance": lambda: keys(part.Sometimes),
        "keys of policer": lambda: keys(link.Policer),
        "keys of slots": lambda: keys(link.Slots),
        "keys of events": lambda: keys(changes.Event, besides=link.LinkKeys),
        "keys of flows": lambda: keys(AnyFlow),
        **{f"keys of flows: {name}": partial(keys, kind, besides=AnyFlow) for name, kind in flows.KINDS.items()},
        "keys of programs": lambda: keys(programs.Program),
        "keys of sizes": lambda: keys(shares.SizeShare),
        "keys of cc": lambda: keys(algorithms.Algorithm),
        "keys of record": lambda: keys(model.Record, prefix="record."),
        "keys of emulate": lambda: keys(model.Emulate, prefix="emulate."),
        "keys of simulate": lambda: keys(model.Simulate, prefix="simulate."),
        "keys of sweep": lambda: keys(study.Sweep),
        "keys of repeat": lambda: keys(study.Repeat),
        "keys of expect": lambda: keys(study.Expectation),
        "keys of plots": lambda: keys(study.Plot),
        "keys of hunt": lambda: keys(hunt.Hunt),
    },
    "command-line.md": {**options(), **event_lines.sections()},
    "records.md": tables.sections(),
    "study-metrics.md": {"metrics": tables.study_metrics},
    "gym.md": {"observations": gym.observations, "features": gym.features},
    "score.md": {"metrics": yardstick.metrics, "networks": yardstick.networks},
}
"""The sections, by page and by the name in the comment."""

_SEE: Final = {
    "queue disciplines": ("queue",),
    "delay": ("jitter", "reordering", "reorder", "delay_line"),
    "loss": ("loss",),
    "policer and slots": ("policer", "slots"),
    "many connections": ("connections", "mix", "sizes"),
    "on and off": ("on", "off"),
    "congestion controls": ("cc",),
}
"""Headings of the page that explain keys whose names they don't have."""

_SECTION: Final = re.compile(r"(<!-- generated: (.*?) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def page(name: str) -> str:
    """A page with its sections as they follow from the declarations now."""
    text = (DOCS / name).read_text(encoding="utf-8")
    headings = re.findall(r"^#{2,} (.*)$", text, re.MULTILINE)

    def section(match: re.Match[str]) -> str:
        linked = _linked(SECTIONS[name][match[2]](), headings) if match[2] in _LINKED else SECTIONS[name][match[2]]()
        return f"{match[1]}{linked}\n{match[4]}"

    return _SECTION.sub(section, text)


_LINKED: Final = (
    *("keys of the file", "keys of topology.bottleneck", "keys of flows"),
    *(f"keys of flows: {name}" for name in flows.KINDS),
    "keys of programs",
)
"""Sections whose keys are explained below their list."""


def _linked(rows: str, headings: Sequence[str]) -> str:
    """A list whose keys lead to the headings that explain them."""
    targets = {key: _anchor(heading) for heading in headings for key in _SEE.get(heading.lower(), ())}
    for heading in headings:
        targets |= {key: _anchor(heading) for key in re.findall(r"`\[*(\w+)\]*`", heading)}
    return re.sub(
        r"^- `(\w+)`",
        lambda key: f"- [`{key[1]}`](#{targets[key[1]]})" if key[1] in targets else key[0],
        rows,
        flags=re.MULTILINE,
    )


def _anchor(heading: str) -> str:
    """The anchor that GitHub makes for a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def named(name: str) -> list[str]:
    """The sections that a page has."""
    return [found[2] for found in _SECTION.finditer((DOCS / name).read_text(encoding="utf-8"))]
