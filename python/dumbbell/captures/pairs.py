"""Two captures of the same packets at two places: delays between them, and where packets were lost.

Transmissions are matched by their last byte, their timestamp and their place among equals, not packet by packet:
offloads may have cut them in different ways at both places. A delay is that of a transmission's last byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import polars as pl

from dumbbell.captures.capture import Capture
from dumbbell.captures.clocks import Clocks, compare
from dumbbell.captures.detail import Part, read
from dumbbell.counts import number
from dumbbell.errors import InputError
from dumbbell.frozen import dataclass
from dumbbell.outputs import write_parquet

_ALL_NS: Final = 1 << 61
DIRECTIONS: Final = ("to-server", "to-client")
PAIRS: Final = "pairs.parquet"
BETWEEN: Final = "between"
"""In the summary of the first capture: where the second was taken, and how its clock differs."""


@dataclass(frozen=True)
class Between:
    """Result of two captures together."""

    pairs: pl.DataFrame
    """A row for each packet that either has, in the order of time.

    `connection` (of the first capture), `direction`, `is_data`, `seq`, `bytes`, `first_ns`, `second_ns` (both from the
    first packet of the first capture, each by its own clock), `delay_ns` (in the packet's direction, by both clocks),
    `fate` (`delivered`; `lost`: between them; `missed-by-first`, `missed-by-second`: a capture lost it; `copied`: made
    between them), `marked` (Congestion Experienced was set between them), `is_reordered` (it came behind a later one,
    RFC 4737).
    """
    ways: pl.DataFrame
    """A row for each direction: counts of fates, and delays in ns: least, median, 95th percentile, most."""
    clocks: Clocks
    first_is_nearer: bool
    """The first capture is nearer to the clients than the second."""
    unrelated: tuple[int, ...] = ()
    """Connections of the first capture whose addresses and ports are those of one in the second, and none of whose
    packets are: they are left out."""

    def keep(self, first: Capture) -> None:
        """Write the pairs to the directory of the first capture, whose report draws them."""
        write_parquet(self.pairs, first.directory / PAIRS)
        low, high = self.clocks.offset_low_ns, self.clocks.offset_high_ns
        offset = None if low is None or high is None else round((low + high) / 2)
        first.note(BETWEEN, {"first_is_nearer": self.first_is_nearer, "offset_ns": offset})


def between(first: Capture, second: Capture, only: Sequence[int] | None = None) -> Between:
    """Match what two captures have in common: of some connections of the first, or of all.

    Raises:
        InputError: they have no connection or no packet in common, or their files cannot be read again.
    """
    numbers = common(first, second)
    if only is not None:
        numbers = {number: other for number, other in numbers.items() if number in only}
    if not numbers:
        raise InputError(
            f"{first.name} and {second.name} have no connection in common",
            "connections are matched by addresses, ports and the time of their first packet",
            "take both at the same time, on one side of any address translation",
        )
    shift = second.summary["origin_ns"] - first.summary["origin_ns"]
    a = _packets(first, {number: number for number in numbers}, 0)
    b = _packets(second, {other: number for number, other in numbers.items()}, shift)
    nearer = _first_is_nearer(first, second, numbers)
    rows = pl.concat([_matched(a, b, direction, (direction == "to-server") == nearer) for direction in DIRECTIONS])
    related = set(rows.filter(pl.col("fate") == "delivered")["connection"])
    if not related:
        raise InputError(
            f"{first.name} and {second.name} have no packet in common",
            f"connections have equal addresses and ports, but other packets: {_began(first, second)}",
            "take both captures at the same time",
        )
    unrelated = tuple(sorted(numbers.keys() - related))
    numbers = {number: other for number, other in numbers.items() if number in related}
    rows = _missed(rows.filter(pl.col("connection").is_in(list(related))), first, second, numbers, nearer)
    there = rows.filter((pl.col("fate") == "delivered") & ((pl.col("direction") == "to-server") == nearer))
    back = rows.filter((pl.col("fate") == "delivered") & ((pl.col("direction") == "to-server") != nearer))
    found = compare(*(frame[name].to_numpy() for frame in (there, back) for name in ("first_ns", "delay_ns")))
    return Between(rows.sort("at_ns", maintain_order=True).drop("at_ns"), _summed(rows), found, nearer, unrelated)


def _began(first: Capture, second: Capture) -> str:
    """How far apart in time two captures began."""
    apart_s = (second.summary["origin_ns"] - first.summary["origin_ns"]) / 1e9
    return f"the second began {number(abs(apart_s))} s {'after' if apart_s >= 0 else 'before'} the first"


def common(first: Capture, second: Capture) -> dict[int, int]:
    """Numbers of connections in the first capture, and theirs in the second.

    Equal endpoints may have had several connections: the n-th of one is the n-th of the other.
    """
    ends = ["client", "client_port", "server", "server_port"]

    def numbered(capture: Capture) -> pl.DataFrame:
        place = pl.int_range(pl.len()).over(ends).alias("place")
        return capture.connections.select("connection", *ends).with_columns(place)

    both = numbered(first).join(numbered(second), on=[*ends, "place"], suffix="_of_second")
    return dict(both.select("connection", "connection_of_second").rows())


def _packets(capture: Capture, numbers: dict[int, int], shift_ns: int) -> pl.DataFrame:
    """Packets of the connections, numbered as those of the first capture, at times of its origin."""
    detail = read(capture, [Part(number, -_ALL_NS, _ALL_NS, "all") for number in numbers])
    mark = pl.col("tsval").cast(pl.Int64).fill_null(pl.col("ip_id").cast(pl.Int64))
    is_data = pl.col("bytes") > 0
    return detail.segments.select(
        pl.col("connection").replace_strict(numbers, return_dtype=pl.Int64),
        pl.col("direction").cast(pl.String),
        "seq",
        "bytes",
        "ce",
        at_ns=pl.col("time_ns") + shift_ns,
        is_data=is_data,
        # Of what has no data: SYN, FIN and RST are told apart by their flags, and ACKs by what they acknowledge.
        last=pl.when(is_data)
        .then(pl.col("seq") + pl.col("bytes").cast(pl.Int64) - 1)
        .otherwise(pl.col("ack").fill_null(-1)),
        mark=mark,
        kind=pl.when(is_data).then(pl.lit("")).otherwise(pl.format("{} {}", "flags", "ip_id")),
    )  # fmt: skip


_KEYS: Final = ["connection", "kind", "mark"]


def _matched(a: pl.DataFrame, b: pl.DataFrame, direction: str, goes_there: bool) -> pl.DataFrame:
    """Pairs of a direction; with `goes_there` from the first capture to the second, else the other way."""
    sent, got = (a, b) if goes_there else (b, a)
    sent, got = (frame.filter(pl.col("direction") == direction) for frame in (sent, got))
    found = [
        _join(sent.filter(is_data), got.filter(is_data), "seq" if whole else "last")
        for whole, is_data in ((True, pl.col("is_data")), (False, ~pl.col("is_data")))
    ]
    rows = pl.concat(found)
    names = ("first", "second") if goes_there else ("second", "first")
    seen = pl.col("sent_ns").is_not_null(), pl.col("got_ns").is_not_null()
    fate = (
        pl.when(seen[0] & seen[1]).then(pl.lit("delivered"))
        .when(seen[0]).then(pl.lit("lost"))
        .when(pl.col("has_twin")).then(pl.lit("copied"))
        .otherwise(pl.lit(f"missed-by-{names[0]}"))
    )  # fmt: skip
    rows = rows.sort("got_ns", nulls_last=True, maintain_order=True)
    order = pl.col("sent_ns").cum_max().shift(1).over("connection")
    return rows.select(
        "connection",
        pl.lit(direction).alias("direction"),
        "is_data",
        "seq",
        "bytes",
        at_ns=pl.coalesce("sent_ns", "got_ns"),
        first_ns=pl.col("sent_ns" if goes_there else "got_ns"),
        second_ns=pl.col("got_ns" if goes_there else "sent_ns"),
        delay_ns=pl.col("got_ns") - pl.col("sent_ns"),
        fate=fate,
        marked=(pl.col("got_ce") & ~pl.col("sent_ce")).fill_null(value=False),
        is_reordered=(seen[0] & seen[1] & (pl.col("sent_ns") < order)).fill_null(value=False),
    )


def _join(sent: pl.DataFrame, got: pl.DataFrame, by: str) -> pl.DataFrame:
    """Each packet that was sent, with the one that has its last byte; then those that were got and never sent."""
    place = pl.int_range(pl.len()).over([*_KEYS, "last"])
    sent = sent.with_columns(nth=place).with_row_index("sent_row")
    got = got.with_columns(nth=pl.int_range(pl.len()).over([*_KEYS, by])).with_row_index("got_row")
    on = [*_KEYS, "nth"]
    joined = (
        sent.sort("last")
        .join_asof(
            got.select(*on, "got_row", got_from=pl.col(by), got_last="last", got_ns="at_ns", got_ce="ce").sort(
                "got_from"
            ),
            left_on="last",
            right_on="got_from",
            by=on,
            strategy="backward",
            check_sortedness=False,
        )
        .with_columns(is_in=(pl.col("got_last") >= pl.col("last")).fill_null(value=False))
    )
    empty = {name: pl.when("is_in").then(pl.col(name)) for name in ("got_row", "got_ns", "got_ce")}
    pairs = joined.sort("sent_row").select(
        "connection", "is_data", "seq", "bytes", sent_ns="at_ns", sent_ce="ce", has_twin=pl.lit(value=False), **empty
    )
    used = pairs["got_row"].drop_nulls()
    known = sent.select(*_KEYS, "last").unique().with_columns(has_twin=pl.lit(value=True))
    others = (
        got.filter(~pl.col("got_row").is_in(used.implode()))
        .join(known, on=[*_KEYS, "last"], how="left")
        .select(
            "connection", "is_data", "seq", "bytes",
            sent_ns=pl.lit(None, pl.Int64), sent_ce=pl.lit(None, pl.Boolean),
            has_twin=pl.col("has_twin").fill_null(value=False),
            got_row="got_row", got_ns="at_ns", got_ce="ce",
        )
    )  # fmt: skip
    return pl.concat([pairs, others])


def _missed(rows: pl.DataFrame, first: Capture, second: Capture, numbers: dict[int, int], nearer: bool) -> pl.DataFrame:
    """Finds packets that a capture never saw, although the receiver acknowledged them to it: it missed them."""
    parts = []
    for direction in DIRECTIONS:
        goes_there = (direction == "to-server") == nearer
        got, name = (second, "second") if goes_there else (first, "first")
        of = (
            {other: number for number, other in numbers.items()}
            if goes_there
            else {number: number for number in numbers}
        )
        unseen = got.events.filter(
            (pl.col("class").cast(pl.String) == "unseen")
            & (pl.col("direction").cast(pl.String) == direction)
            & pl.col("connection").is_in(list(of))
        )
        mine = rows.filter(pl.col("direction") == direction)
        if not unseen.is_empty():
            holes = unseen.select(
                pl.col("connection").replace_strict(of, return_dtype=pl.Int64),
                hole="seq",
                hole_end=pl.col("seq") + pl.col("bytes").cast(pl.Int64),
            )
            mine = (
                mine.with_row_index("row")
                .sort("seq")
                .join_asof(holes.sort("hole"), left_on="seq", right_on="hole", by="connection", check_sortedness=False)
                .sort("row")
                .with_columns(
                    fate=pl.when((pl.col("fate") == "lost") & pl.col("is_data") & (pl.col("seq") < pl.col("hole_end")))
                    .then(pl.lit(f"missed-by-{name}"))
                    .otherwise(pl.col("fate"))
                )
                .drop("row", "hole", "hole_end")
            )
        parts.append(mine)
    return pl.concat(parts)


def _first_is_nearer(first: Capture, second: Capture, numbers: dict[int, int]) -> bool:
    """By the share of the round trip between the clients and each capture; if that is not known, the first is."""

    def share(capture: Capture, of: list[int]) -> Any:
        return capture.connections.filter(pl.col("connection").is_in(of))["place_share"].median()

    shares = share(first, list(numbers)), share(second, list(numbers.values()))
    return None in shares or shares[0] <= shares[1]


def _summed(rows: pl.DataFrame) -> pl.DataFrame:
    """A row for each direction, of packets with data and of all."""
    delay = pl.col("delay_ns")
    return (
        rows.group_by("connection", "direction")
        .agg(
            packets=pl.len(),
            data_packets=pl.col("is_data").sum(),
            delivered=(pl.col("fate") == "delivered").sum(),
            lost=(pl.col("fate") == "lost").sum(),
            lost_data=((pl.col("fate") == "lost") & pl.col("is_data")).sum(),
            copied=(pl.col("fate") == "copied").sum(),
            missed_by_first=(pl.col("fate") == "missed-by-first").sum(),
            missed_by_second=(pl.col("fate") == "missed-by-second").sum(),
            marked=pl.col("marked").sum(),
            reordered=pl.col("is_reordered").sum(),
            delay_min_ns=delay.min(),
            delay_p50_ns=delay.quantile(0.5, "higher").cast(pl.Int64),
            delay_p95_ns=delay.quantile(0.95, "higher").cast(pl.Int64),
            delay_max_ns=delay.max(),
        )
        .sort("connection", "direction", descending=[False, True])
    )
