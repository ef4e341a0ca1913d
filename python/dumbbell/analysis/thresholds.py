"""Every threshold of the verdict, in one table. `docs/reference/verdict.md` gives the reasoning behind each.

A pair is (suspect above, invalid above) unless its name says otherwise.
"""

from __future__ import annotations

from typing import Final

LATENESS_P99_US: Final = (150.0, 1500.0)
"""Floor of the limit on the 99th percentile of lateness; links of long RTT may be later:"""
LATENESS_P99_OF_RTT: Final = (0.01, 0.10)
"""... by this share of the smallest base RTT."""
LATE_OVER_1MS_SHARE: Final = (0.001, 0.01)
"""Share of packets handed over more than 1 ms late."""

STALL_MS: Final = (10.0, 200.0)
"""Longest lateness of any packet. 200 ms is the smallest retransmission timeout of Linux."""

READ_LAG_P99_US: Final = (1000.0, 10_000.0)
"""Time from a packet's arrival in the ring until the emulator reads it."""

SAMPLES_TAKEN_SHARE: Final = (0.99, 0.90)
"""Suspect below, invalid below."""
SAMPLE_GAP_MS: Final = 100.0
"""Longest time without a sample; or `SAMPLE_GAP_INTERVALS` intervals if that is more. Suspect above."""
SAMPLE_GAP_INTERVALS: Final = 3

STEAL_SHARE: Final = (0.01, 0.10)
"""CPU time that the hypervisor gave to others, of all cores' time."""
EMULATOR_WAIT_SHARE: Final = (0.01, 0.10)
"""Time that the emulator waited for a CPU, of the run."""
TRAFFIC_WAIT_SHARE: Final = (0.05, 0.20)
"""The same for the traffic process."""

VIRTUAL_CPU_SHARE: Final = (0.5, 0.8)
"""Share of a virtual machine's CPU that a run used. Hosts and links share it, so packets wait for each other."""

CPUS: Final = 2
"""Hosts and links need one CPU each to run at the same time. Suspect below."""

RATE_ERROR: Final = (0.01, 0.05)
"""Difference between achieved and configured rate, as a share of the latter."""

LIMITED_SHARE: Final = (0.01, 0.05)
"""Busy time in which the receive window or the send buffer held a flow back, not its congestion control."""

SCHEDULE_ERROR_P99_US: Final = (200.0, 2000.0)
"""Floor of the limit on the lateness of UDP datagrams; sparser ones may be later:"""
SCHEDULE_ERROR_OF_GAP: Final = (0.10, 1.0)
"""... by this share of the gap between two."""

ACK_MISMATCH_SHARE: Final = 0.01
"""Samples whose count of delivered packets no row of `acks` has. Suspect above."""

CONNECTED_WITHIN_NS: Final = 3_000_000_000
"""The longest time in which a connection opens that loses two SYNs: sent again after 1 s, and 2 s more (RFC 6298
section 2)."""

WINDOW_PACKETS: Final = 1 << 20
"""Congestion window. Suspect above: 100 Gbit/s fill so many packets of 1,500 bytes in 120 ms."""
