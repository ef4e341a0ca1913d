"""Limits of links: what TCP gets through 2, 10 and 50 Mbit/s."""

import dumbbell

RATES = (2, 10, 50)

with dumbbell.Lab() as lab:
    switch, server = lab.switch("s1"), lab.host("server")
    lab.link(server, switch)
    for rate in RATES:
        lab.link(lab.host(f"h{rate}"), switch, rate=f"{rate} Mbit/s", delay="1 ms", buffer="50 ms")
    lab.start()
    for rate in RATES:
        goodput = lab.tcp(f"h{rate}", server, cc="reno", seconds=1).goodput_bps
        print(f"a link of {rate} Mbit/s: {goodput / 1e6:.2f} Mbit/s")
        # 1448 of the 1514 bytes of a frame are payload.
        assert goodput <= rate * 1e6 * 1448 / 1514 * 1.01
