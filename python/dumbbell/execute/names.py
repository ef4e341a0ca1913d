"""The executors by name."""

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
    """The executor that is called so; `None` is this machine, which a study takes by itself.

    Args:
        name: `local` or `ray`.
        address: of the cluster's head.
        store: where results are kept, too.
        jobs: runs at a time on each node.

    Raises:
        InputError: there is none, or Ray is not installed.
    """
    if name == RAY:
        from dumbbell.execute.cluster import Ray

        return Ray(address, store, jobs)
    if name != LOCAL:
        raise InputError(f"no executor {name!r}", f"expected {LOCAL} or {RAY}")
    for option, value in (("--address", address), ("--store", store)):
        if value is not None:
            raise InputError(f"{option} is of a cluster", "this machine needs none", f"add --executor {RAY}")
    return None


def refuse_single(elsewhere: Executor | None) -> None:
    """A run by itself is carried out here. Raises `InputError` if it was to be elsewhere."""
    if elsewhere is not None:
        hint = "add --repeat 10, or leave the executor out"
        raise InputError(f"an executor ({elsewhere.told['name']}) is of studies", "this is one run", hint)
