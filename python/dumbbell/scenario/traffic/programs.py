"""Programs that are of no flow: servers of several clients, and commands that prepare nodes."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, Field, PlainSerializer

from dumbbell.scenario.table import STARTED, Table
from dumbbell.units import QuantityError

_READY: Final = 'write "tcp 80", "udp 53" or "exit"'


class Ready(Table):
    """The condition in which a program is ready: a server's port, or its own end."""

    kind: Literal["tcp", "udp", "exit"]
    port: int | None = None
    """Port of a server."""

    def __str__(self) -> str:
        """Condition, as it is written."""
        return self.kind if self.port is None else f"{self.kind} {self.port}"


def port(text: str) -> tuple[Literal["tcp", "udp"], int] | None:
    """The protocol and the port of a text such as `tcp 80`; `None` of any other."""
    match = re.fullmatch(r"\s*(tcp|udp)\s+(\d{1,5})\s*", text)
    if match is None or not 0 < int(match[2]) < 65536:
        return None
    return "tcp" if match[1] == "tcp" else "udp", int(match[2])


def _ready(value: object) -> object:
    if isinstance(value, Ready):
        return value
    if value == "exit":
        return Ready(kind="exit")
    found = port(value) if isinstance(value, str) else None
    if found is None:
        raise QuantityError("neither a port nor an end", "a protocol and a port, or the word exit", _READY)
    return Ready(kind=found[0], port=found[1])


Readiness = Annotated[
    Ready,
    BeforeValidator(_ready, json_schema_input_type=str),
    PlainSerializer(str, when_used="json", return_type=str),
]


class Program(Table):
    """A program in a node, from before time 0 to the end of the run."""

    name: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$",
        description="Name in errors and in `logs`: at most 32 letters, digits, `.`, `_` and `-`. Default: `p1`, "
        "`p2`, ... by position.",
        examples=["web"],
    )
    node: str = Field(description="The host or router in which it runs.", examples=["h2"])
    command: Annotated[str, STARTED] = Field(
        min_length=1,
        description="Shell command line. Programs find nodes by their names.",
        examples=["python3 -m http.server 80"],
    )
    ready: Readiness | None = Field(
        default=None,
        description='Ready when a socket of its node listens (`"tcp 80"`, `"udp 53"`), or when it has ended with '
        'exit code 0 (`"exit"`). The next program and time 0 wait. Default: nothing waits for it.',
        examples=["tcp 80"],
    )
