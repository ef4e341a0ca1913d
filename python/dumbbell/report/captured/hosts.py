"""Pairs of hosts with their connections, as a table and over time: who talks to whom."""

from __future__ import annotations

from typing import Final

import polars as pl

from dumbbell.captures import Capture
from dumbbell.frozen import dataclass

MOST: Final = 12
"""Pairs that are shown, those with the most payload."""
_PORTS: Final = 3


@dataclass(frozen=True)
class Pair:
    """Two hosts."""

    client: str
    server: str
    connections: int
    ports: tuple[int, ...]
    """The servers' ports with the most payload."""
    packets: int
    to_server_bytes: int
    to_client_bytes: int
    start_ns: int
    end_ns: int

    @property
    def label(self) -> str:
        """Both hosts."""
        return f"{self.client} - {self.server}"


def pairs(capture: Capture) -> tuple[list[Pair], int]:
    """The pairs with the most payload, and how many there are in all. Of a million connections no more is kept."""
    sums = (
        capture.scan("directions")
        .with_columns(pl.col("direction").cast(pl.String))
        .group_by("connection")
        .agg(
            packets=pl.col("packets").sum(),
            there=pl.col("payload_bytes").filter(pl.col("direction") == "to-server").sum(),
            back=pl.col("payload_bytes").filter(pl.col("direction") == "to-client").sum(),
        )
    )
    joined = capture.scan("connections").join(sums, on="connection", how="left")
    by_port = joined.group_by("client", "server", "server_port").agg(
        connections=pl.len(),
        packets=pl.col("packets").sum(),
        there=pl.col("there").sum(),
        back=pl.col("back").sum(),
        start=pl.col("start_ns").min(),
        end=pl.col("end_ns").max(),
    )
    by_pair = (
        by_port.sort(pl.col("there") + pl.col("back"), "server_port", descending=[True, False])
        .group_by("client", "server", maintain_order=True)
        .agg(
            pl.col("connections").sum(),
            ports=pl.col("server_port").head(_PORTS),
            packets=pl.col("packets").sum(),
            there=pl.col("there").sum(),
            back=pl.col("back").sum(),
            start=pl.col("start").min(),
            end=pl.col("end").max(),
        )
        .collect()
    )
    ranked = by_pair.sort(
        pl.col("there") + pl.col("back"), "packets", "client", "server", descending=[True, True, False, False]
    )
    shown = [
        Pair(
            row["client"], row["server"], row["connections"], tuple(row["ports"]), row["packets"], row["there"],
            row["back"], row["start"], row["end"],
        )
        for row in ranked.head(MOST).to_dicts()
    ]  # fmt: skip
    return shown, by_pair.height
