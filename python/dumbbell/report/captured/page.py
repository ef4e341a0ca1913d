"""A capture's report as one HTML file. Text of the capture, as names of interfaces, is escaped like all other."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import polars as pl

from dumbbell import parquet
from dumbbell.captures import Capture
from dumbbell.captures.detail import Part
from dumbbell.captures.directions import sent_again
from dumbbell.captures.model import Summary
from dumbbell.captures.rows import Connection, Direction
from dumbbell.captures.truth import TRUTH, matrix
from dumbbell.counts import by_number
from dumbbell.report import words
from dumbbell.report.captured.diagnosed import Diagnoses, diagnoses, listed
from dumbbell.report.captured.hosts import pairs
from dumbbell.report.captured.series import build
from dumbbell.report.captured.source import limited_by, place_of, words_of
from dumbbell.report.render import html
from dumbbell.report.render.markup import Html, el, join
from dumbbell.report.render.payload import payload
from dumbbell.report.render.sections import fact, missing

_MOST_ROWS: Final = 100
"""Directions in the table, those with the most bytes."""
_HOW: Final = "All plots share one axis: drag to zoom, double-click to see the whole capture again."
_NO_SCRIPT: Final = "The plots need JavaScript. dumbbell report DIRECTORY --format svg writes them as figures."


def page(
    capture: Capture,
    parts: Sequence[Part] | None = None,
    only: Sequence[int] | None = None,
    span_ns: tuple[int, int] | None = None,
) -> str:
    """The report of `capture`, with plots of connections `only` or of the largest; packets of `parts` are drawn one by
    one, or where it matters if they are `None`. The plots show `span_ns` first.

    Raises `DumbbellError` if the front end was not built.
    """
    plots = build(capture, parts, only, span_ns)
    return html.document(
        title=f"{capture.name}: {words.count(capture.summary['connections'], 'connection')}",
        verdict=_warnings(capture),
        name=capture.name,
        facts=_facts(capture),
        main=join(
            *_connections(capture),
            el("h2", "Over time", id="over-time"),
            el("p", _HOW, class_="how"),
            missing(plots.missing),
            el("noscript", el("p", _NO_SCRIPT, class_="missing")),
            el("div", id="plots"),
            _truth(capture),
            _hosts(capture),
            _others(capture),
        ),
        footer=f"Analysed capture in {capture.directory.name}. This file needs no network.",
        series=payload(plots),
    )


def _warnings(capture: Capture) -> Html:
    """The first lines: what limits the figures."""
    found = capture.warnings
    kind, said = ("suspect", "What limits the figures:") if found else ("valid", "No problems found in the capture.")
    head = el("p", el("strong", said))
    body = el("ul", *(el("li", one) for one in found)) if found else Html("")
    return el("div", head, body, class_=f"verdict {kind}", role="status")


def _facts(capture: Capture) -> Html:
    summary = capture.summary
    notes = summary["notes"]
    began = datetime.fromtimestamp(summary["origin_ns"] / 1e9, UTC)
    places = capture.places()
    seen = words.listed(f"{place} ({count:,})" for place, count in places.items()) or words.UNKNOWN
    files = words.count(len(summary["files"]), "file")
    pairs = [
        ("Began", f"{began.day} {began:%b %Y}", f"{began:%H:%M:%S.%f} UTC"),
        ("Duration", words.seconds(round(summary["end_ns"] / 1e9, 6)), "from the first TCP packet to the last"),
        ("TCP packets", f"{summary['segments']:,}", f"of {words.count(notes['frames'], 'packet')} in {files}"),
        ("Connections", f"{summary['connections']:,}", ""),
        ("Seen from", seen, f"where the capture was taken{_stated_place(summary)}"),
    ]
    if summary["only"]:
        pairs.append(("Interfaces", words.listed(summary["only"]), "the others were left out"))
    return el("dl", (fact(*pair) for pair in pairs), class_="facts")


def _stated_place(summary: Summary) -> str:
    return f", as --at {summary['at']} says" if summary.get("at") else ""


_HEADS: Final = (
    ("Connection", ""), ("Path", ""), ("State", ""), ("Seen from", ""), ("Bytes", "n"), ("Goodput", "n"),
    ("RTT (ms)", "n"), ("p95", "n"), ("Sent again", "n"), ("Needless", "n"), ("Timeouts", "n"), ("Most in flight", "n"),
    ("Limited by", ""), ("Diagnosis", ""),
)  # fmt: skip


def _connections(capture: Capture) -> list[Html]:
    """Sentences on what holds the largest connections back, and a table of directions."""
    shown = capture.largest(_MOST_ROWS)
    about = capture.about(row["connection"] for row in shown)
    known = diagnoses(capture, shown)
    rows = [_row(about[row["connection"]], row, known) for row in shown]
    head = el("thead", el("tr", *(el("th", name, scope="col", class_=kind) for name, kind in _HEADS)))
    tall = "wide tall" if len(rows) > 16 else "wide"
    table = el("table", head, el("tbody", *rows), aria_label="Connections", class_="sortable")
    region = el("div", table, class_=tall, tabindex="0", role="region", aria_label="Connections")
    said = "The table has a row for each direction with data, the largest first."
    if len(rows) == _MOST_ROWS:
        said += " Others are in directions.parquet."
    items = [
        el("li", el("b", f"{number}  {words_of(about[number], direction)}"), " ", sentences)
        for number, direction, sentences in listed(known)
    ]
    why = [el("h2", "Diagnosis"), el("ul", *items, class_="how")] if items else []
    return [*why, el("h2", "Connections"), region, el("p", said, class_="beneath")]


def _row(connection: Connection, row: Direction, diagnoses: Diagnoses) -> Html:
    def ms(time_ns: int | None) -> str:
        return words.milliseconds(None if time_ns is None else time_ns / 1e6)

    again = sent_again(row)
    diagnosis = diagnoses.get((row["connection"], str(row["direction"])))
    numbers = [
        (f"{row['payload_bytes']:,}", row["payload_bytes"]),
        (words.measured_rate(row["goodput_bps"]), row["goodput_bps"]),
        (ms(row["rtt_p50_ns"]), row["rtt_p50_ns"]),
        (ms(row["rtt_p95_ns"]), row["rtt_p95_ns"]),
        (words.count(again), again),
        (words.count(row["needless_retransmissions"]), row["needless_retransmissions"]),
        (words.count(row["timeouts"]), row["timeouts"]),
        (words.size(row["in_flight_max_bytes"]), row["in_flight_max_bytes"]),
    ]
    return el(
        "tr",
        el("th", str(row["connection"]), scope="row", data_value=str(row["connection"])),
        el("td", words_of(connection, str(row["direction"]))),
        el("td", connection["state"]),
        el("td", place_of(connection)),
        # What is not known has no value, and is sorted behind all others.
        *(el("td", said, class_="n", **({} if of is None else {"data_value": str(of)})) for said, of in numbers),
        el("td", limited_by(row)),
        el("td", str(diagnosis[0].cause) if diagnosis else words.UNKNOWN),
    )


_TRUTH_HEADS: Final = (("True", ""), ("Said", ""), ("Packets", "n"))


def _truth(capture: Capture) -> Html:
    """Table for a run: the truth of packets, and what is said of them."""
    place = capture.directory / TRUTH
    if not place.is_file():
        return Html("")
    frame = parquet.read(place)
    rows = [
        el("tr", el("th", real, scope="row"), el("td", said), el("td", f"{count:,}", class_="n"))
        for real, said, count in matrix(frame)
    ]
    if not rows:
        return Html("")
    head = el("thead", el("tr", *(el("th", name, scope="col", class_=kind) for name, kind in _TRUTH_HEADS)))
    table = el("table", head, el("tbody", *rows), aria_label="Classes against the truth")
    right = frame.filter(pl.col("class_right") & pl.col("cause_right")).height
    said = (
        f"All packets of the run except new in-order data. {right:,} of {frame.height:,} are classified correctly. "
        "The run's records do not say why a segment was retransmitted, so any cause of it counts as right."
    )
    return join(
        el("h2", "Classes against the truth"),
        el("div", table, class_="wide fit", tabindex="0", role="region", aria_label="Classes against the truth"),
        el("p", said, class_="beneath"),
    )


_HOST_HEADS: Final = (
    ("Client", ""), ("Server", ""), ("Ports", ""), ("Connections", "n"), ("Packets", "n"), ("To the server", "n"),
    ("To the client", "n"), ("From (s)", "n"), ("To (s)", "n"),
)  # fmt: skip


def _hosts(capture: Capture) -> Html:
    """Pairs of hosts that talk; nothing if there are only two hosts."""
    shown, count = pairs(capture)
    if count < 2:
        return Html("")
    rows = [
        el(
            "tr",
            el("th", pair.client, scope="row"),
            el("td", pair.server),
            el("td", ", ".join(str(port) for port in pair.ports)),
            *(
                el("td", one, class_="n")
                for one in (
                    f"{pair.connections:,}", f"{pair.packets:,}", f"{pair.to_server_bytes:,}",
                    f"{pair.to_client_bytes:,}", f"{pair.start_ns / 1e9:.3f}", f"{pair.end_ns / 1e9:.3f}",
                )
            ),
        )
        for pair in shown
    ]  # fmt: skip
    head = el("thead", el("tr", *(el("th", name, scope="col", class_=kind) for name, kind in _HOST_HEADS)))
    table = el("table", head, el("tbody", *rows), aria_label="Hosts")
    said = "Pairs of hosts and ports of servers, those with the most payload first."
    if count > len(shown):
        more = count - len(shown)
        said += f" {words.count(more, 'more pair')} {by_number(more, 'is', 'are')} in connections.parquet."
    region = el("div", table, class_="wide", tabindex="0", role="region", aria_label="Hosts")
    return join(el("h2", "Hosts"), region, el("p", said, class_="beneath"))


def _others(capture: Capture) -> Html:
    """Table of protocols other than TCP."""
    others = capture.summary["notes"]["others"]
    if not others:
        return Html("")
    names = ("Protocol", "Packets", "Bytes")
    head = el("thead", el("tr", *(el("th", one, scope="col", class_="" if one == names[0] else "n") for one in names)))
    body = el(
        "tbody",
        *(
            el(
                "tr",
                el("th", one["name"], scope="row"),
                el("td", f"{one['packets']:,}", class_="n"),
                el("td", f"{one['bytes']:,}", class_="n"),
            )
            for one in others
        ),
    )
    table = el("table", head, body, aria_label="Not TCP")
    return join(el("h2", "Not TCP"), el("div", table, class_="wide fit", tabindex="0", role="region"))
