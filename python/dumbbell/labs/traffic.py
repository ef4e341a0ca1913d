"""Flows in a lab, on demand: by the traffic of emulated runs, with any congestion control that they have."""

from __future__ import annotations

import json
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from dumbbell import outputs
from dumbbell.errors import InputError
from dumbbell.frozen import dataclass
from dumbbell.labs.agent import Connection, FlowReport
from dumbbell.labs.changes import now_ns

PORT: Final = 5001
"""The port of the first flow; each further one has the next."""
UDP_PAYLOAD_BYTES: Final = {4: 1472, 6: 1452}
"""Bytes that fit a packet of 1500 bytes, by the version of IP."""
DEFAULT_IP: Final = 4
"""The version of IP that plan.json does not write."""
SECONDS: Final = 5.0
FILE: Final = "traffic.jsonl"
"""The flows that were carried out in a lab, a line for those that began together."""


@dataclass(frozen=True)
class FlowResult:
    """A flow that has ended."""

    id: str
    from_: str
    to: str
    report: FlowReport
    """Its account, as in a run's `traffic.json`."""

    @property
    def goodput_bps(self) -> float:
        """Bits per second that the receiver's application got, from the flow's start to its last byte."""
        begin, end = self.report.get("start_ns"), self.report.get("end_ns")
        if begin is None or end is None or end <= begin:
            return 0.0
        return self.report["received_bytes"] * 8e9 / float(end - begin)

    @property
    def error(self) -> str | None:
        """Why it failed; `None` if it did not."""
        found = self.report.get("error")
        return None if found is None else str(found)


def tcp(
    from_: str, to: str, cc: str | None = None, seconds: float = SECONDS, number: int = 1, ip: int = 4
) -> dict[str, Any]:
    """A TCP flow as in plan.json; by default, with the kernel's default congestion control."""
    if cc is None:
        cc = Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text(encoding="utf-8").strip()
    workload = {"kind": "tcp", "cc": cc, "bytes": None, "ecn": False}
    return _flow(from_, to, seconds, number, ip, workload)


def udp(from_: str, to: str, rate_bps: int, seconds: float = SECONDS, number: int = 1, ip: int = 4) -> dict[str, Any]:
    """A UDP flow of constant rate as in plan.json."""
    workload = {"kind": "udp", "rate_bps": rate_bps, "payload_bytes": UDP_PAYLOAD_BYTES[ip], "bytes": None}
    return _flow(from_, to, seconds, number, ip, workload)


def _flow(from_: str, to: str, seconds: float, number: int, ip: int, workload: Mapping[str, Any]) -> dict[str, Any]:
    if from_ == to:
        raise InputError(f"{from_} cannot send to itself", "a flow crosses the network", "name two hosts")
    return {
        "id": f"f{number}",
        "from": from_,
        "to": to,
        "start_ns": 0,
        "stop_ns": round(seconds * 1e9),
        "port": PORT + number,
        **({"ip": ip} if ip != DEFAULT_IP else {}),
        "workload": workload,
    }


def planned(lab: Path) -> list[dict[str, Any]]:
    """The flows of the lab's scenario, as in plan.json."""
    return list(plan(lab)["flows"])


def plan(lab: Path) -> dict[str, Any]:
    """The plan of the lab's scenario, with its flows and events, as in plan.json."""
    found: dict[str, Any] = json.loads((lab / "planned.json").read_text(encoding="utf-8"))
    return found


def run_flows(lab: Path, flows: Sequence[Mapping[str, Any]]) -> list[FlowResult]:
    """Carry out flows, whose times count from now, and wait for their end. Ctrl-C ends them early.

    Raises:
        RunFailed: a socket could not be opened, or the kernel lacks a congestion control.
    """
    if not flows:
        return []
    own = list(flows) == planned(lab)
    outputs.append(lab / FILE, json.dumps({"time_ns": now_ns(lab), "flows": [] if own else list(flows)}) + "\n")
    request = {"do": "flows", "flows": list(flows), "duration_ns": max(flow["stop_ns"] for flow in flows)}
    with Connection(lab, request) as connection:
        try:
            answer = connection.answer()
        except KeyboardInterrupt:
            connection.signal(signal.SIGINT)
            answer = connection.answer()
    reports = answer["report"]["flows"]
    return [
        FlowResult(flow["id"], flow["from"], flow["to"], report) for flow, report in zip(flows, reports, strict=True)
    ]
