"""The columns of every record table: what readers may rely on. `docs/reference/records.md` says what each one means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import polars as pl

SCHEMA: Final = 2
"""Version of the run directory's layout. Grows when a reader of the former layout would misread the new one."""

TABLES: Final[dict[str, dict[str, str]]] = {
    "samples": {
        "time_ns": "i64",
        "flow": "dict",
        "socket": "u16",
        "cwnd_packets": "u32",
        "ssthresh_packets": "u32",
        "snd_mss_bytes": "u32",
        "srtt_us": "u32",
        "rttvar_us": "u32",
        "min_rtt_us": "u32",
        "bytes_in_flight": "u64",
        "pacing_rate_bps": "u64",
        "delivery_rate_bps": "u64",
        "delivery_rate_app_limited": "bool",
        "retransmitted_segments": "u32",
        "lost_packets": "u32",
        "ca_state": "dict",
        "bytes_sent": "u64",
        "bytes_acked": "u64",
        "bytes_retransmitted": "u64",
        "delivered_packets": "u32",
        "delivered_ce_packets": "u32",
        "busy_us": "u64",
        "rwnd_limited_us": "u64",
        "sndbuf_limited_us": "u64",
        "received_bytes": "u64",
        "bbr_bw_bps": "u64",
        "bbr_min_rtt_us": "u32",
        "bbr_pacing_gain": "f32",
        "bbr_cwnd_gain": "f32",
    },
    "packets": {
        "link": "dict",
        "flow": "dict",
        "packet": "u64",
        "size_bytes": "u32",
        "payload_bytes": "u32",
        "tcp_seq": "u32",
        "arrival_ns": "i64",
        "queue_bytes": "u64",
        "queue_packets": "u32",
        "departure_ns": "i64",
        "delivery_ns": "i64",
        "sent_ns": "i64",
        "sojourn_ns": "i64",
        "fate": "dict",
        "ecn": "dict",
        "mark": "dict",
        "duplicate": "bool",
        "reordered": "dict",
        "corrupted": "bool",
    },
    "links": {
        "time_ns": "i64",
        "link": "dict",
        "arrived_bytes": "u64",
        "arrived_packets": "u64",
        "departed_bytes": "u64",
        "departed_packets": "u64",
        "delivered_bytes": "u64",
        "delivered_packets": "u64",
        "dropped_packets": "u64",
        "lost_packets": "u64",
        "duplicated_packets": "u64",
        "marked_packets": "u64",
        "queue_bytes": "u64",
        "queue_packets": "u32",
        "queue_bytes_max": "u64",
        "capacity_bytes": "u64",
    },
    "flows": {
        "id": "str",
        "label": "str",
        "from": "str",
        "to": "str",
        "protocol": "str",
        "cc": "str",
        "port": "u16",
        "start_s": "f64",
        "stop_s": "f64",
        "sent_bytes": "u64",
        "received_bytes": "u64",
        "goodput_bps": "f64",
        "retransmitted_segments": "u64",
        "rtt_min_ms": "f64",
        "rtt_p50_ms": "f64",
        "rtt_p95_ms": "f64",
        "queue_p50_ms": "f64",
        "queue_p95_ms": "f64",
        "queue_max_ms": "f64",
        "ce_packets": "u64",
        "ce_share": "f64",
        "fct_s": "f64",
        "rwnd_limited_share": "f64",
        "sndbuf_limited_share": "f64",
    },
}
"""Table -> column -> type. `dict` is text of few values, stored as an Arrow dictionary."""


def polars_schema(table: str) -> dict[str, pl.DataType]:
    """The types of `table` as polars reads them."""
    import polars as pl

    types: dict[str, pl.DataType] = {
        "i64": pl.Int64(),
        "u16": pl.UInt16(),
        "u32": pl.UInt32(),
        "u64": pl.UInt64(),
        "f32": pl.Float32(),
        "f64": pl.Float64(),
        "bool": pl.Boolean(),
        "dict": pl.Categorical(),
        "str": pl.String(),
    }
    return {column: types[kind] for column, kind in TABLES[table].items()}
