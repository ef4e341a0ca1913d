"""Every host pings every other one, again and again, without a process for each ping."""

import dumbbell

ROUNDS = 5

with dumbbell.Lab.from_topology("star", size=8, link={"delay": "1 ms"}) as lab:
    lost = dict.fromkeys(lab.hosts, 0)
    for _ in range(ROUNDS):
        for host, _other in lab.ping_all().unanswered():
            lost[host] += 1
    for host, count in lost.items():
        print(f"{host}: {count} of {ROUNDS * (len(lab.hosts) - 1)} pings without an answer")
    assert not any(lost.values())
