"""ACKs made up by a formula, for tests of readers of `acks.parquet`. Nothing here was measured.

Flows share one bottleneck as a fluid, in steps of a millisecond. BBR flows walk through the states of their version at
set times; the others grow until the buffer overflows. An ACK is a row for every second packet that the fluid delivers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

FRAME, MSS = 1514, 1448
STEP_S: Final = 0.001
TARGETS: Final = {
    "startup": 2.0,
    "drain": 0.35,
    "probe_bw": 1.0,
    "probe_bw_down": 0.85,
    "probe_bw_cruise": 1.0,
    "probe_bw_refill": 1.08,
    "probe_bw_up": 1.45,
    "probe_rtt": 0.5,
}
"""State -> the window that a flow makes for, in its share of the BDP."""
CYCLE: Final = (("probe_bw_down", 0.15), ("probe_bw_cruise", 1.9), ("probe_bw_refill", 0.05), ("probe_bw_up", 0.25))
GAINS_V1: Final = (1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)

_Floats = npt.NDArray[np.floating[Any]]


@dataclass
class Bottleneck:
    """The path that the flows share, and the duration."""

    rate_bps: float
    rtt_s: float
    buffer_bytes: float
    duration_s: float

    @property
    def bdp(self) -> float:
        """The BDP in bytes."""
        return self.rate_bps * self.rtt_s / 8


@dataclass
class Flow:
    """One flow's window and what came of it, step by step."""

    id: str
    cc: str
    start_s: float
    inflight: float = 10.0 * MSS
    cut_s: float = -1.0
    peak: float = 0.0
    columns: dict[str, list[Any]] = field(default_factory=dict)

    @property
    def is_bbr(self) -> bool:
        """True for BBR of any version."""
        return self.cc.startswith("bbr")

    def state(self, since: float, base_s: float) -> tuple[str, int]:
        """State and cycle, so long after the start."""
        startup, drain = 8 * base_s, 2 * base_s
        if since < startup:
            return "startup", 0
        if since < startup + drain:
            return "drain", 0
        since -= startup + drain
        every, pause = (10.0, 0.2) if self.cc == "bbr" else (5.0, 0.2)
        if since % every > every - pause - base_s:
            return "probe_rtt", 0
        if self.cc == "bbr":
            return "probe_bw", int(since / base_s) % 8
        length = sum(seconds for _, seconds in CYCLE)
        at = since % length
        for name, seconds in CYCLE:
            if at < seconds:
                return name, 1 + int(since / length)
            at -= seconds
        return CYCLE[-1][0], 1 + int(since / length)


def acks(ccs: tuple[str, ...], starts_s: _Floats, path: Bottleneck, seed: int = 5) -> pl.DataFrame:
    """The rows of all flows but UDP's, in the order of time."""
    flows = [
        Flow(f"f{i + 1}", cc, float(start))
        for i, (cc, start) in enumerate(zip(ccs, starts_s, strict=True))
        if cc != "udp"
    ]
    _walk(flows, path)
    rng = np.random.default_rng(seed)
    frames = [_rows(flow, path, rng) for flow in flows if flow.columns]
    return pl.concat(frames, how="diagonal_relaxed").sort("time_ns", maintain_order=True)


def _walk(flows: list[Flow], path: Bottleneck) -> None:
    for step in range(round(path.duration_s / STEP_S)):
        now = step * STEP_S
        active = [flow for flow in flows if now >= flow.start_s]
        if not active:
            continue
        share = path.bdp / len(active)
        total = sum(flow.inflight for flow in active)
        queue = min(max(0.0, total - path.bdp), path.buffer_bytes)
        full = total - path.bdp > path.buffer_bytes
        rtt = path.rtt_s + queue * 8 / path.rate_bps
        for flow in active:
            _grow(flow, now, share, rtt, path, full)
            _note(flow, now, share, rtt, path, full)


def _grow(flow: Flow, now: float, share: float, rtt: float, path: Bottleneck, full: bool) -> None:
    since = now - flow.start_s
    if flow.is_bbr:
        state, cycle = flow.state(since, path.rtt_s)
        target = TARGETS[state] * share
        if state == "probe_bw":
            target *= 1 + 0.3 * (GAINS_V1[cycle] - 1) + 0.15
        if flow.cc == "bbr" and state == "probe_rtt":
            target = 4.0 * MSS
        pace = (1 if state == "startup" else 2.5) * STEP_S / rtt
        flow.inflight += (target - flow.inflight) * min(1.0, pace)
    elif flow.cut_s < 0:
        flow.inflight *= 1 + 0.7 * STEP_S / rtt
    else:
        after, k = now - flow.cut_s, np.cbrt(0.3 * flow.peak / MSS / 0.4)
        flow.inflight = max(2.0 * MSS, MSS * 0.4 * (after - k) ** 3 + flow.peak)
    if full and not flow.is_bbr and now - max(flow.cut_s, flow.start_s) > 2 * rtt:
        flow.peak, flow.cut_s = flow.inflight, now
        flow.inflight *= 0.7


def _note(flow: Flow, now: float, share: float, rtt: float, path: Bottleneck, full: bool) -> None:
    state, cycle = flow.state(now - flow.start_s, path.rtt_s) if flow.is_bbr else (None, 0)
    row = {
        "t": now,
        "inflight": flow.inflight,
        "rate": flow.inflight * 8 / rtt,
        "rtt": rtt,
        "share": share,
        "state": state,
        "cycle": cycle,
        "lost": int(full),
    }
    for key, value in row.items():
        flow.columns.setdefault(key, []).append(value)


def _rows(flow: Flow, path: Bottleneck, rng: np.random.Generator) -> pl.DataFrame:
    """A row for every second packet delivered."""
    of = {key: np.array(values) for key, values in flow.columns.items()}
    # The fluid is of frames; a sender counts payload.
    for key in ("inflight", "rate", "share"):
        of[key] = of[key] * MSS / FRAME
    delivered = np.cumsum(of["rate"] * STEP_S / 8)
    n = int(delivered[-1] / (2 * MSS))
    time = np.interp(np.arange(1, n + 1) * 2 * MSS, delivered, of["t"])
    at = np.minimum(np.searchsorted(of["t"], time), len(of["t"]) - 1)
    noise = np.clip(rng.normal(0.995, 0.01, n), 0.9, 1.02)
    inflight = of["inflight"][at]
    window = inflight * (2.0 if flow.is_bbr else 1.02) + 4 * MSS
    window = np.where(of["state"][at] == "probe_rtt", inflight, window)
    lost = np.cumsum(of["lost"])[at]
    una = np.arange(1, n + 1) * 2 * MSS
    # An ACK measures the conditions that its packet met one RTT ago, when it was sent.
    sent = np.maximum(np.searchsorted(of["t"], time - of["rtt"][at]), 0)
    rtt_us = (of["rtt"][sent] + rng.exponential(0.0003, n)) * 1e6
    rate = of["rate"][sent] * noise
    state = np.where(of["state"][at] == None, "", of["state"][at]).astype(str)  # noqa: E711  an array's elements
    ours = flow.cc in ("bbr2", "bbr3")
    frame = pl.DataFrame(
        {
            "time_ns": np.round(time * 1e9).astype(np.int64),
            "flow": flow.id,
            "socket": 40000,
            "moment": "after" if ours else "before",
            "cwnd_packets": window / MSS,
            "ssthresh_packets": None if flow.is_bbr or flow.cut_s < 0 else flow.peak * 0.7 / MSS,
            "snd_mss_bytes": MSS,
            "srtt_us": pl.Series(rtt_us).ewm_mean(alpha=1 / 8),
            "rtt_us": rtt_us,
            "min_rtt_us": np.minimum.accumulate(rtt_us),
            "bytes_in_flight": inflight // MSS * MSS,
            "pacing_rate_bps": rate,
            "delivery_rate_bps": rate,
            "delivery_rate_app_limited": False,
            "delivered_packets": una // MSS,
            "delivered_ce_packets": 0,
            "lost_packets": 0,
            "lost_total_packets": lost,
            "retransmitted_segments": lost,
            "ca_state": "open",
            "snd_una_bytes": una,
            "snd_nxt_bytes": una + inflight // MSS * MSS,
            "bbr_state": pl.Series(state).replace("", None),
            "cycle": of["cycle"][at],
            "share": of["share"][at],
        }
    )
    return _with_model(frame, flow, path) if flow.is_bbr else frame.drop("cycle", "share")


def _with_model(frame: pl.DataFrame, flow: Flow, path: Bottleneck) -> pl.DataFrame:
    """Add BBR's model."""
    rtts = path.rtt_s * 10 * 1e9
    bw = pl.col("delivery_rate_bps").rolling_max_by("time_ns", window_size=f"{int(rtts)}i")
    state, v1 = pl.col("bbr_state"), flow.cc == "bbr"
    bdp = pl.col("share") / MSS
    gain = pl.col("cycle").replace_strict(dict(enumerate(GAINS_V1)), default=1.0) if v1 else pl.lit(1.0)
    names = {"startup": 2.77, "drain": 0.35, "probe_bw_down": 0.9, "probe_bw_up": 1.25}
    columns: dict[str, pl.Expr] = {
        "bbr_bw_bps": bw,
        "bbr_min_rtt_us": pl.col("min_rtt_us"),
        "bbr_pacing_gain": pl.when(state == "probe_bw").then(gain).otherwise(state.replace_strict(names, default=1.0)),
        "bbr_cwnd_gain": pl.lit(2.0),
        "bbr_round": (pl.col("time_ns") / (path.rtt_s * 1e9)).cast(pl.Int64),
        "bbr_cycle": pl.col("cycle"),
    }
    if not v1:
        settled, low = ~state.is_in(["startup", "drain"]), state.is_in(["probe_bw_down", "probe_bw_cruise"])
        columns |= {
            "bbr_bw_hi_bps": pl.when(settled).then(bw * 1.04),
            "bbr_bw_lo_bps": pl.when(low & (pl.col("cycle") % 2 == 0)).then(bw * 0.9),
            "bbr_inflight_hi_packets": pl.when(settled).then(bdp * (1.3 + 0.1 * (pl.col("cycle") % 3))),
            "bbr_inflight_lo_packets": pl.when(low & (pl.col("cycle") % 2 == 0)).then(bdp * 0.95),
            "bbr_ack_phase": pl.lit("probe_feedback"),
        }
    return frame.with_columns(**columns).drop("cycle", "share")
