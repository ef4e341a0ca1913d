"""A host moves from switch to switch, and keeps its address: a link to each, of which one is up at a time.

The host moves its address with its MAC address to the interface that is up, and tells the switches by a first packet.
"""

import json

import dumbbell

MOVE = """
ip address flush dev eth{old}
ip link set eth{old} address 02:00:00:00:00:0{old}
ip link set eth{new} address {mac}
ip address add {address} dev eth{new}
"""

with dumbbell.Lab() as lab:
    switches = [lab.switch(f"s{number}") for number in (1, 2, 3)]
    lab.link("s1", "s2")
    lab.link("s2", "s3")
    mobile, server = lab.host("mobile", address="10.0.0.1/24"), lab.host("server", address="10.0.0.9/24")
    cells = [lab.link(mobile, switch) for switch in switches]
    lab.link(server, "s3")
    lab.start()
    mac = json.loads(mobile.run("ip -json link show eth0").stdout)[0]["address"]
    mobile.run("ip address flush dev eth1; ip address flush dev eth2", check=True)
    for cell in cells[1:]:
        cell.down()
    assert lab.ping_all().received == 2
    for old, new in ((0, 1), (1, 2), (2, 0)):
        cells[old].down()
        cells[new].up()
        mobile.run(MOVE.format(old=old, new=new, mac=mac, address="10.0.0.1/24"), check=True)
        pings = lab.ping_all()
        print(f"at s{new + 1}: {pings.received} of {pings.sent} pings are answered")
        assert pings.received == 2
