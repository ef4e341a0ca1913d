"""The executors and their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dumbbell.errors import InputError

if TYPE_CHECKING:
    from dumbbell.execute.executor import Executor

LOCAL: Final = "local"
RAY: Final = "ray"


def executor(
    name: str, address: str | None = None, store: str | None = None, jobs: int | None = None
) -> Executor | None:
    """The executor with this name; `None` for this machine, which is a study's default.

    Args:
        name: `local` or `ray`.
        address: the cluster's head.
        store: a place where results are also kept.
        jobs: runs at a time on each node.

    Raises:
        InputError: no executor has this name, or Ray is not installed.
    """
    if name == RAY:
        from dumbbell.execute.cluster import Ray

        return Ray(address, store, jobs)
    if name != LOCAL:
        raise InputError(f"no executor {name!r}", f"expected {LOCAL} or {RAY}")
    for option, value in (("--address", address), ("--store", store)):
        if value is not None:
            raise InputError(
                f"{option} applies to a cluster", "a study on this machine needs none", f"add --executor {RAY}"
            )
    return None


def refuse_single(elsewhere: Executor | None) -> None:
    """A single run is carried out on this machine. Raises `InputError` if `elsewhere` names an executor."""
    if elsewhere is not None:
        hint = "add --repeat 10, or omit the executor"
        raise InputError(f"an executor ({elsewhere.manifest['name']}) applies to studies", "this is one run", hint)
