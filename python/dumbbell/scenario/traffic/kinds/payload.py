"""The key `payload` of kinds that send datagrams."""

from __future__ import annotations

from collections.abc import Iterator

from dumbbell.scenario.source import Finding, Key
from dumbbell.units import Size


def check_payload(at: Key, payload: Size | None, most_bytes: int, why: str = "") -> Iterator[Finding]:
    """A payload above `most_bytes`; `why` says what would happen to it."""
    if payload is not None and payload > most_bytes:
        most = Size(most_bytes)
        yield Finding((*at, "payload"), "too large", f"at most {most}{why}", f'write payload = "{most}"')
