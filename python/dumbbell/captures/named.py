"""Connections of a capture as users name them."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING, Final

from dumbbell.captures.capture import Capture
from dumbbell.captures.rows import Connection
from dumbbell.errors import InputError
from dumbbell.frozen import dataclass

if TYPE_CHECKING:
    import polars as pl

_EXAMPLES: Final = "--connection 3, 10.0.0.2:80, [fd00::2]:443, 10.0.0.1:40000-10.0.0.2:80 or top:12"
_TOP: Final = "top:"


_Endpoint = tuple[IPv4Address | IPv6Address, int]


@dataclass(frozen=True)
class Named:
    """Connections that a user names: one by its number, all of an endpoint, all between two endpoints in either order,
    or those with the most payload."""

    text: str
    number: int | None = None
    top: int | None = None
    ends: tuple[_Endpoint, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Named:
        """Read `3`, `top:12`, `10.0.0.2:80`, `[fd00::2]:443`, or two of those with a `-` between them.

        Raises:
            InputError: it is none of them.
        """
        if text.startswith(_TOP):
            count = text.removeprefix(_TOP)
            if not count.isdecimal() or int(count) == 0:
                raise _malformed(text, f"{count or 'nothing'} is not a number of connections")
            return cls(text, top=int(count))
        if text.isdecimal():
            return cls(text, number=int(text))
        ends = text.split("-")
        if len(ends) > 2:
            raise _malformed(text, "it names more than two endpoints")
        return cls(text, ends=tuple(_endpoint(text, end) for end in ends))

    def numbers(self, capture: Capture) -> list[int]:
        """Their numbers in a capture, the largest first. Raises `InputError`: it has none of them."""
        if self.top is not None:
            return capture.numbers(self.top)
        if self.number is not None:
            count = int(capture.summary["connections"])
            if not 1 <= self.number <= count:
                raise InputError(
                    f"{capture.name} has no connection {self.number}",
                    _numbers(count),
                    _hint(capture),
                )
            return [self.number]
        found = _between(capture, self.ends)
        if not found:
            what = f"{capture.name} has no connection {'of' if len(self.ends) == 1 else 'between'} {self.text}"
            raise InputError(what, "", _hint(capture))
        return found


def _endpoint(name: str, text: str) -> _Endpoint:
    address, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65_535:
        raise _malformed(name, f"{text} has no port")
    is_bracketed = address.startswith("[") and address.endswith("]")
    try:
        found = ip_address(address[1:-1] if is_bracketed else address)
    except ValueError:
        raise _malformed(name, f"{address} is not an IP address") from None
    if isinstance(found, IPv6Address) and not is_bracketed:
        raise _malformed(name, "write an IPv6 address in brackets")
    return found, int(port)


def _numbers(count: int) -> str:
    """Which connections there are, in a sentence."""
    if count <= 1:
        return "it has only one connection, number 1" if count else "it has no connections"
    return f"its connections are numbered from 1 to {count:,}"


def _malformed(name: str, why: str) -> InputError:
    return InputError(f"--connection {name} does not name a connection", why, _EXAMPLES)


def _between(capture: Capture, ends: Sequence[_Endpoint]) -> list[int]:
    import polars as pl

    def is_end(side: str, end: _Endpoint) -> pl.Expr:
        return (pl.col(side) == str(end[0])) & (pl.col(f"{side}_port") == end[1])

    first, last = ends[0], ends[-1]
    if len(ends) == 1:
        chosen = is_end("client", first) | is_end("server", first)
    else:
        chosen = (is_end("client", first) & is_end("server", last)) | (is_end("client", last) & is_end("server", first))
    found = capture.scan("connections").filter(chosen).select("connection").collect()
    payload = (
        capture.scan("directions")
        .filter(pl.col("connection").is_in(found["connection"].to_list()))
        .group_by("connection")
        .agg(pl.col("payload_bytes").max())
        .collect()
    )
    ranked = found.join(payload, on="connection", how="left").sort(
        "payload_bytes", "connection", descending=[True, False], nulls_last=True
    )
    return [int(number) for number in ranked["connection"]]


def _hint(capture: Capture) -> str:
    for number in capture.numbers(1):
        (row,) = capture.about([number]).values()
        return f"the largest is {number}: --connection {endpoint(row, 'client')}-{endpoint(row, 'server')}"
    return "none has data"


def endpoint(connection: Connection, side: str) -> str:
    """`10.0.0.2:80` or `[fd00::2]:80`."""
    ends = {
        "client": (connection["client"], connection["client_port"]),
        "server": (connection["server"], connection["server_port"]),
    }
    address, port = ends[side]
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
