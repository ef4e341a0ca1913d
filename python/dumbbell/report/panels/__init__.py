"""The panels of a run's report, a module each, which names its panel `PANEL`.

A module that is added here is drawn on the page, in figures and in CSV. Panels are drawn in the order of their `place`.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from dumbbell.report.definition import Definition


def definitions() -> tuple[Definition, ...]:
    """All panels in the order of the page."""
    found: list[Definition] = [import_module(f"{__name__}.{module.name}").PANEL for module in iter_modules(__path__)]
    return tuple(sorted(found, key=lambda one: one.place))
