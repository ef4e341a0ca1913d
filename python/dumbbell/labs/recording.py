"""Keeps what is done in a lab as a run: records of every packet, samples of flows, changes as events, a report.

The lab's links begin anew as a recording begins: what is on them then arrives, and is neither counted nor recorded. TCP
connections and UDP datagrams between hosts are the run's flows, whatever program sends them. Where routers have
daemons, the run has their routes and what the daemons said.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from dumbbell.errors import DumbbellError, InputError, RunFailed
from dumbbell.labs import changes, daemons, place
from dumbbell.labs.agent import Connection, ask
from dumbbell.labs.build import load
from dumbbell.plan import wire
from dumbbell.plan.identity import run_id
from dumbbell.records import manifest as manifests
from dumbbell.records.directory import RUNS, RunDirectory
from dumbbell.records.files import read_json, write_json
from dumbbell.records.plan import write_plan
from dumbbell.scenario.file import writing

if TYPE_CHECKING:
    from dumbbell.pipeline.results import Run
    from dumbbell.plan.types import Plan

ENGINE: Final = "emulate"
_PROGRAMS: Final = {"tcp": "a program in the lab", "udp": "a program in the lab, by UDP"}
"""The command of a flow by its protocol: nobody has planned it."""


class Recording:
    """A recording of a lab, which goes on within its context. Then `run` is the run that was made of it."""

    def __init__(self, lab: Path, name: str | None = None, directory: str | os.PathLike[str] = RUNS) -> None:
        """`Live.record` makes it; arguments are those of `start`."""
        self._lab, self._name, self._directory = lab, name, directory
        self._run: Run | None = None

    @property
    def run(self) -> Run:
        """The run. Raises `RunFailed` if the recording has not ended."""
        if self._run is None:
            raise RunFailed("the recording is not a run yet", "it ends with `with lab.record() as record:`", "")
        return self._run

    def __enter__(self) -> Self:
        """Begin."""
        start(self._lab, self._name, self._directory)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End, and make a run of it."""
        self._run = stop(self._lab)


def start(lab: Path, name: str | None = None, directory: str | os.PathLike[str] = RUNS) -> None:
    """Record a lab from now on.

    Args:
        lab: the lab's directory.
        name: the name of the run; by default, that of the lab's scenario.
        directory: where runs are kept.

    Raises:
        InputError: it is being recorded already, or nothing can be written there.
        RunFailed: the lab has ended.
    """
    if place.is_recorded(lab):
        raise InputError("the lab cannot be recorded", "it is being recorded already", "end that first: record stop")
    scenario, plan = load(lab / "scenario.toml"), _plan(lab, "planned.json")
    # The lab's copy goes with it.
    name, source = name or scenario.name, place.facts(lab).get("scenario")
    identity = run_id(plan, ENGINE, manifests.core_version() or "none")
    target = RunDirectory.begin(Path(directory).resolve(), name, identity)
    try:
        writing.write(scenario, target.path)
        write_json(target.path / "manifest.json", manifests.at_start(name, identity, ENGINE, source, ()))
        write_plan(target.path / "plan.json", plan)
        wanted = {
            "directory": str(target.path),
            "sample_interval_ns": plan.record.sample_interval_ns,
            "packets": plan.record.packets,
        }
        with Connection(lab, {"do": "record", "recording": wanted}, [target.lock]) as connection:
            told = _granted(connection.answer())
    except BaseException as error:
        target.fail("failed", str(error))
        raise
    # Its processes hold the lock from now on.
    os.close(target.lock)
    begun = {"directory": str(target.path), "name": name, "begin_ns": told["time_ns"], "begun": time.time()}
    write_json(lab / place.RECORDING, begun)


def stop(lab: Path, report: bool = True) -> Run:
    """End the recording of a lab, and make a run of it: figures, verdict, report.

    Raises:
        InputError: the lab is not being recorded.
        RunFailed: a file could not be written, or the lab has ended. What was recorded is kept as a failed run.
    """
    from dumbbell.pipeline.compose import composed
    from dumbbell.pipeline.results import Run

    if not place.is_recorded(lab):
        raise InputError("no recording to end", "the lab is not being recorded", "record start begins one")
    begun = read_json(lab / place.RECORDING)
    answer: Mapping[str, Any] = {}

    def release() -> None:
        nonlocal answer
        answer = _granted(ask(lab, {"do": "end-record"}))
        (lab / place.RECORDING).unlink()

    target = RunDirectory.taken_over(Path(begun["directory"]), release)
    try:
        _take_routes(lab, target.path, int(begun["begin_ns"]), int(answer["duration_ns"]))
        plan = _recorded(lab, begun, int(answer["duration_ns"]), _watched(target.path))
        identity = run_id(plan, ENGINE, manifests.core_version() or "none")
        target.stem = f"{begun['name']}-{identity}"
        write_plan(target.path / "plan.json", plan)
        manifest = {**read_json(target.path / "manifest.json"), "run_id": identity}
        manifest["started_at"] = datetime.fromtimestamp(begun["begun"], UTC).isoformat(timespec="milliseconds")
        write_json(target.path / "manifest.json", manifest)
        composed(target, manifest, plan.duration_ns / 1e9, None, plan)
        run = Run(target.complete(), plan=plan)
    except DumbbellError as error:
        kept = target.fail("failed", str(error))
        raise RunFailed(error.what, f"{error.why}\nwhat was recorded is in {kept}", error.hint) from error
    except BaseException as error:
        target.fail("failed", f"{type(error).__name__}: {error}")
        raise
    if report:
        run.report()
    return run


def _granted(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the agent's answer, unless it refuses."""
    told: Mapping[str, Any] = answer.get("event", answer)
    if told.get("event") == "refused":
        raise InputError(told["what"], told["why"], told["hint"])
    return told


def _take_routes(lab: Path, directory: Path, begin_ns: int, duration_ns: int) -> None:
    """Where routers have daemons: the changes of their routes since the lab's start, and their logs so far."""
    known = daemons.routers(lab)
    if not known:
        return
    wanted = {"directory": str(directory), "begin_ns": begin_ns, "duration_ns": duration_ns}
    _granted(ask(lab, {"do": "write-routes", "routes": wanted}))
    for router in known:
        if (lab / "logs" / router).is_dir():
            shutil.copytree(lab / "logs" / router, directory / "logs" / router, dirs_exist_ok=True)


def _plan(lab: Path, file: str) -> Plan:
    return wire.parsed(read_json(lab / file))


def _watched(directory: Path) -> list[dict[str, Any]]:
    """The flows that were seen. Raises `RunFailed` if they could not be sampled."""
    path = directory / "watched.json"
    if not path.exists():
        raise RunFailed("the flows were not sampled to the end", "their sampler was killed", "")
    said = read_json(path)
    if "failed" in said:
        raise RunFailed(said["failed"]["what"], said["failed"]["why"], said["failed"]["hint"])
    path.unlink()
    (directory / "flows.jsonl").unlink()
    return list(said["flows"])


def _recorded(lab: Path, begun: Mapping[str, Any], duration_ns: int, watched: list[dict[str, Any]]) -> Plan:
    """The plan that says what happened: links as they were at the beginning, changes as events, flows as seen."""
    begin_ns = int(begun["begin_ns"])
    document = read_json(lab / "plan.json")
    links = {link["name"]: link for link in document["links"]}
    events: list[dict[str, Any]] = []
    for change in changes.changes(lab):
        at_ns = change.time_ns - begin_ns
        if at_ns < 0:
            links[change.link] = wire.part(change.after)
        elif at_ns < duration_ns:
            events.append({"at_ns": at_ns, "link": wire.part(change.after)})
    # A daemon that did not run at the beginning is killed then.
    down: dict[tuple[str, str], dict[str, Any]] = {}
    killed: list[dict[str, Any]] = []
    for of in daemons.changes(lab):
        event = {"at_ns": max(of.time_ns - begin_ns, 0), "router": of.router, "daemon": of.daemon, "up": of.up}
        if of.time_ns >= begin_ns:
            killed.append(event)
        elif of.up:
            down.pop((of.router, of.daemon), None)
        else:
            down[of.router, of.daemon] = event
    known = daemons.routers(lab)
    killed = [one for one in [*down.values(), *killed] if one["daemon"] in known.get(one["router"], ())]
    document |= {
        "name": begun["name"],
        "duration_ns": duration_ns,
        "links": list(links.values()),
        "events": sorted(events, key=lambda event: event["at_ns"]),
        "daemon_events": [event for event in killed if event["at_ns"] < duration_ns],
        "flows": [_flow(one, duration_ns) for one in watched],
    }
    planned = _plan(lab, "planned.json")
    plan = wire.parsed(document)
    return replace(plan, record=replace(planned.record, acks="off"))


def _flow(watched: Mapping[str, Any], duration_ns: int) -> dict[str, Any]:
    start_ns = min(int(watched["report"]["start_ns"] or 0), duration_ns - 1)
    return {
        "id": watched["report"]["id"],
        "from": watched["from"],
        "to": watched["to"],
        "start_ns": start_ns,
        "stop_ns": duration_ns,
        "port": watched["port"],
        "ip": watched["ip"],
        "workload": {"kind": "command", "command": _PROGRAMS[watched["protocol"]], "server_command": None},
    }
