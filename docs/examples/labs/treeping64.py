"""64 hosts below a tree of switches: everybody pings everybody."""

import time

import dumbbell

begun = time.monotonic()
with dumbbell.Lab.from_topology("tree", depth=2, fanout=8) as lab:
    up = time.monotonic()
    pings = lab.ping_all()
    print(f"64 hosts up in {up - begun:.2f} s, {pings.sent} pings in {time.monotonic() - up:.2f} s")
    assert pings.received == pings.sent == 64 * 63
