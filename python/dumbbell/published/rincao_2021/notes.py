"""Why our numbers differ from those of rincao-2021: each sentence names the part that shows it, or is "not tested"."""

from __future__ import annotations

from typing import Final

NOTES: Final = (
    "UDP in bursts. iperf3 before 3.2 sends what is due every 100 ms at once (esnet/iperf issue 386): at 300 Mbit/s 30 % "
    "are bursts of 1.1 MB into a buffer of 1.9 MB. With such bursts CUBIC loses as they say at 300 Mbit/s "
    "(300-cubic-bursts), and hardly more than what UDP takes without them (300-cubic).",
    "Which iperf3 they had is not said: not tested.",
)
