"""Events of a capture as the report draws them: a colour for each kind."""

from __future__ import annotations

from typing import Final

import polars as pl

from dumbbell.report.model import State

CAUSES: Final = (
    State("fast", "fast", "#d55e00", "#f07f2e", 1.0),
    State("tail-loss-probe", "tail loss probe", "#b8860b", "#e1bd30", 1.0),
    State("timeout", "timeout", "#b13750", "#ee5b6e", 1.0),
    State("after-timeout", "after a timeout", "#7c3170", "#c07ae0", 1.0),
    State("reordered", "reordered", "#2684bb", "#3d9fe0", 1.0),
    State("network-duplicate", "doubled by the network", "#13aca4", "#13aca4", 1.0),
    State("other", "other", "#5f656c", "#9aa1a9", 1.0),
    State("needless", "needless", "#111827", "#f4f4f0", 1.0),
    State("unseen", "lost by the capture", "#8a8f98", "#6b717a", 1.0),
    State("sacked", "SACK", "#7a3fb0", "#a97be0", 1.0),
)
INDEX: Final = {state.key: index for index, state in enumerate(CAUSES)}
SACKED: Final = INDEX["sacked"]


def key() -> pl.Expr:
    """The kind of a row of `events`, a key of `CAUSES`; null of what is not drawn."""
    cause, kind = pl.col("cause").cast(pl.String), pl.col("class").cast(pl.String)
    return (
        pl.when(pl.col("needless").is_not_null())
        .then(pl.lit("needless"))
        .when(kind == "unseen")
        .then(pl.lit("unseen"))
        .when(cause.is_in(list(INDEX)))
        .then(cause)
        .when(cause.is_not_null() | kind.is_in(["probe", "keepalive"]))
        .then(pl.lit("other"))
    )
