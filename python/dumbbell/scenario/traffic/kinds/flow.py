"""The part that all kinds of flow have: the keys of every entry of `[[flows]]`, and what a kind may override.

A kind is a class with two bases: `AnyFlow`, an entry that a user wrote, and `Kind`, what follows from its workload in a
plan. Everything else in dumbbell asks these, and compares no name of a kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Generic, Literal, TypeVar

from pydantic import Field

from dumbbell.frozen import dataclass
from dumbbell.scenario.source import Finding, Key
from dumbbell.scenario.table import Table
from dumbbell.scenario.traffic.algorithms import Algorithm
from dumbbell.units import Amount, Percent, Rate, Time
from dumbbell.units.mtu import Version
from dumbbell.workloads import Workload

MOST_CONNECTIONS = 50_000
"""The limit of a scenario: each connection has a separate port, and records number flows by 16 bits."""


@dataclass(frozen=True)
class Ends:
    """Facts of one connection on which its workload depends."""

    from_: str
    to: str
    address: Callable[[str], str]
    """Looks up the address of a host to which the flow's packets go."""
    port: int
    duration_ns: int
    mtu: int
    """The most bytes of an IP packet on its way."""
    cc: str | None
    """Label of its congestion control."""
    needs_ecn: bool
    """True if its congestion control always negotiates ECN."""
    bytes: int | None
    rate_bps: int | None


@dataclass(frozen=True)
class Stack:
    """A QUIC stack that a flow needs."""

    name: str
    build: str
    """Build of the program that has the stack; empty: the usual one."""
    cc: str
    """The stack's name of its congestion control."""


W = TypeVar("W")


class Kind(Generic[W]):
    """Facts of a kind of flow, and of its workload `W` in a plan."""

    place: ClassVar[int]
    """Order in documents and forms; the first kind is that of a flow that names none."""
    kind: ClassVar[str]
    """Name in plans, records and, unless `instead` is set, the scenario's key `protocol`."""
    instead: ClassVar[str | None] = None
    """Key by which a scenario chooses this kind, in place of `protocol`."""
    is_bulk: ClassVar[bool] = False
    """True if a flow is one connection of TCP or QUIC that sends as fast as it can."""
    is_paced: ClassVar[bool] = False
    """True if it sends at a constant rate, whatever the network does."""
    has_segments: ClassVar[bool] = False
    """True if a flow may be made of TCP segments and ACKs."""
    runs_programs: ClassVar[bool] = False
    """True if its ends are programs of the user's."""
    has_goodput: ClassVar[bool] = True
    """True if the bytes that a flow delivers are its purpose."""
    plural: ClassVar[str] = ""
    """Heading of the report's table of `figures`: `Pings`."""
    figures: ClassVar[Mapping[str, str]] = {}
    """Figures of this kind alone: heading -> key in the part of a flow's summary that has the kind's name."""
    compared: ClassVar[Mapping[tuple[str, str], str]] = {}
    """Figures that two runs are compared by: measure and unit -> key."""

    @property
    def negotiates_ecn(self) -> bool | None:
        """The key `ecn` of TCP's kinds: true if connections ask for ECN. `None` of flows that negotiate nothing."""
        return getattr(self, "ecn", None) if self.has_segments else None

    @classmethod
    def sends(cls, workload: W) -> str:
        """The workload in words: `TCP, cubic, 300 kB`."""
        raise NotImplementedError

    @classmethod
    def label(cls, workload: W) -> str | None:
        """The congestion control that a flow asks for."""
        return None

    @classmethod
    def size_bytes(cls, workload: W) -> int | None:
        """Bytes after which a flow ends by itself."""
        return None

    @classmethod
    def rate_bps(cls, workload: W) -> int | None:
        """The rate of a flow that has one, in bits per second: of whole frames, or of its application's data."""
        return None

    @classmethod
    def gap_us(cls, workload: W, ip: int) -> float | None:
        """Microseconds from one packet to the next of a flow with a constant rate over this version of IP."""
        return None

    @classmethod
    def lost_in_hosts(cls, account: Mapping[str, Any]) -> tuple[int, int] | None:
        """Datagrams that the sender's kernel refused, and those that the receiver's full socket dropped.

        Args:
            account: what the run has counted of the flow, as in `traffic.json`.
        """
        return None

    @classmethod
    def schedule_error_us(cls, account: Mapping[str, Any]) -> float | None:
        """99th percentile of |actual - due| sending time, of a flow that sent at a constant rate; argument as above."""
        return None

    @classmethod
    def failed_programs(cls, account: Mapping[str, Any]) -> Iterator[str] | None:
        """Exit codes other than 0 of programs that ended by themselves; `None` if none ran; argument as above."""
        return None

    @classmethod
    def quic_stack(cls, workload: W) -> Stack | None:
        """The QUIC stack that a flow needs."""
        return None

    @classmethod
    def command_lines(cls, workload: W) -> Mapping[str, str]:
        """Command lines that a flow runs, by their keys in the scenario."""
        return {}


class AnyFlow(Table):
    """Keys that all flows have."""

    id: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$",
        description="Name in tables and plots: at most 32 letters, digits, `.`, `_` and `-`. Default: `f1`, `f2`, "
        "... by position.",
        examples=["background"],
    )
    from_: str = Field(
        alias="from",
        description="Sending host. Several connections may use `s*`: they take turns over s1, s2, ...",
        examples=["s1"],
    )
    to: str = Field(description="Receiving host. Several connections may use `r*`.", examples=["r1"])
    connections: int | None = Field(
        default=None,
        ge=1,
        le=MOST_CONNECTIONS,
        strict=True,
        description="Number of flows that the entry stands for, named `<id>.1`, `<id>.2`, ... Default: one flow, named "
        "`<id>`.",
        examples=[10],
    )
    gap: Time = Field(default=Time(0), description="Time between the starts of one connection and the next.")
    arrivals: Literal["fixed", "poisson"] = Field(
        default="fixed",
        description="Gaps are all as given, or random with an exponential distribution of that mean.",
    )
    start: Time = Field(default=Time(0), description="Start, counted from the start of the run.")
    stop: Time | None = Field(
        default=None, description="Latest time at which it stops sending. Default: the end of the run."
    )
    port: int | None = Field(
        default=None,
        ge=1,
        le=65535,
        strict=True,
        description="Port of the receiver, unique per host and protocol; for several connections, the first one's. "
        "Default: `5001`, `5002`, ... by position.",
    )
    ip: Version = Field(
        default=4,
        description="Version of IP. 6 needs a drawn network with IPv6 addresses; headers are 20 bytes longer.",
    )

    @classmethod
    def default_cc(cls) -> str | None:
        """The congestion control of a flow that names none; `None` if it has none then."""
        cc = cls.model_fields.get("cc")
        return None if cc is None or cc.default is None else str(cc.default)

    @property
    def number(self) -> int:
        """Number of connections that the entry makes."""
        return self.connections or 1

    @property
    def asked_rate(self) -> Rate | Percent | None:
        """The rate of each connection, or its share of the bottleneck's."""
        return None

    @property
    def port_protocols(self) -> tuple[str, ...]:
        """The protocols in which each connection takes its port: TCP, unless the kind says otherwise."""
        return ("tcp",)

    @property
    def parts(self) -> tuple[list[int], ...]:
        """Numbers of connections per share, of each key that has shares, such as `mix`.

        If a key gives connections to two shares or more, the seed decides which connection gets which.
        """
        return ()

    def algorithms(self, seed: int, entry: int, group: str) -> list[tuple[Key | None, Algorithm | None]]:
        """The congestion control of each connection, and the key that names it.

        Args:
            seed: of the scenario.
            entry: index in `flows`.
            group: the entry's name.
        """
        return [(None, None)] * self.number

    def sizes_of(self, seed: int, group: str) -> list[Amount | None]:
        """The bytes that each connection sends in all, `None` for no end; arguments as of `algorithms`."""
        return [None] * self.number

    def check(self, at: Key, mtu: Callable[[bool], int], has_one_mtu: bool) -> Iterator[Finding]:
        """Values of the kind's keys that do not go together.

        Args:
            at: the entry's key.
            mtu: the most bytes of an IP packet on all ways of the entry; if its argument is true, also on those back.
            has_one_mtu: all links of the network have the same MTU.
        """
        yield from ()

    def workload(self, ends: Ends) -> Workload:
        """The workload of one connection in a plan."""
        raise NotImplementedError
