"""QUIC over stacks of others in user space."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Final, Literal

from pydantic import Field

from dumbbell.hints import nearest
from dumbbell.names import MOST, is_name, shortened
from dumbbell.scenario.source import Finding, Key
from dumbbell.scenario.traffic.bursts import Burst, RateOrShare
from dumbbell.scenario.traffic.kinds.flow import AnyFlow, Ends, Kind, Stack
from dumbbell.scenario.traffic.kinds.pauses import OFF, ON, amounts, check_pauses, on_off
from dumbbell.units import Amount, Duration, Percent, Rate
from dumbbell.units.mtu import IP, UDP, datagram_bytes
from dumbbell.workloads import QuicWorkload

STACKS: Final[Mapping[str, tuple[str, ...]]] = {
    "quinn": ("cubic", "reno", "bbr"),
    "noq": ("cubic", "reno", "bbr3"),
    "quiche": ("cubic", "reno", "bbr2"),
    "s2n": ("cubic", "bbr2"),
}
"""Stacks of `dumbbell-quic` (the folder `quic`), with their congestion controls; the first is the default."""
_DEFAULT: Final = next(iter(STACKS))
_LEAST_DATAGRAM: Final = 1200
"""Bytes of UDP payload that each network must carry (RFC 9000, section 14)."""
_WITHOUT_QLOG: Final = ("s2n",)
"""Stacks that write no qlog."""
_NAME: Final = f"at most {MOST} letters, digits, and - _ ."


class QuicFlow(AnyFlow, Kind[QuicWorkload]):
    """QUIC: one stream that sends what the stack's congestion control and `rate` allow, until `stop` or `bytes`."""

    place: ClassVar = 45
    kind: ClassVar = "quic"
    is_bulk: ClassVar = True
    plural: ClassVar = "QUIC"
    figures: ClassVar = {
        "Handshake (ms)": "handshake_ms",
        "Datagrams sent": "sent_packets",
        "Packets declared lost": "lost_packets",
    }
    compared: ClassVar = {
        ("QUIC handshake", "ms"): "handshake_ms",
        ("QUIC sent", "datagrams"): "sent_packets",
        ("QUIC lost", "packets"): "lost_packets",
    }

    protocol: Literal["quic"] = Field(description="QUIC (RFC 9000), by a stack in user space.")
    stack: str = Field(
        default=_DEFAULT,
        description=f"Stack of both ends: {', '.join(f'`{name}`' for name in STACKS)}. `make quic` builds them. "
        "`NAME@BUILD`: the stack of another build of the program, such as that of a branch.",
        examples=["quinn", "noq"],
    )
    cc: str = Field(
        default=STACKS[_DEFAULT][0],
        description="Congestion control, by the stack's own name: "
        + "; ".join(f"`{name}` has {', '.join(map('`{}`'.format, all_))}" for name, all_ in STACKS.items())
        + ".",
        examples=["cubic", "bbr3"],
    )
    bytes: Amount | None = Field(default=None, description="Application data to send. Default: no end before `stop`.")

    rate: RateOrShare | None = Field(
        default=None,
        description="Rate of the application's data, without headers, or a share of the bottleneck's constant rate. "
        "Default: as much as the connection takes.",
        examples=["5 Mbit/s", "50 %"],
    )
    on: Burst | None = Field(default=None, description=ON)
    off: Duration | None = Field(default=None, description=OFF)
    qlog: bool = Field(
        default=False,
        strict=True,
        description="Keep the stack's qlog of both ends, at most 64 MiB each, in the run's folder `logs`. "
        f"Not of {', '.join(f'`{name}`' for name in _WITHOUT_QLOG)}.",
    )

    @property
    def asked_rate(self) -> Rate | Percent | None:
        """The rate as written."""
        return self.rate

    @property
    def port_protocols(self) -> tuple[str, ...]:
        """UDP."""
        return ("udp",)

    def sizes_of(self, seed: int, group: str) -> list[Amount | None]:
        """The same for all connections."""
        return [self.bytes] * self.number

    def check(self, at: Key, mtu: Callable[[bool], int], has_one_mtu: bool) -> Iterator[Finding]:
        """A stack that there is not, an algorithm that a stack does not have, and pauses."""
        name, at_sign, build = self.stack.partition("@")
        if at_sign:
            # The build is asked for its stacks and their algorithms: a branch may have others.
            # The build is a part of a file's name, and both are parts of a command that a hint shows.
            for what, part, place in (("build of the program", build, "behind"), ("QUIC stack", name, "before")):
                if not is_name(part):
                    wrong = f"no {what} is named {shortened(part)}"
                    yield Finding((*at, "stack"), wrong, f"{_NAME} {place} the @")
        elif self.stack not in STACKS:
            expected = f"one of {', '.join(STACKS)}"
            near = nearest(self.stack.lower(), STACKS)
            yield Finding((*at, "stack"), f"no QUIC stack {self.stack!r}", expected, near)
        elif self.cc not in STACKS[self.stack]:
            names = STACKS[self.stack]
            others = [name for name, algorithms in STACKS.items() if self.cc in algorithms]
            hint = f'stack = "{others[0]}" has it' if others else f'write cc = "{names[0]}"'
            wrong = f"{self.stack} has no congestion control {self.cc!r}"
            yield Finding((*at, "cc"), wrong, f"one of {', '.join(names)}", hint)
        if self.qlog and name in _WITHOUT_QLOG:
            has = ", ".join(name for name in STACKS if name not in _WITHOUT_QLOG)
            yield Finding((*at, "qlog"), f"{name} writes no qlog", f"one of the stacks {has}", "leave qlog out")
        if datagram_bytes(mtu(False), self.ip) < _LEAST_DATAGRAM:
            wrong = f"QUIC needs datagrams of {_LEAST_DATAGRAM} B, and packets have at most {mtu(False)} B"
            yield Finding(at, wrong, f"an MTU of {_LEAST_DATAGRAM + UDP + IP[self.ip]} B or more")
        yield from check_pauses(at, self, self.on, self.off)

    def workload(self, ends: Ends) -> QuicWorkload:
        """The workload of one connection."""
        pattern = on_off(self.on, self.off)
        return QuicWorkload(
            stack=self.stack,
            cc=self.cc,
            bytes=ends.bytes,
            rate_bps=ends.rate_bps,
            on_off=pattern,
            qlog=self.qlog,
        )

    @classmethod
    def sends(cls, workload: QuicWorkload) -> str:
        """`QUIC, quinn/cubic, 5 Mbit/s, 300 kB`."""
        rate = "" if workload.rate_bps is None else f", {Rate(workload.rate_bps)}"
        return f"QUIC, {workload.stack}/{workload.cc}{rate}{amounts(workload.bytes, workload.on_off)}"

    @classmethod
    def label(cls, workload: QuicWorkload) -> str:
        """The stack and its algorithm: `quinn/cubic` is not the kernel's `cubic`."""
        return f"{workload.stack}/{workload.cc}"

    @classmethod
    def size_bytes(cls, workload: QuicWorkload) -> int | None:
        """Application data."""
        return workload.bytes

    @classmethod
    def rate_bps(cls, workload: QuicWorkload) -> int | None:
        """The rate of the application's data."""
        return workload.rate_bps

    @classmethod
    def quic_stack(cls, workload: QuicWorkload) -> Stack:
        """Stack, build and congestion control of the plan."""
        name, _, build = workload.stack.partition("@")
        return Stack(name, build, workload.cc)

    @classmethod
    def lost_in_hosts(cls, account: Mapping[str, Any]) -> tuple[int, int] | None:
        """A QUIC sender waits while its socket is full."""
        counted = account.get("quic")
        return counted and (0, counted["socket_drops"])
