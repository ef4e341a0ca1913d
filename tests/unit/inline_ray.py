"""Ray's executor without a cluster: one node, whose tasks run in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from dumbbell.execute.cluster import Ray, nodes, tasks, workers

NODE = {
    "Alive": True,
    "NodeID": "1",
    "NodeManagerHostname": "lab1",
    "NodeManagerAddress": "10.0.0.1",
    "Resources": {"CPU": 2.0, nodes.EMULATE: 2.0},
}


class Reference:
    """A task that has ended."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.made = function(*arguments)


class InlineRay:
    """The part of the module `ray` that the executor uses. Of each three results, the first is `lost`, if any."""

    class exceptions:
        class RayError(Exception): ...

        class RayTaskError(RayError): ...

        class WorkerCrashedError(RayError): ...

        class NodeDiedError(RayError): ...

        class TaskUnschedulableError(RayError): ...

    def __init__(self, lost: bool) -> None:
        self.lost, self.given = lost, 0

    def nodes(self) -> list[dict[str, Any]]:
        return [NODE]

    def wait(self, references: list[Reference], **limits: Any) -> tuple[list[Reference], list[Reference]]:
        return references, []

    def cancel(self, reference: Reference, force: bool) -> None: ...

    def get(self, reference: Reference, timeout: float | None = None) -> Any:
        self.given += isinstance(reference.made, tasks.Made)
        if self.lost and self.given % 3 == 1 and isinstance(reference.made, tasks.Made):
            raise self.exceptions.WorkerCrashedError
        return reference.made


@contextmanager
def executor(lost: bool) -> Iterator[Ray]:
    """Within this context, an executor that works so."""

    def on(ray: InlineRay, function: Callable[..., Any], *about: Any) -> Callable[..., Reference]:
        return lambda *arguments: Reference(function, arguments)

    found = Ray()
    found.__dict__["_ray"] = InlineRay(lost)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nodes, "on", on)
        patch.setattr(workers, "on", on)
        patch.setattr(tasks.os, "setpriority", lambda *args: None)
        yield found
