"""The panels of a capture's report, a module each, which names its panel `PANEL`."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from dumbbell.report.captured.definition import Definition


def definitions() -> tuple[Definition, ...]:
    """All panels in the order of the page."""
    found: list[Definition] = [import_module(f"{__name__}.{module.name}").PANEL for module in iter_modules(__path__)]
    return tuple(sorted(found, key=lambda one: one.place))
