"""The links of a drawn network: cables between two nodes, each direction with every key of a link."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, ModelWrapValidatorHandler, ValidationInfo, model_validator

from dumbbell import names
from dumbbell.scenario.links.delays import AnyDelay
from dumbbell.scenario.links.link import TAKES_OVER, DirectionKeys
from dumbbell.scenario.topology.keys import LEAST, MOST, Bytes
from dumbbell.scenario.topology.nodes import Addresses
from dumbbell.scenario.understood import UNDERSTOOD, Understood
from dumbbell.units import QuantityError

Vlan = Annotated[int, Field(ge=1, le=4094, strict=True)]
"""The number of a VLAN (IEEE 802.1Q)."""


class CableReverse(DirectionKeys):
    """The other direction of a cable: rate, buffer, queue, overhead and delay are as forward unless given."""

    model_config = TAKES_OVER

    delay: AnyDelay | None = Field(
        default=None,
        description="Propagation delay in this direction, or a table for one that changes. Default: as forward.",
    )


class CableKeys(DirectionKeys):
    """The keys of a cable, whichever nodes it joins. Without any of them it neither limits nor delays."""

    delay: AnyDelay | None = Field(
        default=None,
        description="Propagation delay, in each direction, or a table for one that changes. Default: "
        '`"0 s"`; `reverse`: as forward.',
    )
    reverse: CableReverse = Field(default=CableReverse(), description="The other direction, where it differs.")


def _two(value: Any) -> Any:
    if not isinstance(value, list) or len(value) != 2:
        raise QuantityError("not two nodes", "the names of two nodes", 'write between = ["h1", "r1"]')
    return value


def _one_each(value: Any) -> Any:
    if not isinstance(value, list) or len(value) != 2:
        hint = 'write addresses = ["10.0.12.1/30", "10.0.12.2/30"]; [] stands for the end at a switch'
        raise QuantityError("not two ends", "the addresses of both ends, in the order of between", hint)
    return value


class Cable(CableKeys):
    """A link between two nodes."""

    @model_validator(mode="wrap")
    @classmethod
    def _once(cls, value: Any, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo) -> Self:
        """Checks a cable that is written as before only once: a large network has hundreds of cables."""
        understood: Understood | None = (info.context or {}).get(UNDERSTOOD)
        if understood is None or type(value) is not dict:
            return handler(value)
        found: Self = understood.table(cls, value, handler)
        return found

    name: str | None = Field(
        default=None,
        pattern=names.PATTERN,
        description="Name in events, tables and plots; the other direction is `NAME-reverse`. Default: both "
        "directions are called by their ends, such as `h1-s1` and `s1-h1`.",
        examples=["core"],
    )
    between: Annotated[list[str], BeforeValidator(_two)] = Field(
        description="The two nodes; keys of the link are of the direction from the first to the second.",
        examples=[["h1", "s1"]],
    )
    addresses: Annotated[list[Addresses], BeforeValidator(_one_each)] | None = Field(
        default=None,
        description="Addresses of both ends: each a text, or a list of an IPv4 and an IPv6 address; `[]` at a "
        "switch. Default: assigned.",
        examples=[["10.0.12.1/30", "10.0.12.2/30"]],
    )
    cost: int = Field(
        default=1, ge=1, le=65535, strict=True, description="Cost of the link: shortest paths have the least sum."
    )
    vlan: Vlan | None = Field(
        default=None,
        description="VLAN of untagged frames, 1 to 4094. Default: 1, where links have VLANs at all.",
        examples=[10],
    )
    vlans: list[Vlan] | None = Field(
        default=None,
        description="Tagged VLANs between two bridges. Default: without `vlan`, all of the network but 1.",
        examples=[[10, 20]],
    )
    mtu: Bytes | None = Field(
        default=None,
        ge=LEAST,
        le=MOST,
        strict=True,
        description="The most bytes of an IP packet on the link; equal on links that meet at a switch. Default: the "
        "network's.",
        examples=[1400],
    )
