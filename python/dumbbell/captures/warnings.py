"""What limits the figures of a capture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def of(summary: dict[str, Any], total: Callable[..., tuple[int, ...]]) -> list[str]:
    """Sentences about an analysed capture, the worst first. `total`: sums of columns of a table."""
    notes, found = summary["notes"], list[str]()
    unseen, large, data, doubled, cut = total(
        "directions", "unseen_bytes", "large_packets", "data_packets", "capture_duplicates", "cut_options"
    )
    (one_sided,) = total("connections", "one_sided")
    if unseen:
        found.append(
            f"The capture lost packets: {unseen:,} bytes were acknowledged and never seen. Losses are at most."
        )
    if notes["capture_drops"]:
        found.append(f"The file says that {notes['capture_drops']:,} packets were dropped before they were captured.")
    if notes["damages"]:
        found.append(f"The file is damaged at {notes['damages']:,} places; reading went on behind them.")
    if notes["cut_files"]:
        found.append("The last packet of a file is cut off.")
    if notes["headless_frames"]:
        found.append(f"{notes['headless_frames']:,} packets were cut before the end of their headers.")
    if cut:
        found.append(
            f"TCP options of {cut:,} packets were cut: receive windows are unknown if a SYN's were, and SACK blocks "
            "and timestamps are missing. Capture 128 bytes of each packet."
        )
    if notes["overlapping_files"]:
        found.append(
            "Files overlap in time: packets in two of them count twice. Name captures of two places with --and."
        )
    if large:
        share = 100 * large / max(data, 1)
        found.append(f"Offloads had merged {share:.0f} % of the packets with data: counts of packets are at least.")
    if one_sided:
        found.append(f"{one_sided:,} connections have packets of one direction only.")
    if doubled:
        found.append(f"{doubled:,} packets were captured twice; they count once.")
    if notes["backward_steps"]:
        most = notes["largest_backward_step_ns"] / 1e6
        found.append(f"The clock went backwards {notes['backward_steps']:,} times, by {most:.3f} ms at most.")
    if summary["evicted"]:
        found.append(f"{summary['evicted']:,} connections were given up, for lack of memory.")
    if summary.get("segments_incomplete"):
        found.append(
            "Rows of packets are missing of connections that were large only late: memory was too little, and standard "
            "input is not read again."
        )
    for link, count in notes["unknown_links"]:
        found.append(f"{count:,} packets are of link type {link}, which dumbbell does not read.")
    return found
