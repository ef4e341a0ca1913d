"""Two links between the same two nodes: each has interfaces and addresses of its own, and fails on its own."""

import dumbbell

with dumbbell.Lab() as lab:
    h1, r1, h2 = lab.host("h1"), lab.router("r1"), lab.host("h2")
    first = lab.link(h1, r1, delay="1 ms")
    second = lab.link(h1, r1, delay="20 ms", cost=2)
    lab.link(r1, h2)
    lab.start()
    print(h1.run("ip -brief address").stdout, end="")
    assert list(h1.interfaces) == ["eth0", "eth1"]
    assert first.names == ("h1-r1", "r1-h1")
    assert second.names == ("h1-r1-2", "r1-h1-2")
    # The route of least cost leads across the first one.
    second.down()
    assert lab.ping_all().received == 2
    second.up()
    first.down()
    assert lab.ping_all(timeout_s=0.2).received == 0
