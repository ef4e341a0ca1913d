"""Changes of links and of routing daemons during the run: `[[events]]`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from pydantic import ConfigDict, Field, model_validator

from dumbbell.frozen import dataclass
from dumbbell.scenario.links.link import LinkKeys
from dumbbell.units import Duration, QuantityError, Time

MOST_CHANGES = 10_000
"""The most changes of all events of a scenario."""


def _without_defaults(schema: dict[str, Any]) -> None:
    """A link's defaults are not an event's."""
    for key in LinkKeys.model_fields:
        schema["properties"][key].pop("default", None)


class Event(LinkKeys):
    """A change of a link at a moment: given keys replace the former values, the rest stays. Or a routing daemon
    that is killed or started."""

    model_config = ConfigDict(json_schema_extra=_without_defaults)

    at: Time = Field(description="Time of the event, counted from the start of the run.")
    link: str = Field(
        default="bottleneck",
        description="The link's name, of any direction.",
    )
    router: str | None = Field(
        default=None,
        description="In place of `link`: a router whose `daemon` is killed (`up = false`, `down_for`) or started "
        "(`up = true`).",
    )
    daemon: str | None = Field(
        default=None, description="With `router`: one of its daemons, such as `bgpd`.", examples=["bgpd"]
    )
    carrier: Literal["kept", "lost"] = Field(
        default="kept",
        description='With `up = false` or `down_for`: `"lost"` takes the carrier at both ends, in both directions, '
        "as if the cable were pulled.",
    )
    down_for: Duration | None = Field(
        default=None,
        description="The link or daemon goes down at `at`, and up again after this.",
    )
    every: Duration | None = Field(
        default=None, description="With `down_for`: the time after which it goes down again. Default: once."
    )
    until: Time | None = Field(
        default=None, description="With `every`: the latest start of a failure. Default: the end of the run."
    )

    @model_validator(mode="after")
    def _check(self) -> Event:
        hint = 'write { at = "10 s", rate = "20 Mbit/s" }'
        if self.router is not None or self.daemon is not None:
            self._check_daemon()
            hint = 'write { at = "5 s", router = "r1", daemon = "bgpd", up = false }'
        if not self.given() and self.down_for is None:
            raise QuantityError("changes nothing", "at least one of the link's keys, or down_for", hint)
        if self.given() and self.down_for is not None:
            key = next(iter(self.given()))
            raise QuantityError(f"down_for and {key}", "one of them", f"write another [[events]] for {key}")
        if self.carrier == "lost" and self.down_for is None and (self.up or "up" not in self.model_fields_set):
            raise QuantityError("the carrier of a link that is up", "up = false or down_for", "write up = false, too")
        for key, value, other in (("every", self.every, self.down_for), ("until", self.until, self.every)):
            if value is not None and other is None:
                what = "down_for" if key == "every" else "every"
                raise QuantityError(f"{key} without {what}", f"{what}, too", f"leave {key} out")
        if self.every is not None and self.down_for is not None and self.every <= self.down_for:
            why = f"more than down_for, {self.down_for}"
            raise QuantityError(f"every = {self.every}: the link would never be up", why, "raise every")
        return self

    def _check_daemon(self) -> None:
        """Only some keys can go with a daemon."""
        if self.router is None or self.daemon is None:
            have, lack = ("router", "daemon") if self.daemon is None else ("daemon", "router")
            raise QuantityError(f"{have} without {lack}", "both", 'write router = "r1", daemon = "bgpd"')
        if "link" in self.model_fields_set:
            raise QuantityError("link and router", "one of them", "write another [[events]] for the link")
        given = [*self.given(), *({"carrier"} & self.model_fields_set)]
        if other := next((key for key in given if key != "up"), None):
            raise QuantityError(f"{other} of a daemon", "up or down_for", f"leave {other} out")

    def changes(self, end: int) -> Iterator[tuple[Time, LinkKeys]]:
        """The changes and their times: all before `end`."""
        if self.down_for is None:
            yield self.at, self
            return
        for at in self._failures(end):
            yield Time(at), LinkKeys(up=False)
            if at + self.down_for < end:
                yield Time(at + self.down_for), LinkKeys(up=True)

    def count(self, end: int) -> int:
        """The largest number of changes."""
        return 1 if self.down_for is None else 2 * len(self._failures(end))

    def _failures(self, end: int) -> Sequence[int]:
        """The times at which the link goes down, ns."""
        if self.every is None:
            return [self.at]
        return range(self.at, end if self.until is None else min(self.until + 1, end), self.every)


@dataclass(frozen=True)
class Change:
    """One change of one link."""

    at: Time
    index: int
    """The index of the event in the file."""
    link: str
    keys: LinkKeys
    carrier: Literal["kept", "lost"]
    """The carrier of the interfaces at its ends, while it is down."""


def timeline(events: Sequence[Event], end: int) -> list[Change]:
    """All changes of links before `end` in order of time; at the same time, in the order of the file."""
    changes = [
        Change(at, index, event.link, keys, event.carrier)
        for index, event in enumerate(events)
        if event.router is None
        for at, keys in event.changes(end)
    ]
    return sorted(changes, key=lambda change: change.at)


@dataclass(frozen=True)
class DaemonChange:
    """One change of one routing daemon."""

    at: Time
    index: int
    """The index of the event in the file."""
    router: str
    daemon: str
    up: bool
    """True to start the daemon, false to kill it."""


def daemon_timeline(events: Sequence[Event], end: int) -> list[DaemonChange]:
    """All changes of daemons before `end` in order of time; at the same time, in the order of the file."""
    changes = [
        DaemonChange(at, index, event.router, event.daemon, bool(keys.up))
        for index, event in enumerate(events)
        if event.router is not None and event.daemon is not None
        for at, keys in event.changes(end)
    ]
    return sorted(changes, key=lambda change: change.at)
