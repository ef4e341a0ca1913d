"""A control network beside the data network: what manages the hosts still reaches them when the data links fail."""

import sys

import dumbbell

with dumbbell.Lab() as lab:
    data, control = lab.switch("data"), lab.switch("control")
    manager = lab.host("manager")
    lab.link(manager, control, addresses=["192.168.123.254/24", []])
    workers = []
    for number in (1, 2, 3):
        worker = lab.host(f"w{number}")
        workers.append(worker)
        lab.link(worker, data, addresses=[f"10.0.0.{number}/24", []])
        lab.link(worker, control, addresses=[f"192.168.123.{number}/24", []])
    lab.start()
    assert lab.ping_all(workers).received == 6
    for worker in workers:
        lab.link(worker, data).down()
    assert lab.ping_all(workers, timeout_s=0.2).received == 0
    knock = "import socket, sys; socket.create_connection((sys.argv[1], 22), 1)"
    for number in (1, 2, 3):
        # A refusal is an answer: the host is there, and nothing listens at port 22.
        said = manager.run([sys.executable, "-c", knock, f"192.168.123.{number}"])
        assert "ConnectionRefusedError" in said.stderr, said.stderr
    print("the data network is down, and the manager still reaches all workers")
