"""`dumbbell ui` as a process: its URL, who else may get at it, and what is left when it is killed."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from serving import Served

from dumbbell.server.security import Access

START = 'name = "a"\nduration = "1 s"\n'
AS_ROOT = ["--as-root"] if os.geteuid() == 0 else []


@contextmanager
def started(workspace: Path, *options: str, runtime: Path | None = None) -> Iterator[tuple[subprocess.Popen[str], str]]:
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(runtime or workspace.parent)}
    process = subprocess.Popen(
        [sys.executable, "-m", "dumbbell", "ui", str(workspace), "--no-open", *AS_ROOT, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert url, process.stderr.read() if process.stderr else ""
        yield process, url
    finally:
        process.kill()
        process.communicate()


def logged_in(url: str, workspace: Path) -> Served:
    match = re.fullmatch(r"http://(d-[0-9a-f]{16}\.localhost):(\d+)/#token=([\w-]{43})", url)
    assert match, url
    port = int(match[2])
    found = Served(port, Access(port, (match[1],), token=match[3], session=""), workspace)
    status, headers, _ = found.ask("POST", "/api/login", {"token": match[3]})
    assert status == 200
    found.access.session = headers["set-cookie"].partition("=")[2].partition(";")[0]
    return found


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "a.toml").write_text(START)
    return folder


def test_the_url_logs_in_and_is_listed(workspace: Path) -> None:
    with started(workspace) as (process, url):
        served = logged_in(url, workspace)
        assert served.json("GET", "/api/about")["workspace"] == str(workspace)
        environment = {**os.environ, "XDG_RUNTIME_DIR": str(workspace.parent)}
        listed = subprocess.run(
            [sys.executable, "-m", "dumbbell", "ui", "--list"], capture_output=True, text=True, env=environment
        )
        assert listed.stdout == f"{url}  {workspace}\n"
        (note,) = (workspace.parent / "dumbbell" / "ui").iterdir()
        assert stat.S_IMODE(note.stat().st_mode) == 0o600
        assert stat.S_IMODE(note.parent.stat().st_mode) == 0o700
        # Another user sees the arguments of a process, and not the token.
        assert served.access.token.encode() not in Path(f"/proc/{process.pid}/cmdline").read_bytes()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
        assert served.access.token not in out + err
        assert not note.exists()


def test_what_was_typed_outlives_a_killed_server(workspace: Path) -> None:
    with started(workspace) as (process, url), logged_in(url, workspace).page() as page:
        page.open("a.toml")
        for count in range(20):
            answer = page.command("a.toml", {"do": "replace_text", "text": f"{START}# {count}\n"})
            assert answer["type"] == "ack"
            page.states["document/a.toml"] = {"revision": answer["revision"]}
        process.send_signal(signal.SIGKILL)
        process.wait()
    with started(workspace) as (_, url):
        # It is saved though nobody opens it: the command line reads the file.
        until = time.monotonic() + 20
        while (workspace / "a.toml").read_text() != f"{START}# 19\n" and time.monotonic() < until:
            time.sleep(0.05)
        assert (workspace / "a.toml").read_text() == f"{START}# 19\n"
        with logged_in(url, workspace).page() as page:
            state = page.open("a.toml")
            assert state["text"] == f"{START}# 19\n"
            assert state["can_undo"]
            assert page.do("a.toml", do="undo")["text"] == START
    assert [path.name for path in workspace.iterdir() if path.name != ".dumbbell"] == ["a.toml"]


def test_a_capture_goes_with_a_killed_server(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = workspace.parent / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    with started(workspace) as (process, url):
        served = logged_in(url, workspace)
        sent = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
        # The body never ends, so the file stays as long as the server.
        sent.putrequest("POST", "/api/fit?name=a.pcap", skip_host=True)
        asked = {**served.headers, "Content-Type": "application/octet-stream", "Content-Length": str(1 << 24)}
        for key, value in asked.items():
            sent.putheader(key, value)
        sent.endheaders(bytes(2 << 20))
        until = time.monotonic() + 60
        while not any(file.stat().st_size for file in temporary.glob("dumbbell-fit-*/a.pcap")):
            assert time.monotonic() < until
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
    sent.close()
    while list(temporary.glob("dumbbell-fit-*")):
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.thorough
def test_looking_changes_nothing(workspace: Path) -> None:
    from dumbbell.scenario import bundled

    for name in bundled.names()[:20]:
        bundled.copy(name, workspace / f"{name}.toml")
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in workspace.iterdir()}
    with started(workspace) as (process, url):
        with logged_in(url, workspace).page() as page:
            for path in sorted(before):
                if path.suffix == ".toml":
                    page.open(path.name)
        time.sleep(1.2)  # Longer than it waits before it saves, or looks at the disk.
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in workspace.iterdir()} == before


def test_a_unix_socket_is_for_its_user_alone(workspace: Path, tmp_path: Path) -> None:
    path = tmp_path / "s"
    with started(workspace, "--uds", str(path)) as (process, url):
        name = re.fullmatch(r"http://(d-[0-9a-f]{16}\.localhost):PORT/#token=[\w-]{43}", url)
        assert name
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        connection = http.client.HTTPConnection("localhost:8080")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(str(path))
        connection.request("GET", "/api/about", headers={"Host": f"{name[1]}:8080"})
        assert connection.getresponse().status == 401
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)
    assert not path.exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--host", "0.0.0.0"], "without --certificate"),
        (["--uds", "{file}"], "it is not a socket"),
        (["--host", "0.0.0.0", "--certificate", "{file}"], "does not hold a certificate with its key"),
    ],
)
def test_what_would_not_be_safe_is_refused(workspace: Path, options: list[str], said: str) -> None:
    options = [one.format(file=workspace / "a.toml") for one in options]
    command = [sys.executable, "-m", "dumbbell", "ui", str(workspace), *AS_ROOT, *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert said in done.stderr
    assert (workspace / "a.toml").read_text() == START


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is refused")
def test_root_is_asked_whether_it_is_meant(workspace: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "dumbbell", "ui", str(workspace)], capture_output=True, text=True)
    assert done.returncode == 2
    assert "--as-root" in done.stderr
