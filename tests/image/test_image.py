"""The machine image, booted as a user boots it: its own boot loader, its console, the page through a forwarded port.

QEMU computes each instruction here, as machines without KVM must, and the machine's clock counts instructions. By the
wall clock a busy host would be late with its timers, and the kernel would not start.
"""

from __future__ import annotations

import json
import os
import re
import select
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest

IMAGE: Final = Path(__file__).parents[2] / "dist" / "dumbbell.qcow2"
BOOT_S: Final = 1200.0
COMMAND_S: Final = 900.0


class Machine:
    """A machine that boots from the image, and its serial console."""

    def __init__(self, disk: Path) -> None:
        """Boot; the console's user is logged in without a password."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        forward = f"user,restrict=on,hostfwd=tcp:127.0.0.1:{self.port}-:8080"
        command = ["qemu-system-x86_64", "-accel", "tcg", "-icount", "shift=2", "-cpu", "max"]
        command += ["-m", "2048", "-drive", f"file={disk},if=virtio", "-nic", f"{forward},model=virtio-net-pci"]
        command += ["-display", "none", "-monitor", "none", "-serial", "stdio"]
        self.process = subprocess.Popen(command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.said = ""
        self.wait(r"dumbbell@dumbbell:~\$ ", BOOT_S)
        self._type("stty -echo cols 500; PS1=; bind 'set enable-bracketed-paste off'; echo quiet''ly\n")
        self.wait(r"quietly\r?\n", COMMAND_S)

    def wait(self, pattern: str, seconds: float) -> re.Match[str]:
        """Wait until the console has shown a pattern since the last one that was waited for."""
        assert self.process.stdout is not None
        until = time.monotonic() + seconds
        while not (match := re.search(pattern, self.said)):
            left = until - time.monotonic()
            assert left > 0, f"no {pattern} within {seconds:.0f} s:\n{self.said[-3000:]}"
            if select.select([self.process.stdout], [], [], min(left, 1.0))[0]:
                read = os.read(self.process.stdout.fileno(), 65536)
                assert read, f"the machine has ended:\n{self.said[-3000:]}"
                self.said += read.decode("utf-8", "replace")
        self.said = self.said[match.end() :]
        return match

    def run(self, script: str) -> tuple[int, str]:
        """Run a line in the console's shell. Returns its exit code and output."""
        self._type(f"{script}; echo en''ds $?\n")
        match = self.wait(r"(?s)(.*)ends (\d+)\r?\n", COMMAND_S)
        return int(match[2]), match[1].replace("\r", "")

    def _type(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text.encode())

    def ask(
        self, url: str, method: str, path: str, headers: dict[str, str], body: str | None = None
    ) -> tuple[int, str, str]:
        """Ask the page's server through the forwarded port. Returns status, cookie and content."""
        site = urlsplit(url)
        connection = HTTPConnection("127.0.0.1", self.port, timeout=COMMAND_S)
        given = {"Host": site.netloc, "Origin": f"http://{site.netloc}", **headers}
        connection.request(method, path, body, given)
        answer = connection.getresponse()
        content = answer.read().decode()
        return answer.status, (answer.getheader("Set-Cookie") or "").partition(";")[0], content


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A machine whose changes of the disk are dropped."""
    assert IMAGE.is_file(), "make image makes it"
    disk = tmp_path_factory.mktemp("image") / "disk.qcow2"
    create = ["qemu-img", "create", "-q", "-f", "qcow2", "-b", IMAGE, "-F", "qcow2", disk]
    subprocess.run(create, check=True)
    made = Machine(disk)
    try:
        yield made
    finally:
        made.process.kill()
        made.process.wait()


def test_the_page_answers_outside(machine: Machine) -> None:
    """Its name and its token, which the console shows, get in; its own port alone is forwarded."""
    url, until = "", time.monotonic() + COMMAND_S
    while not url:
        assert time.monotonic() < until
        url = machine.run("dumbbell ui --list")[1].partition(" ")[0].strip()
    assert re.fullmatch(r"http://d-[0-9a-f]+\.localhost:8080/#token=\S+", url)
    status, _, page = machine.ask(url, "GET", "/", {})
    assert status == 200
    assert "<title>dumbbell" in page
    assert machine.ask(url, "GET", "/api/about", {})[0] == 401
    login = json.dumps({"token": url.partition("token=")[2]})
    status, cookie, _ = machine.ask(url, "POST", "/api/login", {"Content-Type": "application/json"}, login)
    assert status < 300
    status, _, about = machine.ask(url, "GET", "/api/about", {"Cookie": cookie})
    assert status == 200
    assert "bbr3" in json.loads(about)["algorithms"]
    with suppress(ConnectionError):
        assert machine.ask("http://127.0.0.1:8080", "GET", "/api/about", {"Cookie": cookie})[0] == 421


def test_a_user_simulates_and_emulates(machine: Machine) -> None:
    code, told = machine.run("dumbbell run bbr-vs-cubic --engine simulate --set duration='10 s' --json 2>/dev/null")
    assert code == 0
    assert json.loads(told)["verdict"] == "valid"
    code, told = machine.run("dumbbell run bbr-vs-cubic --set duration='4 s' --json --no-report 2>/dev/null")
    assert code in (0, 3), told
    assert [flow["cc"] for flow in json.loads(told)["flows"]] == ["cubic", "bbr"]
    assert all(flow["received_bytes"] > 0 for flow in json.loads(told)["flows"])


def test_the_doctor_misses_nothing_that_the_image_is_to_have(machine: Machine) -> None:
    code, told = machine.run("dumbbell doctor --json 2>/dev/null")
    assert code == 0, told
    found = {check["name"]: check["level"] for check in json.loads(told)}
    for name in ("namespaces", "hosts", "congestion control bbr", "queueing disciplines", "routing daemons", "iperf3"):
        assert found[name] == "ok", (name, told)


def test_tools_and_tutorial_are_there_and_nothing_of_the_builder(machine: Machine) -> None:
    assert machine.run("tshark --version >/dev/null && iperf3 --version >/dev/null && test -r tutorial/bgp.md")[0] == 0
    # The machine's own routing daemons would change its routes.
    assert "masked" in machine.run("systemctl is-enabled frr")[1]
    code, told = machine.run(
        "grep -hv deb.debian.org /etc/apt/sources.list /etc/apt/sources.list.d/*; ls /build /etc/pip.conf"
    )
    assert code != 0
    assert "deb" not in told
    assert "running" in machine.run("systemctl is-system-running --wait")[1]
