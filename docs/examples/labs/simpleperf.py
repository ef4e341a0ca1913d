"""Throughput across lossy links: four hosts at a switch, 10 Mbit/s, 5 ms and 1 % loss each."""

import dumbbell

HOSTS = 4
LOSS = "1 %"

with dumbbell.Lab() as lab:
    switch = lab.switch("s1")
    for number in range(1, HOSTS + 1):
        host = lab.host(f"h{number}")
        back = {"loss": LOSS}
        lab.link(host, switch, rate="10 Mbit/s", delay="5 ms", buffer="50 packets", loss=LOSS, reverse=back)
    lab.start()
    for cable in lab.network.cables:
        print(*(cable.interface(end) for end in cable.ends))
    found = lab.tcp("h1", "h4", cc="reno", seconds=2).goodput_bps
    print(f"h1 -> h4: {found / 1e6:.2f} Mbit/s")
    # Two lossy links: TCP does not fill them.
    assert 0 < found < 9.6e6
