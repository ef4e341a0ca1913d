"""A file's way over TCP, as a flow's programs: `transfer.py send HOST PORT BYTES` and `transfer.py receive PORT OUT`.

The receiver writes the SHA-256 of what came, and what its host's kernel counted, as JSON.
"""

import hashlib
import json
import random
import socket
import sys
import time


def content(size: int) -> bytes:
    """The content of a transfer: no byte depends on its place, and a segment at the wrong place is therefore seen."""
    return random.Random(size).randbytes(size)


def counters() -> dict[str, int]:
    """TCP's and IP's counters of this network namespace, e.g. `Tcp.InCsumErrors`."""
    found = {}
    for name in ("snmp", "netstat"):
        with open(f"/proc/self/net/{name}", encoding="ascii") as file:
            lines = [line.split() for line in file]
        for keys, values in zip(lines[::2], lines[1::2], strict=True):
            found |= {f"{keys[0]}{key}".replace(":", "."): int(n) for key, n in zip(keys[1:], values[1:], strict=True)}
    return found


def send(host: str, port: int, size: int) -> None:
    with socket.create_connection((host, port), timeout=10) as connection:
        connection.settimeout(60)
        connection.sendall(content(size))


def receive(port: int, out: str) -> None:
    digest = hashlib.sha256()
    with socket.create_server(("", port)) as server:
        connection, _ = server.accept()
        with connection:
            while part := connection.recv(1 << 20):
                digest.update(part)
    # Copies of the last segments may still be on their way.
    time.sleep(0.3)
    with open(out, "w", encoding="ascii") as file:
        json.dump({"sha256": digest.hexdigest(), **counters()}, file)


if __name__ == "__main__":
    if sys.argv[1] == "send":
        send(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        receive(int(sys.argv[2]), sys.argv[3])
