"""Hosts at two bridges, in two VLANs: who is in the same one is heard, whichever bridge it is at.

Each VLAN is a subnet. Here all hosts also get addresses of one subnet by hand: the bridges keep the VLANs apart all
the same.
"""

import dumbbell

VLANS = {"h1": 10, "h2": 20, "h3": 10, "h4": 20}

with dumbbell.Lab() as lab:
    s1, s2 = lab.switch("s1", bridge=True), lab.switch("s2", bridge=True)
    for name, vlan in VLANS.items():
        lab.link(lab.host(name), s1 if name in ("h1", "h2") else s2, vlan=vlan)
    lab.link(s1, s2, vlans=[10, 20])
    lab.start()
    for number, name in enumerate(VLANS, 1):
        lab[name].run(f"ip address add 10.9.0.{number}/24 dev eth0", check=True)
    for number, (name, vlan) in enumerate(VLANS.items(), 1):
        if name != "h1":
            answers = lab["h1"].run(f"ping -c1 -W1 10.9.0.{number}").returncode == 0
            print(f"h1 in VLAN 10, {name} in VLAN {vlan}: {'an answer' if answers else 'no answer'}")
            assert answers == (vlan == 10)
