"""A large tree: by default 256 hosts below 17 switches; `python tree1024.py 32` makes 1024."""

import sys
import time

import dumbbell

fanout = int(sys.argv[1]) if len(sys.argv) > 1 else 16
begun = time.monotonic()
with dumbbell.Lab.from_topology("tree", depth=2, fanout=fanout) as lab:
    print(f"{len(lab.hosts)} hosts up in {time.monotonic() - begun:.2f} s")
    last = lab[f"h{fanout**2}"]
    assert last.run("hostname").stdout == f"h{fanout**2}\n"
    assert lab.ping_all(["h1", last]).received == 2
