"""A run's capture beside the run's own records."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict, cast

from dumbbell.counts import number

if TYPE_CHECKING:
    from dumbbell.captures import Capture
    from dumbbell.captures.rows import Direction
    from dumbbell.records.run import Run
    from dumbbell.table import Table


class Beside(TypedDict):
    """A TCP flow in a capture and in the records of its run; `None`: the capture lacks it."""

    flow: str
    connection: int | None
    goodput_bps: float | None
    run_goodput_bps: float | None
    sent_again: int | None
    run_retransmitted_segments: int | None
    rtt_p50_ms: float | None
    run_rtt_p50_ms: float | None


def beside(capture: Capture, run: Run) -> list[Beside]:
    """For each TCP flow what the capture shows, and what the run recorded: goodput, segments sent again, median RTT."""
    import polars as pl

    from dumbbell.captures.directions import sent_again
    from dumbbell.plan.parts import kind

    plan = run.plan
    ports = {(flow.id): flow.port for flow in plan.flows}
    servers = capture.connections.select("connection", pl.col("server_port").alias("port"), "server")
    # Joins would multiply rows that a stranger repeats.
    servers = servers.unique("connection", keep="first", maintain_order=True)
    data = capture.directions.filter(pl.col("direction") == "to-server").join(servers, on="connection")
    hosts = {node.name: getattr(node, "address", None) for node in plan.nodes}
    found: list[Beside] = []
    for row in run.flows.to_dicts():
        flow = next(flow for flow in plan.flows if flow.id == row["id"])
        if not (kind(flow).is_bulk and kind(flow).has_segments):
            continue
        of_flow = data.filter(pl.col("port") == ports[row["id"]])
        if len(of_flow) > 1 and flow.ip == 4:
            of_flow = of_flow.filter(pl.col("server") == str(hosts[flow.to]))
        seen = cast("Direction", of_flow.to_dicts()[0]) if len(of_flow) == 1 else None
        again = None if seen is None else sent_again(seen)
        rtt = None if seen is None or seen["rtt_p50_ns"] is None else seen["rtt_p50_ns"] / 1e6
        found.append(
            {
                "flow": row["id"],
                "connection": None if seen is None else seen["connection"],
                "goodput_bps": None if seen is None else seen["goodput_bps"],
                "run_goodput_bps": row["goodput_bps"],
                "sent_again": again,
                "run_retransmitted_segments": row["retransmitted_segments"],
                "rtt_p50_ms": rtt,
                "run_rtt_p50_ms": row["rtt_p50_ms"],
            }
        )
    return found


def judge(capture: Capture, run: Run, at: str) -> None:
    """Keep beside the capture what the run's own records say of its packets; nothing if it logged none."""
    from dumbbell.captures import truth

    if run.packets is None:
        return
    found: dict[str, list[int]] = {}
    for row in beside(capture, run):
        if row["connection"] is not None:
            found.setdefault(row["flow"], []).append(row["connection"])
    truth.judge(capture, run.packets, run.plan, at, {flow: numbers[0] for flow, numbers in found.items()})


def table(rows: list[Beside]) -> Table:
    """`beside` as a table."""
    from dumbbell.table import Table

    columns = ["flow", "connection", "goodput", "of the run", "sent again", "of the run", "RTT p50", "of the run"]

    def rate(bps: float | None) -> str:
        return "" if bps is None else f"{number(bps / 1e6, 4)} Mbit/s"

    def ms(value: float | None) -> str:
        return "" if value is None else f"{number(value, 4)} ms"

    def count(value: int | None) -> str:
        return "" if value is None else f"{value:,}"

    cells = [
        [
            row["flow"],
            count(row["connection"]),
            rate(row["goodput_bps"]),
            rate(row["run_goodput_bps"]),
            count(row["sent_again"]),
            count(row["run_retransmitted_segments"]),
            ms(row["rtt_p50_ms"]),
            ms(row["run_rtt_p50_ms"]),
        ]
        for row in rows
    ]
    return Table("The capture beside the run's own records", columns, cells)
