"""One flow through a middle host: Reno, CUBIC and the BBRs in five settings, one of them on a machine of one core."""

from __future__ import annotations

from typing import Final

from dumbbell.published.bernardi_2020 import findings
from dumbbell.published.bernardi_2020.parts import FIVE, FOUR, ONE, THREE, TWO
from dumbbell.published.bernardi_2020.variants import AS_THE_SCRIPT_RAN, CHANGED, WITH_GOOGLES
from dumbbell.published.model import Part, Reproduction


def _ordered(*parts: Part) -> tuple[Part, ...]:
    """By scenario: the scenario itself, as the script ran, with Google's BBRv2, then what was changed."""
    return tuple(sorted(parts, key=lambda part: int(part.name.partition("-")[0])))


REPRODUCTION: Final = Reproduction(
    "bernardi-2020",
    "One flow, four algorithms: BBRv1 and v2, Reno, CUBIC, and BBRv3 beside them",
    "Bernardi, Remedi, Rittano: Análisis de algoritmos de control de congestión TCP: BBRv1, BBRv2, Reno y Cubic en "
    "Mininet, Univ. Nacional de Río Cuarto, 2020",
    _ordered(ONE, TWO, THREE, FOUR, FIVE, *AS_THE_SCRIPT_RAN, *WITH_GOOGLES, *CHANGED),
    findings.FINDINGS,
    (
        "Their delay lies before the rate, and their way back has neither. A sender cannot tell a delay before the "
        "queue from the same delay on the way back: it sends and hears the same at the same times. So the parts that "
        "follow the text have it on the way back, where the queue's record and the sender's have no shift against "
        "each other. The parts -script and -google have it where theirs is.",
        "A buffer in ms is the bytes that the rate sends in that time. The parts -script have the bytes that tc made "
        "of it.",
        'The script calls the buffer of scenario 5 "BDP/100": of a BDP in bits, for 200 ms, and taken as bytes.',
        "tbf lets a burst of up to 32 or 50 kB pass at once when the queue has been empty. A link here never exceeds "
        "its rate; nothing repeats that (not tested).",
        "netem's 1000 places counted what waited in tbf, too, in their kernel. Here they count what propagates.",
        "A whole burst has one header here; tbf counts one for each of its segments. So the parts -script carry up to "
        "2 % more than a link of segments could: 97.1 instead of 95.6 Mbit/s (part 2-script).",
        "They ran each test once. BBRv3 did not exist.",
        "Without random loss, all seeds give one run of Reno or CUBIC in virtual time: their intervals have no width. "
        "BBR draws random numbers, so its runs differ.",
    ),
)
