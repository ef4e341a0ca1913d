"""Figures that rincao-2021 prints, summed up for its findings."""

from __future__ import annotations

from collections.abc import Collection
from statistics import mean
from typing import Final

from dumbbell.published.packaged import rows
from dumbbell.published.rincao_2021.grid import ALL, PRINTED, SHARES, Mix

THEIRS: Final = {
    (int(row["bottleneck_mbit"]), row["cc"], int(row["cc_share_percent"]), int(row["connections"]), row["udp_percent"]):
    1e3 * float(row["mean_flow_throughput_kbit"])
    for row in rows("rincao-2021/throughput")
}  # fmt: skip
"""Rate, algorithm, its percent of the connections, connections, percent of UDP -> throughput per connection, bit/s."""

MIXED: Final = tuple(mix for mix in ALL if 0 < mix.cubic < 100)


def theirs(mix: Mix, cc: str, connections: int, share: str) -> float:
    """Their throughput per connection, in bit/s."""
    return THEIRS[mix.mbit, cc, mix.algorithms[cc], connections, share.removesuffix(" %")]


def changes(mix: Mix, cc: str) -> dict[int, float]:
    """Connections -> relative change from 10 to 30 % UDP."""
    return {n: theirs(mix, cc, n, SHARES[-1]) / theirs(mix, cc, n, SHARES[0]) - 1 for n in PRINTED}


def mean_change(mix: Mix, cc: str, connections: Collection[int] = PRINTED) -> float:
    """Mean over these numbers of connections."""
    return mean(change for n, change in changes(mix, cc).items() if n in connections)


def most_lost() -> tuple[float, str]:
    """CUBIC's largest relative change, and its cell."""
    found = [(change, f"{mix.name}, {n} connections") for mix in ALL if mix.cubic for n, change in
             changes(mix, "cubic").items()]  # fmt: skip
    return min(found)


def bbr_above_cubic() -> list[float]:
    """BBR's throughput, in CUBIC's, in each cell of each mix."""
    return [theirs(mix, "bbr", n, udp) / theirs(mix, "cubic", n, udp) for mix, n, udp in _cells()]


def kept_by_cubic() -> list[float]:
    """CUBIC's throughput in each cell of each mix, in what it has alone in the same cell."""
    return [theirs(mix, "cubic", n, udp) / theirs(Mix(mix.mbit, 100), "cubic", n, udp) for mix, n, udp in _cells()]


def _cells() -> list[tuple[Mix, int, str]]:
    return [(mix, n, udp) for mix in MIXED for n in PRINTED for udp in SHARES]
