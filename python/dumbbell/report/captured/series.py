"""All plots of an analysed capture: the one source of its page, its figures and its CSV files."""

from __future__ import annotations

from collections.abc import Sequence

from dumbbell.captures import Capture
from dumbbell.captures.detail import Part
from dumbbell.report.captured.panels import definitions
from dumbbell.report.captured.source import source
from dumbbell.report.model import Plots


def build(
    capture: Capture,
    parts: Sequence[Part] | None = None,
    only: Sequence[int] | None = None,
    span_ns: tuple[int, int] | None = None,
) -> Plots:
    """Gather what to draw, of connections `only` or of the largest; packets of `parts` are drawn one by one, or where
    it matters if they are `None`. The page shows `span_ns` first."""
    found = source(capture, parts, only)
    drawn = tuple(panel for one in definitions() if (panel := one.draw(found)) is not None)
    shown = None if span_ns is None else (span_ns[0] / 1e9, min(span_ns[1], found.span_ns) / 1e9)
    return Plots(capture.name, found.span_ns / 1e9, found.groups, drawn, (), tuple(found.missing), shown)
