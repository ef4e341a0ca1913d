"""Where the text of buffa-2020 leaves something open, and what its differences from our numbers may come from.

Each explanation names the part that shows it, or says that it was not tested.
"""

from __future__ import annotations

from typing import Final

from dumbbell.published.buffa_2020.printed import BLOCK, SAID_S, mean_of, table

WINDOW: Final = 6 * 2**20
"""Bytes of Linux's largest receive buffer as it comes, in 4.12."""
SHOWN: Final = "tests/unit/test_published_buffa.py"
IPERF: Final = "docs/examples/iperf-long-delay.toml"


def _longest_rtt_ms() -> float:
    """The longest round trip at which the receive buffer is enough for the printed rate of Reno at 10 ms."""
    return 1e3 * 8 * WINDOW / mean_of("2", None, "10 ms, 0 %", "reno").rate_bps


def _durations() -> str:
    found = [row.implied_s for row in table() if row.test == "3" or (row.test == "4" and row.delay_ms > 0)]
    return f"{min(found):.0f} to {max(found):.0f} s"


LINKS: Final = (
    "Delay and loss per link. Mininet's --link option sets both host links, so a round trip is 4 times the delay and "
    "5 % become 9.75 % in each direction. The parts -one-link take the other reading; the table above tells how near "
    "each comes."
)
BURSTS: Final = (
    "Whole bursts. Segmentation offload is on in Mininet's hosts, so netem lost bursts of up to 64 kB and not packets. "
    "The parts -mininet show what that does: they have the links that Mininet makes, htb and netem of Linux 6.12, in "
    "virtual time. Without a delay of 1 s they come nearer than single packets (1-mininet, 2-none-mininet, "
    "2-10mbit-mininet); in 4-mininet BBR has the printed multiple of CUBIC's rate, and in part 4 it hasn't. With "
    "emulate.path = wire packets cross the same links one by one, and BBR has far more again (part 4-mininet with "
    "emulate.path = wire)."
)
LONG: Final = (
    "A delay of 1 s. Whole bursts don't explain it: at 10 Mbit/s with 1 % loss BBR has less than CUBIC "
    "(3-10mbit-mininet), where three times as much is printed, and without loss it has a sixteenth, where half is "
    "printed. No other reading gives all ratios either (3-10mbit, 3-10mbit-one-link). iperf's own clock brings them "
    "nearer: on Mininet's links, too, iperf's BBR has a quarter without loss, as much as CUBIC with 1 %, and with "
    "more loss what is printed, within wide intervals (below)."
)
PACING: Final = (
    "Pacing. Their kernel, 4.12, has no pacing inside TCP, which came with 4.13 (google/bbr, quick start), and "
    "Mininet's hosts have no fq: their BBR sent whole windows at once. Ours paces in every part. BBR unpaced, which no "
    "engine here has: not tested."
)
NO_LIMIT: Final = (
    "No limit. Their hosts sent as fast as one machine's CPU copies memory. Only ratios between algorithms are "
    "compared; our rate is 10 Gbit/s. What the CPU of their machine did to each algorithm: not tested."
)
TOO_FAST: Final = (
    "The receive window. Reno's 8.83 Gbit/s with a delay of 10 ms fit into Linux's largest receive buffer, 6 MiB, only "
    f"at a round trip below {_longest_rtt_ms():.1f} ms. A delay of 10 ms makes one of 20 ms on one link (part "
    "2-none-one-link) and of 40 ms on two (part 2-none). So their Reno and BBR had a larger buffer there, or not the "
    "delay: which of the two was not tested. In our part 2-none the receive window limits CUBIC and BBR there, as the "
    "sentence below its table says."
)
BYTES: Final = (
    f"Bytes. iperf counts what it has written to the socket, {BLOCK // 1024} KiB at a time: each printed number of "
    f"bytes below 10 MB in tests 3 and 4 is a whole multiple of that ({SHOWN}). Ours are what arrived (parts 3-none, "
    "3-10mbit and 4)."
)
DURATIONS: Final = (
    f"Durations. By the text each run lasts {SAID_S} s. By the tables it doesn't: where the delay is 1 s, bytes by "
    f"rate are {_durations()} ({SHOWN}). iperf's clock runs until its last write returns: iperf 2.1.8 in virtual time "
    f"does so, too ({IPERF}, below). Their rates there are of these times, ours of {SAID_S} s (parts 3-none, 3-10mbit "
    "and 4)."
)

OPEN: Final = (
    "Delay and loss are taken to be on both host links, in both directions, as Mininet's --link option sets them; the "
    "parts -one-link read them as on one link.",
    "The buffer is not given: 1000 packets, which is what Mininet's links have then. In the parts -mininet these are "
    "bursts, and those that propagate count.",
    "The round trip is 0.1 ms if the delay is 0.",
    "Their throughput and bytes are what iperf printed at the sender; ours are what arrived. Tests 1 and 2 are printed "
    "in Gbit/s with three digits: 0.001 is anything from 0.5 to 1.5 Mbit/s. Bytes have more digits, so findings cite "
    "ratios of bytes.",
    "MB and GB in their tables are iperf's KBytes, MBytes and GBytes, powers of 1024, with the point moved: 1,370 MB "
    "are 1.37 GBytes.",
    "Runs last a minute, but at 10 Gbit/s without delay 5 s with loss and 1 s without: a round trip is 0.1 ms there, "
    "and a minute 50 million packets.",
)
