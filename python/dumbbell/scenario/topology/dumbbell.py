"""A dumbbell: pairs of hosts around one bottleneck."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from dumbbell.scenario.links.link import Bottleneck
from dumbbell.scenario.topology.keys import AnyTopology
from dumbbell.units import QuantityError, Time


def _some(times: list[Time]) -> list[Time]:
    if not times:
        raise QuantityError("no values", "one value, or one for each of the pairs", 'write rtt = "30 ms" for all pairs')
    return times


PairTimes = Annotated[
    list[Time],
    BeforeValidator(lambda v: v if isinstance(v, list) else [v], json_schema_input_type=Time | list[Time]),
    AfterValidator(_some),
]


class Dumbbell(AnyTopology):
    """Senders s1..sN, a switch, the bottleneck, a switch, receivers r1..rN."""

    kind: Literal["dumbbell"] = Field(
        description="Hosts s1..sN, switch left, the bottleneck, switch right, hosts r1..rN."
    )
    pairs: int = Field(default=1, ge=1, le=250, strict=True, description="Hosts on each side: s1..sN, r1..rN.")
    bottleneck: Bottleneck = Field(description="The link that all pairs share.")
    rtt: PairTimes = Field(description="Base RTT without serialisation: one for all pairs, or one for each.")

    @property
    def hosts(self) -> list[str]:
        """Names of the hosts, senders first."""
        return [f"{side}{i}" for side in "sr" for i in range(1, self.pairs + 1)]
