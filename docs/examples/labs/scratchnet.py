"""A network by hand: cables from dumbbell, everything else by `ip` in the hosts."""

import sys

import dumbbell

with dumbbell.Lab() as lab:
    h0, r0, h1 = lab.host("h0"), lab.router("r0"), lab.host("h1")
    lab.link(h0, r0)
    lab.link(r0, h1)
    lab.start()
    for node, interface, address in (
        (h0, "eth0", "192.168.7.2/24"),
        (r0, "eth0", "192.168.7.1/24"),
        (r0, "eth1", "192.168.8.1/24"),
        (h1, "eth0", "192.168.8.2/24"),
    ):
        node.run(f"ip address add {address} dev {interface}", check=True)
    h0.run("ip route add 192.168.8.0/24 via 192.168.7.1", check=True)
    h1.run("ip route add 192.168.7.0/24 via 192.168.8.1", check=True)
    knock = "import socket; socket.create_connection(('192.168.8.2', 7), 5)"
    said = h0.run([sys.executable, "-c", knock])
    # A refusal comes from the other end: packets go there and back.
    assert "ConnectionRefusedError" in said.stderr, said.stderr
    print(h0.run("ip route").stdout, end="")
