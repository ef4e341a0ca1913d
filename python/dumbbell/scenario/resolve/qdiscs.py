"""Keys of links that the kernel's queueing disciplines cannot obey as we mean them (`emulate.links`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from dumbbell.scenario.links.delays import AnyJitter, Normal, Reorder, Traced, Uniform
from dumbbell.scenario.links.losses import FourState, GilbertElliott, Independent, Netem
from dumbbell.scenario.links.rates import Trace, Varying
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve.direction import DROP_TAIL, WrittenLink
from dumbbell.scenario.resolve.kernel_queues import EITHER_OURS, US, check_queue
from dumbbell.scenario.resolve.outline import Outline
from dumbbell.scenario.source import Finding, Key

SIGMAS: Final = 4
"""The end of netem's table of the normal distribution, in standard deviations."""


def check_kernels_links(scenario: Scenario, network: Outline) -> Iterator[Finding]:
    """The keys of links, and of the scenario, that keep the kernel's own links from carrying its packets."""
    if scenario.emulate.links == "ours":
        return
    if any(node.interfaces for node in network.nodes):
        what = "the kernel's links carry the packets of a dumbbell or a path only"
        yield Finding(("emulate", "links"), what, 'links = "ours" in a drawn network', "leave links out")
    if scenario.events:
        hint = f"leave the events out, {EITHER_OURS}"
        yield Finding(("events", 0), "the kernel's links stay as they are for a whole run", "", hint)
    if scenario.emulate.path == "gso" and scenario.emulate.links == "kernel":
        hint = 'write path = "wire", or leave path out'
        yield Finding(("emulate", "path"), "the kernel's links carry packets one by one", 'path = "wire"', hint)
    for link in network.links:
        if link.start.delay % US:
            at = (*link.at, "delay") if "delay" in link.given else ("emulate", "links")
            what = f"the delay of {link.name} is {link.start.delay}, and tc counts whole microseconds"
            yield _refusal(at, what, "a multiple of 1 us")
        for key, value in link.given.items():
            yield from _key((*link.at, key), value)
        if link.start.jitter is not None:
            yield from _jitter(link, link.start.jitter)
        if link.start.reorder is not None:
            at = (*link.at, "reorder") if "reorder" in link.given else ("emulate", "links")
            yield from _overtaking(at, link.start.reorder, link.start.delay)
        if scenario.emulate.links == "mininet":
            yield from _mininet(link)
        else:
            yield from check_queue(link)


def _key(at: Key, value: Any) -> Iterator[Finding]:
    key = at[-1]
    if key == "rate" and isinstance(value, Varying | Trace):
        yield _refusal(at, "tbf has a constant rate", "a constant rate")
    elif isinstance(value, Traced):
        yield _refusal(at, "netem has a constant delay", "a constant delay")
    elif key == "loss":
        yield from _losses(at, value)
    elif key in _FOREIGN and value:
        yield _refusal(at, *_FOREIGN[key])


def _mininet(link: WrittenLink) -> Iterator[Finding]:
    """Finds what a link of Mininet's lacks beside the kernel's."""
    start = link.start
    behind = [loss for loss in link.given.get("loss") or () if getattr(loss, "position", "") == "after-queue"]
    others = {
        "queue": (start.queue != DROP_TAIL, "netem is the only queue in Mininet's links", '"drop-tail"'),
        "delay_line": (start.delay_line is not None, "the buffer of Mininet's links is netem's limit", _NONE),
        "reorder": (start.reorder is not None, "Mininet gives no such word to netem", _NONE),
        "loss": (bool(behind), "Mininet's links lose packets before they wait", 'position = "before-queue"'),
    }
    for key, (is_there, what, expected) in others.items():
        if is_there:
            yield _refusal((*link.at, key) if key in link.given else ("emulate", "links"), what, expected)


def _overtaking(at: Key, reorder: Reorder, delay: int) -> Iterator[Finding]:
    if not delay:
        yield _refusal(at, "netem lets no packet overtake where nothing is delayed", "a delay")
    if reorder.gap != 1:
        yield _refusal((*at, "gap"), "netem's gap counts otherwise than ours", "1")
    if reorder.correlation.probability:
        yield _refusal((*at, "correlation"), "netem correlates other numbers than ours", "no correlation")
    if reorder.delay:
        yield _refusal((*at, "delay"), "netem's packets overtake at once", "0 s")


def _jitter(link: WrittenLink, jitter: AnyJitter) -> Iterator[Finding]:
    at = (*link.at, "jitter") if "jitter" in link.given else ("emulate", "links")
    if not link.start.reordering:
        yield Finding(at, "netem's jitter reorders packets", "reordering = true", f"add the key, {EITHER_OURS}")
    if jitter.correlation.probability:
        yield _refusal(at, "netem correlates other numbers than ours", "no correlation")
    match jitter:
        case Uniform():
            mean, spread = jitter.min + (jitter.max - jitter.min) // 2, (jitter.max - jitter.min) // 2
        case Normal():
            mean, spread = jitter.mean, jitter.sd
            if mean < SIGMAS * spread:
                least = f"a mean of at least {SIGMAS} sd"
                yield _refusal(at, "netem's normal jitter is not cut at zero as ours is", least)
        case _:
            yield _refusal(at, "netem has no jitter of this distribution as we mean it", "uniform or normal")
            return
    if mean % US or spread % US:
        yield _refusal(at, "tc counts whole microseconds", "times that are multiples of 2 us")


def _losses(at: Key, losses: Sequence[Any]) -> Iterator[Finding]:
    for loss in losses:
        if not isinstance(loss, Independent | Netem | GilbertElliott | FourState):
            can = "independent, netem, gilbert-elliott or four-state"
            yield _refusal(at, f"netem has no losses like {loss.model} as we mean them", can)
            return
    positions = [loss.position for loss in losses]
    if len(set(positions)) < len(positions):
        yield _refusal(at, "netem has one process of loss at a place", "one before the queue and one after it")


def _refusal(at: Key, what: str, expected: str) -> Finding:
    return Finding(at, what, expected, f"change the key, {EITHER_OURS}")


_NONE: Final = "none"
_FOREIGN: Final[dict[Any, tuple[str, str]]] = {
    "duplicate": ("netem's copies enter another place than ours", _NONE),
    "corrupt": ("the kernel does not tell which packets it changed", _NONE),
    "mark": ("netem marks no packets at random but in place of losses", _NONE),
    "policer": ("tbf is the only bucket of tokens on the kernel's links", _NONE),
    "slots": ("netem's slots begin and end otherwise than ours", _NONE),
    "overhead": ("tbf counts overhead in the rate but not in the buffer", "0 B"),
}
"""Keys that no discipline obeys as we mean them: what it does, and the values that are allowed."""
