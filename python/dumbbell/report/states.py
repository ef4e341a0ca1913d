"""BBR's states: their names and colours, and when a flow was in which."""

from __future__ import annotations

from typing import Final

import polars as pl

from dumbbell.frozen import dataclass
from dumbbell.report.acks import Acks
from dumbbell.report.decimate import round_width_ns
from dumbbell.report.model import State, States

# Any two colours differ by at least 20 in CIE L*a*b*, on white and on black, for people with full colour vision and
# with each kind of dichromacy (Machado, Oliveira and Fernandes, 2009). The height of a block shows the state a second
# time.
STATES: Final = (
    State("startup", "STARTUP", "#b13750", "#ee7b5e", 1.0),
    State("drain", "DRAIN", "#7c3170", "#9a63bd", 0.4),
    State("probe_bw_down", "PROBE_BW: DOWN", "#3233aa", "#7f78ff", 0.5),
    State("probe_bw_cruise", "PROBE_BW: CRUISE", "#97c5e1", "#2d5866", 0.66),
    State("probe_bw_refill", "PROBE_BW: REFILL", "#2684bb", "#13aca4", 0.83),
    State("probe_bw_up", "PROBE_BW: UP", "#b8860b", "#e1bd30", 1.0),
    State("probe_bw_below", "PROBE_BW: gain < 1", "#3233aa", "#7f78ff", 0.5),
    State("probe_bw", "PROBE_BW", "#97c5e1", "#2d5866", 0.66),
    State("probe_bw_above", "PROBE_BW: gain > 1", "#b8860b", "#e1bd30", 1.0),
    State("probe_rtt", "PROBE_RTT", "#111827", "#f4f4f0", 0.28),
)
INDEX: Final = {state.key: index for index, state in enumerate(STATES)}
BLOCKS_PER_LANE: Final = 4000
COLUMNS: Final = ("time_ns", "bbr_state", "bbr_pacing_gain")
"""The columns of `acks` that give the state."""


def of_rows() -> pl.Expr:
    """Index into `STATES` of each ACK. Version 1 has no phases in PROBE_BW; its gain tells them."""
    state, gain = pl.col("bbr_state").cast(pl.String), pl.col("bbr_pacing_gain")
    v1 = state == "probe_bw"
    key = (
        pl.when(v1 & (gain > 1.01))
        .then(pl.lit("probe_bw_above"))
        .when(v1 & (gain < 0.99))
        .then(pl.lit("probe_bw_below"))
        .otherwise(state)
    )
    return key.replace_strict(INDEX, default=None, return_dtype=pl.Int8)


@dataclass(frozen=True)
class Blocks:
    """The states of one flow; they are indices into `STATES`."""

    flow: str
    group: int
    states: States
    width_ns: int | None
    """The length below which states may be missing."""


def blocks(acks: Acks, lane: int, span_ns: int) -> Blocks | None:
    """The states of one flow, in this lane; `None` if it does not say its state."""
    told = acks.rows.select("time_ns", state=of_rows()).drop_nulls()
    if told.is_empty():
        return None
    last, width = told["time_ns"][-1], None
    first = _runs(told)
    if first.height > BLOCKS_PER_LANE:
        first = _runs(
            told.with_columns(
                pl.col("state").replace([INDEX["probe_bw_above"], INDEX["probe_bw_below"]], INDEX["probe_bw"])
            )
        )
    if first.height > BLOCKS_PER_LANE:
        width = round_width_ns(2 * span_ns / BLOCKS_PER_LANE)
        first = _runs(
            first.group_by(pl.col("time_ns") // width, maintain_order=True)
            .agg(t=pl.col("time_ns").first(), state=pl.col("state").first())
            .select(time_ns="t", state="state")
        )
    end = first["time_ns"].shift(-1, fill_value=last)
    found = States(lane, first["time_ns"] / 1e9, end / 1e9, first["state"])
    return Blocks(acks.flow, acks.group, found, width)


def _runs(frame: pl.DataFrame) -> pl.DataFrame:
    """The first row of each state."""
    return frame.filter(pl.col("state").ne_missing(pl.col("state").shift()))
