"""Servers in two hosts, clients in two others: all four are watched by one program."""

import sys
from contextlib import ExitStack

import dumbbell

SERVE = [sys.executable, "-u", "-m", "http.server", "80"]
FETCH = "import sys, urllib.request; print(urllib.request.urlopen(f'http://{sys.argv[1]}/').status)"

with dumbbell.Lab.from_topology("tree", depth=2, fanout=2) as lab, ExitStack() as stack:
    servers = {name: stack.enter_context(lab[name].start(SERVE)) for name in ("h1", "h2")}
    for server in servers.values():
        server.wait_for("Serving HTTP")
    pairs = list(zip(("h3", "h4"), servers, strict=True))
    clients = [stack.enter_context(lab[host].start([sys.executable, "-c", FETCH, name])) for host, name in pairs]
    for (host, name), client in zip(pairs, clients, strict=True):
        print(f"{host} asks {name}: {client.wait().stdout.strip()}")
        assert client.returncode == 0
