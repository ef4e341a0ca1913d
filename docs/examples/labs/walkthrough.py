"""The steps of Mininet's walkthrough: look around, run commands, a web server and its client, a link that fails."""

import sys

import dumbbell

with dumbbell.Lab.from_topology("linear", switches=2, link={"delay": "2 ms"}, trunk={"delay": "10 ms"}) as lab:
    h1, h2 = lab["h1"], lab["h2"]
    print("nodes:", *lab)
    for cable in lab.network.cables:
        print(*(cable.interface(end) for end in cable.ends))
    print(h1.run("ip -brief address show dev eth0").stdout, end="")

    pings = lab.ping_all()
    assert pings.received == 2
    # There and back: 2 ms, 10 ms and 2 ms.
    assert all(rtt >= 28_000_000 for row in pings.rtt_ns for rtt in row if rtt is not None)

    with h1.start([sys.executable, "-u", "-m", "http.server", "80"]) as server:
        server.wait_for("Serving HTTP")
        fetch = "import urllib.request; print(urllib.request.urlopen('http://h1/').status)"
        assert h2.run([sys.executable, "-c", fetch], check=True).stdout == "200\n"

    lab.link("s1", "s2").down()
    assert lab.ping_all(timeout_s=0.3).received == 0
    lab.link("s1", "s2").up()
    assert lab.ping_all().received == 2
    print(f"{lab.tcp(h1, h2, seconds=1).goodput_bps / 1e6:.0f} Mbit/s")
