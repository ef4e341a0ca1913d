"""A lab that is up, as Python sees it: nodes, programs, links, pings, traffic."""

from __future__ import annotations

import os
import subprocess
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Unpack

from dumbbell.engines.events import LinkProgress
from dumbbell.errors import RunFailed
from dumbbell.labs import changes, daemons, pings, place, play, readiness, rewire, traffic
from dumbbell.labs.agent import ask
from dumbbell.labs.keys import HostKeys, LinkKeys, RouterKeys, SwitchKeys
from dumbbell.labs.network import Network
from dumbbell.labs.program import Command, Program

if TYPE_CHECKING:
    from dumbbell.labs.recording import Recording


class Live:
    """A lab that is up."""

    def __init__(self, path: Path | None) -> None:
        """The lab in this directory; `None`: it is not up yet."""
        self._path = path
        self._known: tuple[tuple[int, int, str], Network] | None = None

    @classmethod
    def open(cls, name: str | None = None) -> Live:
        """A lab of this user that is up: the one with this name, or the only one.

        Raises:
            InputError: there is none.
        """
        return Live(place.find(name))

    @property
    def path(self) -> Path:
        """The lab's directory. Raises `RunFailed` if the lab is not up."""
        if self._path is None:
            why = "it is up within `with dumbbell.Lab(FILE) as lab`, or between lab.start() and lab.stop()"
            raise RunFailed("the lab is not up", why, "call lab.start() once its network is drawn")
        return self._path

    def interrupted_at_end(self) -> AbstractContextManager[None]:
        """Within, the end of a lab that this process owns raises `LabEnded` in the main thread."""
        return nullcontext()

    @property
    def network(self) -> Network:
        """Its nodes and cables as they are now."""
        written = os.stat(self.path / "plan.json")
        stamp = (written.st_ino, written.st_mtime_ns, str(self.path))
        if self._known is None or self._known[0] != stamp:
            self._known = stamp, Network.of(self.path)
        return self._known[1]

    @property
    def nodes(self) -> list[str]:
        """The names of all nodes."""
        return self.network.nodes

    @property
    def hosts(self) -> list[str]:
        """The names of the hosts."""
        return self.network.hosts

    def __getitem__(self, name: str) -> Node:
        """The host or router `name`. Raises `InputError` if there is none."""
        self.network.check_place(name)
        return Node(self, name)

    def __iter__(self) -> Iterator[str]:
        """The names of all nodes."""
        return iter(self.nodes)

    def link(self, *names: str | Node) -> Link:
        """A link by its name, one direction; or all links between two nodes, both directions.

        Raises:
            InputError: there is none.
        """
        found = tuple(self.network.named(*map(str, names)))
        return Link(self, lambda: found)

    def add_host(self, name: str, **keys: Unpack[HostKeys]) -> Node:
        """Add a host to the lab, which is up. It joins the network with its first link: `add_link`.

        Args:
            name: of the host.
            keys: as in a scenario's `[topology.nodes]`.

        Raises:
            InputError: there is a node of this name, or it cannot be so.
        """
        rewire.add_node(self.path, "host", name, keys)
        return Node(self, name)

    def add_switch(self, name: str, **keys: Unpack[SwitchKeys]) -> Node:
        """Add a switch, as `add_host` does."""
        rewire.add_node(self.path, "switch", name, keys)
        return Node(self, name)

    def add_router(self, name: str, **keys: Unpack[RouterKeys]) -> Node:
        """Add a router, as `add_host` does. Its routing daemons start with its first link."""
        rewire.add_node(self.path, "router", name, keys)
        return Node(self, name)

    def add_link(self, a: str | Node, b: str | Node, **keys: Unpack[LinkKeys]) -> Link:
        """Add a link between two nodes of the lab, which is up. Nodes that wait for their first link come up with it.

        Args:
            a: node from which the link's own keys hold.
            b: the other node.
            keys: as in a scenario's `[[topology.links]]`: `rate="10 Mbit/s"`, `delay="5 ms"`.

        Raises:
            InputError: there is no such node, or the network cannot be so.
            RunFailed: the lab has ended, or refuses it.

        Warns:
            A router keeps the configuration that its user has written.
        """
        names, left_to_do = rewire.add_link(self.path, (str(a), str(b)), keys)
        _warn(left_to_do)
        return Link(self, lambda: names)

    def remove(self, node: str | Node) -> None:
        """Remove a node with its links from the lab, which is up. Programs in it are killed.

        Raises:
            InputError: there is no such node, or something needs it.
            RunFailed: the lab has ended, or refuses it.
        """
        _warn(rewire.remove_node(self.path, str(node)))

    def ping_all(
        self, hosts: Sequence[str | Node] | None = None, timeout_s: float = pings.TIMEOUT_S, ip: int = 4
    ) -> pings.Pings:
        """Ping each host from each other one, by IPv4 or IPv6; `hosts`: only these.

        Raises:
            RunFailed: a host has no address of this version of IP.
        """
        return pings.ping_all(self.path, list(map(str, hosts)) if hosts is not None else self.hosts, timeout_s, ip)

    def tcp(
        self, from_: str | Node, to: str | Node, cc: str | None = None, seconds: float = traffic.SECONDS, ip: int = 4
    ) -> traffic.FlowResult:
        """A TCP flow between two hosts, to its end; by default, with the kernel's default congestion control."""
        (result,) = traffic.run_flows(self.path, [traffic.tcp(str(from_), str(to), cc, seconds, ip=ip)])
        return result

    def udp(
        self, from_: str | Node, to: str | Node, rate_bps: int, seconds: float = traffic.SECONDS, ip: int = 4
    ) -> traffic.FlowResult:
        """A UDP flow of constant rate between two hosts, to its end."""
        (result,) = traffic.run_flows(self.path, [traffic.udp(str(from_), str(to), rate_bps, seconds, ip=ip)])
        return result

    def play(self) -> list[traffic.FlowResult]:
        """The flows and the events of the scenario, from now to the end of both.

        An event sets its link to what the scenario says; it comes up to some ten milliseconds late.
        """
        return play.play(self.path)

    def traffic(self) -> list[traffic.FlowResult]:
        """The flows of the scenario, from now to their end."""
        return traffic.run_flows(self.path, traffic.planned(self.path))

    def record(self, name: str | None = None, directory: str | os.PathLike[str] = "runs") -> Recording:
        """Keep what is done within `with lab.record() as record:` as a run; after it, `record.run` is the run.

        Args:
            name: the run's name; by default, that of the scenario.
            directory: where runs are kept.
        """
        from dumbbell.labs.recording import Recording

        return Recording(self.path, name, directory)

    def progress(self) -> list[LinkProgress]:
        """Each link's rate and queue now, as in the event `progress` of a run."""
        answer = ask(self.path, {"do": "look"})
        return list(answer["event"]["links"]) if answer["answer"] == "told" else []


class Node:
    """A node of a lab. Programs run in hosts and routers once the lab is up."""

    def __init__(self, lab: Live, name: str) -> None:
        """`lab[name]` makes it, or the call that adds it to a lab that is drawn."""
        self._lab, self.name = lab, name

    def __str__(self) -> str:
        """Its name."""
        return self.name

    def __repr__(self) -> str:
        """Its name as Python's prompt shows it."""
        return f"<{self.name}>"

    @property
    def address(self) -> str:
        """Its address; empty of a switch."""
        return self._lab.network.address(self.name)

    @property
    def interfaces(self) -> dict[str, list[str]]:
        """Its interfaces by name, beside `lo`, and the addresses of each: `{"eth0": ["10.0.0.1/24"]}`."""
        return dict(self._lab.network.interfaces(self.name))

    def run(
        self, command: Command, timeout_s: float | None = None, check: bool = False
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end.

        Args:
            command: what to run.
            timeout_s: after this it is killed.
            check: raise `subprocess.CalledProcessError` if its exit code is not 0.

        Returns:
            Its exit code, standard output and standard error.

        Raises:
            RunFailed: there is no such program, or the lab has ended.
            subprocess.TimeoutExpired: it took longer than `timeout_s`.
        """
        with self.start(command) as program:
            done = program.wait(timeout_s)
        if check:
            done.check_returncode()
        return done

    def daemon(self, name: str, up: bool) -> None:
        """Kill a routing daemon of the router, as a crash does, or start it: `daemon("bgpd", up=False)`.

        Raises:
            InputError: there is no such daemon.
            RunFailed: it is already so.
        """
        daemons.change(self._lab.path, self.name, name, up)

    def start(self, command: Command, ready: str | None = None) -> Program:
        """Start a command that goes on. It ends with the `Program`, or with the lab.

        Args:
            command: what to run.
            ready: wait until this port is open in the node: `"tcp 80"`, `"udp 53"`.

        Raises:
            InputError: `ready` is no port.
            RunFailed: there is no such program, or it does not open the port within a minute.
        """
        if ready is not None:
            readiness.checked(ready)
        program = Program(self._lab.path, self.name, command)
        try:
            if ready is not None:
                readiness.wait(self.name, lambda line: self.run(line).stdout, program.failure, ready)
        except BaseException:
            program.__exit__(None, None, None)
            raise
        return program

    def vtysh(self, *commands: str) -> str:
        """Returns the output of FRRouting's shell for these commands, in a router with routing daemons.

        Raises:
            RunFailed: a command failed, or the router has no daemon.
        """
        done = self.run(["vtysh", *(word for command in commands for word in ("-c", command))])
        if done.returncode:
            what = f"vtysh in {self.name}: exit code {done.returncode}"
            raise RunFailed(what, (done.stderr or done.stdout).strip(), "does it have daemons? routing = [...]")
        return done.stdout


class Link:
    """Links of a lab: one direction, or all between two nodes, or the two directions of one that was drawn."""

    def __init__(self, lab: Live, find: Callable[[], Sequence[str]]) -> None:
        """`Live.link` makes it; `find` gives the names of its links once the lab is up."""
        self._lab, self._find = lab, find

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the links, a direction each."""
        return tuple(self._find())

    def remove(self) -> None:
        """Remove it from the lab, which is up, in both directions.

        Raises:
            InputError: something needs it, such as a node whose only link it is.
        """
        _warn(rewire.remove_link(self._lab.path, self.names[:1]))

    def set(self, **keys: str) -> None:
        """Change it: `set(rate="5 Mbit/s", loss="1 %")`, with the keys and values of a scenario's `[[events]]`.

        Raises:
            InputError: it cannot be so.
        """
        for name in self.names:
            changes.change(self._lab.path, [name], keys)

    def down(self, carrier: Literal["lost", "kept"] = "lost") -> None:
        """Takes the link down: packets are dropped, until it is up again.

        Args:
            carrier: with `"lost"`, the interfaces at its ends lose their carrier, in both directions, as if the cable
                were pulled; with `"kept"` they notice nothing.
        """
        self.set(up="false", carrier=carrier)

    def up(self) -> None:
        """End `down`."""
        self.set(up="true")

    @property
    def state(self) -> dict[str, Mapping[str, object]]:
        """The links as they are now, by name, as in plan.json."""
        from dumbbell.plan import wire

        return {name: wire.part(link) for name, link in changes.states(self._lab.path, self.names).items()}


def _warn(left_to_do: Sequence[str]) -> None:
    """Say to whoever has called this module what is left to do."""
    for one in left_to_do:
        warnings.warn(one, stacklevel=3)
