"""Resolves a well-formed scenario: every link, connection and algorithm with its name, or all problems.

Checks work while they resolve. Checks of a single value are in the models. The engines ask whether this machine has
what a scenario needs: a scenario is no worse for a machine that cannot run it.
"""

from dumbbell.scenario.resolve.resolved import Resolved, resolve

__all__ = ["Resolved", "resolve"]
