"""Requests and answers over TCP: completion times of what applications wait for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib.resources import files
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, ValidationInfo

from dumbbell.scenario.source import Finding, Key
from dumbbell.scenario.table import Table
from dumbbell.scenario.traces import File, holding
from dumbbell.scenario.traces import sizes as sizes_of
from dumbbell.scenario.traffic.algorithms import Algorithm, Cc
from dumbbell.scenario.traffic.kinds.flow import AnyFlow, Ends, Kind
from dumbbell.units import Amount, Duration, QuantityError, Rate, Size, Time
from dumbbell.workloads import (
    CdfPoint,
    CdfSizes,
    ClosedPace,
    ConstantSizes,
    ExponentialSizes,
    LognormalSizes,
    OpenPace,
    ParetoSizes,
    RpcWorkload,
    Sizes,
)

_DISTRIBUTIONS: Final = files("dumbbell.scenario").joinpath("bundled", "distributions")
PUBLISHED: Final = tuple(sorted(one.name.removesuffix(".csv") for one in _DISTRIBUTIONS.iterdir()))
"""Names of bundled distributions of sizes."""
_EXAMPLE: Final = (
    'write "10 kB", "websearch", or { distribution = "exponential", mean = "10 kB" }, '
    '{ distribution = "lognormal", median = "10 kB", sigma = 1 }, '
    '{ distribution = "pareto", least = "1 kB", alpha = 1.2 }, { distribution = "table", file = "sizes.csv" }'
)


def points(name: str) -> tuple[CdfPoint, ...]:
    """A bundled cumulative distribution."""
    return _points(_DISTRIBUTIONS.joinpath(f"{name}.csv").read_text())


def _points(text: str) -> tuple[CdfPoint, ...]:
    return tuple(CdfPoint(bytes=size, share=share) for size, share in sizes_of(text))


class Drawn(Table):
    """A distribution of sizes, and what it depends on."""

    distribution: str = Field(
        description=f"`exponential`, `lognormal`, `pareto`, `table`, or a published one: {', '.join(PUBLISHED)}.",
        examples=["exponential"],
    )
    mean: Amount | None = Field(default=None, description="Mean of `exponential`.", examples=["10 kB"])
    median: Amount | None = Field(default=None, description="Median of `lognormal`.", examples=["10 kB"])
    sigma: float | None = Field(
        default=None,
        ge=0,
        le=10,
        description="Standard deviation of the natural logarithm of sizes, of `lognormal`.",
        examples=[1.0],
    )
    least: Amount | None = Field(default=None, description="Least size of `pareto`.", examples=["1 kB"])
    alpha: float | None = Field(
        default=None, gt=0, le=100, description="Exponent of the tail of `pareto`.", examples=[1.2]
    )
    file: Annotated[File, holding(sizes_of)] | None = Field(
        default=None,
        description="File of `table`, a cumulative distribution: bytes and the share of sizes that are no larger, from "
        "0 to 1, linear between lines.",
    )

    def planned(self) -> Sizes | None:
        """The sizes in a plan; `None` if keys are missing, or there are others."""
        given = self.model_fields_set - {"distribution"}
        match self.distribution:
            case "exponential" if self.mean is not None and given == {"mean"}:
                return ExponentialSizes(mean_bytes=int(self.mean))
            case "lognormal" if self.median is not None and self.sigma is not None and given == {"median", "sigma"}:
                return LognormalSizes(median_bytes=int(self.median), sigma=self.sigma)
            case "pareto" if self.least is not None and self.alpha is not None and given == {"least", "alpha"}:
                return ParetoSizes(least_bytes=int(self.least), alpha=self.alpha)
            case "table" if self.file is not None and given == {"file"}:
                return CdfSizes(points=_points(self.file.text))
            case name if name in PUBLISHED and not given:
                return CdfSizes(points=points(name))
        return None


def _sizes(value: Any, info: ValidationInfo) -> Any:
    if isinstance(value, str) and not value[:1].isdigit():
        value = {"distribution": value}
    if not isinstance(value, dict | Drawn):
        return Amount.parse(value)
    drawn = value if isinstance(value, Drawn) else Drawn.model_validate(value, context=info.context)
    if drawn.planned() is None:
        what = f"{drawn.distribution!r} is not a distribution of sizes, or keys of it are missing or too many"
        raise QuantityError(what, f"a size, a distribution with its keys, or one of {', '.join(PUBLISHED)}", _EXAMPLE)
    return drawn


def _dump(value: Amount | Drawn) -> Any:
    return str(value) if isinstance(value, Amount) else value.model_dump(mode="json", exclude_unset=True)


AnySizes = Annotated[
    Any,
    BeforeValidator(_sizes, json_schema_input_type=Amount | Literal[PUBLISHED] | Drawn),
    PlainSerializer(_dump, when_used="json"),
]


def _planned(sizes: Amount | Drawn) -> Sizes:
    found = sizes.planned() if isinstance(sizes, Drawn) else ConstantSizes(bytes=int(sizes))
    assert found is not None
    return found


def mean_bytes(sizes: Sizes) -> float:
    """The mean of a distribution; infinite if it has none."""
    match sizes:
        case ConstantSizes():
            return sizes.bytes
        case ExponentialSizes():
            return sizes.mean_bytes
        case LognormalSizes():
            return sizes.median_bytes * math.exp(sizes.sigma**2 / 2)
        case ParetoSizes():
            return math.inf if sizes.alpha <= 1 else sizes.least_bytes * sizes.alpha / (sizes.alpha - 1)
    pairs = zip(sizes.points, sizes.points[1:], strict=False)
    return sum((b.share - a.share) * (a.bytes + b.bytes) / 2 for a, b in pairs)


def _words(sizes: Sizes) -> str:
    match sizes:
        case ConstantSizes():
            return str(Size(sizes.bytes))
        case CdfSizes():
            known = next((name for name in PUBLISHED if points(name) == sizes.points), "drawn sizes")
            return f"{known} (mean {Size(round(mean_bytes(sizes)))})"
        case ExponentialSizes():
            return f"exponential (mean {Size(sizes.mean_bytes)})"
        case LognormalSizes():
            return f"lognormal (median {Size(sizes.median_bytes)}, sigma {sizes.sigma:g})"
    return f"Pareto (least {Size(sizes.least_bytes)}, alpha {sizes.alpha:g})"


class RpcFlow(AnyFlow, Kind[RpcWorkload]):
    """Requests that the sending host makes over a TCP connection, and answers of the receiving host."""

    place: ClassVar = 40
    kind: ClassVar = "rpc"
    has_segments: ClassVar = True
    plural: ClassVar = "Requests"
    figures: ClassVar = {
        "Completed": "completed",
        "Median completion time (ms)": "fct_p50_ms",
        "95th percentile (ms)": "fct_p95_ms",
        "99th percentile (ms)": "fct_p99_ms",
        "Median slowdown": "slowdown_p50",
        "99th percentile": "slowdown_p99",
    }

    protocol: Literal["rpc"] = Field(description="Requests and answers over TCP.")
    request: AnySizes = Field(
        default=Amount(100),
        description="Application data of each request: a size, a distribution (`exponential` with `mean`, `lognormal` "
        f"with `median` and `sigma`, `pareto` with `least` and `alpha`, `table` with `file`), or a published one: "
        f"{', '.join(PUBLISHED)}.",
        examples=["100 B", {"distribution": "exponential", "mean": "10 kB"}],
    )
    answer: AnySizes = Field(
        default=Amount(10_000),
        description="Application data of each answer, as `request`.",
        examples=["websearch", {"distribution": "pareto", "least": "1 kB", "alpha": 1.2}],
    )
    interval: Duration | None = Field(
        default=None, description="Open loop: mean time from one request of a connection to the next."
    )
    load: Rate | None = Field(
        default=None,
        description="Open loop, in place of `interval`: mean rate of application data of a connection, requests and "
        "answers together.",
        examples=["50 Mbit/s"],
    )
    pattern: Literal["poisson", "fixed"] = Field(
        default="poisson", description="Open loop: times between requests are exponential, or all equal."
    )
    outstanding: int | None = Field(
        default=None,
        ge=1,
        le=10_000,
        strict=True,
        description="Closed loop: requests of a connection without an answer at any time. Default without `interval` "
        "and `load`: 1.",
        examples=[4],
    )
    think: Duration | None = Field(
        default=None, description="Closed loop: time from an answer to the next request. Default: none."
    )
    requests: int | None = Field(
        default=None,
        ge=1,
        strict=True,
        description="Requests of a connection in all. Default: no end before `stop`.",
        examples=[1000],
    )
    cc: Cc = Field(
        default=Algorithm(name="cubic"),
        description="Congestion control of both ends.",
        examples=["cubic", "dctcp"],
    )
    ecn: bool = Field(
        default=False, strict=True, description="Negotiate ECN (RFC 3168), as TCP flows do. DCTCP always does."
    )

    def algorithms(self, seed: int, entry: int, group: str) -> list[tuple[Key | None, Algorithm | None]]:
        """The same for all connections."""
        return [(("flows", entry, "cc"), self.cc)] * self.number

    def check(self, at: Key, mtu: Any, has_one_mtu: bool) -> Iterator[Finding]:
        """Both loops at once, and a load of sizes without a mean."""
        opened = [key for key in ("interval", "load") if getattr(self, key) is not None]
        if len(opened) == 2:
            yield Finding((*at, "load"), "interval is given, too", "one of interval and load", "leave interval out")
        for key in ("outstanding", "think"):
            if opened and getattr(self, key) is not None:
                what = f"{opened[0]} is an open loop's, and {key} a closed loop's"
                yield Finding((*at, key), what, "one of both loops", f"leave {key} or {opened[0]} out")
        if not opened and "pattern" in self.model_fields_set:
            what = "a closed loop has no times between requests"
            yield Finding((*at, "pattern"), what, "interval or load", 'add interval = "10 ms"')
        for key in ("request", "answer"):
            if self.load is not None and math.isinf(mean_bytes(_planned(getattr(self, key)))):
                what = "sizes with alpha up to 1 have no mean, so no load"
                yield Finding((*at, key, "alpha"), what, "more than 1, or interval", "write alpha = 1.2")

    def workload(self, ends: Ends) -> RpcWorkload:
        """The workload of one connection."""
        assert ends.cc is not None
        request, answer = _planned(self.request), _planned(self.answer)
        if self.load is not None:
            interval = max(1, round(8e9 * (mean_bytes(request) + mean_bytes(answer)) / int(self.load)))
        else:
            interval = int(self.interval or 0)
        pace = (
            OpenPace(interval_ns=interval, is_random=self.pattern == "poisson")
            if interval
            else ClosedPace(outstanding=self.outstanding or 1, think_ns=int(self.think or 0))
        )
        ecn = self.ecn or ends.needs_ecn
        return RpcWorkload(cc=ends.cc, ecn=ecn, request=request, answer=answer, pace=pace, requests=self.requests)

    @classmethod
    def sends(cls, workload: RpcWorkload) -> str:
        """`RPC, cubic, 100 B for 10 kB, every 10 ms on average`."""
        pace = workload.pace
        if isinstance(pace, OpenPace):
            when = f"every {Time(pace.interval_ns)}" + (" on average" if pace.is_random else "")
        else:
            when = f"{pace.outstanding} at a time" + (f", {Time(pace.think_ns)} pause" if pace.think_ns else "")
        limit = f", {workload.requests} requests" if workload.requests else ""
        ecn = ", ECN" if workload.ecn else ""
        sizes = f"{_words(workload.request)} for {_words(workload.answer)}"
        return f"RPC, {workload.cc}, {sizes}, {when}{limit}{ecn}"

    @classmethod
    def label(cls, workload: RpcWorkload) -> str:
        """The congestion control."""
        return workload.cc
