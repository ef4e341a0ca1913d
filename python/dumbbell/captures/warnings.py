"""Limits of a capture's figures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dumbbell.captures.model import Summary
from dumbbell.counts import by_number, count


def of(summary: Summary, total: Callable[..., tuple[int, ...]]) -> list[str]:
    """Sentences about an analysed capture, the worst first. `total`: sums of columns of a table."""
    notes, found = summary["notes"], list[str]()
    unseen, large, data, packets, doubled, cut = total(
        "directions", "unseen_bytes", "large_packets", "data_packets", "packets", "capture_duplicates", "cut_options"
    )
    one_sided, breaks = total("connections", "one_sided", "clock_breaks")
    (copied,) = total("directions", "network_duplicates")
    if is_of_several_places(data, copied):
        found.append(several_places(summary.get("interfaces", [])))
    if unseen:
        found.append(
            f"The capture lacks packets: {count(unseen, 'byte')} {by_number(unseen, 'was', 'were')} acknowledged but "
            "not captured. Loss counts are upper bounds."
        )
    if notes["capture_drops"]:
        found.append(f"The capturing program dropped {count(notes['capture_drops'], 'packet')}, as the file says.")
    if notes["damages"]:
        found.append(_damaged(notes["damages"]))
    if notes["cut_files"]:
        found.append(
            "A file ends within a packet: the capture was stopped while it was being written, or the file is "
            "compressed and damaged, or a thousand times as large once it is decompressed. Everything before that was "
            "analysed."
        )
    if notes["headless_frames"]:
        found.append(
            f"Not read: {count(notes['headless_frames'], 'packet')} cut before the end of the headers. "
            "Capture at least 128 bytes of each (snaplen)."
        )
    if cut:
        found.append(
            f"TCP options of {count(cut, 'packet')} were cut: receive windows are unknown if a SYN's were, and SACK "
            "blocks and timestamps are missing. Capture 128 bytes of each packet."
        )
    if notes["overlapping_files"] and breaks:
        found.append(
            "Connections are in files that overlap in time: their packets count twice. Name captures of two places "
            "with --and."
        )
    if large:
        share = 100 * large / max(data, 1)
        found.append(f"Offloads had merged {share:.0f} % of the packets with data: packet counts are lower bounds.")
    if one_sided:
        found.append(f"Packets of one direction only: {count(one_sided, 'connection')}.")
    if packets and doubled >= 0.9 * packets:
        found.append(
            "The capture holds each packet twice, as one of all interfaces (tcpdump -i any) does on a bridge or a "
            f"router: {count(doubled, 'copy', 'copies')} {by_number(doubled, 'was', 'were')} left out. To capture "
            "packets once, name one interface."
        )
    elif doubled:
        found.append(
            f"{count(doubled, 'packet')} {by_number(doubled, 'was', 'were')} captured twice "
            f"and {by_number(doubled, 'counts', 'count')} once."
        )
    if notes["backward_steps"]:
        most = notes["largest_backward_step_ns"] / 1e6
        found.append(f"The clock went backwards {count(notes['backward_steps'], 'time')}, by at most {most:.3f} ms.")
    if summary["evicted"]:
        found.append(f"Analysed only in part, for lack of memory: {count(summary['evicted'], 'connection')}.")
    if summary.get("segments_incomplete"):
        found.append(
            "The table of segments lacks connections that became large late: memory was short, and standard input "
            "cannot be read again. Analyse a file instead."
        )
    for link, packets in notes["unknown_links"][:_MOST_LINKS]:
        found.append(f"Not read: {count(packets, 'packet')} of link type {link}, which dumbbell does not know.")
    if others := notes["unknown_links"][_MOST_LINKS:]:
        packets = sum(packets for _, packets in others)
        found.append(f"Not read: {count(packets, 'packet')} of {len(others):,} further link types.")
    return found


_MOST_LINKS: Final = 4
"""Link types that are named."""
_EACH: Final = 0.4
"""Share of the packets with data that are copies of others, from which on a capture has most of them twice."""


def is_of_several_places(data: int, copied: int) -> bool:
    """True if most of `data` packets are in a capture twice, by its count of copies on their way."""
    return bool(data) and copied >= _EACH * data


def several_places(interfaces: list[str | None]) -> str:
    """A sentence about a capture of several places, with names of its interfaces."""
    names = [name for name in interfaces if name is not None]
    which = f" ({', '.join(names[:4])}{', ...' if len(names) > 4 else ''})" if names else ""
    return (
        "Most packets are in the capture twice, with more than 1 ms between: it was taken at several places of the "
        f"path. RTTs, losses and causes are wrong. Name the interface of one place with --interface{which}, or "
        "analyse a file of each place, and both with --and."
    )


def _damaged(places: int) -> str:
    if places == 1:
        return "The file is damaged in one place; reading continued after it."
    return f"The file is damaged in {count(places, 'place')}; reading continued after each."
