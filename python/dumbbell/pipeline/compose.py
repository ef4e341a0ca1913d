"""Turn what an engine wrote into a finished run: `flows.parquet` and `summary.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dumbbell.analysis import metrics
from dumbbell.analysis.convergence import convergence_s, last_change_ns
from dumbbell.analysis.evidence import Evidence
from dumbbell.analysis.history import can_queue, histories, is_first_in_first_out, is_steady
from dumbbell.analysis.rules.rule import Verdict, worst
from dumbbell.analysis.verdict import check_all
from dumbbell.plan.flow_rows import group
from dumbbell.plan.routes import base_rtt_ns
from dumbbell.records.accounts import Accounts
from dumbbell.records.files import write_json
from dumbbell.records.schema import SCHEMA, TABLES, polars_schema

if TYPE_CHECKING:
    from dumbbell.records.run import Run

Json = Mapping[str, Any]

UNDECIDED: Final[dict[str, Any]] = {"converged": None, "convergence_s": None}
"""A flow whose records do not decide whether it converged."""


def compose(run: Run, attempts: Json) -> None:
    """Write `flows.parquet` and `summary.json` of `run`; `attempts` counts the plan's other runs on disk."""
    evidence = evidence_of(run)
    ends = _active_ends(run, evidence.traffic)
    window = _bulk_window(run.plan, evidence.traffic, ends)
    converged = _convergence(run, window)
    flows = [flow | converged.get(flow["id"], UNDECIDED) for flow in _flows(run, evidence.traffic, ends)]
    _write_flows(run.directory / "flows.parquet", flows)
    checks = check_all(evidence)
    jain_window = window if len(_bulk(run.plan)) >= 2 else None
    write_json(
        run.directory / "summary.json",
        {
            "schema": SCHEMA,
            "name": run.name,
            "run_id": run.run_id,
            "engine": run.engine,
            "verdict": str(worst(check.verdict for check in checks)),
            "reasons": [check.as_json() for check in checks if check.verdict is not Verdict.VALID],
            "checks": [check.as_json() for check in checks],
            "duration_s": run.plan["duration_ns"] / metrics.SECOND_NS,
            "flows": flows,
            "links": _links(run, evidence.network),
            "path": evidence.network.get("path"),
            "jain_index": _jain_index(run, jain_window),
            "jain_window_s": jain_window and [time / metrics.SECOND_NS for time in jain_window],
            "attempts": dict(attempts),
        },
    )


def evidence_of(run: Run) -> Evidence:
    """The evidence of `run`, from its files. Raises `DumbbellError` if one is missing."""
    packets, acks = (run.scan(table) if run.has(table) else None for table in ("packets", "acks"))
    return Evidence.gather(Accounts.of(run), run.scan("samples"), packets, acks)


def _active_ends(run: Run, traffic: Json) -> dict[str, int]:
    """When each flow ceased to be active, in ns."""
    import polars as pl

    by_flow = run.scan("samples").group_by(pl.col("flow").cast(pl.String)).agg(pl.col("time_ns").max())
    sampled = dict(by_flow.collect().iter_rows())
    measured = {flow["id"]: flow for flow in traffic["flows"]}
    planned_ns = run.plan["duration_ns"]
    run_end_ns = min(planned_ns, round(traffic["wall_s"] * metrics.SECOND_NS)) if traffic["interrupted"] else planned_ns
    return {
        flow["id"]: metrics.active_end_ns(flow, measured[flow["id"]], run_end_ns, sampled.get(flow["id"]))
        for flow in run.plan["flows"]
    }


def _flows(run: Run, traffic: Json, ends: Mapping[str, int]) -> list[dict[str, Any]]:
    measured = {flow["id"]: flow for flow in traffic["flows"]}
    rtts = metrics.rtt_ms(run.scan("samples"))
    waits: dict[str, metrics.Percentiles] = {}
    marks: dict[str, metrics.Marked] = {}
    if run.has("packets"):
        waits = metrics.flow_queueing_delay_ms(run.scan("packets"), run.plan)
        marks = metrics.marked(run.scan("packets"), run.plan)
    found = []
    for flow in run.plan["flows"]:
        name = flow["id"]
        marked = marks.get(name)
        found.append(
            _flow(run.plan, flow, measured[name], ends[name], rtts.get(name))
            | {
                "queue_ms": _percentiles(waits.get(name)),
                "ce_packets": marked and marked.packets,
                "ce_share": marked and marked.share,
            }
        )
    return found


def _percentiles(found: metrics.Percentiles | None) -> dict[str, float] | None:
    return None if found is None else {"p50": found.p50, "p95": found.p95, "max": found.max}


def _flow(plan: Json, flow: Json, measured: Json, end_ns: int, rtt: metrics.Rtt | None) -> dict[str, Any]:
    workload = flow["workload"]
    # One that never connected had none yet: it counts as what it was to be.
    cc = measured["cc_actual"] or (workload["cc"] if workload["kind"] == "tcp" else None)
    began = measured["start_ns"] is not None
    start_ns = measured["start_ns"] if began else flow["start_ns"]
    busy_us = measured["busy_us"]
    rtt = rtt or metrics.Rtt(None, None, None)
    return {
        "id": flow["id"],
        "group": group(flow),
        "label": f"{flow['id']} {cc or workload['kind']}",
        "from": flow["from"],
        "to": flow["to"],
        "protocol": workload["kind"],
        "cc": cc,
        "port": flow["port"],
        "start_s": start_ns / metrics.SECOND_NS,
        "stop_s": end_ns / metrics.SECOND_NS,
        "sent_bytes": measured["sent_bytes"],
        "received_bytes": measured["received_bytes"],
        "goodput_bps": metrics.goodput_bps(measured["received_bytes"], start_ns, end_ns) if began else None,
        "retransmitted_segments": None if workload["kind"] == "udp" else measured["retransmitted_segments"],
        "base_rtt_ms": base_rtt_ns(plan, flow) / 1e6,
        "rtt_ms": {"min": rtt.min, "p50": rtt.p50, "p95": rtt.p95},
        "rtt_sample": "srtt, polled",
        "fct_s": metrics.completion_s(workload.get("bytes"), start_ns, measured["end_ns"], measured["completed"]),
        "rwnd_limited_share": measured["rwnd_limited_us"] / busy_us if busy_us else None,
        "sndbuf_limited_share": measured["sndbuf_limited_us"] / busy_us if busy_us else None,
        "udp": measured["udp"],
        "error": measured["error"],
    }


def _write_flows(path: Path, flows: Sequence[Json]) -> None:
    import polars as pl

    rows = [
        {f"rtt_{name}_ms": value for name, value in flow["rtt_ms"].items()}
        | {f"queue_{name}_ms": value for name, value in (flow["queue_ms"] or {}).items()}
        | {column: flow[column] for column in TABLES["flows"] if column in flow}
        for flow in flows
    ]
    pl.DataFrame(rows, schema=polars_schema("flows")).write_parquet(path)


def _links(run: Run, network: Json) -> list[dict[str, Any]]:
    counted = {link["name"]: link for link in network["links"]}
    delays, shares = _queueing_delays(run), metrics.marked_share(run.links.lazy())
    # One pass that parts the links, instead of a filter over all rows for each of perhaps hundreds of links.
    parts = {str(key): part.lazy() for (key,), part in run.links.partition_by("link", as_dict=True).items()}
    nothing = run.links.clear().lazy()
    rows = []
    for link in run.plan["links"]:
        name, count = link["name"], counted[link["name"]]
        rows.append(
            {
                "name": name,
                "from": link["from"],
                "to": link["to"],
                "rate_bps": link["rate_bps"],
                "delay_ms": link["delay_ns"] / 1e6,
                "buffer": link["buffer"],
                "utilisation": metrics.utilisation(parts.get(name, nothing), name, 0, run.plan["duration_ns"]),
                "drops": sum(count["dropped"].values()),
                "drops_by_reason": count["dropped"],
                "losses": count["lost_before"] + count["lost_after"],
                "marks": count["marked"],
                "marked_share": shares.get(name),
                "duplicates": count["duplicated"],
                "reordered": count["reordered"],
                "corrupted": count["corrupted"],
                "arrived_packets": count["arrived_packets"],
                "delivered_packets": count["delivered_packets"],
                "delivered_bytes": count["delivered_bytes"],
                "queue_ms": _percentiles(delays.get(name)),
            }
        )
    return rows


def _queueing_delays(run: Run) -> dict[str, metrics.Percentiles]:
    """Of the links at which packets can wait, as far as the records tell."""
    waiting = {name: history for name, history in histories(run.plan).items() if can_queue(history)}
    if run.has("packets"):
        return {k: delay for k, delay in metrics.queueing_delay_ms(run.scan("packets")).items() if k in waiting}
    told = {
        name: metrics.queueing_delay_from_links_ms(run.links.lazy(), name, history[0][1]["rate_bps"])
        for name, history in waiting.items()
        if is_steady(history) and is_first_in_first_out(history)
    }
    return {name: delay for name, delay in told.items() if delay is not None}


def _bulk_window(plan: Json, traffic: Json, ends: Mapping[str, int]) -> tuple[int, int] | None:
    """When all bulk TCP flows (those without a size or pauses) were active."""
    starts = {flow["id"]: flow["start_ns"] for flow in traffic["flows"]}
    bulk = _bulk(plan)
    if any(starts[flow] is None for flow in bulk):
        return None
    return metrics.common_window((starts[flow], ends[flow]) for flow in bulk)


def _jain_index(run: Run, window: tuple[int, int] | None) -> float | None:
    if window is None:
        return None
    received = metrics.received_in_window(run.samples.lazy(), _bulk(run.plan), *window)
    return metrics.jain_index([float(size) for size in received.values()])


def _convergence(run: Run, window: tuple[int, int] | None) -> dict[str, dict[str, Any]]:
    """`converged` and `convergence_s` of each bulk flow; none if that can't be told."""
    if window is None:
        return {}
    start_ns = last_change_ns(run.plan.get("events", []), *window)
    interval_ns = run.plan["record"]["sample_interval_ns"]
    found = convergence_s(run.scan("samples"), _bulk(run.plan), start_ns, window[1], interval_ns) or {}
    return {flow: {"converged": time is not None, "convergence_s": time} for flow, time in found.items()}


def _bulk(plan: Json) -> list[str]:
    tcp = [flow for flow in plan["flows"] if flow["workload"]["kind"] == "tcp"]
    return [flow["id"] for flow in tcp if all(flow["workload"].get(key) is None for key in ("bytes", "on_off"))]
