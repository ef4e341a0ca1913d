"""Interfaces are numbered in the order of a node's links: from eth0 in hosts and routers, from eth1 at switches."""

import dumbbell

with dumbbell.Lab() as lab:
    h1, h2, s1, s2 = lab.host("h1"), lab.host("h2"), lab.switch("s1"), lab.switch("s2")
    lab.link(h1, s1)
    lab.link(s1, s2)
    lab.link(h2, s2)
    lab.start()
    ports = [tuple(cable.interface(end) for end in cable.ends) for cable in lab.network.cables]
    for one, other in ports:
        print(f"{one} <-> {other}")
    assert ports == [("h1-eth0", "s1-eth1"), ("s1-eth2", "s2-eth1"), ("h2-eth0", "s2-eth2")]
    # The host itself sees the same.
    assert "eth0" in h1.run("ip -brief link").stdout
