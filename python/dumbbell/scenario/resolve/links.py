"""Links over time, and values of links and events that do not go together."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice

from dumbbell.hints import nearest, some
from dumbbell.scenario.links.changes import MOST_CHANGES, timeline
from dumbbell.scenario.links.delays import Traced
from dumbbell.scenario.links.losses import LossTrace
from dumbbell.scenario.links.queues import Fifo
from dumbbell.scenario.links.rates import Trace, Varying
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve.direction import Direction, History, WrittenLink
from dumbbell.scenario.source import MOST_FINDINGS, Finding, Key
from dumbbell.units import MAX, BufferSize, QuantityError, Size, Time

MOST_STEPS = 5_000_000
"""Limit of steps in a plan, where each link has its own, and each event repeats its link's."""


def resolve_links(scenario: Scenario, links: Sequence[WrittenLink], wrong: list[Finding]) -> History:
    """The settled links over time; complete if there is no problem in `wrong`. `links`: as they are written."""
    # Links with the same keys share their values, and are looked at once: a large network has thousands of links.
    sound: set[tuple[int, int, frozenset[str]]] = set()
    for link in links:
        alike = id(link.start), int(link.rtt), frozenset(link.given)
        if alike not in sound and not (found := list(_link(link.at, link.start, link.given, link.rtt))):
            sound.add(alike)
        elif alike not in sound:
            wrong += found
    wrong += islice(_events_alone(scenario, [link.name for link in links]), MOST_FINDINGS)
    if wrong:
        return {link.name: [(Time(0), link.start)] for link in links}
    settled: dict[tuple[int, int], Direction] = {}
    history: History = {}
    for link in links:
        same = id(link.start), int(link.rtt)
        if same not in settled:
            settled[same] = link.start.settled(link.rtt)
        history[link.name] = [(Time(0), settled[same])]
    wrong += _events(history, scenario, links)
    return history


def check_steps(scenario: Scenario, links: Sequence[WrittenLink]) -> Iterator[Finding]:
    """Steps that are too many in all, before each link and each event has its own."""
    total = 0
    for at, steps in (
        *((link.at, partial(_steps, link.start)) for link in links),
        *((("events", i), partial(_of_rate, event.rate)) for i, event in enumerate(scenario.events)),
    ):
        total += steps()
        if total > MOST_STEPS:
            why, hint = f"at most {MOST_STEPS:,} steps in all", "use fewer of them, or shorter traces"
            yield Finding(at, "steps of links and events, each with its own, are too many in all", why, hint)
            return


def _link(at: Key, link: Direction, given: Mapping[str, object], rtt: Time) -> Iterator[Finding]:
    """A link after `given`, the keys at `at`, come into force."""
    if given.keys() & {"rate", "buffer", "overhead"}:
        wrong = list(_buffer((*at, "buffer"), link, rtt))
        yield from wrong
        if wrong:
            return
    if given.keys() & {"queue", "buffer", "rate"}:
        yield from _queue(at, link, given, rtt)
    if link.slots is not None and isinstance(link.rate, Trace) and given.keys() & {"rate", "slots"}:
        what = "a trace says itself when the link may send"
        hint = 'write slots = "none"' if "rate" in given else "leave slots out"
        key = "slots" if "slots" in given else "rate"
        yield Finding((*at, key), what, "either slots or a rate from a trace", hint)
    if link.policer is not None and given.keys() & {"policer", "overhead"} and link.policer.burst < link.frame:
        why = f"at least {Size(link.frame)}, a full frame, or none could ever pass"
        yield Finding((*at, "policer", "burst"), "too small", why, 'write burst = "30 kB"')
    if link.reorder is not None and given.keys() & {"reorder", "delay"} and link.reorder.delay >= link.delay:
        why = f"less than {link.delay}, or nothing would be reordered"
        what = f"a delay of {link.reorder.delay} is not shorter than the link's"
        yield Finding((*at, "reorder"), what, why, "raise the link's delay")


def _buffer(key: Key, link: Direction, rtt: Time) -> Iterator[Finding]:
    if link.rate is None and link.buffer.kind in ("bdp", "time"):
        what = "no rate to measure the buffer by"
        yield Finding(key, what, 'bytes, packets or "unlimited" on a link without a rate', 'write buffer = "unlimited"')
    elif link.resolve(rtt)[1] > MAX:
        yield Finding(key, "too large", f"at most {MAX} bytes", 'write buffer = "unlimited"')
    if link.buffer.kind == "bytes" and link.buffer.amount < link.frame:
        why = f"at least {Size(link.frame)}, one full frame, or no full segment could ever wait"
        yield Finding(key, "too small", why, 'write buffer = "1 packet" for the smallest useful buffer')


def _queue(at: Key, link: Direction, given: Mapping[str, object], rtt: Time) -> Iterator[Finding]:
    key, room = (*at, "queue"), link.room(rtt)
    try:
        link.queue.settled(link.nominal, room, link.frame, rtt, link.mtu)
    except QuantityError as error:
        inherited = "raise the buffer, or write a queue with other thresholds here, too"
        yield Finding(key, error.wrong, error.expected, error.hint if "queue" in given else inherited)
    match link.queue:
        case Fifo(ce_threshold=BufferSize(kind="bytes" | "packets") as threshold):
            size = threshold.amount * (link.frame if threshold.kind == "packets" else 1)
            if room is not None and size >= room:
                why = f"less than {Size(room)}, or nothing would be marked"
                hint = "lower ce_threshold or raise the buffer"
                yield Finding((*key, "ce_threshold"), "not below the buffer", why, hint)


def _events_alone(scenario: Scenario, known: Sequence[str]) -> Iterator[Finding]:
    end, total, there = scenario.duration, 0, frozenset(known)
    for i, event in enumerate(scenario.events):
        if event.router is None and event.link not in there:
            what = "unknown" if "link" in event.model_fields_set else f"no link is called {event.link}"
            yield Finding(("events", i, "link"), what, some(known), nearest(event.link, known))
        if event.at >= end:
            yield Finding(("events", i, "at"), "after the end of the run", f"less than the duration, {end}")
        elif event.until is not None and event.until < event.at:
            yield Finding(("events", i, "until"), "before the first time", f"at least at, {event.at}")
        else:
            total += event.count(end)
    if total > MOST_CHANGES:
        what = f"{total} changes in all"
        yield Finding(("events",), what, f"at most {MOST_CHANGES}", "raise every, or shorten the run")


def check_carriers(scenario: Scenario, links: Sequence[WrittenLink], switches: Container[str]) -> Iterator[Finding]:
    """Events that take the carrier from a link that has no interface at either end."""
    between_switches = {link.name for link in links if link.from_ in switches and link.to in switches}
    for i, event in enumerate(scenario.events):
        if event.carrier == "lost" and event.link in between_switches:
            what = f"{event.link} joins two switches, and none of its ends is an interface that could lose its carrier"
            hint = "leave carrier out: switches notice nothing"
            yield Finding(("events", i, "carrier"), what, "a link that ends at a host, a router or a bridge", hint)


def _events(history: History, scenario: Scenario, links: Sequence[WrittenLink]) -> Iterator[Finding]:
    """Add what each event makes of its link, one after another; the first that does not fit ends it."""
    rtts, other = {link.name: link.rtt for link in links}, _other_directions(links)
    steps = sum(_steps(states[0][1]) for states in history.values())
    for change in timeline(scenario.events, scenario.duration):
        states, given = history[change.link], change.keys.given()
        if change.carrier == "lost" and not given.get("up", True):
            given["carrier"] = "lost"
        before, rtt = states[-1][1], rtts[change.link]
        written = before.with_keys(given)
        at: Key = ("events", change.index)
        wrong = list(_link(at, written, given, rtt))
        after = before if wrong else written.settled(rtt)
        # A cable that is pulled, or plugged in again, changes both directions.
        if given.get("carrier") == "lost" or (given.get("up") and before.carrier == "lost"):
            back = other[change.link]
            _follow(history[back], change.at, given, rtts[back])
        # A measured series repeats values.
        if not wrong and after == before:
            continue
        steps += _steps(written)
        if not wrong and steps > MOST_STEPS:
            what = "every event repeats its link's rate, which has many steps: too many in all"
            wrong = [Finding(at, what, f"at most {MOST_STEPS} steps in all", "use fewer events or a shorter trace")]
        if wrong:
            yield from wrong
            return
        states.append((change.at, after))


def _other_directions(links: Sequence[WrittenLink]) -> dict[str, str]:
    """The other direction of each link. Both directions of a cable stand together."""
    pairs = [(there.name, back.name) for there, back in zip(links[::2], links[1::2], strict=True)]
    return dict([*pairs, *((back, there) for there, back in pairs)])


def _follow(states: list[tuple[Time, Direction]], at: Time, given: Mapping[str, object], rtt: Time) -> None:
    """The other direction goes down or up, too."""
    before = states[-1][1]
    after = before.with_keys({key: given[key] for key in ("up", "carrier") if key in given}).settled(rtt)
    if after != before:
        states.append((at, after))


def _steps(link: Direction) -> int:
    """Steps of what changes by itself, and packets of which a list says that they are lost."""
    course = len(link.delay.course.steps()) if isinstance(link.delay, Traced) else 0
    lost = sum(len(loss.lost_packets()) for loss in link.loss if isinstance(loss, LossTrace))
    return course + lost + _of_rate(link.rate)


def _of_rate(rate: object) -> int:
    match rate:
        case Varying():
            return len(rate.steps())
        case Trace():
            return len(rate.times())
        case _:
            return 0
