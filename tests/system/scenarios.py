"""Small scenarios, and what to look for in their runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
from graphs import flow as flow

import dumbbell
from dumbbell.analysis.pace import Pace, measure
from dumbbell.plan.network import network


def path(
    *flows: str,
    rate: str = "20 Mbit/s",
    rtt: str = "20 ms",
    duration: str = "1500 ms",
    bottleneck: str = 'buffer = "1 bdp"',
    more: str = "",
) -> str:
    """A scenario of two hosts and the bottleneck between them. Slow and short: a test machine does other things too."""
    return f"""
name = "test"
duration = "{duration}"
{more}
[topology]
kind = "path"
rtt = "{rtt}"
bottleneck = {{ rate = "{rate}", {bottleneck} }}

{"".join(flows)}"""


def checks(run: dumbbell.Run) -> Mapping[str, Mapping[str, Any]]:
    """The verdict's checks, by name."""
    return {check["check"]: check for check in run.summary["checks"]}


def pace(run: dumbbell.Run, name: str = "bottleneck") -> Pace:
    """The pace of a link by the times that its packets were due.

    The check `rate` counts when packets were handed over, so it is invalid where the machine stood still meanwhile.
    """
    due = pl.when(pl.col("sent_ns").is_not_null()).then(pl.col("delivery_ns"))
    packets = run.packets.lazy().with_columns(sent_ns=due)
    return measure(packets, {name: network(run.plan).histories[name]}, {name: len(run.packets)})[name]


def link(run: dumbbell.Run, name: str = "bottleneck") -> Mapping[str, Any]:
    """A link of the summary."""
    (found,) = [link for link in run.summary["links"] if link["name"] == name]
    return found
