"""A cluster's nodes as workers. The driver decides which task goes to which node.

Each node therefore has a separate budget, which shrinks when its runs turn out disturbed. A task reserves its part of
the node's resources in Ray, which shows Ray's other users the load.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Final, Generic

from dumbbell.errors import DumbbellError, InputError, Interrupted, RunFailed
from dumbbell.execute.batch import Ended, Given, Task
from dumbbell.execute.budget import Room
from dumbbell.execute.cluster.nodes import Node, alive, on
from dumbbell.execute.cluster.tasks import Made
from dumbbell.frozen import dataclass

LOSSES: Final = 3
"""Times that a task may be lost with its node. A task that is lost more often may kill the nodes."""
LOOK_EVERY_S: Final = 2.0
"""Time between two checks for nodes that have joined or left."""
JOIN_TIMEOUT_S: Final = 300.0
"""Time without any node before the batch fails: a cloud may be starting one."""
GRACE_S: Final = 20.0
"""Time for tasks to end."""

LOG: Final = logging.getLogger("dumbbell.cluster")


@dataclass(frozen=True)
class Call:
    """Resources that a task asks a node for."""

    function: Callable[..., Made]
    arguments: tuple[Any, ...]
    cpus: float
    emulate: float = 0.0


@dataclass(frozen=True)
class Kind(Generic[Task, Given]):
    """Properties of tasks of one kind."""

    key: Callable[[Task], Hashable]
    room: Callable[[Node], Room]
    """Limit of tasks at a time on a node."""
    call: Callable[[Task, Node, Room], Call]
    take: Callable[[Task, Made], Ended[Task, Given]]
    """Brings a node's result to this machine."""


class Workers(Generic[Task, Given]):
    """See `dumbbell.execute.batch.Workers`."""

    def __init__(
        self, ray: Any, kind: Kind[Task, Given], nodes: Sequence[Node], accept: Callable[[Node], str | None]
    ) -> None:
        """`nodes` have passed the checks; `accept` says why a node that joins later has not."""
        self._ray, self._kind, self._accept = ray, kind, accept
        self._rooms: dict[Node, Room] = {node: kind.room(node) for node in nodes}
        self._left_out: set[str] = set()
        """Ids of nodes that failed the checks, or have left."""
        self._going: dict[Any, tuple[Task, Node, Room]] = {}
        self._losses: Counter[Hashable] = Counter()
        self._looked = self._had_nodes = time.monotonic()
        self._next: Node | None = None

    def admits(self, task: Task) -> bool:
        """True if a node has room for the task; the least busy one gets it."""
        beside = Counter(node for _, node, _ in self._going.values())
        able = [node for node, room in self._rooms.items() if room.admits(task, beside[node])]
        self._next = min(able, key=lambda node: beside[node] / max(node.emulate, node.cpus, 1.0), default=None)
        return self._next is not None

    def begin(self, task: Task) -> None:
        """Begin on the node that `admits` found."""
        node = self._next
        assert node is not None
        room = self._rooms[node]
        call = self._kind.call(task, node, room)
        room.begin(task)
        self._going[on(self._ray, call.function, node, call.cpus, call.emulate)(*call.arguments)] = task, node, room

    def ended(self, timeout_s: float) -> Iterable[Ended[Task, Given]]:
        """Attempts that have ended, and those that were lost."""
        self._look()
        if not self._going:
            time.sleep(timeout_s)
            return
        if self._ray.wait(list(self._going), timeout=timeout_s)[0]:
            done, _ = self._ray.wait(list(self._going), num_returns=len(self._going), timeout=0)
            for reference in done:
                yield self._end(reference, *self._going.pop(reference))

    def stop(self) -> None:
        """End all tasks: first as Ctrl-C does, then at once."""
        for force in (False, True):
            for reference in self._going:
                self._ray.cancel(reference, force=force)
            if self._going:
                left = self._ray.wait(list(self._going), num_returns=len(self._going), timeout=GRACE_S)[1]
                self._going = {reference: self._going[reference] for reference in left}

    def _end(self, reference: Any, task: Task, node: Node, room: Room) -> Ended[Task, Given]:
        try:
            made: Made = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            cause = getattr(error, "cause", None)
            # Stopping a node's Ray interrupts its tasks.
            if isinstance(error, self._ray.exceptions.RayTaskError) and not isinstance(cause, Interrupted):
                raise _node_error(node, cause or error) from error
            room.end(task, None)
            return self._lose(task, node, error)
        one = self._kind.take(task, made)
        room.end(task, one.given)
        return one

    def _lose(self, task: Task, node: Node, error: Exception) -> Ended[Task, Given]:
        key = self._kind.key(task)
        self._losses[key] += 1
        why = f"{type(error).__name__} on {node}"
        if self._losses[key] > LOSSES:
            return Ended(task, None, f"lost {self._losses[key]} times with its node or its process: {why}")
        LOG.warning("a task was lost and begins again: %s", why)
        if not isinstance(error, self._ray.exceptions.WorkerCrashedError):
            self._drop(node)
        return Ended(task, None, why, lost=True)

    def _look(self) -> None:
        """Add nodes that have joined, and drop those that have left."""
        now = time.monotonic()
        if now - self._looked < LOOK_EVERY_S:
            return
        self._looked = now
        there = {node.id: node for node in alive(self._ray)}
        for node in [node for node in self._rooms if node.id not in there]:
            self._drop(node)
        known = {node.id for node in self._rooms} | self._left_out
        for node in (node for node in there.values() if node.id not in known):
            self._meet(node)
        if self._rooms:
            self._had_nodes = now
        elif now - self._had_nodes > JOIN_TIMEOUT_S:
            hint = "start nodes again, and run the same command: it continues"
            raise RunFailed("the cluster has no node left", f"for {JOIN_TIMEOUT_S:.0f} s", hint)

    def _drop(self, node: Node) -> None:
        """Drop a node for good: if it comes back, it has another id. The list of nodes may still contain it for a
        while."""
        self._left_out.add(node.id)
        if self._rooms.pop(node, None):
            LOG.warning("the node %s has left", node)

    def _meet(self, node: Node) -> None:
        why = self._accept(node)
        if why is None:
            LOG.warning("the node %s has joined", node)
            self._rooms[node] = self._kind.room(node)
            return
        self._left_out.add(node.id)
        if why:
            LOG.warning("the node %s is left out: %s", node, why)


def _node_error(node: Node, cause: BaseException) -> DumbbellError:
    """The error of a node, with the node's name."""
    if isinstance(cause, InputError):
        return InputError(f"{node}: {cause.what}", cause.why, cause.hint)
    if isinstance(cause, DumbbellError):
        return RunFailed(f"{node}: {cause.what}", cause.why, cause.hint)
    return RunFailed(f"a task failed on {node}", f"{type(cause).__name__}: {cause}", "a bug in dumbbell, please report")
