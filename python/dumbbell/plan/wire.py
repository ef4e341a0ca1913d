"""A plan as JSON: how it lies in plan.json, and how engines get it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, get_type_hints

from pydantic import TypeAdapter

from dumbbell.plan.types import Algorithm, Link, LinkChange, Plan, Source


def document(plan: Plan) -> dict[str, Any]:
    """The plan as JSON's own types."""
    found: dict[str, Any] = _plans().dump_python(plan, mode="json", by_alias=True)
    return found


def text(of: Plan | Link | Algorithm) -> str:
    """A plan, or a part of one, as JSON for the core."""
    return _adapter(type(of)).dump_json(of, by_alias=True).decode()


def part(of: Any) -> Any:
    """A part of a plan as JSON's own types: what is said of it where its type does not matter."""
    return _adapter(type(of)).dump_python(of, mode="json", by_alias=True)


def parsed(found: Mapping[str, Any]) -> Plan:
    """The plan that JSON's own types make. Raises pydantic's `ValidationError`."""
    return _plans().validate_python(found)


def field(of: type, name: str, found: Any) -> Any:
    """The value, from JSON's own types, of the field `name` of a class of the plan."""
    return _adapter(_hints(of)[name]).validate_python(found)


def link(found: Mapping[str, Any]) -> Link:
    """The link that JSON's own types make."""
    made: Link = _adapter(Link).validate_python(found)
    return made


def change(found: Mapping[str, Any]) -> LinkChange:
    """The change of a link that JSON's own types make."""
    made: LinkChange = _adapter(LinkChange).validate_python(found)
    return made


def source(found: Mapping[str, Any]) -> Source:
    """The source of a congestion control that JSON's own types make."""
    made: Source = _adapter(Source).validate_python(found)
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
