"""Tables of flows and links, of packet events, and of what changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dumbbell.cc.parameters import spelled
from dumbbell.engines.registry import capabilities
from dumbbell.plan import wire
from dumbbell.plan.types import BufferBytes, BufferPackets, Link
from dumbbell.plan.view import source
from dumbbell.records import Run
from dumbbell.report import words
from dumbbell.report.events import REASONS
from dumbbell.report.facts import Facts, above_capacity, summary_list
from dumbbell.report.groups import has_kinds
from dumbbell.report.model import Group, Plots
from dumbbell.report.render.group_rows import COLUMNS
from dumbbell.report.render.group_rows import rows as group_rows
from dumbbell.report.render.markup import Html, el, join
from dumbbell.report.spread import MOST_CURVES
from dumbbell.scenario.traffic.flows import KINDS
from dumbbell.scenario.traffic.kinds.flow import Kind

_SCROLL_FROM = 16
_MOST_LINKS = 100
"""Number of links from which on those that carried nothing are left out."""
_EXTREMES: Final = 10
"""Flows that are listed from each end, of too many to list."""
_MOST_ERRORS: Final = 100


def flows(run: Run, groups: Sequence[Group], with_bottlenecks: bool = False) -> Html:
    """One row per flow, of too many those at both ends; below Jain's index, figures of kinds and responsiveness."""
    every = summary_list(run, "flows")
    rows = extremes(every)
    total = sum(flow.get("goodput_bps") or 0.0 for flow in every)
    group_of = {flow: group for group in groups for flow in group.flows}
    marked = any(flow.get("ce_share") is not None for flow in rows)
    waited = any(flow.get("queue_ms") for flow in rows)
    sized = any(flow.get("fct_s") is not None for flow in rows)
    one = {"rowspan": "2", "scope": "col"}
    head = el(
        "thead",
        el(
            "tr",
            *(el("th", name, **one) for name in ("Flow", "Algorithm", "Path")),
            *([el("th", "Bottleneck", **one)] if with_bottlenecks else []),
            el("th", "Active (s)", class_="n", **one),
            *(el("th", name, class_="n", **one) for name in ("Goodput", "Share", "Retransmitted")),
            *([el("th", "ECN-marked", class_="n", **one)] if marked else []),
            el("th", "RTT (ms)", class_="span", colspan="4", scope="colgroup"),
            *([el("th", "Queueing delay (ms)", class_="span", colspan="2", scope="colgroup")] if waited else []),
            *([el("th", "Completed in", class_="n", **one)] if sized else []),
        ),
        el(
            "tr",
            *(el("th", name, class_="n", scope="col") for name in ("base", "min", "median", "p95")),
            *(el("th", name, class_="n", scope="col") for name in ("median", "p95") if waited),
        ),
    )
    shown = marked, waited, sized, with_bottlenecks
    body = el("tbody", *(_flow(flow, group_of.get(flow["id"]), total, *shown) for flow in rows))
    note = above_capacity(run)
    above = el("p", note, class_="beneath") if note else Html("")
    beneath = above, _fairness(run), _of_kinds(rows, group_of), _responsiveness(run), _errors(every)
    return join(_some(rows, every), _table("Flows", head, body, len(rows)), *beneath)


def extremes(flows: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """The flows to list one by one: of more than `MOST_CURVES` those with the highest and the lowest goodput."""
    if len(flows) <= MOST_CURVES:
        return flows
    known = sorted((flow for flow in flows if flow["goodput_bps"] is not None), key=lambda one: -one["goodput_bps"])
    return known if len(known) <= 2 * _EXTREMES else [*known[:_EXTREMES], *known[-_EXTREMES:]]


def _some(rows: Sequence[Mapping[str, Any]], every: Sequence[Mapping[str, Any]]) -> Html:
    """A sentence on flows that the table leaves out, and on what plots show of them."""
    if len(rows) == len(every):
        return Html("")
    said = f"The {_EXTREMES} flows with the highest goodput and the {_EXTREMES} with the lowest, of {len(every):,}. "
    said += "Plots show the median and the spread of each kind. Every flow is in flows.parquet and summary.json."
    return el("p", said, class_="beneath")


def _errors(flows: Sequence[Mapping[str, Any]]) -> Html:
    failed = [f"{flow['id']}: {flow['error']}" for flow in flows if flow.get("error")]
    if not failed:
        return Html("")
    more = len(failed) - _MOST_ERRORS
    shown = [*failed[:_MOST_ERRORS], words.count(more, "more flow")] if more > 0 else failed
    return el("ul", (el("li", one) for one in shown), class_="missing")


def grouped(run: Run, groups: Sequence[Group]) -> Html:
    """One row per group, if groups are of several flows."""
    if not has_kinds(groups):
        return Html("")
    head = el("thead", el("tr", el("th", "Flows"), *(el("th", _capital(name), class_="n") for name in COLUMNS[1:])))
    body = (
        el("tr", el("th", _swatch(group), row[0], scope="row"), *(el("td", text, class_="n") for text in row[1:]))
        for group, row in zip(groups, group_rows(summary_list(run, "flows"), groups), strict=True)
    )
    is_whole = len(run.plan.flows) <= MOST_CURVES
    one_by_one = el("p", "One by one:", class_="beneath") if is_whole else Html("")
    return join(_table("Flows by kind", head, el("tbody", *body), len(groups)), one_by_one)


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _fairness(run: Run) -> Html:
    jain, window = run.summary.get("jain_index"), run.summary.get("jain_window_s")
    if jain is None:
        return Html("")
    when = (
        f", of what each received from {_s(window[0])} s to {_s(window[1])} s, when all were active" if window else ""
    )
    return el("p", f"Jain's fairness index {jain:.3f}{when}.", class_="beneath")


def _of_kinds(rows: Sequence[Mapping[str, Any]], group_of: Mapping[str, Group]) -> Html:
    """A table for each kind of flow that has figures of its own: a row per flow."""
    of = {kind: [flow for flow in rows if flow.get(kind.kind)] for kind in KINDS.values() if kind.figures}
    return join(*(_of_kind(kind, flows, group_of) for kind, flows in of.items() if flows))


def _of_kind(kind: type[Kind[Any]], flows: Sequence[Mapping[str, Any]], group_of: Mapping[str, Group]) -> Html:
    columns = (el("th", name, class_="n", scope="col") for name in kind.figures)
    head = el("thead", el("tr", el("th", kind.plural, class_="", scope="col"), *columns))
    body = (
        el(
            "tr",
            el("th", _swatch(group_of.get(flow["id"])), flow["id"], scope="row"),
            *(el("td", _figure(key, flow[kind.kind][key]), class_="n") for key in kind.figures.values()),
        )
        for flow in flows
    )
    return _table(kind.plural, head, el("tbody", *body), len(flows))


def _figure(key: str, value: float | None) -> str:
    if key.endswith("_ms"):
        return words.milliseconds(value)
    return words.count(value) if value is None or isinstance(value, int) else f"{value:.3g}"


def _responsiveness(run: Run) -> Html:
    found = run.summary.get("responsiveness")
    if found is None:
        return Html("")
    said = (
        f"Responsiveness under load: {found['rpm']:.0f} round trips per minute ({found['foreign_rpm']:.0f} by pings, "
    )
    return el("p", f"{said}{found['loaded_rpm']:.0f} by the bulk TCP flows themselves).", class_="beneath")


def _flow(
    flow: Mapping[str, Any],
    group: Group | None,
    total_bps: float,
    marked: bool,
    waited: bool,
    sized: bool,
    with_bottlenecks: bool,
) -> Html:
    goodput, rtt, wait = flow["goodput_bps"], flow.get("rtt_ms") or {}, flow.get("queue_ms") or {}
    part = goodput / total_bps if goodput is not None and total_bps else None
    resent = flow["retransmitted_segments"]
    cells = [
        el("th", _swatch(group), flow["id"], scope="row"),
        el("td", str(flow["cc"] or flow["protocol"])),
        el("td", f"{flow['from']} → {flow['to']}"),
        *([el("td", words.bottleneck(flow))] if with_bottlenecks else []),
        el("td", f"{_s(flow['start_s'])} – {_s(flow['stop_s'])}", class_="n"),  # noqa: RUF001  an en dash between numbers
        el("td", words.measured_rate(goodput), class_="n"),
        el("td", words.share(part), _meter(part, group), class_="n"),
        el("td", words.count(resent), class_="n"),
        *([el("td", words.share(flow.get("ce_share")), class_="n")] if marked else []),
        el("td", words.milliseconds(flow.get("base_rtt_ms")), class_="n"),
        *(el("td", words.milliseconds(rtt.get(key)), class_="n") for key in ("min", "p50", "p95")),
        *(el("td", words.milliseconds(wait.get(key)), class_="n") for key in ("p50", "p95") if waited),
    ]
    if sized:
        fct = flow.get("fct_s")
        cells.append(el("td", words.UNKNOWN if fct is None else f"{fct:.3f} s", class_="n"))
    return el("tr", *cells)


_LOADED: Final = {"run": "for this run", "stay": "to stay, before this run", "kernel": "by the kernel"}


def algorithms(run: Run) -> Html:
    """One row per congestion control other than the kernel's own: the program behind each name."""
    rows = run.manifest.get("algorithms") or []
    if not rows:
        return Html("")
    # A model has its own code, and loads no program.
    was_loaded = capabilities(run.engine).loads_algorithms
    names = ["Name", "Program" if was_loaded else "In place of", "Parameters"]
    names += ["Loaded", "Registered as", "SHA-256 of the source"] if was_loaded else []
    head = el("thead", el("tr", *(el("th", name, scope="col") for name in names)))
    body = el(
        "tbody",
        *(
            el(
                "tr",
                el("th", row["label"], scope="row"),
                el("td", source(wire.source(row["source"]))),
                el("td", spelled(row["parameters"])),
                *(_as_loaded(row) if was_loaded else ()),
            )
            for row in rows
        ),
    )
    return join(el("h2", "Congestion controls"), _table("Congestion controls", head, body, len(rows), "fit"))


def _as_loaded(row: Mapping[str, Any]) -> tuple[Html, ...]:
    return (
        el("td", _LOADED.get(str(row.get("loaded")), words.UNKNOWN)),
        el("td", row.get("registered") or words.UNKNOWN),
        el("td", (row.get("source_sha256") or words.UNKNOWN)[:12]),
    )


def links(run: Run, known: Facts, plots: Plots) -> Html:
    """One row per link that can delay or drop: it has a rate or a delay, or it lost something.

    In a large network, links that carried nothing have no row.
    """
    planned = {link.name: link for link in run.plan.links}
    peaks = {
        view.name: float(line.values.max() or 0) * panel.per_unit  # type: ignore[arg-type]
        for panel in plots.panels
        if panel.key == "queue_bytes"
        for view in panel.views
        for line in view.lines
        if view.name
    }
    order = {link.name: place for place, link in enumerate(known.limited_links)}
    rows = [row for row in summary_list(run, "links") if _matters(row, planned[row["name"]])]
    if (all_rows := len(rows)) > _MOST_LINKS:
        rows = [row for row in rows if row["arrived_packets"]]
    rows.sort(key=lambda row: order.get(row["name"], len(order)))
    one = {"rowspan": "2", "scope": "col"}
    head = el(
        "thead",
        el(
            "tr",
            *(el("th", name, **one) for name in ("Link", "Path")),
            *(
                el("th", name, class_="n", **one)
                for name in ("Rate", "Delay", "Buffer", "Utilisation", "Drops", "Losses")
            ),
            el("th", "Queueing delay (ms)", class_="span", colspan="3", scope="colgroup"),
            el("th", "Max queue", class_="n", **one),
            *([el("th", "As bottleneck", class_="n", **one)] if known.has_several else []),
        ),
        el("tr", *(el("th", name, class_="n", scope="col") for name in ("median", "p95", "max"))),
    )
    shares = known.has_several
    body = el("tbody", *(_link(row, planned[row["name"]], peaks.get(row["name"]), shares) for row in rows))
    idle = all_rows - len(rows)
    said = f"{words.count(idle, 'other link')} carried nothing; summary.json lists all."
    return join(_table("Links", head, body, len(rows)), el("p", said, class_="beneath") if idle else Html(""))


def _link(row: Mapping[str, Any], plan: Link, peak: float | None, with_bottlenecks: bool) -> Html:
    rate, queue = row.get("rate_bps"), row.get("queue_ms") or {}
    used = row["utilisation"]
    return el(
        "tr",
        el("th", row["name"], scope="row"),
        el("td", f"{plan.from_} → {plan.to}"),
        el("td", "no limit" if rate is None else words.rate(rate), class_="n"),
        el("td", words.seconds(plan.delay_ns / 1e9), class_="n"),
        el("td", buffer_words(plan), class_="n"),
        el("td", words.share(used), _meter(used, None), class_="n"),
        el("td", words.count(row["drops"]), class_="n"),
        el("td", words.count(row.get("losses")), class_="n"),
        *(el("td", words.milliseconds(queue.get(key)), class_="n") for key in ("p50", "p95", "max")),
        el("td", words.size(peak), class_="n"),
        *([el("td", words.share(row.get("bottleneck_share")), class_="n")] if with_bottlenecks else []),
    )


_EVENTS: Final = (
    *((fate, kind.word) for fate, kind in REASONS.items() if fate.startswith("dropped-")),
    ("losses", "lost"),
    ("marks", "ECN-marked"),
    ("duplicates", "duplicated"),
    ("reordered", "reordered"),
    ("corrupted", "corrupted"),
)


def packet_events(run: Run) -> Html:
    """One row per link that did more to packets than deliver them; columns only for events that occurred.

    The table is empty where the table of links has everything: full buffers and losses.
    """
    rows = [(row, {**row, **row["drops_by_reason"]}) for row in summary_list(run, "links")]
    columns = [(key, word) for key, word in _EVENTS if any(counts[key] for _, counts in rows)]
    touched = [(row, counts) for row, counts in rows if any(counts[key] for key, _ in columns)]
    if {key for key, _ in columns} <= {"dropped-tail", "losses"}:
        return Html("")
    drops = sum(key.startswith("dropped-") for key, _ in columns)
    one = {"rowspan": "2", "scope": "col"} if drops else {"scope": "col"}
    head = el(
        "thead",
        el(
            "tr",
            el("th", "Link", **one),
            el("th", "Packets", class_="n", **one),
            *([el("th", "Dropped", class_="span", colspan=str(drops), scope="colgroup")] if drops else []),
            *(el("th", f"{word[0].upper()}{word[1:]}", class_="n", **one) for _, word in columns[drops:]),
        ),
        *([el("tr", *(el("th", word, class_="n", scope="col") for _, word in columns[:drops]))] if drops else []),
    )
    body = el(
        "tbody",
        *(
            el(
                "tr",
                el("th", row["name"], scope="row"),
                el("td", words.count(row["arrived_packets"]), class_="n"),
                *(el("td", _counted(row, counts, key), class_="n") for key, _ in columns),
            )
            for row, counts in touched
        ),
    )
    return join(el("h2", "Packet events"), _table("Packet events", head, body, len(touched), "fit"))


def _counted(row: Mapping[str, Any], counts: Mapping[str, Any], key: str) -> str:
    share = row["marked_share"] if key == "marks" else None
    return words.count(counts[key]) + (f" ({words.share(share)})" if share else "")


def changes(plots: Plots) -> Html:
    """The changes of the plan during the run."""
    if not plots.changes:
        return Html("")
    head = el("thead", el("tr", *(el("th", name, scope="col") for name in ("At", "Link or router", "From then on"))))
    body = el(
        "tbody",
        *(
            el("tr", el("th", words.seconds(one.time_s), scope="row"), el("td", one.link), el("td", one.words))
            for one in plots.changes
        ),
    )
    return join(el("h2", "Changes"), _table("Changes", head, body, len(plots.changes), "fit"))


def rerouting(run: Run) -> Html:
    """Table of the effects of each failure in a network whose routers have daemons; nothing without one."""
    found = run.summary.get("rerouting")
    if not found:
        return Html("")
    names = ("At", "Event", "Last change after", "Changes", "Routers", "Lost", "Looped", "Longest outage")
    head = el(
        "thead",
        el("tr", *(el("th", name, class_="" if name in ("At", "Event") else "n", scope="col") for name in names)),
    )
    body = (
        el(
            "tr",
            el("th", words.seconds(one["at_s"]), scope="row"),
            el("td", words.listed(one["events"])),
            el("td", _rounded(one["converged_s"]), class_="n"),
            *(el("td", words.count(one[key]), class_="n") for key in ("changes", "routers")),
            *(el("td", words.count(one[key]), class_="n") for key in ("lost_packets", "looped_packets")),
            el("td", _outage(one["outages_s"]), class_="n"),
        )
        for one in found
    )
    said = (
        "Last change: the last one of any router's routes before the next event. Lost, looped: packets until then. "
        "Outage: the longest time in which nothing of a flow arrived."
    )
    table = _table("Rerouting", head, el("tbody", *body), len(found), "fit")
    return join(el("h2", "Rerouting"), table, el("p", said, class_="beneath"))


def _rounded(seconds: float | None) -> str:
    return words.UNKNOWN if seconds is None else words.seconds(round(seconds, 3))


def _outage(outages: Sequence[Mapping[str, Any]] | None) -> str:
    if not outages:
        return words.UNKNOWN
    longest = max(outages, key=lambda one: float(one["outage_s"]))
    end = "" if longest["recovered"] else ", to its end"
    return f"{_rounded(longest['outage_s'])} ({longest['flow']}{end})"


def buffer_words(link: Link) -> str:
    """`375 kB`, `100 packets` or `no limit`."""
    match link.buffer:
        case BufferBytes(bytes=size):
            return words.size(size)
        case BufferPackets(packets=packets):
            return words.count(packets, "packet")
        case _:
            return "no limit"


def _matters(row: Mapping[str, Any], plan: Link) -> bool:
    return bool(row.get("rate_bps") or plan.delay_ns or row.get("drops") or row.get("losses"))


def _table(label: str, head: Html, body: Html, n: int, also: str = "") -> Html:
    kind = " ".join(filter(None, ["wide", "tall" if n > _SCROLL_FROM else "", also]))
    return el(
        "div", el("table", head, body, aria_label=label), class_=kind, tabindex="0", role="region", aria_label=label
    )


def _swatch(group: Group | None) -> Html:
    if group is None:
        return Html("")
    return el("i", class_="swatch dashed" if group.dash else "swatch", aria_hidden="true", style=_colors(group))


def _meter(share: float | None, group: Group | None) -> Html:
    if share is None:
        return Html("")
    width = f"width:{min(1.0, share):.1%}"
    bar = el("i", style=f"{width};{_colors(group)}" if group else width)
    return el("span", bar, class_="meter", aria_hidden="true")


def _colors(group: Group) -> str:
    return f"--light:{group.light};--dark:{group.dark}"


def _s(value: float | None) -> str:
    return words.UNKNOWN if value is None else f"{value:.2f}"
