"""A plan as JSON: the form of plan.json, and the form that engines and the core read.

A link's course is how its rate (`variation`) and its delay (`delays`) go over time. A measured course has thousands of
steps, so JSON has it once: events that leave a course as it was say `as-before` (`_short`), and reading puts it back
(`_full`).
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Final, get_type_hints

from pydantic import TypeAdapter

from dumbbell.plan.types import (
    Algorithm,
    AsBeforeDelays,
    AsBeforeVariation,
    Delays,
    Link,
    LinkChange,
    Plan,
    Source,
    Variation,
)


def document(plan: Plan) -> dict[str, Any]:
    """Returns the plan as JSON's own types, each course once."""
    found: dict[str, Any] = _plans().dump_python(_short(plan), mode="json", by_alias=True)
    return found


def text(of: Plan | Link | Algorithm) -> str:
    """Returns a plan, or a part of one, as JSON for the core.

    The text of the last plan is kept as long as the plan: that of a large network is megabytes, and each step of
    planning asks for it again.
    """
    global _last
    if not isinstance(of, Plan):
        return _dumped(of)
    if _last is None or _last[0]() is not of:
        _last = weakref.ref(of, _forget), _dumped(_short(of))
    return _last[1]


def _dumped(of: Any) -> str:
    return _adapter(type(of)).dump_json(of, by_alias=True).decode()


def _forget(plan: weakref.ref[Plan]) -> None:
    global _last
    if _last is not None and _last[0] is plan:
        _last = None


_last: tuple[weakref.ref[Plan], str] | None = None


def part(of: Any) -> Any:
    """Returns a part of a plan as JSON's own types, for messages and records that hold it as it is."""
    return _adapter(type(of)).dump_python(of, mode="json", by_alias=True)


def parsed(table: Mapping[str, Any]) -> Plan:
    """Returns the plan of a parsed plan.json. Raises pydantic's `ValidationError`."""
    return _full(_plans().validate_python(table))


def read(text: bytes) -> Plan:
    """Returns the plan of the text of a plan.json. Raises pydantic's `ValidationError`."""
    return _full(_plans().validate_json(text))


def _short(plan: Plan) -> Plan:
    """Replaces the courses in events that do not change them by `as-before`."""
    if not any(event.link.variation or event.link.delays for event in plan.events):
        return plan
    now, events = _courses(plan), []
    for event in plan.events:
        link = event.link
        variation, delays = now[link.name]
        now[link.name] = link.variation, link.delays
        same: dict[str, Any] = {}
        if variation is not None and link.variation == variation:
            same["variation"] = AsBeforeVariation()
        if delays is not None and link.delays == delays:
            same["delays"] = AsBeforeDelays()
        events.append(replace(event, link=replace(link, **same)) if same else event)
    return replace(plan, events=tuple(events))


def _full(plan: Plan) -> Plan:
    """Replaces `as-before` in events by the courses that their links have then."""
    if not any(event.link.variation or event.link.delays for event in plan.events):
        return plan
    now, events = _courses(plan), []
    for event in plan.events:
        link = event.link
        variation, delays = now.get(link.name, (None, None))
        variation = variation if isinstance(link.variation, AsBeforeVariation) else link.variation
        delays = delays if isinstance(link.delays, AsBeforeDelays) else link.delays
        now[link.name] = variation, delays
        events.append(replace(event, link=replace(link, variation=variation, delays=delays)))
    return replace(plan, events=tuple(events))


def _courses(plan: Plan) -> dict[str, tuple[Variation | None, Delays | None]]:
    return {link.name: (link.variation, link.delays) for link in plan.links}


def field(of: type, name: str, value: Any) -> Any:
    """Reads the value of the field `name` of the plan's class `of` from JSON's own types."""
    return _adapter(_hints(of)[name]).validate_python(value)


def link(table: Mapping[str, Any]) -> Link:
    """Reads a link from JSON's own types."""
    made: Link = _adapter(Link).validate_python(table)
    return made


def change(table: Mapping[str, Any]) -> LinkChange:
    """Reads the change of a link from JSON's own types."""
    made: LinkChange = _adapter(LinkChange).validate_python(table)
    return made


def source(table: Mapping[str, Any]) -> Source:
    """Reads the source of a congestion control from JSON's own types."""
    made: Source = _adapter(Source).validate_python(table)
    return made


@cache
def _hints(of: type) -> dict[str, Any]:
    return get_type_hints(of, include_extras=True)


def _adapter(of: Any) -> TypeAdapter[Any]:
    if of not in _ADAPTERS:
        _ADAPTERS[of] = TypeAdapter(of)
    return _ADAPTERS[of]


def _plans() -> TypeAdapter[Plan]:
    return _adapter(Plan)


_ADAPTERS: Final[dict[Any, TypeAdapter[Any]]] = {}
"""The adapters by the type that they read and write; each takes 30 ms to make."""
