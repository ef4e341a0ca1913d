"""A lab in Python: of a scenario's file, or drawn by the program.

with dumbbell.Lab("net.toml") as lab:
    lab["h1"].run("ping -c1 h2")

with dumbbell.Lab() as lab:
    h1, h2 = lab.host("h1"), lab.host("h2")
    lab.link(h1, h2, rate="10 Mbit/s", delay="5 ms")
    lab.start()
    h1.run("ping -c1 h2")
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import Any, Self, Unpack

from dumbbell.errors import InputError
from dumbbell.labs import drawn, place, rewire
from dumbbell.labs.build import LabScenario, load
from dumbbell.labs.ending import interrupted
from dumbbell.labs.keys import HostKeys, LinkKeys, NetworkKeys, RouterKeys, SwitchKeys
from dumbbell.labs.live import Link, Live, Node
from dumbbell.labs.owner import Owner
from dumbbell.labs.shell.shell import Shell
from dumbbell.labs.sketch import GRAPH, Sketch

_NAME = "lab"
"""The name of a lab that a program draws; the second one that is up is called `lab-2`."""


class Lab(Live):
    """A network that is up between `start` and `stop`; with a scenario, also within `with`.

    The scenario needs no flows and no duration. `Lab.open()` is a lab that another process has started.
    """

    def __init__(
        self,
        scenario: str | os.PathLike[str] | LabScenario | None = None,
        overrides: Mapping[str, Any] | Sequence[str] = (),
        name: str | None = None,
        agree: bool = False,
        **topology: Unpack[NetworkKeys],
    ) -> None:
        """A lab that is not up yet.

        Args:
            scenario: a TOML file, a bundled scenario's name, or what `Lab.scenario()` gives; `None`: calls of `host`,
                `switch`, `router` and `link` draw the network, and `start` builds it.
            overrides: `{"topology.bottleneck.rate": "5 Mbit/s"}`, or texts as after `--set`.
            name: its name among the user's labs; by default, the scenario's.
            agree: true if you agree that the lab of this scenario reaches this machine's network, if a router has
                `nat`. What your program draws itself needs no agreement.
            topology: without a scenario, keys of its `[topology]`, such as `ipv6=True`.

        Raises:
            InputError: the scenario does not allow it.
        """
        super().__init__(None)
        overrides = overrides if isinstance(overrides, Mapping) else list(overrides)
        self._name, self._agrees = name, agree or scenario is None
        self._owner: Owner | None = None
        self._sketch: Sketch | None = None
        self._starts_within = scenario is not None
        if scenario is None:
            self._sketch = Sketch(name or _NAME, GRAPH, topology, "Lab(", overrides)
        elif topology:
            why = "the scenario has the keys of its network"
            raise InputError(f"Lab({', '.join(topology)}=...)", why, 'write overrides={"topology.ipv6": True}')
        else:
            self._scenario = scenario if isinstance(scenario, LabScenario) else load(scenario, overrides)

    @classmethod
    def from_topology(cls, kind: str, /, *, name: str | None = None, **keys: Any) -> Self:
        """A lab with a network of this kind: `Lab.from_topology("tree", depth=2, fanout=3)`.

        Args:
            kind: any `kind` of a scenario's `[topology]`, such as `"linear"`, `"star"`, `"fat-tree"`.
            name: its name among the user's labs; by default, `kind`.
            keys: keys of the network, as the scenario has them.
        """
        made = cls(name=name)
        made._sketch = Sketch(name or kind, kind, keys, f'Lab.from_topology("{kind}"')
        made._starts_within = True
        return made

    def host(self, name: str, **keys: Unpack[HostKeys]) -> Node:
        """Add a host. Its keys are those of a scenario's `[topology.nodes]`.

        Raises:
            InputError: there is a node of this name, or the network is not one that calls draw.
        """
        return self._node("host", name, keys)

    def switch(self, name: str, **keys: Unpack[SwitchKeys]) -> Node:
        """Add a switch, as `host` does: `lab.switch("s1")`, `lab.switch("s2", bridge=True, stp=True)`."""
        return self._node("switch", name, keys)

    def router(self, name: str, **keys: Unpack[RouterKeys]) -> Node:
        """Add a router, as `host` does: `lab.router("r1", asn=100, routing=["bgp"])`."""
        return self._node("router", name, keys)

    def link(self, *names: str | Node, **keys: Unpack[LinkKeys]) -> Link:
        """Before `start`, add a link between two nodes; then, a link or all between two nodes, as they are.

        Args:
            names: two nodes, or of a lab that is up also the name of a link, for one direction.
            keys: keys of the new link as in a scenario's `[[topology.links]]`: `rate="10 Mbit/s"`, `delay="5 ms"`.
                Each holds from the first node to the second; rate, buffer, queue and delay also hold back, unless
                `reverse` says otherwise.

        Raises:
            InputError: there is no such link, or none can be added.
        """
        if self._path is None and self._sketch is not None:
            number = self._sketch.link(tuple(map(str, names)), keys)
            return Link(self, lambda: self.network.cables[number].links)
        if keys:
            given = ", ".join(f'{key}="..."' for key in keys)
            ends = ", ".join(map(repr, map(str, names)))
            hint = f"add it by lab.add_link({ends}, {given}), or change one by lab.link({ends}).set({given})"
            raise InputError("lab.link draws a link before the lab is up", "it is up", hint)
        return super().link(*names)

    def scenario(self) -> LabScenario:
        """The lab's scenario; of a lab whose network was changed, with the network as it is now.

        Raises:
            ScenarioError: what was drawn is no network; it has all that is wrong with it.
        """
        if self._path is not None and rewire.is_rewired(self._path):
            return load(self._path / "scenario.toml")
        return self._scenario if self._sketch is None else self._sketch.scenario()

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the scenario to a new TOML file, which `dumbbell lab up` and `Lab(file)` read.

        Raises:
            InputError: it is there already, or what was drawn is no network.
        """
        drawn.save(self.scenario(), Path(file))

    def start(self) -> Self:
        """Build it, and wait until it is up.

        Raises:
            InputError: what was drawn, or this machine, does not allow it; or a lab of this name is up.
            RunFailed: it cannot be built.
        """
        if self._path is not None:
            raise InputError("the lab is up", "it was started before", "lab.stop() ends it")
        owner = Owner(self.scenario(), self._name or self._free(), self._agrees)
        self._path = owner.__enter__().path
        self._owner = owner
        return self

    def stop(self) -> None:
        """End it, and all programs in it. A lab that is not up stays so."""
        owner, self._owner, self._path = self._owner, None, None
        if owner is not None:
            owner.__exit__(None, None, None)

    def __enter__(self) -> Self:
        """Build it, if it has a scenario. One that calls draw waits for `start`.

        Raises:
            DumbbellError: as `start`.
        """
        return self.start() if self._starts_within else self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it, and all programs in it."""
        self.stop()

    def interrupted_at_end(self) -> AbstractContextManager[None]:
        """Within, the end of this lab raises `LabEnded` in the main thread, whatever it waits for."""
        return nullcontext() if self._owner is None else interrupted(self._owner)

    def shell(self) -> int:
        """The lab's shell on standard input. Returns the exit code of the last command."""
        return Shell(self).interact()

    def _node(self, kind: str, name: str, keys: Mapping[str, Any]) -> Node:
        if self._path is not None:
            raise InputError(
                f"lab.{kind}({name!r}) draws a node before the lab is up", "it is up", f"lab.add_{kind}({name!r})"
            )
        if self._sketch is None:
            why = "the network is that of the scenario"
            raise InputError(f"lab.{kind}({name!r})", why, "add it there, or begin with Lab()")
        self._sketch.node(kind, name, keys)
        return Node(self, name)

    def _free(self) -> str | None:
        """A free name for a lab that a program draws; `None`: the scenario's."""
        if self._sketch is None:
            return None
        name = self._sketch.name
        taken = {path.name for path in place.alive()}
        names = [name, *(f"{name}-{number}" for number in range(2, len(taken) + 2))]
        return next(one for one in names if one not in taken)
