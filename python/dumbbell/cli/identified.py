"""`dumbbell pcap --identify`: what knows the paths of a run, and how guesses are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dumbbell.captures import Capture
    from dumbbell.captures.identify import Guess, Path
    from dumbbell.cli.captured import Beside
    from dumbbell.plan.network import Network
    from dumbbell.plan.types import Flow, Plan
    from dumbbell.records.run import Run
    from dumbbell.table import Table


def guesses(capture: Capture, run: Run | None, flows: list[Beside] | None) -> dict[int, Guess]:
    """A guess for each connection with data to its server. `flows` names the run's flows and their connections."""
    from dumbbell.captures.identify import Guess, identify

    if run is None:
        return identify(capture, {})
    of = {one["connection"]: one["flow"] for one in flows or () if one["connection"] is not None}
    by_id = {flow.id: flow for flow in run.plan.flows}
    paths, against = dict[int, "Path"](), dict[int, str]()
    for number, name in of.items():
        found = path_of(run.plan, by_id[name])
        if isinstance(found, str):
            against[number] = found
        else:
            paths[number] = found
    told = identify(capture, paths)
    return told | {number: Guess(None, None, why) for number, why in against.items() if number in told}


def path_of(plan: Plan, flow: Flow) -> Path | str:
    """The path of a flow, or why it is not one that the model knows."""
    from dumbbell.captures.identify import Path
    from dumbbell.plan.network import network

    known = network(plan)
    rated = [link for link in known.there(flow) if link.rate_bps is not None or link.variation is not None]
    if not rated:
        return "its path has no link with a rate"
    if any(len(known.histories[link.name]) > 1 or link.variation is not None for link in known.there(flow)):
        return "its path changes"
    slowest = min(rated, key=lambda link: link.rate_bps or 0)
    if others := _sharing(plan, known, flow, slowest.name):
        return f"it shares its bottleneck with {others[0]}" + (f" and {len(others) - 1} more" if others[1:] else "")
    return Path(max(1e-4, known.base_rtt_ns(flow) / 1e9), float(slowest.rate_bps or 0))


def _sharing(plan: Plan, known: Network, flow: Flow, link: str) -> list[str]:
    return [
        other.id
        for other in plan.flows
        if other.id != flow.id and any(one.name == link for one in (*known.there(other), *known.back(other)))
    ]


def guesses_as_json(guesses: dict[int, Guess]) -> list[dict[str, object]]:
    """The guesses for `--json`."""
    return [
        {"connection": number, "algorithm": one.algorithm, "votes": one.share, "why_not": one.why_not or None}
        for number, one in guesses.items()
    ]


def table(guesses: dict[int, Guess]) -> Table:
    """A row for each connection."""
    from dumbbell.table import Table

    rows = [
        [
            str(number),
            one.algorithm or "no guess",
            f"{100 * one.share:.0f} %" if one.share is not None and one.algorithm else "",
            one.why_not,
        ]
        for number, one in guesses.items()
    ]
    return Table("Congestion controls, guessed", ["connection", "guess", "votes", "why not"], rows)
