"""From a well-formed scenario to what it means: every link, connection and algorithm by name, or all that is wrong.

Checks work while they resolve. What needs one value only to be judged is in the models; whether this machine has what a
scenario needs is asked by the engines: a scenario is no worse for a machine that cannot run it.
"""

from dumbbell.scenario.resolve.resolved import Resolved, resolve

__all__ = ["Resolved", "resolve"]
