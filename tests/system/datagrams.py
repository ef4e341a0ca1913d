"""Datagrams that the sender's kernel cuts out of large ones (UDP_SEGMENT, udp(7)), as a flow's programs.

`datagrams.py send HOST PORT` and `datagrams.py receive PORT OUT`: 40 times 20 datagrams, the last of each shorter.
"""

import json
import random
import socket
import sys
import time

UDP_SEGMENT = 103
BURSTS, SIZE, LAST = 40, 1200, 100


def burst(number: int) -> bytes:
    """19 full datagrams and a short one."""
    return random.Random(number).randbytes(19 * SIZE + LAST)


def send(host: str, port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, SIZE)
        for number in range(BURSTS):
            sender.sendto(burst(number), (host, port))
            time.sleep(0.005)


def receive(port: int, out: str) -> None:
    expected = [burst(n)[at : at + SIZE] for n in range(BURSTS) for at in range(0, 20 * SIZE, SIZE)]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("", port))
        # A receiver that waits for a CPU loses nothing meanwhile: the usual size holds 90 datagrams.
        receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        receiver.settimeout(2)
        got = []
        while len(got) < len(expected):
            try:
                got.append(receiver.recv(65536))
            except TimeoutError:
                break
    wrong = sum(a != b for a, b in zip(got, expected, strict=False))
    with open(out, "w", encoding="ascii") as file:
        json.dump({"datagrams": len(got), "wrong": wrong}, file)


if __name__ == "__main__":
    if sys.argv[1] == "send":
        send(sys.argv[2], int(sys.argv[3]))
    else:
        receive(int(sys.argv[2]), sys.argv[3])
