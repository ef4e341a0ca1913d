"""Keys of links that the kernel's queueing disciplines cannot obey as we mean them (`emulate.links = "kernel"`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from dumbbell.scenario.links.losses import FourState, GilbertElliott, Independent
from dumbbell.scenario.links.queues import AnyQueue, Codel, Fifo
from dumbbell.scenario.links.rates import Trace, Varying
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve.direction import WrittenLink
from dumbbell.scenario.source import Finding, Key
from dumbbell.scenario.topology.drawing import Drawn

US: Final = 1000
"""Nanoseconds: tc's unit of time."""
EITHER_OURS: Final = 'or links = "ours"'


def check_kernels_links(scenario: Scenario, links: Sequence[WrittenLink]) -> Iterator[Finding]:
    """The keys of `links`, and of the scenario, that keep the kernel's own links from carrying its packets."""
    if scenario.emulate.links == "ours":
        return
    if isinstance(scenario.topology, Drawn):
        what = "the kernel's links carry the packets of a dumbbell or a path only"
        yield Finding(("emulate", "links"), what, 'links = "ours" in a drawn network', "leave links out")
    if scenario.events:
        hint = f"leave the events out, {EITHER_OURS}"
        yield Finding(("events", 0), "the kernel's links stay as they are for a whole run", "", hint)
    if scenario.emulate.path == "gso":
        hint = 'write path = "wire", or leave path out'
        yield Finding(("emulate", "path"), "the kernel's links carry packets one by one", 'path = "wire"', hint)
    for link in links:
        if link.start.delay % US:
            at = (*link.at, "delay") if "delay" in link.given else ("emulate", "links")
            what = f"the delay of {link.name} is {link.start.delay}, and tc counts whole microseconds"
            yield _refusal(at, what, "a multiple of 1 us")
        for key, value in link.given.items():
            yield from _key((*link.at, key), value)
        if isinstance(link.start.queue, Codel) and link.start.buffer.kind not in ("packets", "unlimited"):
            at = (*link.at, "buffer") if "buffer" in link.given else (*link.at, "queue")
            what = f"the kernel's CoDel counts packets, and the buffer of {link.name} has another unit"
            yield Finding(at, what, 'buffer = "100 packets"', f"give the buffer in packets, {EITHER_OURS}")


def _key(at: Key, value: Any) -> Iterator[Finding]:
    key = at[-1]
    if key == "rate" and isinstance(value, Varying | Trace):
        yield _refusal(at, "tbf has a constant rate", "a constant rate")
    elif key == "queue":
        yield from _queue(at, value)
    elif key == "loss":
        yield from _losses(at, value)
    elif key in _FOREIGN and value:
        yield _refusal(at, *_FOREIGN[key])


def _queue(at: Key, queue: AnyQueue) -> Iterator[Finding]:
    if isinstance(queue, Codel):
        times = {name: getattr(queue, name) for name in ("target", "interval", "ce_threshold")}
        for name, time in times.items():
            if time is not None and time % US:
                yield _refusal(
                    (*at, name), f"{time} is not given to tc, which counts whole microseconds", "1 us or more"
                )
        if queue.ecn and queue.ce_threshold is not None:
            what = "nothing tells for which of two reasons the kernel's CoDel has marked a packet"
            yield _refusal((*at, "ce_threshold"), what, "ecn or ce_threshold")
    elif queue != Fifo(kind="drop-tail"):
        what = f"of the kernel's queues drop-tail and codel can be had, and not {queue.kind}"
        if isinstance(queue, Fifo) and queue.kind == "drop-tail":
            what = "the kernel's drop-tail marks no packets"
        yield _refusal(at, what, "drop-tail or codel")


def _losses(at: Key, losses: Sequence[Any]) -> Iterator[Finding]:
    for loss in losses:
        if not isinstance(loss, Independent | GilbertElliott | FourState):
            can = "independent, gilbert-elliott or four-state"
            yield _refusal(at, f"netem has no losses like {loss.model} as we mean them", can)
            return
    positions = [loss.position for loss in losses]
    if len(set(positions)) < len(positions):
        yield _refusal(at, "netem has one process of loss at a place", "one before the queue and one after it")


def _refusal(at: Key, what: str, expected: str) -> Finding:
    return Finding(at, what, expected, f"change the key, {EITHER_OURS}")


_NONE: Final = "none"
_FOREIGN: Final[dict[Any, tuple[str, str]]] = {
    "jitter": ("netem's jitter reorders packets, and nothing tells then which ones it lost", _NONE),
    "reordering": ("without jitter nothing is reordered", "false"),
    "reorder": ("netem's gap counts otherwise than ours, and nothing tells then which packets it lost", _NONE),
    "duplicate": ("netem's copies enter another place than ours", _NONE),
    "corrupt": ("the kernel does not tell which packets it changed", _NONE),
    "mark": ("netem marks no packets at random but in place of losses", _NONE),
    "policer": ("tbf is the only bucket of tokens on the kernel's links", _NONE),
    "slots": ("netem's slots begin and end otherwise than ours", _NONE),
    "overhead": ("tbf counts overhead in the rate but not in the buffer", "0 B"),
}
"""Keys that no discipline obeys as we mean them: what it does, and the values that are allowed."""
