"""User-mode kernels: Linux compiled to run as an ordinary process whose clock is virtual.

A kernel is built once, from a source tree, our patches and configuration in `kernel/`, and those of the user. It is
kept below the user's cache directory, under the hash of all that went into it. The congestion controls of `kernel/src`
and those of the user are compiled by themselves and linked to it, which takes seconds.
"""

from dumbbell.kernels.kernel import Kernel
from dumbbell.kernels.names import DEFAULT
from dumbbell.kernels.programs import Program
from dumbbell.kernels.store import add, find, known, remove
from dumbbell.kernels.tuned import tuned

__all__ = ["DEFAULT", "Kernel", "Program", "add", "find", "known", "remove", "tuned"]
