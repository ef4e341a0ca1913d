"""Probable explanations of where our numbers of slides-2017 differ from theirs.

Each names the part that shows it, or says "not tested".
"""

from __future__ import annotations

from typing import Final

TABLE: Final = (
    "1 % loss fixes the RTT, because only the RTT, the segment and the loss count: 1.15 Mbit/s and 58 "
    "retransmissions are those of 150 ms (part table), 4.55 Mbit/s and 234 those of 30 ms (part table-one-way). "
    'No one reading of "delay" gives both. Why: not tested.',
    "0 retransmissions at 15 ms. With a receive window such as Linux's alone packets are lost (part "
    "table-window); with it and a buffer of 3,400 packets none is (part table-window-deep). Such a buffer "
    "alone loses packets, too (part table with topology.bottleneck.buffer = 3400 packets).",
    "150 ms without loss. With the receive window of Linux's defaults both algorithms come nearer to what was "
    "printed (part table-window): 109 Mbit/s of Reno's are those of a buffer of 1,200 packets, and CUBIC's 206 are "
    "the window's (part table-window-deep). No buffer that was tried gives their 575 retransmissions of "
    "both: with 1,050 to 1,250 packets 1,281 segments or more are sent again, from 1,300 on none (part table-window "
    "with other buffers).",
    "903 and 906 of 1,000 Mbit/s. A link of 1 Gbit/s carries 956 Mbit/s of TCP's data in frames of 1514 B, and our "
    "senders come to 955 (part table-window-deep). What took the rest on their machine: not tested.",
)
FAIRNESS: Final = (
    "RTTs and buffer are not given, and their retransmissions constrain them. Of all cells of part fairness, "
    "3,400 packets with 30 and 300 ms come nearest to Reno's 3,377 and 12: slow start overruns the buffer once, "
    "and loses about as many packets as it holds, so smaller buffers lose fewer. The slow flow still loses more "
    "than 12. That iperf's transfers took 184.06 s of the 180 tells no buffer: those of iperf 2.1.8 take 182 to 187 s "
    "with 1,000 packets and 189 to 203 s with 3,400, as its clock waits for what the socket holds, too (part fairness "
    "by iperf: docs/examples/iperf-unequal-paths.toml, below). Other versions: not tested.",
    "When the second flow starts is not given, and decides. If both start together, neither RTTs nor buffers of "
    "part fairness make CUBIC's flows as unequal as printed, 7.93 and 1.43 Mbit/s, once the buffer is 1,000 "
    "packets or more. If the slow one starts 10 s later, both algorithms come out as unequal as printed, and Reno "
    "sends as much again in the kernel (part fairness-late: 15 and 150 ms, 3,400 packets). 10 s is one of two starts "
    "that come near CUBIC's index: the part shows that one set-up gives both, not that it was theirs. If the slow flow "
    "starts 20 s later, Reno's flows share alike (part fairness with flows.1.start = 20 s). What sends twice our "
    "number of CUBIC's segments again: not tested.",
    "The receive window of Linux's defaults is less than 3,400 packets: one flow alone can't overrun such a "
    "buffer, and Reno's shares come out nearer to each other (part fairness-window). So their window was "
    "larger, or the buffer smaller.",
    "Mininet's 1,000 packets are whole bursts, and hold more bytes than 1,000 frames: there Reno's fast flow sends "
    "nearly five times as many segments again as with 1,000 frames, and 1.4 times what is printed (parts "
    "fairness-mininet and fairness). Reno's flows come out less unequal than printed, where 3,400 frames leave them "
    "as unequal (part fairness-deep), and CUBIC's as equal as with any deep buffer. So whole bursts explain nothing "
    "that a deep buffer doesn't.",
    "A run of Reno or CUBIC without random loss hardly differs from its repetitions, simulated or in the kernel in "
    "virtual time: two flows can lock into step (phase effects; Floyd and Jacobson 1991). Most intervals of parts "
    "fairness, fairness-deep, fairness-window and fairness-mininet are narrow for this reason. Whether a real "
    "machine's jitter undoes it: not tested.",
)
UDP: Final = (
    "Datagrams. iperf3 sent 8 kB each until version 3.1: 9,141 of them are 10 Mbit/s for 59.9 s. Each is six "
    "packets, and lost with any of them. Where packets are lost all the time, the rests of datagrams fill the "
    "receiving host's memory for fragments, 4 MiB, and then nothing arrives until the first are given up, 30 s "
    "later (part udp; the kernel does the same to the byte, tests/system/test_fragments.py).",
    "Jitter. Datagrams that are evenly spaced have 0.2 to 0.4 ms (part udp). What is due in 100 ms sent at "
    "once, as iperf3 of that time did, gives 10 to 14 ms (part udp-bursts), about their 13.029 ms.",
    "0 lost of 9,141, and 0 sent again. The UDP flow sends more than the link carries, so only a buffer that "
    "holds all of the rest loses nothing: with one of 20,000 packets CUBIC and UDP lose nothing, and Reno "
    "overruns even that (part udp-bursts), unless it starts 20 s later or has Linux's window (with flows.0.start "
    "or hosts.sysctl). At 9.3 Mbit/s 9,141 datagrams of 8 kB take 64.4 s, 4.4 s more than the flow lasted: the "
    "rest must have been in a queue at its end, as it is in part udp-bursts with that buffer, where nothing of "
    "CUBIC's UDP is lost and 7.3 of 10 Mbit/s arrive in the minute (finding 8).",
    "TCP's 0.54 Mbit/s. In none of our parts does TCP get so little from a buffer that loses nothing. Neither a "
    "start 5 or 20 s after UDP's nor Linux's window brings it below 1.8 Mbit/s with 20,000 packets (part udp-bursts "
    "with flows.0.start or hosts.sysctl). What held it back: not tested.",
)
