"""Facts for reading the curves: the bottleneck, base RTT, BDP, buffer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dumbbell.analysis.history import History, histories, is_steady
from dumbbell.errors import DumbbellError
from dumbbell.plan.routes import base_rtt_ns
from dumbbell.records import Run

Link = Mapping[str, Any]

MOST_LINKS: Final = 24
"""Whose queues are drawn."""


@dataclass(frozen=True)
class Facts:
    """Constants of a run that the plots show as lines."""

    limited_links: tuple[Link, ...]
    """Links with a rate, the bottleneck first, then by utilisation."""
    base_rtts_s: tuple[float, ...]
    """Different base RTTs of the flows at any time, ascending."""
    histories: Mapping[str, History]
    """What each link is over time."""

    @property
    def bottleneck(self) -> Link | None:
        """The link called `bottleneck`, or else the most utilised one; `None` if no link has a rate."""
        return self.limited_links[0] if self.limited_links else None

    @property
    def is_constant(self) -> bool:
        """Whether the bottleneck has the same rate all the time, and is never down."""
        if self.bottleneck is None:
            return True
        history = self.histories[self.bottleneck["name"]]
        return is_steady(history) and all(link["up"] for _, link in history)

    @property
    def bdp_bytes(self) -> float | None:
        """Bandwidth-delay product: rate of the bottleneck, its mean if it varies, x largest base RTT."""
        if self.bottleneck is None or not self.base_rtts_s:
            return None
        return float(self.bottleneck["rate_bps"]) * self.base_rtts_s[-1] / 8


def facts(run: Run) -> Facts:
    """Gather them from the plan, and the order of links from the summary where there is one."""
    measured = {link["name"]: link for link in summary_list(run, "links")}
    limited = [link for link in run.plan["links"] if link["rate_bps"] is not None]

    def busy(link: Link) -> tuple[bool, float]:
        used = measured.get(link["name"], {}).get("utilisation") or 0.0
        return link["name"] != "bottleneck", -used

    return Facts(tuple(sorted(limited, key=busy)), _base_rtts_s(run.plan), histories(run.plan))


def _base_rtts_s(plan: Mapping[str, Any]) -> tuple[float, ...]:
    links = {link["name"]: link for link in plan["links"]}
    rtts = {base_rtt_ns(plan, flow) for flow in plan["flows"]}
    for event in plan["events"]:
        name, delay = event["link"]["name"], event["link"]["delay_ns"]
        if links[name]["delay_ns"] != delay:
            links[name] = {**links[name], "delay_ns": delay}
            rtts |= {base_rtt_ns({**plan, "links": list(links.values())}, flow) for flow in plan["flows"]}
    return tuple(sorted(rtt / 1e9 for rtt in rtts))


def buffer_bytes(link: Link) -> float | None:
    """Room in the queue of `link`, in bytes; `None` if it is not bounded in bytes."""
    buffer = link["buffer"]
    return float(buffer["bytes"]) if isinstance(buffer, Mapping) and "bytes" in buffer else None


def bytes_tell_delay(history: History) -> bool:
    """Whether the bytes in a link's queue say how long packets wait: a FIFO that drains at a constant rate."""
    plain = all(link["queue"]["kind"] == "drop-tail" and link["slots"] is None for _, link in history)
    return plain and is_steady(history)


def has_summary(run: Run) -> bool:
    """Whether the run got as far as a summary."""
    return (run.directory / "summary.json").exists()


def summary_list(run: Run, key: str) -> Sequence[Mapping[str, Any]]:
    """`summary[key]`, or nothing if the run failed before it had a summary."""
    return list(summary_value(run, key)) if has_summary(run) else []


def summary_value(run: Run, key: str) -> Any:
    """`summary[key]`; a summary without it is an error, since a report must not leave out what it should say."""
    try:
        return run.summary[key]
    except KeyError:
        raise DumbbellError(
            f"cannot report {run.directory}", f"its summary.json lacks {key!r}", "repeat the run with this version"
        ) from None
