"""Two network namespaces of a test's own: one stands for the machine, the other for the network that it is in."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness import inside, until

SERVER = "203.0.113.1"
"""Where a web server listens in the network (TEST-NET-3 of RFC 5737: nobody has it)."""
MACHINE = "203.0.113.2"
NAME = "outside.test"
"""A name that the machine's name server knows, at 127.0.0.1, as the address of the web server."""
LOOPBACK_PORT = 8181
"""Port of a service of the machine's, at 127.0.0.1."""

_SAY = """
import socket, sys
server = socket.create_server((sys.argv[1], int(sys.argv[2])))
while True:
    with server.accept()[0] as client:
        client.recv(1000)
        client.sendall(b"HTTP/1.0 200 OK\\r\\nContent-Length: 5\\r\\n\\r\\nhello")
"""
# An answer with one address: the question's bytes, then a pointer to its name, type A, class IN, a minute (RFC 1035).
_NAMES = """
import socket, struct, sys
server = socket.socket(type=socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 53))
while True:
    asked, client = server.recvfrom(512)
    end = asked.index(0, 12) + 5
    is_address = asked[end - 4 : end - 2] == b"\\0\\1"
    answer = b"\\xc0\\x0c\\0\\1\\0\\1" + struct.pack(">IH", 60, 4) + socket.inet_aton(sys.argv[1])
    head = asked[:2] + b"\\x81\\x80\\0\\1" + struct.pack(">HHH", is_address, 0, 0)
    server.sendto(head + asked[12:end] + answer * is_address, client)
"""


@dataclass(frozen=True)
class Machine:
    """The namespace that stands for the machine."""

    pid: int
    """A process in it."""

    def command(self, words: list[str], directory: Path) -> list[str]:
        """The words that carry out a command there, with the machine's name server, in a directory."""
        return [*inside(self.pid), "--mount", "sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", str(directory), *words]


@contextmanager
def machine(folder: Path) -> Iterator[Machine]:
    """The machine and its network, which end with the context. `folder` holds the machine's resolv.conf."""
    resolver = folder / "resolv.conf"
    resolver.write_text("nameserver 127.0.0.1\n")
    resolver.chmod(0o644)
    with ExitStack() as stack:
        here = stack.enter_context(_space(f"mount --bind {resolver} /etc/resolv.conf &&"))
        there = stack.enter_context(_space())
        _ip(here, f"link add lan type veth peer name lan netns {there}")
        for pid, address in ((here, MACHINE), (there, SERVER)):
            _ip(pid, "link set lo up")
            _ip(pid, f"address add {address}/24 dev lan")
            _ip(pid, "link set lan up")
        for pid, program, *words in (
            (there, _SAY, SERVER, "80"),
            (here, _SAY, "127.0.0.1", str(LOOPBACK_PORT)),
            (here, _NAMES, SERVER),
        ):
            stack.enter_context(_running([*inside(pid), sys.executable, "-c", program, *words]))
        sockets = [*inside(here), "ss", "-Hlntu"]
        until(lambda: len(subprocess.check_output(sockets).splitlines()) == 2, 60, "the machine's servers")
        sockets = [*inside(there), "ss", "-Hlnt"]
        until(lambda: bool(subprocess.check_output(sockets).strip()), 60, "the network's server")
        yield Machine(here)


@contextmanager
def _space(first: str = "") -> Iterator[int]:
    """A process in a network and a mount namespace of its own, after a command `first`. A user namespace as needed."""
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    words = ["unshare", *user, "--net", "--mount", "sh", "-c", f"{first} exec sleep infinity"]
    with _running(words) as process:
        until(lambda: _name(process.pid) == "sleep", 60, "a namespace")
        yield process.pid


def _name(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text().strip()


@contextmanager
def _running(words: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(words, stdin=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


def _ip(pid: int, words: str) -> None:
    subprocess.run([*inside(pid), "ip", *words.split()], check=True)
