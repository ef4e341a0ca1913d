"""The cluster's nodes, and checks that they can carry out runs."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir
from functools import cache
from pathlib import Path
from typing import Any, Final, TypedDict

from dumbbell.command import extra
from dumbbell.errors import InputError, Problem
from dumbbell.frozen import dataclass

EMULATE: Final = "dumbbell_emulate"
"""The resource that a node declares if it takes emulated runs: the number of cores that these may use."""
ANSWER_S: Final = 120.0
"""Starting a worker and importing dumbbell takes seconds on a busy node."""


@dataclass(frozen=True)
class Node:
    """A node of a cluster."""

    id: str
    host: str
    address: str
    cpus: float
    emulate: float
    """Cores for emulated runs."""

    def __str__(self) -> str:
        """`lab3 (10.0.0.3)`."""
        return f"{self.host} ({self.address})"

    @property
    def manifest(self) -> dict[str, object]:
        """The node's fields in a manifest."""
        return {"host": self.host, "address": self.address, "cpus": self.cpus, "emulate": self.emulate}


def connect(address: str | None) -> Any:
    """The module `ray`, connected to the cluster at `address`, or to the one that this machine belongs to.

    Raises:
        InputError: Ray isn't installed, or there is no cluster.
    """
    try:
        import ray
    except ImportError:
        hint = extra("cluster")
        raise InputError("a cluster needs Ray", "the package ray is not installed", hint) from None
    if ray.is_initialized():
        return ray
    if address and address.startswith("ray://"):
        hint = "run the command on a machine of the cluster, or by `ray job submit`"
        raise InputError(f"--address {address}: Ray's client protocol is not supported", "", hint)
    try:
        # Workers look for modules first in the directory in which this is called, which may be a stranger's.
        with chdir(Path(os.__file__).parent):
            ray.init(address or _of_this_machine(), logging_level=logging.ERROR, log_to_driver=False)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        what = f"no Ray cluster at {address}" if address else "no Ray cluster was found"
        hint = f"start it: ray start --head --resources '{{\"{EMULATE}\": 4}}', or name its head: --address HOST:6379"
        raise InputError(what, str(error).strip().split("\n")[0], hint) from error
    _quieten()
    return ray


def _of_this_machine() -> str:
    """The address of the cluster that `ray start` has noted on this machine, or that `RAY_ADDRESS` names.

    Anybody may write into the folder of the note. Nodes that another user chose would get the study's code, and send
    back what runs here as it is unpickled: so the note has to be this user's, or root's.

    Raises:
        ConnectionError: there is no such note.
    """
    from ray._private import utils

    rays: Any = utils
    if os.environ.get("RAY_ADDRESS"):
        return "auto"
    try:
        with open(os.open(rays.get_ray_address_file(None), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)) as file:
            if os.fstat(file.fileno()).st_uid in (0, os.geteuid()) and (found := file.read(_LONGEST).strip()):
                return found
    except (OSError, UnicodeDecodeError):
        pass
    raise ConnectionError("neither you nor root have started one on this machine")


_LONGEST: Final = 1_000
"""Characters of an address."""


def _quieten() -> None:
    """Hides Ray's output: it prints the end of a lost node's log on standard output, where JSON may go, and no option
    prevents that."""
    from ray._private import worker

    if hasattr(worker, "print_to_stdstream"):
        worker.print_to_stdstream = lambda data, ignore_prefix: None


def alive(ray: Any) -> list[Node]:
    """The nodes that are alive."""
    return [_node(one) for one in ray.nodes() if one["Alive"]]


class _RayNode(TypedDict):
    """A node as Ray describes it."""

    NodeID: str
    NodeManagerHostname: str
    NodeManagerAddress: str
    Resources: Mapping[str, float]


def _node(described: _RayNode) -> Node:
    has = described["Resources"]
    return Node(
        *(described["NodeID"], described["NodeManagerHostname"], described["NodeManagerAddress"]),
        *(float(has.get("CPU", 0)), float(has.get(EMULATE, 0))),
    )


def on(ray: Any, function: Callable[..., Any], node: Node, cpus: float = 0, emulate: float = 0) -> Any:
    """A handle that calls `function` on that node, within its resources. Ray never repeats the call: the driver
    does."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy as Affinity

    resources = {EMULATE: emulate} if emulate else {}
    place = Affinity(node.id, soft=False)
    return _remote(ray, function).options(num_cpus=cpus, resources=resources, scheduling_strategy=place).remote


@cache
def _remote(ray: Any, function: Callable[..., Any]) -> Any:
    """The remote function, made once and sent to all nodes."""
    return ray.remote(max_retries=0)(function)


def ask(ray: Any, function: Callable[..., Any], nodes: Sequence[Node], *args: Any) -> dict[Node, Any]:
    """Each node's answer, also of busy nodes; an exception for a node that doesn't answer. Nodes that have left are
    missing."""
    said, gone = {}, (ray.exceptions.NodeDiedError, ray.exceptions.TaskUnschedulableError)
    for node, call in [(node, on(ray, function, node)(*args)) for node in nodes]:
        try:
            said[node] = ray.get(call, timeout=ANSWER_S)
        except gone:
            continue
        except ray.exceptions.RayError as error:
            said[node] = error
    return said


def unlike(
    ray: Any, nodes: Sequence[Node], version: str, probe: str | None, place: str | None
) -> dict[Node, list[Problem]]:
    """The problems of nodes that have another dumbbell than the driver's `version`, or don't see `probe` in the
    store."""
    said = ask(ray, _teller(), nodes, place, probe)
    return {node: list(node_problems(node, told, version, place)) for node, told in said.items()}


def node_problems(node: Node, answer: Any, version: str, place: str | None) -> Iterator[Problem]:
    """Yields what a node lacks to take runs of this machine."""
    if isinstance(answer, Exception):
        yield Problem(f"{node} does not answer", str(answer).strip().split("\n")[0], "ray status")
    elif "missing" in answer:
        hint = f"pip install 'dumbbell[cluster]' there, for {answer['python']}, and start its Ray again"
        yield Problem(f"{node} has no dumbbell that can do this", answer["missing"], hint)
    elif answer["version"] != version:
        why = f"here it is {version}\nthere it is {answer['version']}"
        yield Problem(f"{node} has another dumbbell", why, "install the same one on all nodes")
    elif "store" in answer:
        hint = "a directory must be mounted at the same path everywhere; a URL needs its keys on every node"
        yield Problem(f"{node} does not see the store {place}", answer["store"], hint)


@cache
def _teller() -> Callable[[str | None, str | None], dict[str, str]]:
    """A function that Ray sends with its code: a node may lack this package."""

    def tell(place: str | None, probe: str | None) -> dict[str, str]:
        import sys

        said = {"python": sys.executable}
        try:
            from dumbbell.execute.cluster.store import Store
            from dumbbell.execute.cluster.version import version
        except ImportError as error:
            return {**said, "missing": f"{type(error).__name__}: {error}"}
        said["version"] = version()
        if place is not None and probe is not None:
            try:
                if not Store(place).has(probe):
                    said["store"] = "a file from another machine is not there"
            except Exception as error:
                said["store"] = str(error)
        return said

    return tell
