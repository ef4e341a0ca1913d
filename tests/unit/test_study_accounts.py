"""Runs that were asked for = runs reported + failures named, for any sweep, engine and executor, whatever happened."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from fake_engine import FakeEngine, scenario
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from inline_ray import executor
from stages import thorough_but

import dumbbell
from dumbbell.engines.events import Event
from dumbbell.errors import Interrupted
from dumbbell.studies import shards
from dumbbell.studies.outcome import exit_code
from dumbbell.studies.status import status

pytestmark = [
    pytest.mark.filterwarnings("ignore::dumbbell.errors.DamagedFile"),
    pytest.mark.filterwarnings("ignore::dumbbell.errors.Foreseen"),
]
BUFFERS = ["1 bdp", "25 kB", "20 ms", "50 kB", "0.01 bdp", "0.02 bdp"]
"""At 10 Mbit/s and 20 ms: three times 25,000 bytes, then 50,000, then twice a packet."""
SWEEPS = st.fixed_dictionaries(
    {"topology.bottleneck.buffer": st.lists(st.sampled_from(BUFFERS), min_size=1, max_size=3, unique=True)},
    optional={"topology.rtt": st.just(["20 ms", "30 ms"])},
)
OUTCOMES = st.lists(st.sampled_from(["valid", "invalid", "failed"]), max_size=8)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("run"), OUTCOMES),
        st.tuples(st.just("kill"), st.integers(0, 4)),
        st.tuples(st.just("destroy"), st.sampled_from(["shards", "one shard", "index", "runs", "refused"])),
    ),
    min_size=1,
    max_size=3,
)


class _Killed(BaseException):
    """Ends a command where it is, as `kill -9` does; what it has not written is lost."""


def check(directory: Path) -> None:
    """The accounts of a study add up, and no sentence about it says more than is there."""
    for study in map(dumbbell.Study, directory.glob("*-" + "?" * 12)):
        rows = study.accounted().collect()
        rows = rows.filter(rows["run"] < study.manifest["runs"])
        assert rows["run"].is_unique().all()
        assert rows.select("cell", "repetition").is_unique().all()
        reported, named = rows["error"].null_count(), rows["error"].drop_nulls().len()
        assert reported + named + study.missing == study.manifest["runs"]
        said = status(study)
        assert (said.done, sum(said.refused.values())) == (reported, named)
        assert said.status != "complete" or study.missing == 0
        if study.manifest["status"] == "complete":
            assert (exit_code(study) == 0) == (study.missing == named == 0)
        if study.has_runs:
            usable = rows.filter(rows["error"].is_null())["run"].to_list()
            flows = study.flows.filter(study.flows["run"] < study.manifest["runs"])
            assert sorted(flows["run"]) == sorted([*usable, *usable]), "two flows of each usable run"


def destroy(directory: Path, what: str) -> None:
    """Delete a part of what a study has on disk."""
    for study in directory.glob("*-" + "?" * 12):
        if what == "one shard":
            for folder in sorted((study / shards.SHARDS).glob("[0-9]*"))[:1]:
                shutil.rmtree(folder)
        elif what in ("shards", "runs"):
            shutil.rmtree(study / what, ignore_errors=True)
        else:
            name = study / shards.REFUSED if what == "refused" else study / shards.SHARDS / shards.INDEX
            name.unlink(missing_ok=True)


def command(directory: Path, kind: str, executing: str, outcomes: list[str], **more: Any) -> dumbbell.Study:
    """A command that works on the study, with an engine whose runs end so."""
    engine: Any = FakeEngine(outcomes)
    if kind == "virtual":
        # The records are known for real time; what follows from virtual time is that one attempt is enough.
        engine.capabilities = replace(engine.capabilities, real_time=False, deterministic=True)
    elif kind == "simulate":
        engine = "simulate"
    ray: AbstractContextManager[Any] = nullcontext() if executing == "local" else executor(executing == "lossy ray")
    source = scenario() | ({"duration": "50 ms"} if kind == "simulate" else {})
    with ray as elsewhere:
        return dumbbell.run(
            source, directory=directory, engine=engine, report=False, executor=elsewhere, **more
        )  # fmt: skip


def kill(after: int) -> Any:
    """A display that kills the command at its nth sign of progress."""
    left = [after]

    def on_event(event: Event) -> None:
        if event["event"] == "progress":
            left[0] -= 1
            if left[0] < 0:
                raise _Killed

    return on_event


def live(kind: str, executing: str, sweep: dict[str, Any], repeat: int, steps: list[Any], jobs: list[int]) -> None:
    """A study's life: commands, their ends, and losses; at last a command that completes it."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(dumbbell.studies.recorded, "BATCH", 2)
        directory = Path(folder)
        wanted: dict[str, Any] = {"vary": sweep, "repeat": repeat}
        for number, (what, how) in enumerate(steps):
            if what == "run":
                command(directory, kind, executing, how, jobs=jobs[number], **wanted)
            elif what == "destroy":
                destroy(directory, how)
            else:
                with suppress(_Killed, Interrupted):
                    command(directory, kind, executing, [], jobs=jobs[number], on_event=kill(how), **wanted)
            check(directory)
        command(directory, kind, executing, [], jobs=1, **wanted)
        if kind != "simulate":
            command(directory, kind, executing, [], jobs=2, failed=True, **wanted)
        check(directory)
        study = command(directory, kind, executing, [], jobs=2, **wanted)
        count = repeat
        for values in sweep.values():
            count *= len(values)
        assert study.runs["error"].null_count() == study.runs.height == study.manifest["runs"] == count
        assert study.runs.group_by("cell", "repetition").len()["len"].to_list() == [1] * count
        assert (status(study).status, exit_code(study)) == ("complete", 0)
        assert command(directory, kind, executing, ["failed"] * 99, **wanted).runs.height == count, "nothing is left"


@pytest.mark.parametrize(
    ("kind", "executing"),
    thorough_but(
        [("emulate", "local"), ("simulate", "ray")],
        product(("emulate", "virtual", "simulate"), ("local", "ray", "lossy ray")),
    ),
)
def test_no_run_is_lost_and_none_counts_twice(kind: str, executing: str) -> None:
    # A life takes a second: to shrink one would take minutes.
    phases = (Phase.explicit, Phase.reuse, Phase.generate)

    @settings(
        deadline=None,
        max_examples=5 if executing == "local" else 2,
        phases=phases,
        suppress_health_check=list(HealthCheck),
    )
    @given(SWEEPS, st.integers(1, 2), STEPS, st.lists(st.integers(1, 3), min_size=3, max_size=3))
    def lives(sweep: dict[str, Any], repeat: int, steps: list[Any], jobs: list[int]) -> None:
        live(kind, executing, sweep, repeat, steps, jobs)

    lives()
