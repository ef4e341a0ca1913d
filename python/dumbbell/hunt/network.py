"""The network of a candidate: an ordinary scenario, and the capacity that it leaves to the flows under test."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NoReturn

from dumbbell.errors import InputError, ScenarioError
from dumbbell.frozen import dataclass
from dumbbell.hints import nearest
from dumbbell.hunt.space import Candidate, Gene
from dumbbell.plan.expand import expand
from dumbbell.plan.network import network
from dumbbell.plan.parts import group, kind
from dumbbell.scenario.file.loading import Draft, checked
from dumbbell.scenario.hunt import Hunt, Kind
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import resolve
from dumbbell.scenario.source import Finding, Key
from dumbbell.scenario.traffic.flows import kind_of
from dumbbell.units import Percent, Rate, Size, Time

BURST: Final = "30 kB"
"""Bucket of a policer that a search adds: twenty full frames."""
_NONE: Final = "none"
_FOR_A_TIME: Final[Mapping[Kind, str]] = {
    "delay": "delay",
    "jitter": "jitter",
    "reorder": "reorder",
    "policer": "policer",
}
"""Kinds that hold for a time -> the link's key."""
_UDP: Final = ("cross", "pulse")


@dataclass(frozen=True)
class Base:
    """The network without any event of a search."""

    link: str
    before: Mapping[str, Any]
    """Keys of the link that events change -> their values in the scenario."""
    delay_ns: int
    rate_bps: int
    """Rate of the link; if it has none, the least on the path of the first flow under test."""
    duration_ns: int
    rtt_ns: int
    """Base RTT of the first flow under test."""
    events: Sequence[Any]
    flows: Sequence[Mapping[str, Any]]
    """Entries of the scenario, as written."""
    tested: tuple[str, ...]
    """Entries under test, by id."""
    bulk: int
    """Connections of TCP and QUIC that share the link."""
    ends: tuple[str, str]
    """Hosts between which cross traffic flows."""


def with_algorithm(draft: Draft, cc: str | None) -> Draft:
    """The draft in which `cc` is the congestion control of the flows under test. Raises `ScenarioError`."""
    if cc is None:
        return draft
    hunt = checked(draft.without(_STUDY)).hunt
    entries = draft.data["flows"]
    at = [i for i, entry in enumerate(entries) if _is_tested(i, entry, hunt)]
    return draft.with_values({f"flows.{i}.cc": cc for i in at}, "--cc")


_STUDY: Final = ("sweep", "repeat", "expect", "report")


def _is_tested(index: int, entry: Mapping[str, Any], hunt: Hunt) -> bool:
    name = entry.get("id", f"f{index + 1}")
    return name in hunt.flows if hunt.flows else kind_of(entry).is_bulk


def base(draft: Draft) -> tuple[Base, Scenario]:
    """The network of a draft, and its scenario. Raises `ScenarioError` if a hunt cannot change it."""
    if draft.data.get("sweep"):
        why = "a hunt makes its own networks from one"
        raise InputError(f"{draft.name} has [sweep]", why, "remove [sweep], or set its keys by --set")
    scenario = checked(draft.without(_STUDY))
    hunt, plan = scenario.hunt, expand(scenario)
    links = {link.name: link for link in resolve(scenario).network.links}
    if hunt.link not in links:
        _refuse(scenario, ("hunt", "link"), "no such link", f"one of {', '.join(links)}", nearest(hunt.link, links))
    names = list(dict.fromkeys(group(flow) for flow in plan.flows))
    for i, name in enumerate(hunt.flows):
        if name not in names:
            _refuse(scenario, ("hunt", "flows", i), "no such flow", f"one of {', '.join(names)}", nearest(name, names))
    chosen = [flow for flow in plan.flows if (group(flow) in hunt.flows if hunt.flows else kind(flow).is_bulk)]
    if not chosen:
        _refuse(scenario, ("flows",), "no flow to test", "at least one flow of TCP or QUIC", 'add protocol = "tcp"')
    first = links[hunt.link].first
    there = network(plan)
    rates = [link.rate_bps for link in plan.links if link.name in {one.name for one in there.there(chosen[0])}]
    slowest = min((rate for rate in rates if rate is not None), default=None)
    if slowest is None:
        _refuse(scenario, ("topology",), f"no link of {chosen[0].id} has a rate", "a limit", 'add rate = "10 Mbit/s"')
    for i, event in enumerate(scenario.events):
        if event.link == hunt.link:
            why = "events of a hunt end with the values that the link has at the start"
            _refuse(scenario, ("events", i), "changes the link of the hunt", why, "remove it, or choose another link")
    before: dict[str, object] = {"delay": str(first.delay), "loss": [_written(one) for one in first.loss]}
    for key in ("jitter", "reorder", "policer"):
        before[key] = _NONE if (part := getattr(first, key)) is None else _written(part)
    for key in ("rate", "delay"):
        if key in hunt.kinds and not isinstance(getattr(first, key), Rate | Time):
            is_none = getattr(first, key) is None
            wrong = f"{hunt.link} has no {key}" if is_none else f"the {key} of {hunt.link} changes by itself"
            _refuse_kind(scenario, key, wrong, f"a constant {key}")
    if "reorder" in hunt.kinds and isinstance(first.delay, Time) and not first.delay:
        _refuse_kind(scenario, "reorder", f"packets cannot overtake on {hunt.link}, which has no delay", "a delay")
    found = Base(
        link=hunt.link,
        before=before,
        delay_ns=int(first.delay) if isinstance(first.delay, Time) else 0,
        rate_bps=slowest if first.nominal is None else int(first.nominal),
        duration_ns=plan.duration_ns,
        rtt_ns=there.least_rtt_ns(chosen[0]),
        events=draft.data.get("events", []),
        flows=draft.data["flows"],
        tested=tuple(dict.fromkeys(map(group, chosen))),
        bulk=sum(kind(flow).is_bulk for flow in plan.flows),
        ends=(chosen[0].from_, chosen[0].to),
    )
    return found, scenario


def _written(part: Any) -> Any:
    return part.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _refuse_kind(scenario: Scenario, kind: Kind, wrong: str, expected: str) -> NoReturn:
    others = ", ".join(f'"{one}"' for one in scenario.hunt.kinds if one != kind)
    _refuse(scenario, ("hunt", "kinds"), wrong, expected, f"leave {kind} out: kinds = [{others}]")


def _refuse(scenario: Scenario, key: Key, wrong: str, expected: str, hint: str) -> NoReturn:
    raise ScenarioError([scenario.source.problem(Finding(key, wrong, expected, hint))])


def values(base: Base, candidate: Candidate) -> dict[str, object]:
    """The scenario's keys that a candidate sets: `events` and `flows`."""
    changes: dict[int, dict[str, object]] = {}
    for at, key, value in _changes(base, candidate):
        if at < base.duration_ns:
            changes.setdefault(at, {})[key] = value
    events = [{"at": str(Time(at)), "link": base.link, **keys} for at, keys in sorted(changes.items())]
    flows = [_flow(base, gene, number) for number, gene in enumerate(_flows(candidate), 1)]
    found = {"events": [*base.events, *events], "flows": [*base.flows, *flows]}
    return {key: entries for key, entries in found.items() if entries}


def _changes(base: Base, candidate: Candidate) -> Iterator[tuple[int, str, Any]]:
    for gene in candidate:
        if gene.kind == "rate":
            yield gene.at, "rate", str(Rate(gene.value))
        if gene.kind == "loss":
            lost = [i * gene.step for i in range(gene.number)]
            yield gene.at, "loss", [*base.before["loss"], {"model": "trace", "lost": lost}]
    for name, key in _FOR_A_TIME.items():
        genes = [gene for gene in candidate if gene.kind == name]
        for at in sorted({time for gene in genes for time in (gene.at, gene.at + gene.length)}):
            active = [gene.value for gene in genes if gene.at <= at < gene.at + gene.length]
            yield at, key, _value(base, name, active) if active else base.before[key]


def _value(base: Base, kind: Kind, active: Sequence[int]) -> Any:
    """The link's value while events of one kind hold: delays add up, of others the most severe counts."""
    match kind:
        case "delay":
            return str(Time(base.delay_ns + sum(active)))
        case "jitter":
            return str(Time(max(active)))
        case "reorder":
            return str(Percent.parse(f"{max(active) / 1000:.3f} %"))
    return {"rate": str(Rate(min(active))), "burst": BURST}


def _flows(candidate: Candidate) -> Iterable[Gene]:
    return (gene for gene in candidate if gene.kind in (*_UDP, "short"))


def _flow(base: Base, gene: Gene, number: int) -> dict[str, object]:
    flow = {"id": f"hunt{number}", "from": base.ends[0], "to": base.ends[1], "start": str(Time(gene.at))}
    if gene.kind == "short":
        return {**flow, "cc": "cubic", "bytes": str(Size(gene.value))}
    flow |= {"protocol": "udp", "rate": str(Rate(gene.value))}
    if gene.kind == "cross":
        return {**flow, "stop": str(Time(min(gene.at + gene.length, base.duration_ns)))}
    return {**flow, "on": str(Time(gene.length)), "off": str(Time(_pause(gene)))}


def _pause(gene: Gene) -> int:
    """Time between two bursts, ns; at least 1 ms."""
    return max(gene.every - gene.length, 10**6)


def offered_bps(base: Base, candidate: Candidate) -> float:
    """Mean rate that the link leaves to the flows under test, in bits of whole frames per second.

    Policers count, and cross traffic has what it sends. Short transfers have their bytes.
    """
    end = base.duration_ns
    bursts = [*_bursts(candidate, end)]
    policed = [(gene.at, gene.at + gene.length, gene.value) for gene in candidate if gene.kind == "policer"]
    rates = [(0, base.rate_bps), *((gene.at, gene.value) for gene in candidate if gene.kind == "rate")]
    times = {0, end, *(at for at, _ in rates), *(at for one in (*bursts, *policed) for at in one[:2])}
    cuts = sorted(time for time in times if time <= end)
    bits = 0.0
    for at, until in pairwise(cuts):
        rate = [bps for since, bps in rates if since <= at][-1]
        rate = min([rate, *(bps for since, till, bps in policed if since <= at < till)])
        used = sum(bps for since, till, bps in bursts if since <= at < till)
        bits += max(rate - used, 0) * (until - at) / 1e9
    bits -= sum(8 * gene.value for gene in candidate if gene.kind == "short")
    return max(bits, 0.0) * 1e9 / end


def _bursts(candidate: Candidate, end: int) -> Iterator[tuple[int, int, int]]:
    """Start, end and rate of each burst of cross traffic."""
    for gene in candidate:
        if gene.kind == "cross":
            yield gene.at, min(gene.at + gene.length, end), gene.value
        elif gene.kind == "pulse":
            for at in range(gene.at, end, gene.length + _pause(gene)):
                yield at, min(at + gene.length, end), gene.value


def added_ns(candidate: Candidate) -> int:
    """Largest delay that a candidate adds to a packet, ns."""
    return sum(gene.value for gene in candidate if gene.kind in ("delay", "jitter"))
