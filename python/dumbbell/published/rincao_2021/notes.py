"""Why our numbers differ from those of rincao-2021: each sentence names the part that shows it, or is "not tested"."""

from __future__ import annotations

from typing import Final

NOTES: Final = (
    "UDP in bursts explains their central effect. iperf3 before 3.2 sends what is due every 100 ms at once "
    "(esnet/iperf issue 386); which version they had is not said. At 300 Mbit/s CUBIC loses as much as they "
    "print beside bursts (300-cubic-bursts, 300-cubic-delay-line-bursts; in the kernel, on Mininet's links, "
    "300-cubic-mininet-bursts) and less than what UDP takes beside even UDP (300-cubic, 300-cubic-delay-line, "
    "300-cubic-mininet). BBR at 100 Mbit/s loses less beside bursts (100-bbr-bursts, 100-bbr-mininet-bursts) "
    "than beside even UDP (100-bbr, 100-bbr-mininet); at 300 Mbit/s it loses nearly what they print beside "
    "either (300-bbr, 300-bbr-bursts, 300-bbr-mininet-bursts).",
    "At 300 Mbit/s the burst acts by HyStart, not by loss. Packets that wait behind it look like a queue of CUBIC's "
    "own, and slow start ends: without HyStart CUBIC loses half as much beside the same bursts "
    "(300-cubic-bursts-no-hystart against 300-cubic-bursts), and on Mininet's links no segment was sent again "
    "(300-cubic-mininet-bursts). At 100 Mbit/s HyStart hardly matters: without it CUBIC loses 22 %, with it 25 % "
    "(100-cubic-bursts-no-hystart, 100-cubic-bursts). What else acts there: not tested.",
    "CUBIC at 100 Mbit/s loses as they print beside bursts with 5 and 10 connections (100-cubic-bursts, "
    "100-cubic-mininet-bursts). With 15 and more they print hardly a change, and no reading comes down to "
    "that (100-cubic-delay-line is nearest). CUBIC as of kernel 4.15: not tested. In a mix of halves it loses "
    "four times what they print, beside bursts on Mininet's links (100-cubic-50-mininet-bursts, where some "
    "transfers were not complete). Why: not tested.",
    "Levels. Beside even UDP our CUBIC has 2.5 times theirs at 300 Mbit/s (300-cubic); bursts and a delay line"
    " together bring it nearest (300-cubic-delay-line-bursts). What is left: not tested.",
    "Buffer. Mininet's delay is netem's, whose limit counts packets that propagate, too. The parts -delay-line"
    " have the whole delay in a line with room for 1 BDP: alone it changes levels, and the effect hardly "
    "(300-cubic-delay-line). The parts -mininet have netem itself, as Mininet sets it up.",
    "Offloads. Mininet leaves them on, so that a burst of segments is one packet for netem's limit. With them "
    "CUBIC sends no segment again at 300 Mbit/s (300-cubic-mininet-bursts), without them some "
    "(300-cubic-mininet-packets). Without them its change is as large at 300 Mbit/s, and larger at 100, more than "
    "printed (100-cubic-mininet-packets, 100-cubic-mininet-bursts). BBR's change is the same with and without "
    "(100-bbr-mininet-bursts and 100-bbr-mininet-packets, 300-bbr-mininet-bursts and 300-bbr-mininet-packets).",
    "Elephants. The text does not say whose the elephants are; ours are drawn in each run. If BBR has them as "
    "far as there are BBR connections, BBR is above CUBIC in every cell, as they print it, and our levels in "
    "mixes are nearest to theirs (the parts -elephants).",
    "Our UDP datagrams fill a packet. Larger ones, of which each is several fragments: not tested.",
)
