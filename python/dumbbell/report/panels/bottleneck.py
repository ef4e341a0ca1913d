"""The bottleneck of each flow over time: a lane per flow, or per path where there are many flows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import polars as pl

from dumbbell.analysis.metrics import PathBottlenecks, bottlenecks
from dumbbell.engines.registry import capabilities
from dumbbell.frozen import dataclass
from dumbbell.report import words
from dumbbell.report.acks import MOST_FLOWS
from dumbbell.report.decimate import round_width_ns
from dumbbell.report.definition import OfTables
from dumbbell.report.facts import summary_list
from dumbbell.report.model import Lane, Panel, State, States, View
from dumbbell.report.source import Source
from dumbbell.report.states import BLOCKS_PER_LANE

# The colours of BBR's states, any two of which differ for people with any kind of colour vision.
_COLOURS: Final = (
    ("#2684bb", "#13aca4"),
    ("#b8860b", "#e1bd30"),
    ("#7c3170", "#9a63bd"),
    ("#97c5e1", "#2d5866"),
    ("#b13750", "#ee7b5e"),
    ("#3233aa", "#7f78ff"),
    ("#111827", "#f4f4f0"),
)
_HEIGHTS: Final = (1.0, 0.7, 0.4)
"""Links beyond the colours have these again in blocks less high."""
_MOST_LINKS: Final = 254
_NOTE: Final = (
    "The saturated link of the path at which packets waited longest, in each interval. In a gap no link was saturated."
)

_GUESSED: Final = (
    " Packets are not recorded: among paths of equal cost, the plot shows those that the simulator would choose; "
    "kernels may have chosen others."
)


@dataclass(frozen=True)
class _Wanted:
    """A lane: a path between two times."""

    name: str
    group: int | None
    path: PathBottlenecks
    start_ns: int
    stop_ns: int


def _panel(source: Source) -> Panel | None:
    """The panel; `None` if no flow crosses two limited links."""
    if not source.known.has_several or not source.run.has("links"):
        return None
    paths = [path for path in bottlenecks(source.run.directory) if len(path.links) > 1]
    if not paths:
        return None
    wanted = list(_of_flows(source, paths) if source.has_few_flows else _of_paths(source, paths))
    found = {link for path in paths for _, link in path.course if link is not None}
    ordered = [link.name for link in source.run.plan.links if link.name in found]
    codes = {link: code for code, link in enumerate(ordered[:_MOST_LINKS])}
    lanes = [_merged(_blocks(one, codes), source.span_ns) for one in wanted]
    marks = tuple(
        States(lane, blocks["start"] / 1e9, blocks["end"] / 1e9, blocks["code"])
        for lane, (blocks, _) in enumerate(lanes)
    )
    note = _NOTE if source.has_few_flows else f"{_NOTE} A lane per path, named by the ends of one of its flows."
    if not source.has_few_flows and (left_out := len(paths) - len(wanted)):
        note += f" Not drawn: {words.count(left_out, 'more path')}."
    if _guessed(source):
        note += _GUESSED
    if width := max((width for _, width in lanes if width), default=None):
        note += f" Changes within {words.seconds(width / 1e9)} can be missing."
    named = tuple(Lane("", one.name, one.group) for one in wanted)
    states = tuple(_state(code, link) for link, code in codes.items())
    view = View("", pl.Series([], dtype=pl.Float64), marks, note, lanes=named)
    return Panel("bottleneck", 1.0, PANEL.title, "", (view,), states=states)


def _guessed(source: Source) -> bool:
    """True if kernels chose paths by flow, and no record of packets says which."""
    run = source.run
    return run.plan.spread == "flows" and not capabilities(run.engine).models_tcp and not run.has("packets")


def _state(code: int, link: str) -> State:
    light, dark = _COLOURS[code % len(_COLOURS)]
    return State(link, link, light, dark, _HEIGHTS[code // len(_COLOURS) % len(_HEIGHTS)])


def _of_flows(source: Source, paths: list[PathBottlenecks]) -> Iterator[_Wanted]:
    """A lane for each flow across several limited links, while it was active."""
    of = {flow: path for path in paths for flow in path.flows}
    active = {flow["id"]: (flow["start_s"], flow["stop_s"]) for flow in summary_list(source.run, "flows")}
    planned = {flow.id: (flow.start_ns / 1e9, flow.stop_ns / 1e9) for flow in source.run.plan.flows}
    for index, group in enumerate(source.groups):
        for flow in group.flows:
            if flow in of:
                start_s, stop_s = active.get(flow, planned[flow])
                yield _Wanted(flow, index, of[flow], round(start_s * 1e9), round(stop_s * 1e9))


def _of_paths(source: Source, paths: list[PathBottlenecks]) -> Iterator[_Wanted]:
    """A lane for each path, those of most flows first."""
    ends = {flow.id: f"{flow.from_} → {flow.to}" for flow in source.run.plan.flows}
    for path in sorted(paths, key=lambda path: -len(path.flows))[:MOST_FLOWS]:
        yield _Wanted(ends[path.flows[0]], None, path, 0, source.span_ns)


def _blocks(of: _Wanted, codes: dict[str, int]) -> pl.DataFrame:
    """`start` and `end` in ns, and `code`, of each time with a bottleneck."""
    ends = [since for since, _ in of.path.course[1:]] + [of.stop_ns]
    rows = [
        (max(since, of.start_ns), min(end, of.stop_ns), codes[link])
        for (since, link), end in zip(of.path.course, ends, strict=True)
        if link in codes and max(since, of.start_ns) < min(end, of.stop_ns)
    ]
    return pl.DataFrame(rows, schema={"start": pl.Int64, "end": pl.Int64, "code": pl.UInt8}, orient="row")


def _merged(blocks: pl.DataFrame, span_ns: int) -> tuple[pl.DataFrame, int | None]:
    """Few enough blocks: of too many, the longest in each short interval; and the interval's length."""
    if blocks.height <= BLOCKS_PER_LANE:
        return blocks, None
    width = round_width_ns(span_ns / BLOCKS_PER_LANE)
    longest = pl.col("end") - pl.col("start")
    kept = blocks.group_by(pl.col("start") // width, maintain_order=True).agg(
        pl.col("start", "end", "code").sort_by(longest).last().name.suffix("_kept")
    )
    return kept.select(start="start_kept", end="end_kept", code="code_kept"), width


PANEL: Final = OfTables(57, "Bottleneck", _panel)
