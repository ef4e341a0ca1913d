"""The kinds of flow: a line for each in `Flow`."""

from __future__ import annotations

from typing import Annotated, Any, Final, get_args

from pydantic import Discriminator, Tag

from dumbbell.scenario.traffic.kinds.command import CommandFlow
from dumbbell.scenario.traffic.kinds.ping import PingFlow
from dumbbell.scenario.traffic.kinds.tcp import TcpFlow
from dumbbell.scenario.traffic.kinds.udp import UdpFlow


def kind_name(flow: Any) -> str:
    """The name of the kind that a flow says it is, which may be no kind: of an entry as it is written, or as read."""
    get = flow.get if isinstance(flow, dict) else lambda key, default=None: getattr(flow, key, default)
    chosen = (name for name, kind in KINDS.items() if kind.instead and get(kind.instead) is not None)
    return next(chosen, None) or str(get("protocol", DEFAULT))


def kind_of(flow: Any) -> Any:
    """The class of a flow; that of the default for one that names no kind."""
    return KINDS.get(kind_name(flow), KINDS[DEFAULT])


Flow = Annotated[
    Annotated[TcpFlow, Tag("@tcp")]
    | Annotated[UdpFlow, Tag("@udp")]
    | Annotated[PingFlow, Tag("@ping")]
    | Annotated[CommandFlow, Tag("@command")],
    Discriminator(lambda flow: f"@{kind_name(flow)}"),
]

KINDS: Final[dict[str, Any]] = {kind.kind: kind for kind in (get_args(one)[0] for one in get_args(get_args(Flow)[0]))}
"""The kinds by their names in plans: classes that are both a `Kind` and an `AnyFlow`."""
DEFAULT: Final = TcpFlow.kind
"""The kind of a flow that names none."""
