"""Known faults, and the scenarios in which a search is to find them.

The low-rate attack: A. Kuzmanovic, E. Knightly: Low-Rate TCP-Targeted Denial of Service Attacks, SIGCOMM 2003. BBRv1's
stall: D. Ray, S. Seshan: CC-Fuzz, HotNets 2022.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

ONE_FLOW: Final = """\
name = "one-flow"
duration = "10 s"

[topology]
kind = "dumbbell"
pairs = 1
rtt = "40 ms"
bottleneck = { rate = "10 Mbit/s", buffer = "1 bdp" }

[[flows]]
from = "s1"
to = "r1"
"""
UNEQUAL_DELAYS: Final = """\
name = "unequal-delays"
duration = "20 s"

[topology]
kind = "dumbbell"
pairs = 2
rtt = "40 ms"
bottleneck = { rate = "10 Mbit/s", buffer = "16 bdp" }

[[flows]]
from = "s1"
to = "r1"

[[flows]]
from = "s2"
to = "r2"

[hunt]
link = "s1-left"
kinds = ["jitter", "delay"]
delay = ["10 ms", "400 ms"]
jitter = ["1 ms", "40 ms"]
length = ["1 s", "20 s"]
most = 3
"""
"""Events change the path of the first flow alone."""
FAULTS: Final[Sequence[tuple[str, str, Sequence[str]]]] = (
    ("low-rate attack on Reno", ONE_FLOW, ("--cc", "reno", "--for", "stall")),
    ("low-rate attack on CUBIC", ONE_FLOW, ("--cc", "cubic", "--for", "stall")),
    ("stall of BBRv1", ONE_FLOW, ("--cc", "bbr", "--for", "stall")),
    ("starvation of BBRv1", UNEQUAL_DELAYS, ("--cc", "bbr", "--for", "starvation")),
)
"""Title, scenario, and the arguments of `dumbbell hunt`."""
