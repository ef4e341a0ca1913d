"""Writes what was done in a lab as a scenario: traffic as flows, changes as events, routers' configurations."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from dumbbell import inputs, outputs
from dumbbell.errors import InputError
from dumbbell.labs import changes, daemons, rewire
from dumbbell.labs.configurations import free_file, typed
from dumbbell.labs.traffic import FILE
from dumbbell.scenario.file.loading import LARGEST
from dumbbell.scenario.file.writing import ALGORITHMS, TRACES
from dumbbell.scenario.traces import LARGEST as LARGEST_TRACE
from dumbbell.units import Rate

_AFTER_NS: Final = 1_000_000_000
"""Time between the last change or flow and the end."""


def save(lab: Path, file: Path) -> list[Path]:
    """Write what was done in the lab so far to a new scenario, and return all files that were written.

    Its time 0 is the beginning of the first traffic; links are from the start as they were then. Where the own
    flows of the scenario were carried out it keeps them, with its duration; without traffic it is for a lab. Files that
    the scenario names, and configurations that were typed into routers, are written beside it.

    Raises:
        InputError: nothing was done, or the file is there already.
    """
    import tomlkit

    if os.path.lexists(file):  # What lies beside it is written first.
        raise InputError(f"{file} is there already", "nothing is overwritten", "choose another name")
    done, configured = _traffic(lab), typed(lab)
    is_changed = changes.changes(lab) or daemons.changes(lab) or rewire.is_rewired(lab)
    if not done and not configured and not is_changed:
        why = "this lab has had no traffic, and no node, link or router was changed"
        raise InputError("nothing to save", why, "traffic h1 h2 cc=bbr seconds=5, for example")
    document: dict[str, Any] = tomlkit.parse(inputs.read_text(lab / "scenario.toml", LARGEST))
    _add_traffic(document, lab, done)
    written = [*_copy_files(document, lab, file), *_configure(document, configured, file)]
    outputs.write_new(file, tomlkit.dumps(document))
    return [file, *written]


def _add_traffic(document: dict[str, Any], lab: Path, done: list[dict[str, Any]]) -> None:
    # Events of the scenario that happened were made by `play`, and are among the changes.
    document.pop("events", None)
    if not done:
        if events := changes.events(lab):
            document["events"] = events
            if "duration" in document:
                last = max(
                    [one.time_ns for one in changes.changes(lab)] + [one.time_ns for one in daemons.changes(lab)]
                )
                document["duration"] = _seconds(last + _AFTER_NS)
        return
    begin = next((one["time_ns"] for one in done if not one["flows"]), done[0]["time_ns"])
    own = any(not one["flows"] for one in done)
    flows = [_flow(flow, one["time_ns"] - begin) for one in done for flow in one["flows"] if one["time_ns"] >= begin]
    events = changes.events(lab, begin)
    ends = [int(flow["stop_ns"]) + one["time_ns"] - begin for one in done for flow in one["flows"]]
    if not own:
        for key in ("flows", "duration"):
            document.pop(key, None)
        changed = [one.time_ns - begin for of in (changes, daemons) for one in of.changes(lab)]
        last = max([*ends, *changed])
        # A key of the top stands before all tables.
        name = document.pop("name")
        rest = dict(document)
        document.clear()
        document |= {"name": name, "duration": _seconds(last + _AFTER_NS), **rest}
    document["flows"] = [*document.get("flows", ()), *flows]
    if events:
        document["events"] = events


def _copy_files(document: dict[str, Any], lab: Path, file: Path) -> list[Path]:
    """Copy the files that the scenario names into a folder beside the new file, and name the copies.

    Raises `InputError` if that folder is there already.
    """
    folder = file.with_name(f"{file.stem}-files")
    copied: list[Path] = []
    is_new = not os.path.lexists(folder)  # A link could lead anywhere.

    def moved(value: Any) -> Any:
        if isinstance(value, dict):
            for key, part in value.items():
                value[key] = moved(part)
        elif isinstance(value, list):
            for at, part in enumerate(value):
                value[at] = moved(part)
        elif isinstance(value, str) and _is_copy(value) and (lab / value).is_file():
            copy = folder / value
            if copy not in copied:
                if not is_new:
                    raise InputError(f"{folder} is there already", "nothing is overwritten", "choose another name")
                outputs.make_folder(copy.parent)
                outputs.write(copy, inputs.read(lab / value, LARGEST_TRACE))
                copied.append(copy)
            return f"{folder.name}/{value}"
        return value

    moved(document)
    return copied


def _is_copy(path: str) -> bool:
    """True for the path of a copy that a lab keeps of a file. Other texts may lead to anywhere."""
    first, *others = path.split("/")
    return first in (TRACES, ALGORITHMS) and bool(others) and not {"", ".", ".."}.intersection(others)


def _configure(document: dict[str, Any], configured: Mapping[str, str], file: Path) -> Iterator[Path]:
    """Write configurations of routers beside the scenario, and have their nodes name them."""
    nodes = document.get("topology", {}).get("nodes", {})
    for router, text in configured.items():
        path = free_file(file, router)
        outputs.write_new(path, text)
        if router in nodes:
            nodes[router].pop("bare", None)
            nodes[router]["frr"] = path.name
        yield path


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
