"""The user's input: the scenario file, its quantities, and the scenarios that come with dumbbell.

`Scenario` and `load` are loaded when they are first used: pydantic takes longer to import than `dumbbell --help` may.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dumbbell.scenario.file.loading import load
    from dumbbell.scenario.model import Scenario

__all__ = ["Scenario", "load"]


def __getattr__(name: str) -> Any:
    if name == "Scenario":
        from dumbbell.scenario.model import Scenario

        return Scenario
    if name == "load":
        from dumbbell.scenario.file.loading import load

        return load
    raise AttributeError(f"module 'dumbbell.scenario' has no attribute {name!r}")
