"""The events of a run while it goes on, as every engine tells them.

The crate `messages` declares those of the processes of an emulated run; `planned`, `stopping` and `composing` come from
the package.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypedDict


class FlowProgress(TypedDict):
    """The progress of a flow: `FlowProgress` of the crate `messages`."""

    id: str
    received_bytes: int
    """Payload that the receiver's application has read so far."""
    goodput_bps: int
    """The part of it that came since the event before, per second."""
    srtt_us: int | None
    """Smoothed RTT of the sender; `None` if the flow has none."""
    cwnd_packets: int | None
    """Congestion window of the sender; `None` if the flow has none."""
    retransmitted_segments: int | None
    """Segments that the sender has sent again so far; `None` if the flow repeats none."""


class LinkProgress(TypedDict):
    """The progress of a link: `LinkProgress` of the crate `messages`."""

    name: str
    rate_bps: int
    """Frames and overhead that left its queue since the event before, per second."""
    queue_bytes: int
    """Frames and overhead that wait."""
    queue_packets: int
    """Packets that wait."""
    dropped_packets: int
    """Packets that it has dropped so far, random loss excluded."""


class Progress(TypedDict):
    """The progress of the run, about ten times a second."""

    event: Literal["progress"]
    time_ns: int
    flows: list[FlowProgress]
    links: list[LinkProgress]
    """The links that can do something to a packet."""


class Changed(TypedDict):
    """A link is another from `time_ns` on, because of an order."""

    event: Literal["changed"]
    time_ns: int
    link: dict[str, Any]
    """The link as it is from then on, as in the plan."""


class Refused(TypedDict):
    """An order was not carried out. The run goes on as if it had not been given."""

    event: Literal["refused"]
    what: str
    why: str
    hint: str


Event = Mapping[str, Any]
"""Any event: `{"event": "progress", ...}`. The classes above say what is in those that carry figures."""
OnEvent = Callable[[Event], None]
