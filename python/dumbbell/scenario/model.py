"""The scenario: what a user writes, checked for its shape.

Each field's description is also its text in the JSON Schema (`dumbbell schema`). Checks that need more than one field,
such as a flow between hosts that do not exist, are in `resolve`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal, Self
from weakref import ref

from pydantic import BeforeValidator, ConfigDict, Field, PrivateAttr, StrictBool

from dumbbell import names
from dumbbell.scenario.hunt import Hunt
from dumbbell.scenario.links.changes import Event
from dumbbell.scenario.source import Source
from dumbbell.scenario.study import ONCE, Expectation, Repetitions, Report, Sweep
from dumbbell.scenario.table import Table
from dumbbell.scenario.topology.hosts import Hosts
from dumbbell.scenario.topology.kinds import Topology
from dumbbell.scenario.traffic.flows import Flow
from dumbbell.scenario.traffic.programs import Program
from dumbbell.units import MAX, Duration, QuantityError, Size, Time


def _acks(value: object) -> object:
    if value != "auto" and not isinstance(value, bool):
        raise QuantityError("unknown", '"auto", true or false', "")
    return value


"""The pattern of a scenario's name, which becomes part of paths."""

Acks = Annotated[Literal["auto"] | StrictBool, BeforeValidator(_acks)]


class Record(Table):
    """Which records are written."""

    sample_interval: Time = Field(
        default=Time(10_000_000), ge=1_000_000, description="Spacing of the rows of `samples` and `links`."
    )
    packets: bool = Field(default=True, strict=True, description="Write a row per packet and link.")
    acks: Acks = Field(
        default="auto",
        description="Write a row per ACK that a sender receives. `auto`: where it is possible. true: refuse to run "
        "where it is not. false: never.",
    )
    capture: bool = Field(
        default=False,
        strict=True,
        description="Write the headers of all packets as `capture.pcapng`, for `dumbbell pcap`, tshark and Wireshark.",
    )


class Emulate(Table):
    """Settings of the emulation engine."""

    ring: Size = Field(
        default=Size(64 << 20), ge=64 << 10, le=1 << 30, description="Packet ring between kernel and emulator."
    )
    spin: Time = Field(
        default=Time(60_000),
        le=1_000_000,
        description="Longest busy-wait before a packet is due, as long as waking up takes on this machine. `0 s`: "
        "never.",
    )
    arena: Size = Field(
        default=Size(256 << 20),
        ge=1 << 20,
        description="Room for the packets inside the links. A run that needs more is invalid.",
    )
    path: Literal["auto", "wire", "gso"] = Field(
        default="auto",
        description="How packets cross between kernel and emulator. `wire`: one by one. `gso`: as bursts, which "
        "costs less; links see single segments. `auto`: `gso` if a flow crosses a link faster than 400 "
        "Mbit/s, or meets no limit; one choice for all runs of a study, if all can take it.",
    )
    merge: Time | None = Field(
        default=None,
        le=10_000_000,
        description="Segments to one host that are due within this time may be handed over together (`gso` only). "
        'Default: `"0 s"` on `wire`, `"100 us"` on `gso`.',
    )
    whole_bursts: bool = Field(
        default=False,
        strict=True,
        description="true: a burst of segments stays one item on all links, as with segmentation offload. Needs `gso`.",
    )
    cpus: int | None = Field(
        default=None,
        ge=1,
        strict=True,
        description="Number of CPUs for all processes of the lab. A run on 1 is suspect. Default: all that dumbbell "
        "may use.",
    )
    kernel: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]{0,63}$",
        description="The kernel of a run in virtual time (`--engine virtual`), by its name in `dumbbell kernel list`. "
        'Default: `"6.12"`.',
        examples=["6.12"],
    )
    links: Literal["ours", "kernel", "mininet"] = Field(
        default="ours",
        description="Links that carry packets. `ours`: dumbbell's link emulator. `kernel`: the kernel's `tbf` and "
        "`netem`, to compare ours with them. `mininet`: `htb` and `netem` as Mininet's `TCLink` makes "
        "them; hosts send bursts. The last two refuse keys that they cannot obey.",
    )


class Simulate(Table):
    """Settings of the simulator."""

    tso: bool = Field(
        default=True,
        strict=True,
        description="Senders hand over trains of segments, as the kernel does; false: single segments.",
    )
    hosts: Literal["machine", "virtual"] = Field(
        default="machine",
        description="How long hosts take to answer. `machine`: 25 to 135 us, as in an emulated run. `virtual`: less "
        "than 1 us, as in virtual time.",
    )


class Scenario(Table):
    """One experiment: a network, its flows, how long, and what to record."""

    model_config = ConfigDict(title="dumbbell scenario")

    name: str = Field(
        pattern=names.PATTERN,
        description="Name of the scenario, used in paths and titles. At most 64 letters, digits, `.`, `_` and `-`.",
        examples=["bbr-vs-cubic"],
    )
    description: str = Field(default="", description="The purpose of this scenario, in a line.")
    duration: Duration = Field(description="How long traffic flows.", examples=["20 s"])
    seed: int = Field(
        default=1,
        ge=0,
        le=MAX,
        strict=True,
        description="Root of every random stream.",
    )
    starts: Time | None = Field(
        default=None,
        description='Longest delay of each entry\'s start, drawn by the seed. Default: `"0 s"`, or `"10 ms"` for '
        "repetitions of a study in which nothing else is random.",
        examples=["10 ms"],
    )
    topology: Topology = Field(discriminator="kind", description="The network.")
    events: list[Event] = Field(default=[], description="Changes of the links during the run.")
    flows: list[Flow] = Field(min_length=1, description="The traffic, in the order of tables and plots.")
    programs: list[Program] = Field(
        default=[], description="Programs that are of no flow, such as servers, in the order of their start."
    )
    hosts: Hosts = Field(default=Hosts(), description="Settings of the hosts.")
    record: Record = Field(default=Record(), description="Which records are written.")
    emulate: Emulate = Field(default=Emulate(), description="Settings of the emulation engine.")
    simulate: Simulate = Field(default=Simulate(), description="Settings of the simulator.")

    sweep: Sweep = Field(default=Sweep(), description="The varied keys with their values.")
    repeat: Repetitions = Field(
        default=ONCE,
        description="Runs of each cell; or a table that says when runs are enough.",
        examples=[30],
    )
    expect: list[Expectation] = Field(default=[], description="Expectations of the study.")
    report: Report = Field(default=Report(), description="Plots of the study's report. They change no run.")
    hunt: Hunt = Field(default=Hunt(), description="Search space of `dumbbell hunt`. It changes no run.")

    _source: Source = PrivateAttr(default_factory=Source)
    _resolved: tuple[ref[Any], Any] | None = PrivateAttr(default=None)
    """The result of `resolve`, with the scenario that it is from: a copy has that of its original."""

    @property
    def source(self) -> Source:
        """The source of the scenario, which gives places in errors."""
        return self._source

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy, whose changed values are not those of its source's text."""
        copy = super().model_copy(update=update, deep=deep)
        if update:
            copy._source = replace(copy._source, is_whole=False)
        return copy

    def __getstate__(self) -> dict[Any, Any]:
        """The state for pickling, without values that can be computed again."""
        state = super().__getstate__()
        return {**state, "__pydantic_private__": {**(state["__pydantic_private__"] or {}), "_resolved": None}}
