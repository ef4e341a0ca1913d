"""Studies on a Ray cluster of several nodes on this machine, some of which are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import psutil
import pytest
from harness import until
from proof import not_proven
from scenarios import flow, path

import dumbbell
from dumbbell.engines.events import Event
from dumbbell.errors import InputError, Interrupted, Problem
from dumbbell.execute import Local
from dumbbell.execute.cluster import Ray, executor

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS / "unit"))

from cluster_engine import NotingEngine  # noqa: E402
from fake_engine import scenario  # noqa: E402

pytestmark = pytest.mark.xdist_group("cluster")

SMALL: dict[str, Any] = {
    "name": "small",
    "duration": "300 ms",
    "topology": {"kind": "path", "rtt": "10 ms", "bottleneck": {"rate": "5 Mbit/s", "buffer": "1 bdp", "loss": "5 %"}},
    "flows": [{"from": "h1", "to": "h2", "cc": "cubic"}],
}
ALGORITHMS = {"flows.0.cc": ["cubic", "bbr", "reno"]}


class Nodes:
    """A cluster of `count` nodes beside its head, which does no work."""

    def __init__(self, count: int) -> None:
        from ray.cluster_utils import Cluster

        small = {"object_store_memory": 80 << 20}
        self._cluster = Cluster(
            initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False, **small}
        )
        takes = {"num_cpus": 1, "resources": {"dumbbell_emulate": 1.0}, **small}
        self._nodes = [self._cluster.add_node(wait=False, **takes) for _ in range(count)]
        self._cluster.wait_for_nodes()
        self.address: str = self._cluster.address

    @property
    def ids(self) -> list[str]:
        """The ids of the live nodes, without the head."""
        return [node.node_id for node in self._nodes]

    def kill(self) -> None:
        """Kill all processes of the last one, at once."""
        import ray

        node = self._nodes.pop()
        self._cluster.remove_node(node, allow_graceful=False)
        gone = {"NodeID": node.node_id, "Alive": False}
        until(lambda: any(gone.items() <= one.items() for one in ray.nodes()), 120, "news of the killed node")

    def end(self) -> None:
        """End the whole cluster."""
        import ray

        ray.shutdown()
        self._cluster.shutdown()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Nodes]:
    """A cluster of three nodes; two tests below end one each, and come last."""
    with pytest.MonkeyPatch.context() as environment:
        found = [str(Path(dumbbell.__file__).parents[1]), str(TESTS), str(TESTS / "unit"), str(TESTS / "system")]
        environment.setenv("PYTHONPATH", os.pathsep.join(found))
        environment.setenv("RAY_USAGE_STATS_ENABLED", "0")
        environment.setenv("RAY_worker_niceness", "0")
        # A killed node is noticed after four failed attempts to reach it.
        environment.setenv("RAY_health_check_period_ms", "500")
        environment.setenv("RAY_health_check_failure_threshold", "4")
        nodes = Nodes(3)
        yield nodes
        nodes.end()


def frames(study: dumbbell.Study) -> list[str]:
    """The frames with all digits."""
    return [study.scan(table).collect().write_csv() for table in ("runs", "flows", "links")]


def files(study: dumbbell.Study) -> dict[str, bytes]:
    shards = study.directory / "shards"
    return {str(file.relative_to(shards)): file.read_bytes() for file in shards.glob("*/*")}


@pytest.mark.thorough
def test_what_a_node_lacks_is_said_before_anything_starts(
    cluster: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = NotingEngine(tmp_path / "notes", 0.1, problems=[Problem("no BPF", "no CAP_BPF", "start Ray as root")])
    wanted: dict[str, Any] = {"repeat": 2, "directory": tmp_path / "studies"}
    with pytest.raises(InputError, match=r"\(\d+\.\d+\.\d+\.\d+\): no BPF") as refused:
        dumbbell.run(scenario(), engine=engine, executor=Ray(cluster.address), **wanted)
    assert "start Ray as root" in str(refused.value)
    with monkeypatch.context() as patch:
        patch.setattr(executor.Store, "put", lambda store, name, archive: None)
        patch.setattr(executor.Store, "remove", lambda store, name: None)
        with pytest.raises(InputError, match="does not see the store") as refused:
            dumbbell.run(SMALL, engine="simulate", executor=Ray(cluster.address, str(tmp_path / "store")), **wanted)
        assert "must be mounted at the same path" in str(refused.value)
    monkeypatch.setattr(executor, "version", lambda: "0.0.9")
    with pytest.raises(InputError, match="has another dumbbell") as refused:
        dumbbell.run(SMALL, engine="simulate", executor=Ray(cluster.address), **wanted)
    assert "here it is 0.0.9\n" in str(refused.value)
    assert not list((tmp_path / "studies").glob("*"))


@pytest.mark.real_time
def test_real_runs_on_nodes_that_take_them(cluster: Nodes, tmp_path: Path) -> None:
    """Two cells of a second each, one on each node, give the same as a run on this machine."""
    short = tmp_path / "short.toml"
    short.write_text(path(flow(), rate="10 Mbit/s", duration="1 s"))
    both = {"flows.0.cc": ["cubic", "reno"]}
    study = dumbbell.run(short, directory=tmp_path, vary=both, executor=Ray(cluster.address, jobs=1))
    assert isinstance(study, dumbbell.Study)
    # All attempts may be invalid on a busy machine; none fails, and each is here.
    assert all(error is None or error.startswith("invalid: ") for error in study.runs["error"])
    assert len(list(study.directory.glob("runs/test-*/summary.json"))) >= study.runs.height == 2
    usable = study.runs.filter(pl.col("verdict").is_in(["valid", "suspect"]))
    for row in usable.iter_rows(named=True):
        run = study.open(row["run"])
        assert run.verdict == row["verdict"]
        assert study.flows.filter(run=row["run"])["goodput_bps"].to_list() == run.flows["goodput_bps"].to_list()
    if usable.height < 2:
        not_proven(f"{2 - usable.height} of 2 runs were invalid each time")


@pytest.mark.thorough
def test_ctrl_c_ends_the_tasks_and_the_study_goes_on(cluster: Nodes, tmp_path: Path) -> None:
    engine = NotingEngine(tmp_path / "notes", lasts_s=0.3)
    slow = NotingEngine(tmp_path / "notes", lasts_s=60)
    former = signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupt() -> None:
        until(lambda: len(slow.noted()) == noted + len(cluster.ids), 120, "tasks that go on")
        os.kill(os.getpid(), signal.SIGINT)

    wanted: dict[str, Any] = {"jobs": 1, "directory": tmp_path / "studies", "executor": Ray(cluster.address, jobs=1)}
    try:
        dumbbell.run(scenario(), engine=engine, repeat=2, **wanted)
        noted = len(slow.noted())
        with ThreadPoolExecutor(1) as other:
            other.submit(interrupt)
            with pytest.raises(Interrupted, match="the study was interrupted"):
                dumbbell.run(scenario(), engine=slow, repeat=6, **wanted)
    finally:
        signal.signal(signal.SIGINT, former)
    until(
        lambda: Counter(what for what, *_ in slow.noted())["interrupted"] == len(cluster.ids),
        60,
        "the end of all tasks",
    )
    study = dumbbell.run(scenario(), engine=engine, repeat=6, **wanted)
    assert study.runs["verdict"].to_list() == ["valid"] * 6
    assert Counter(engine.ended()) == Counter(range(1, 7))


def test_nodes_take_no_module_from_the_working_directory(cluster: Nodes, tmp_path: Path) -> None:
    """A stranger's folder may have modules that are called as ours, and no program that a user is asked about."""
    (tmp_path / "small.toml").write_text(path(flow(), duration="300 ms"))
    for name in ("dumbbell", "polars"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'taken')!r}, 'w')\n")
    command = [sys.executable, "-P", "-m", "dumbbell", "run", "small.toml", "--engine", "simulate", "--repeat", "2"]
    command += ["--executor", "ray", "--address", cluster.address, "--no-report"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, (tmp_path / "taken").exists()) == (0, False), done.stderr


def tasks() -> list[psutil.Process]:
    """Workers that simulate."""
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if "ray::simulate" in (process.info["cmdline"] or [""])[0]
    ]


@pytest.mark.thorough
def test_a_killed_command_leaves_no_task_and_goes_on(cluster: Nodes, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(path(flow(), duration="1 s"))
    command = [sys.executable, "-m", "dumbbell", "run", "./small.toml", "--engine", "simulate", "--executor", "ray"]
    command += ["--address", cluster.address]
    shards = tmp_path / "studies"
    driver = subprocess.Popen([*command, "--repeat", "5000"], cwd=tmp_path, stdout=subprocess.DEVNULL)
    try:
        until(lambda: tasks() or driver.poll() is not None, 120, "tasks")
        until(lambda: len(list(shards.glob("*/shards/[0-9]*"))) > 2 or driver.poll() is not None, 120, "shards")
        assert driver.poll() is None
    finally:
        driver.kill()
        driver.wait()
    kept = {shard: (shard / "flows.parquet").stat().st_mtime_ns for shard in shards.glob("*/shards/[0-9]*")}
    wanted = 32 * len(kept) + 10
    until(lambda: not tasks(), 60, "the end of its tasks")
    study = dumbbell.run(
        tmp_path / "small.toml", directory=shards, engine="simulate", repeat=wanted, executor=Ray(cluster.address)
    )
    assert study.runs["run"].to_list() == list(range(wanted))
    assert study.manifest["cost"]["found"] >= 32 * len(kept) - 32
    assert kept == {shard: (shard / "flows.parquet").stat().st_mtime_ns for shard in kept}


@pytest.mark.thorough
def test_a_killed_node_costs_nothing_but_time(cluster: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables are those of this machine, byte by byte, and what the node had done is not done again."""
    store, kept = tmp_path / "store", dict[Path, int]()

    def kill(event: Event) -> None:
        if event["event"] == "progress" and event["runs"] >= 15 and not kept:
            cluster.kill()
            kept.update({path: path.stat().st_mtime_ns for path in store.iterdir()})

    on_nodes = Ray(cluster.address, store.as_uri())
    wanted: dict[str, Any] = {"engine": "simulate", "vary": ALGORITHMS, "repeat": 20}
    study = dumbbell.run(SMALL, directory=tmp_path / "nodes", on_event=kill, executor=on_nodes, **wanted)
    here = dumbbell.run(SMALL, directory=tmp_path / "here", **wanted)
    assert frames(study) == frames(here)
    # Small shards are many, here just as there.
    monkeypatch.setattr(Local, "shard_runs", 1)
    alike = dumbbell.run(SMALL, directory=tmp_path / "alike", **wanted)
    assert len(files(alike)) == 180
    assert files(study) == files(alike)
    assert study.manifest["executor"]["name"] == "ray"
    assert len(study.manifest["executor"]["nodes"]) == len(cluster.ids) + 1
    for key in ("found", "failed", "packets", "simulated_s"):
        assert study.manifest["cost"][key] == pytest.approx(here.manifest["cost"][key])
    assert len(kept) >= 15
    assert kept == {path: path.stat().st_mtime_ns for path in kept}
    assert len(list(store.iterdir())) == 60
    # Another driver finds all of it.
    again = dumbbell.run(SMALL, directory=tmp_path / "again", executor=on_nodes, **wanted)
    assert again.manifest["cost"]["found"] == 60
    assert frames(again) == frames(here)


@pytest.mark.thorough
def test_runs_in_real_time_survive_a_killed_node(cluster: Nodes, tmp_path: Path) -> None:
    doomed = cluster.ids[-1]
    engine = NotingEngine(tmp_path / "notes", lasts_s=0.2, invalid=[2], slow=doomed)
    killed = list[int]()

    def kill(event: Event) -> None:
        going = [seed for _, seed, node in engine.noted() if node == doomed]
        if going and not killed:
            killed.extend(going)
            cluster.kill()

    wanted: dict[str, Any] = {"engine": engine, "repeat": 8, "jobs": 1, "directory": tmp_path / "studies"}
    study = dumbbell.run(scenario(), on_event=kill, executor=Ray(cluster.address, jobs=1), **wanted)
    assert study.runs["verdict"].to_list() == ["valid"] * 8
    assert Counter(engine.ended()) == Counter(range(1, 9)) + Counter([2])
    assert killed
    begun = Counter(seed for what, seed, _ in engine.noted() if what == "begun")
    assert begun == Counter(engine.ended()) + Counter(killed)
    # The invalid attempt is kept beside the other one, which counts it, as on this machine.
    second = study.open(1)
    assert second.summary["attempts"] == {"failed": 0, "excluded": 1}
    assert dumbbell.open(second.directory.with_name(f"{second.directory.name}.1")).verdict == "invalid"
    assert not list(study.directory.glob("runs/.*ing*"))
