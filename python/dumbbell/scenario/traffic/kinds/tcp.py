"""Bulk TCP, one connection or groups of many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar, Literal

from pydantic import Field

from dumbbell.scenario.source import Finding, Key
from dumbbell.scenario.traffic.algorithms import Algorithm, Cc
from dumbbell.scenario.traffic.bursts import Burst
from dumbbell.scenario.traffic.draws import counts, dealt
from dumbbell.scenario.traffic.kinds.flow import AnyFlow, Ends, Kind
from dumbbell.scenario.traffic.kinds.pauses import OFF, ON, amounts, check_pauses, on_off
from dumbbell.scenario.traffic.shares import Mix, Sizes, exact
from dumbbell.units import Amount, Duration
from dumbbell.workloads import TcpWorkload


class TcpFlow(AnyFlow, Kind[TcpWorkload]):
    """Bulk TCP: sends as much as it can, until `stop` or until `bytes` are through."""

    place: ClassVar = 10
    kind: ClassVar = "tcp"
    is_bulk: ClassVar = True
    has_segments: ClassVar = True

    protocol: Literal["tcp"] = Field(default="tcp", description="TCP of this machine's kernel, or the simulator's.")
    cc: Cc = Field(
        default=Algorithm(name="cubic"),
        description="Congestion control: dumbbell's, the kernel's, or a program of yours.",
        examples=["cubic", "bbr", "bbr3"],
    )
    mix: Mix | None = Field(
        default=None,
        description="In place of `cc`: congestion controls and their shares of the connections.",
        examples=[{"cubic": 0.75, "bbr": 0.25}],
    )
    bytes: Amount | None = Field(default=None, description="Application data to send. Default: no end before `stop`.")
    sizes: Sizes | None = Field(
        default=None, description="In place of `bytes`: sizes and their shares of the connections."
    )
    on: Burst | None = Field(default=None, description=ON)
    off: Duration | None = Field(default=None, description=OFF)
    ecn: bool = Field(
        default=False,
        strict=True,
        description="Negotiate ECN (RFC 3168); equal for all TCP flows from one host. DCTCP always does.",
    )

    @property
    def parts(self) -> tuple[list[int], ...]:
        """Congestion controls, and sizes."""
        return self._mixed(), self._sized()

    def _mixed(self) -> list[int]:
        return counts(exact(self.mix.values()), self.number) if self.mix else []

    def _sized(self) -> list[int]:
        return counts(exact(size.share for size in self.sizes), self.number) if self.sizes else []

    def algorithms(self, seed: int, entry: int, group: str) -> list[tuple[Key | None, Algorithm | None]]:
        """The algorithms of the mix, dealt out, or the only one."""
        if self.mix is None:
            return [(("flows", entry, "cc"), self.cc)] * self.number
        named: list[tuple[Key | None, Algorithm | None]] = [
            (("flows", entry, "mix", name), Algorithm(name=name)) for name in self.mix
        ]
        return [named[part] for part in dealt(seed, f"flows/{group}/mix", tuple(self._mixed()))]

    def sizes_of(self, seed: int, group: str) -> list[Amount | None]:
        """Sizes with shares, dealt out, or the only one."""
        if self.sizes is None:
            return [self.bytes] * self.number
        return [self.sizes[part].bytes for part in dealt(seed, f"flows/{group}/sizes", tuple(self._sized()))]

    def check(self, at: Key, mtu: Callable[[bool], int], has_one_mtu: bool) -> Iterator[Finding]:
        """Parts beside a whole, and pauses."""
        for parts, whole in (("mix", "cc"), ("sizes", "bytes")):
            if getattr(self, parts) is not None and whole in self.model_fields_set:
                what = f"one of {whole} and {parts}"
                yield Finding((*at, whole), f"{parts} is given, too", what, f"leave {whole} out")
        yield from check_pauses(at, self, self.on, self.off)

    def workload(self, ends: Ends) -> TcpWorkload:
        """The workload of one connection."""
        assert ends.cc is not None
        ecn = self.ecn or ends.needs_ecn
        return TcpWorkload(cc=ends.cc, bytes=ends.bytes, ecn=ecn, on_off=on_off(self.on, self.off))

    @classmethod
    def sends(cls, workload: TcpWorkload) -> str:
        """`TCP, cubic, 300 kB, ECN`."""
        ecn = ", ECN" if workload.ecn else ""
        return f"TCP, {workload.cc}{amounts(workload.bytes, workload.on_off)}{ecn}"

    @classmethod
    def label(cls, workload: TcpWorkload) -> str:
        """The congestion control."""
        return workload.cc

    @classmethod
    def size_bytes(cls, workload: TcpWorkload) -> int | None:
        """Application data."""
        return workload.bytes
