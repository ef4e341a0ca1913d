"""The kinds of flow: the classes of the package `kinds` that are both a `Kind` and an `AnyFlow`."""

from __future__ import annotations

from functools import reduce
from importlib import import_module
from operator import or_
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Discriminator, Tag

from dumbbell.scenario.traffic import kinds
from dumbbell.scenario.traffic.kinds.flow import AnyFlow, Kind


def kind_name(flow: Any) -> str:
    """The name of the kind that a flow says it is, which may be no kind: of an entry as it is written, or as read."""
    get = flow.get if isinstance(flow, dict) else lambda key, default=None: getattr(flow, key, default)
    chosen = (name for name, kind in KINDS.items() if kind.instead and get(kind.instead) is not None)
    return next(chosen, None) or str(get("protocol", DEFAULT))


def kind_of(flow: Any) -> Any:
    """The class of a flow; that of the default for one that names no kind."""
    return KINDS.get(kind_name(flow), KINDS[DEFAULT])


def _kinds() -> list[Any]:
    modules = [import_module(f"{kinds.__name__}.{module.name}") for module in iter_modules(kinds.__path__)]
    found = {
        one
        for module in modules
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, AnyFlow) and issubclass(one, Kind)
    }
    return sorted(found, key=lambda kind: kind.place)


KINDS: Final[dict[str, Any]] = {kind.kind: kind for kind in _kinds()}
"""The kinds by their names in plans, in the order of documents."""
DEFAULT: Final = next(iter(KINDS))
"""The kind of a flow that names none."""

if TYPE_CHECKING:

    class Flow(AnyFlow, Kind[Any]):
        """An entry of `[[flows]]`, of any kind."""

else:
    Flow = Annotated[
        reduce(or_, (Annotated[kind, Tag(f"@{name}")] for name, kind in KINDS.items())),
        Discriminator(lambda flow: f"@{kind_name(flow)}"),
    ]
