"""The parts of a cluster's executor, without a cluster."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_engine import FakeEngine, scenario

import dumbbell
from dumbbell.cli import invoke
from dumbbell.engines.simulate.engine import SimulateEngine
from dumbbell.errors import InputError, RunFailed
from dumbbell.execute import Fixed, batch
from dumbbell.execute.batch import Ended
from dumbbell.execute.cluster import tasks, workers
from dumbbell.execute.cluster.archive import pack, unpack
from dumbbell.execute.cluster.nodes import Node, connect, node_problems
from dumbbell.execute.cluster.store import Store, absolute
from dumbbell.execute.cluster.workers import Call, Kind, Workers
from dumbbell.execute.job import Job
from dumbbell.execute.simulations import Simulations
from dumbbell.records.directory import adopt
from dumbbell.scenario import load

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial"
RUN = ("run", "buffer-sweep", "--quiet", "--engine", "simulate")


def test_without_ray_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert invoke([*RUN, "--executor", "ray"]) == 2
    assert "hint: pip install 'dumbbell[cluster]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--executor", "slurm"], "no executor 'slurm'\n  expected local or ray\n"),
        (["--address", "head:6379"], "--address applies to a cluster"),
        (["--store", "/data"], "--store applies to a cluster"),
        (["--executor", "ray", "--address", "ray://head:10001"], "Ray's client protocol is not supported"),
        (["--executor", "ray", "--cell", "0"], "an executor (ray) applies to studies"),
    ],
)
def test_options_that_make_no_sense(options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke([*RUN, *options]) == 2
    assert said in capsys.readouterr().err


def test_a_cluster_of_another_user_is_not_taken_for_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray notes the address of a machine's cluster where anybody may write: another user may have replaced it."""
    ray = pytest.importorskip("ray")
    taken: list[str] = []
    note = tmp_path / "ray_current_cluster"
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr("ray._private.utils.get_ray_address_file", lambda _: str(note))
    monkeypatch.setattr(ray, "init", lambda address, **_: taken.append(address))
    (tmp_path / "real").write_text("192.0.2.7:6379\n")
    note.symlink_to("real")
    with pytest.raises(InputError, match="no Ray cluster was found"):
        connect(None)
    note.unlink()
    note.write_text("192.0.2.7:6379\n")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fstat", lambda _: SimpleNamespace(st_uid=os.geteuid() + 12345))
        with pytest.raises(InputError, match="no Ray cluster was found"):
            connect(None)
    assert taken == []
    connect(None)
    connect("192.0.2.9:6379")
    monkeypatch.setenv("RAY_ADDRESS", "192.0.2.8:6379")
    connect(None)
    assert taken == ["192.0.2.7:6379", "192.0.2.9:6379", "auto"]


def test_an_archive_is_the_folder_again(tmp_path: Path) -> None:
    folder = tmp_path / "there" / "run-1"
    (folder / "logs").mkdir(parents=True)
    (folder / "logs" / "emulator.log").write_text("all well")
    pack(folder, tmp_path / "archive")
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "left behind").touch()
    found = unpack(tmp_path / "archive", tmp_path / "here")
    assert found == tmp_path / "here" / "run-1"
    assert (found / "logs" / "emulator.log").read_text() == "all well"


def test_a_store_has_whole_results_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store((tmp_path / "store").as_uri())
    assert store.names() == set()
    (tmp_path / "archive").write_bytes(b"figures")
    store.put("shard-1", tmp_path / "archive")
    assert (store.has("shard-1"), store.has("shard-2"), store.names()) == (True, False, {"shard-1"})
    store.fetch("shard-1", tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == b"figures"

    def die(*args: Any) -> None:
        raise ConnectionError("the network is gone")

    monkeypatch.setattr("fsspec.implementations.local.LocalFileSystem.mv", die)
    with pytest.raises(InputError, match="cannot use the store") as refused:
        store.put("shard-2", tmp_path / "archive")
    assert "the network is gone" in str(refused.value)
    assert store.names() == {"shard-1"}
    with pytest.raises(InputError, match="cannot use the store"):
        store.fetch("shard-2", tmp_path / "again")
    with pytest.raises(InputError, match="cannot use the store nothing://"):
        Store("nothing://here")
    assert absolute("s3://bucket/a") == "s3://bucket/a"
    assert absolute("a") == str(Path.cwd() / "a")


def test_runs_from_elsewhere_get_the_names_that_they_would_have_here(tmp_path: Path) -> None:
    for name in ("run-1", "run-1", "run-1.failed-1", "run-1.failed-1"):
        folder = tmp_path / ".arriving" / name
        folder.mkdir(parents=True)
        (folder / "manifest.json").write_text("{}")
        adopt(folder, "run-1")
    kept = {path.name for path in tmp_path.iterdir()} - {".arriving", ".lock"}
    assert kept == {"run-1", "run-1.1", "run-1.failed-1", "run-1.failed-2"}


def test_a_scenario_carries_its_files_to_nodes_that_lack_them(tmp_path: Path) -> None:
    for name in ("calm.toml", "calm.bpf.c"):
        (tmp_path / name).write_bytes((TUTORIAL / name).read_bytes())
    here = load(tmp_path / "calm.toml")
    job = Job(1, here, FakeEngine(), tmp_path)
    for path in list(tmp_path.iterdir()):
        path.unlink()
    there = pickle.loads(pickle.dumps((job.scenario, job.stem)))
    assert dumbbell.expand(there[0]) == dumbbell.expand(here)
    assert there[1] == job.stem


def test_a_part_has_its_own_plans_and_a_name_that_says_what_it_is(tmp_path: Path) -> None:
    runs = tuple((i % 3, i % 3, i // 3, 1 + i // 3, f"{i:012x}") for i in range(9))
    whole = Simulations(("a", "b", "c"), runs, tmp_path, 4, engine=SimulateEngine())
    part = whole.part(4, 6)
    assert (part.first, part.plans) == (4, ("b", "c"))
    assert [(cell, plan, seed) for cell, plan, _, seed, _ in part.runs] == [(1, 0, 2), (2, 1, 2)]
    assert part.part(5, 6).runs == ((2, 0, 1, 2, f"{5:012x}"),)
    names = {whole.part(first, end).name for first, end in ((0, 4), (4, 6), (4, 7), (5, 6))}
    assert len(names) == 4
    assert whole.part(4, 6).name == part.name


@pytest.mark.parametrize("outcome", ["valid", "invalid", "failed"])
def test_a_task_returns_what_a_run_has_left(outcome: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store is for what can be used."""
    monkeypatch.setattr(tasks.os, "setpriority", lambda *args: None)
    place = str(tmp_path / "store")
    job = Job(1, load(scenario()), FakeEngine([outcome]), tmp_path / "never")
    made = tasks.attempt(job, {"failed": 2, "excluded": 1}, place)
    assert made.why == {"valid": "", "invalid": "invalid: ring-drops", "failed": "the lab fell over"}[outcome]
    assert Store(place).has(job.stem) == (outcome == "valid") == (made.archive is None)
    if made.archive is None:
        Store(place).fetch(job.stem, tmp_path / "archive")
        again = tasks.attempt(Job(1, job.scenario, FakeEngine(["failed"]), tmp_path), {}, place)
        assert (again.why, again.archive) == ("", None)
    else:
        (tmp_path / "archive").write_bytes(made.archive)
    folder = unpack(tmp_path / "archive", tmp_path / "here")
    assert folder.name == job.stem + (".failed-1" if outcome == "failed" else "")
    if outcome != "failed":
        assert dumbbell.open(folder).summary["attempts"] == {"failed": 2, "excluded": 1}
    assert not job.directory.exists()


def test_what_is_unlike_the_driver_is_told(tmp_path: Path) -> None:
    node = Node("1", "lab3", "10.0.0.3", 4, 4)
    said: dict[str, Any] = {"python": "/usr/bin/python3", "version": "1"}
    assert not list(node_problems(node, said, "1", None))
    (skewed,) = node_problems(node, said, "2", None)
    assert skewed.text().startswith("lab3 (10.0.0.3) has another dumbbell\n  here it is 2\n  there it is 1\nhint: ")
    (bare,) = node_problems(node, {**said, "missing": "ModuleNotFoundError: dumbbell"}, "1", None)
    assert "pip install 'dumbbell[cluster]' there, for /usr/bin/python3" in bare.hint
    (apart,) = node_problems(node, {**said, "store": "is not there"}, "1", "/data")
    assert apart.what == "lab3 (10.0.0.3) does not see the store /data"


class FakeRay:
    """One node, on which each task is lost `losses` times with its process."""

    class exceptions:
        class RayError(Exception): ...

        class RayTaskError(RayError): ...

        class WorkerCrashedError(RayError): ...

    def __init__(self, losses: int) -> None:
        self.losses, self.begun = losses, 0

    def wait(self, references: list[Any], **limits: Any) -> tuple[list[Any], list[Any]]:
        return references, []

    def get(self, reference: int) -> str:
        if self.begun <= self.losses:
            raise self.exceptions.WorkerCrashedError
        return "made"


@pytest.fixture
def numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks are numbered as they begin, and nodes are looked for at each turn."""

    def on(ray: FakeRay, *args: Any) -> Any:
        def number(*args: Any) -> int:
            ray.begun += 1
            return ray.begun

        return number

    monkeypatch.setattr(workers, "on", on)
    monkeypatch.setattr(workers, "LOOK_EVERY_S", 0.0)
    monkeypatch.setattr(batch, "LOOK_EVERY_S", 0.001)


KIND: Kind[str, str] = Kind(
    key=lambda task: task,
    room=lambda node: Fixed(1),
    call=lambda task, node, room: Call(SimpleNamespace, (), 1),
    take=lambda task, made: Ended(task, f"{made}"),
)
LAB3, LAB4 = Node("3", "lab3", "10.0.0.3", 1, 0), Node("4", "lab4", "10.0.0.4", 1, 0)


def carry_out(
    ray: FakeRay, nodes: list[Node], accept: Callable[[Node], str | None] = lambda node: None
) -> list[Ended[str, str]]:
    ended = list[Ended[str, str]]()
    batch.all_of(["a"], Workers(ray, KIND, nodes, accept), ended.append)
    return ended


@pytest.mark.usefixtures("numbered")
def test_a_lost_task_begins_again_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "alive", lambda ray: [LAB3])
    (one,) = carry_out(ray := FakeRay(workers.LOSSES), [LAB3])
    assert (one.given, one.why, ray.begun) == ("made", "", workers.LOSSES + 1)
    (one,) = carry_out(ray := FakeRay(99), [LAB3])
    assert one.given is None
    assert one.why.startswith("lost 4 times with its node or its process: WorkerCrashedError on lab3 (10.0.0.3)")
    assert ray.begun == 4


@pytest.mark.usefixtures("numbered")
def test_nodes_that_come_later_take_part_if_they_can(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """There is no node at first; then two come, and the first one lacks something."""
    looks = iter([[], [], [LAB3, LAB4]])
    monkeypatch.setattr(workers, "alive", lambda ray: next(looks, [LAB3, LAB4]))
    asked = list[Node]()

    def accept(node: Node) -> str | None:
        asked.append(node)
        return "it has no BPF" if node == LAB3 else None

    (one,) = carry_out(FakeRay(0), [], accept)
    assert one.given == "made"
    assert asked == [LAB3, LAB4]
    said = [record.getMessage() for record in caplog.records]
    assert said == ["the node lab3 (10.0.0.3) is left out: it has no BPF", "the node lab4 (10.0.0.4) has joined"]


@pytest.mark.usefixtures("numbered")
def test_a_cluster_that_has_lost_all_nodes_is_waited_for_and_then_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "alive", lambda ray: [])
    monkeypatch.setattr(workers, "JOIN_TIMEOUT_S", 0.01)
    with pytest.raises(RunFailed, match="the cluster has no node left"):
        carry_out(FakeRay(0), [])
