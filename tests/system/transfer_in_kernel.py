"""Runs inside a user-mode kernel: a transfer over loopback with the congestion control
`sys.argv[1]`, with losses of `sys.argv[2]` if given, and what /proc/dumbbell/acks tells.

Only the standard library: it is read from the host, call by call.
"""

import fcntl
import os
import select
import socket
import struct
import subprocess
import sys
from pathlib import Path

BYTES = 1_000_000
HEADER = struct.Struct("<QQQIIHHBBBBIIII")
"""The beginning of struct db_ack: time, bytes ACKed, pacing rate, namespace, address, ports, moment, state of recovery,
two flags, first sequence number not ACKed, next to be sent, window, threshold."""
KEY = struct.Struct("<II16xHH")
"""struct db_flow_key."""
IFREQ = struct.Struct("16sH14x")
SIOCSIFFLAGS, IFF_UP = 0x8914, 1


def row_bytes() -> int:
    """The size of a struct db_ack: a read that is too short for one returns nothing."""
    for size in range(HEADER.size, 1024, 8):
        if data := os.read(acks, size):
            first.append(data)
            return size
    raise SystemExit("no rows")


up = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
fcntl.ioctl(up, SIOCSIFFLAGS, IFREQ.pack(b"lo", IFF_UP))
if len(sys.argv) > 2:
    # netem loses whole bursts: without them there are some 700 packets to lose, and not some 40.
    subprocess.run(["ip", "link", "set", "lo", "mtu", "1500", "gso_max_segs", "1"], check=True)
    netem = ["netem", "delay", "10ms", "loss", sys.argv[2]]
    subprocess.run(["tc", "qdisc", "add", "dev", "lo", "root", *netem], check=True)
listener = socket.create_server(("127.0.0.1", 5001))
netns = os.stat("/proc/self/ns/net").st_ino
acks = os.open("/proc/dumbbell/acks", os.O_RDWR)
loopback = int.from_bytes(socket.inet_aton("127.0.0.1"), "little")
os.write(acks, KEY.pack(netns, loopback, 5001, 0))

sender = socket.socket()
sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[1].strip().encode())
sender.connect(("127.0.0.1", 5001))
receiver, _ = listener.accept()
sender.setblocking(False)
left = received = BYTES
while received:
    readable, writable, _ = select.select([receiver], [sender] if left else [], [])
    if writable:
        left -= sender.send(bytes(min(left, 20_000)))
    if readable:
        received -= len(receiver.recv(65536))
sender.close()
receiver.close()

first: list[bytes] = []
size = row_bytes()
rows = [*first]
while data := os.read(acks, size * 1000):
    rows += [data[at : at + size] for at in range(0, len(data), size)]
told = [HEADER.unpack(row[: HEADER.size]) for row in rows]
print("rows:", len(told))
print("moments:", *(row[7] for row in told))
print("acked:", *(row[1] for row in told))
print("others:", sum(row[3:5] != (netns, loopback) or row[6] != 5001 for row in told))
begin = told[0][0]
print("course:", *(f"{row[0] - begin},{row[1]},{row[8]},{row[13]},{row[14]}" for row in told))
print("lost:", Path("/proc/dumbbell/acks_lost").read_text().strip())
