"""How throughput depends on the length of a line of switches: the slowest link counts, not how many there are."""

import dumbbell

LENGTHS = (1, 5, 10)
LINK = {"rate": "10 Mbit/s", "delay": "500 us", "buffer": "100 ms"}

with dumbbell.Lab.from_topology("linear", switches=max(LENGTHS) + 1, link=LINK, trunk=LINK) as lab:
    for length in LENGTHS:
        result = lab.tcp("h1", f"h{length + 1}", cc="reno", seconds=1)
        print(f"{length:>2} links between switches: {result.goodput_bps / 1e6:.2f} Mbit/s")
        assert 2e6 < result.goodput_bps < 9.6e6
