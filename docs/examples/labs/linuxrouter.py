"""A router between three subnets, a switch in each. Hosts have their default routes, the router forwards."""

import dumbbell

SUBNETS = {"1": "192.168.1.{}/24", "2": "172.16.0.{}/12", "3": "10.0.0.{}/8"}

with dumbbell.Lab() as lab:
    r0 = lab.router("r0")
    for number, subnet in SUBNETS.items():
        switch = lab.switch(f"s{number}")
        lab.link(r0, switch, addresses=[subnet.format(1), []])
        lab.link(lab.host(f"h{number}", address=subnet.format(100)), switch)
    lab.start()
    print(r0.run("ip route").stdout, end="")
    assert lab.ping_all().received == 6
    assert "via 172.16.0.1" in lab["h2"].run("ip route show default").stdout
