"""A lab in Python: `with dumbbell.Lab("net.toml") as lab: lab["h1"].run("ping -c1 h2")`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from dumbbell.labs.build import load
from dumbbell.labs.live import Live
from dumbbell.labs.owner import Owner
from dumbbell.labs.shell.shell import Shell


class Lab(Live):
    """A scenario's network, up and ready within `with`, and gone after it.

    The scenario needs no flows and no duration. `Lab.open()` is a lab that another process has started.
    """

    def __init__(
        self,
        scenario: str | os.PathLike[str],
        overrides: Mapping[str, Any] | Sequence[str] = (),
        name: str | None = None,
    ) -> None:
        """A lab that is not up yet.

        Args:
            scenario: a TOML file, or a bundled scenario's name.
            overrides: `{"topology.bottleneck.rate": "5 Mbit/s"}`, or texts as after `--set`.
            name: its name among the user's labs; by default, the scenario's.

        Raises:
            InputError: the scenario, or this machine, does not allow it.
        """
        super().__init__(None)
        overrides = overrides if isinstance(overrides, Mapping) else list(overrides)
        self._owner = Owner(load(scenario, overrides), name)

    def __enter__(self) -> Self:
        """Build it.

        Raises:
            InputError: a lab of this name is up.
            RunFailed: it cannot be built.
        """
        self._path = self._owner.__enter__().path
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it, and all programs in it."""
        self._path = None
        self._owner.__exit__(kind, error, trace)

    def shell(self) -> int:
        """The lab's shell on standard input. Returns the exit code of the last command."""
        return Shell(self).interact()
