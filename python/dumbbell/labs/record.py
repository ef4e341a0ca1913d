"""Writes what was done in a lab as a scenario: traffic as flows, changes of links as events. A run repeats it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from dumbbell import inputs, outputs
from dumbbell.errors import InputError
from dumbbell.labs import changes
from dumbbell.labs.traffic import FILE
from dumbbell.scenario.file.loading import LARGEST
from dumbbell.units import Rate

_AFTER_NS: Final = 1_000_000_000
"""Time between the last change or flow and the end."""


def save(lab: Path, file: Path) -> None:
    """Write what was done in the lab so far to a new scenario.

    Its time 0 is the beginning of the first traffic; links are from the start as they were then. Where the own
    flows of the scenario were carried out it keeps them, with its duration.

    Raises:
        InputError: there was no traffic, or the file is there already.
    """
    import tomlkit

    done = _traffic(lab)
    if not done:
        why = "a run needs flows, and this lab has had no traffic"
        raise InputError("nothing to save", why, "traffic h1 h2 cc=bbr seconds=5, for example")
    begin = next((one["time_ns"] for one in done if not one["flows"]), done[0]["time_ns"])
    document: dict[str, Any] = tomlkit.parse(inputs.read_text(lab / "scenario.toml", LARGEST))
    own = any(not one["flows"] for one in done)
    flows = [_flow(flow, one["time_ns"] - begin) for one in done for flow in one["flows"] if one["time_ns"] >= begin]
    events = changes.events(lab, begin)
    ends = [int(flow["stop_ns"]) + one["time_ns"] - begin for one in done for flow in one["flows"]]
    # Those of the scenario that happened were made by `play`, and are among the changes.
    document.pop("events", None)
    if not own:
        for key in ("flows", "duration"):
            document.pop(key, None)
        last = max([*ends, *(change.time_ns - begin for change in changes.changes(lab))])
        # A key of the top stands before all tables.
        document = {"name": document.pop("name"), "duration": _seconds(last + _AFTER_NS), **document}
    document["flows"] = [*document.get("flows", ()), *flows]
    if events:
        document["events"] = events
    outputs.write_new(file, tomlkit.dumps(document))


def _traffic(lab: Path) -> list[dict[str, Any]]:
    """When flows were carried out, and which; none: the scenario's own."""
    try:
        return [json.loads(line) for line in (lab / FILE).read_text(encoding="utf-8").splitlines()]
    except FileNotFoundError:
        return []


def _flow(flow: Mapping[str, Any], shift_ns: int) -> dict[str, Any]:
    """A flow of `traffic` as a scenario writes it."""
    workload = flow["workload"]
    if workload["kind"] == "udp":
        kind = {"protocol": "udp", "rate": str(Rate(workload["rate_bps"]))}
    else:
        kind = {"cc": workload["cc"]}
    times = {"start": _seconds(shift_ns + flow["start_ns"]), "stop": _seconds(shift_ns + flow["stop_ns"])}
    version = {"ip": flow["ip"]} if "ip" in flow else {}
    return {"from": flow["from"], "to": flow["to"], **version, **kind, **times}


def _seconds(ns: int) -> str:
    return f"{ns / 1e9:.9f}".rstrip("0").rstrip(".") + " s"
