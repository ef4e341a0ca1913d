"""Limits on strangers' use of the server: connections, time, descriptors and lines of its log."""

from __future__ import annotations

import logging
import os
import resource
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import cycle
from pathlib import Path

import psutil
import pytest
from serving import Served, serving
from test_server_process import logged_in, started

from dumbbell.server import app, assets, limits, security
from dumbbell.server.limits import MOST_CONNECTIONS, Gate, Rationed
from dumbbell.server.serve import listen, server

IDLE = 2000
assert app, "imported here: a server in this process answers at once"


@contextmanager
def many(port: int, count: int, *said: bytes) -> Iterator[list[socket.socket]]:
    """Connections that say nothing, or one of `said` in turn, and nothing more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    assert hard == resource.RLIM_INFINITY or hard > count + 100, "the test itself takes as many descriptors"
    opened = []
    try:
        for _, first in zip(range(count), cycle(said or (b"",)), strict=False):
            opened.append(socket.create_connection(("127.0.0.1", port)))
            opened[-1].sendall(first)
        yield opened
    finally:
        for one in opened:
            one.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def is_closed(connection: socket.socket, within_s: float) -> bool:
    connection.settimeout(within_s)
    try:
        while connection.recv(1 << 20):
            pass
    except TimeoutError:
        return False
    except OSError:
        pass
    return True


def answers_in(served: Served, path: str = "/api/about", tries: int = 1) -> float:
    """Seconds to an answer, the least of some tries: the machine may be busy."""
    least = float("inf")
    for _ in range(tries):
        began = time.monotonic()
        assert served.ask("GET", path)[0] == 200
        least = min(least, time.monotonic() - began)
    return least


@pytest.mark.thorough
def test_idle_connections_do_not_stop_the_server(tmp_path: Path) -> None:
    """2,000 of them, at a limit of 1,024 descriptors."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))
    try:
        running = started(folder)
        process, url = running.__enter__()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    try:
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (1024, 1024))
        served = logged_in(url, folder)
        answers_in(served)
        with served.page() as page:
            began = time.monotonic()
            with many(served.port, IDLE, b"", b"GET / HTTP/1.1\r\nHost: ") as opened:
                assert answers_in(served, "/", tries=5) < 1
                assert answers_in(served, tries=5) < 1
                assert page.request(do="unsubscribe", topic="files")["type"] == "ack"
                held = len(os.listdir(f"/proc/{process.pid}/fd"))
                assert held < MOST_CONNECTIONS + 100
                # All end in time, the last of both kinds too.
                assert all(is_closed(one, limits.HEAD_S + 10) for one in opened[-2:])
                assert time.monotonic() - began < limits.HEAD_S + 20
        process.terminate()
        _, log = process.communicate(timeout=120)
        assert len(log) < 10_000, log[:1000]
    finally:
        running.__exit__(None, None, None)


@pytest.fixture
def hasty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A server whose patience with strangers is short."""
    monkeypatch.setattr(limits, "HEAD_S", 0.5)
    monkeypatch.setattr(limits, "STALLED_S", 1.0)
    monkeypatch.setattr(security, "STRANGER_S", 0.5)
    with serving(tmp_path) as served:
        answers_in(served)
        yield served


LOGIN = (
    b"POST /api/login HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\n\r\n"
)


def test_requests_that_never_end_do_not_stop_the_server(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        first = LOGIN.replace(b"{host}", served.host.encode()) % 900
        with many(served.port, 2 * MOST_CONNECTIONS, first + b" "):
            assert answers_in(served, tries=5) < 1


@pytest.mark.parametrize(
    "dribble",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: 0\r\n" * 100,
        b"GET /api/about HTTP/1.1\r\nHost: {host}\r\n\r\n" + b"GET / HTTP/1.1\r\n" * 100,
        LOGIN % 900 + b" " * 500,
        LOGIN % 9000 + b" " * 500,
    ],
    ids=["head", "second-head", "body", "refused-body"],
)
def test_whoever_dribbles_a_request_is_cut_off(hasty: Served, dribble: bytes) -> None:
    dribble = dribble.replace(b"{host}", hasty.host.encode())
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", hasty.port)) as own:
        with suppress(OSError):
            for byte in dribble:
                own.sendall(bytes([byte]))
                time.sleep(0.02)
        assert is_closed(own, 0.01)
        assert time.monotonic() - began < 5
    assert answers_in(hasty, tries=5) < 1


def test_whoever_takes_in_no_answer_is_cut_off(hasty: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = 4 << 20
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "large.js").write_bytes(b" " * size)
    monkeypatch.setattr(assets, "PAGE", tmp_path)
    asked = f"GET /assets/large.js HTTP/1.1\r\nHost: {hasty.host}\r\nConnection: close\r\n\r\n".encode()

    def taken(buffer: int, wait_s: float, between_s: float) -> int:
        """Bytes that a client gets which waits before it takes in any, and between its parts."""
        with socket.socket() as own:
            own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
            own.connect(("127.0.0.1", hasty.port))
            own.settimeout(10)
            own.sendall(asked)
            time.sleep(wait_s)
            got = 0
            while part := own.recv(1 << 17):
                got += len(part)
                time.sleep(between_s)
            return got

    assert taken(4096, 3, 0) < size // 2
    # Whoever takes it in slowly gets the whole.
    assert taken(1 << 17, 0, 0.05) > size
    # A hundred share one copy.
    process, before = psutil.Process(), psutil.Process().memory_info().rss
    with many(hasty.port, 100, asked):
        time.sleep(0.5)
        assert process.memory_info().rss - before < 50 << 20


@contextmanager
def with_tls(tmp_path: Path) -> Iterator[tuple[int, ssl.SSLContext]]:
    """A server with TLS: its port, and what trusts its certificate."""
    pem = tmp_path / "both.pem"
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-keyout", "-", "-out", "-"], capture_output=True, check=True
    )  # fmt: skip
    pem.write_bytes(made.stdout)
    listening = listen(0, None, pem, None)
    assert listening.access.port is not None
    assert listening.access.set_cookie().startswith("__Host-dumbbell-")
    assert listening.access.set_cookie().endswith("; Secure")
    ready = threading.Event()
    running, sockets = server(listening, tmp_path, ready.set)
    thread = threading.Thread(target=running.run, kwargs={"sockets": sockets}, daemon=True)
    thread.start()
    try:
        assert ready.wait(30)
        yield listening.access.port, ssl.create_default_context(cafile=str(pem))
    finally:
        running.should_exit = True
        thread.join(10)
        for one in sockets:
            one.close()


def ask_page(port: int, context: ssl.SSLContext) -> None:
    with (
        socket.create_connection(("127.0.0.1", port)) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as own,
    ):
        own.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        assert own.recv(12) == b"HTTP/1.1 200"


def test_handshakes_that_never_end_are_bounded_too(tmp_path: Path) -> None:
    with with_tls(tmp_path) as (port, context), many(port, 2 * MOST_CONNECTIONS) as opened:
        began = time.monotonic()
        ask_page(port, context)
        assert time.monotonic() - began < 5
        assert is_closed(opened[0], 1)


def test_handshakes_that_fail_leave_no_memory_behind(tmp_path: Path) -> None:
    hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
    with with_tls(tmp_path) as (port, context):
        ask_page(port, context)
        process = psutil.Process()

        def grown_by(handshakes: int) -> int:
            before = process.memory_info().rss
            for _ in range(handshakes):
                with socket.create_connection(("127.0.0.1", port)) as own:
                    own.sendall(hello)
            ask_page(port, context)
            return process.memory_info().rss - before

        assert grown_by(1000) + grown_by(1000) < 150 << 20


def test_those_who_have_waited_longest_make_room() -> None:
    gate = Gate(most=3)
    with ExitStack() as stack:
        pairs = [socket.socketpair() for _ in range(5)]
        for pair in pairs:
            for one in pair:
                stack.enter_context(one)
        ours, theirs = zip(*pairs, strict=True)
        for one in ours[:3]:
            gate.admit(one)
        gate.work(ours[0].fileno())
        gate.admit(ours[3])
        assert [is_closed(one, 0.01) for one in theirs[:4]] == [False, True, False, False]
        for one in ours[2:4]:
            gate.work(one.fileno())
        # If all work, the new one has to go.
        gate.admit(ours[4])
        assert [is_closed(one, 0.01) for one in theirs] == [False, True, False, False, True]


def test_a_stranger_keeps_its_place_and_the_user_gets_a_new_one() -> None:
    gate = Gate(most=3)
    with ExitStack() as stack:
        pairs = [socket.socketpair() for _ in range(5)]
        for pair in pairs:
            for one in pair:
                stack.enter_context(one)
        ours, theirs = zip(*pairs, strict=True)
        for one in ours[:3]:
            gate.admit(one)
        gate.work(ours[0].fileno())
        gate.wait(ours[0].fileno(), 10)
        gate.wait(ours[1].fileno(), 10)  # A stranger, who asks for one thing after another.
        gate.admit(ours[3])
        gate.admit(ours[4])
        assert [is_closed(one, 0.01) for one in theirs] == [False, True, True, False, False]


def test_strangers_whose_answers_take_long_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks for the page without end has it answered without end; the user is let in all the same."""
    over = threading.Event()

    def content(path: str) -> tuple[int, bytes, bytes]:
        over.wait(60)
        return 404, b"text/plain", b""

    with serving(tmp_path) as served:
        answers_in(served)
        monkeypatch.setattr(assets, "_content", content)
        asked = f"GET / HTTP/1.1\r\nHost: {served.host}\r\n\r\n".encode() * 20
        with many(served.port, 2 * MOST_CONNECTIONS, asked):
            for _ in range(5):
                answers_in(served)
            over.set()


def test_the_log_of_what_strangers_send_is_bounded(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("uvicorn.error", "asyncio"):  # Other tests of this process have used up some of the ration.
        monkeypatch.setattr(logging.getLogger(name), "filters", [])
    with serving(tmp_path) as served:
        began = time.monotonic()
        for _ in range(300):
            with socket.create_connection(("127.0.0.1", served.port)) as own:
                own.sendall(b"\x00\r\n\r\n")
                assert own.recv(12) == b"HTTP/1.1 400"
        most = limits.BURST + (time.monotonic() - began) / limits.PAUSE_S + 1
    written = capfd.readouterr().err.count("Invalid HTTP request")
    assert limits.BURST <= written <= most < 300


def test_the_log_says_what_it_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    ration = Rationed()
    record = logging.makeLogRecord({"msg": "%s", "args": ("x",)})
    assert sum(ration.filter(record) for _ in range(100)) == limits.BURST
    assert record.getMessage() == "x"
    now = limits.PAUSE_S
    assert ration.filter(record)
    assert record.getMessage() == f"x [{100 - limits.BURST} messages before this left out]"


def test_the_limit_of_descriptors_is_lifted_as_far_as_it_may() -> None:
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (64, int(sys.argv[1])));"
        "from dumbbell.server.limits import lift_descriptors; n = lift_descriptors();"
        "print(n, resource.getrlimit(resource.RLIMIT_NOFILE)[0])"
    )
    for hard, said in ((64, "16 64"), (512, "128 512"), (4096, "256 4096")):
        done = subprocess.run([sys.executable, "-c", code, str(hard)], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == said


def test_no_cookie_of_a_stranger_takes_long(tmp_path: Path) -> None:
    """Python's parser of cookies takes a minute for this one, and nobody else is answered meanwhile."""
    with serving(tmp_path) as served, socket.create_connection(("127.0.0.1", served.port), timeout=60) as stranger:
        began, cookie = time.process_time(), '"' + "\\" * 60_000 + '"'
        head = f"GET /api/about HTTP/1.1\r\nHost: {served.host}\r\nCookie: {served.access.cookie}={cookie}\r\n\r\n"
        stranger.sendall(head.encode())
        assert b" 401 " in stranger.recv(100)
        assert time.process_time() - began < 2


@pytest.mark.parametrize("more", ["Content-Length: 1", f"Sec-WebSocket-Protocol: {'a' * 10_000}", "X: y"])
def test_no_upgrade_of_a_stranger_keeps_its_connection(tmp_path: Path, more: str) -> None:
    with serving(tmp_path) as served:
        lines = ["GET /api/socket HTTP/1.1", f"Host: {served.host}", "Connection: upgrade", "Upgrade: websocket", more]
        with many(served.port, MOST_CONNECTIONS + 20, "\r\n".join([*lines, "", ""]).encode()) as opened:
            assert answers_in(served) < 2
            assert all(is_closed(one, 5) for one in opened)
