"""Background UDP traffic and the mix of CUBIC and BBR: mice and elephants over one bottleneck."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from dumbbell.published.model import Reproduction
from dumbbell.published.rincao_2021 import evidence, findings
from dumbbell.published.rincao_2021.grid import ALL, RATES, Mix, part_of
from dumbbell.published.rincao_2021.readings import PLAIN
from dumbbell.published.rincao_2021.variants import (
    bbr3,
    bursts,
    delay_line,
    delay_line_bursts,
    elephants,
    mininet,
    mininet_bursts,
    mininet_packets,
    no_hystart,
)

_MIXED: Final = [mix for mix in ALL if 0 < mix.cubic < 100]
_TRIED: Final = [Mix(mbit, cubic) for mbit in RATES for cubic in (100, 50, 0)]
"""Each algorithm alone, and the mix of halves: readings other than bursts are tried on these."""
_READINGS: Final = (delay_line, delay_line_bursts, mininet, mininet_bursts, mininet_packets)

REPRODUCTION: Final = Reproduction(
    "rincao-2021",
    "Background UDP traffic: CUBIC, BBR and mixes of them",
    "Rincão, da Cruz, Casas-Velasco, da Fonseca: Impacto do tráfego background nas variantes BBR e CUBIC do protocolo "
    "TCP, UNICAMP, IC-PFG-20-36, 2021",
    (
        *(replace(part_of(mix), evidence=evidence.of(mix, PLAIN)) for mix in ALL),
        *map(elephants, _MIXED),
        *map(bursts, ALL),
        *(reading(mix) for reading in _READINGS for mix in _TRIED),
        *(no_hystart(Mix(mbit, 100)) for mbit in RATES),
        *(bbr3(Mix(mbit, cubic)) for mbit in RATES for cubic in (0, 50)),
    ),
    findings.FINDINGS,
    (
        "The text leaves open when a run ends. Here all transfers start at once, 0.1 ms apart, and each lasts until "
        "its bytes are through; the run is long enough for all of them (40 s, at 300 Mbit/s 25 s), and UDP goes on to "
        "its end.",
        "Throughput is the mean over connections of bytes divided by lifetime, from the SYN to the last byte.",
        "Utilisation counts all bits on the link until the last transfer is complete: UDP packets that are sent alone "
        "afterwards are left out.",
        "Retransmitted segments are those of all connections of an algorithm in a run.",
        "Each repetition draws anew which connections are elephants, and which are CUBIC's. Their numbers are not "
        "drawn: shares are rounded to whole connections that add up (largest remainders).",
    ),
    confidence=0.90,
)
