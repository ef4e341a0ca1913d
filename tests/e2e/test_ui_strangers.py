"""Strangers and the application: servers at other ports of this machine, and reports that they wrote."""

from __future__ import annotations

import http.server
import select
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from application import DUMBBELL, Application
from playwright.sync_api import Error, Page, expect


@contextmanager
def stranger() -> Iterator[tuple[int, list[tuple[str, str]]]]:
    """A server of somebody else on this machine: its port, and the paths and cookies that it gets."""
    got: list[tuple[str, str]] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            got.append((self.path, self.headers.get("Cookie", "")))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<title>stranger</title>")

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield made.server_address[1], got
        made.shutdown()


def test_other_ports_get_no_cookie(application: Application, page: Page) -> None:
    """Browsers send cookies to all ports of a host."""
    tab = page.context.new_page()
    with stranger() as (port, got):
        tab.goto(f"http://127.0.0.1:{port}/here")
        assert "/here" in {path for path, _ in got}
        assert not any(cookies for _, cookies in got)
    assert page.evaluate("fetch('/api/about').then(it => it.status)") == 200
    application.complaints.clear()


def test_a_new_token_in_an_open_tab_logs_in(application: Application, page: Page) -> None:
    """The address differs behind `#` alone, so that the browser loads nothing by itself."""
    page.context.clear_cookies()
    page.reload()
    expect(page.locator(".logged-out")).to_be_visible()
    page.goto(application.url)
    expect(page.locator(".app .view")).to_be_visible()
    assert "token" not in page.url
    application.forget_refusals(401)


SCENARIO = """\
name = "theirs"
duration = "1 s"
[topology]
kind = "dumbbell"
rtt = "20 ms"
bottleneck = { rate = "5 Mbit/s", buffer = "1 bdp" }
[[flows]]
from = "s1"
to = "r1"
cc = "cubic"
"""
HOSTILE = """<!doctype html>
<link rel="stylesheet" href="AT/style"><link rel="prefetch" href="AT/prefetch">
<link rel="preload" href="AT/load" as="image"><link rel="manifest" href="AT/manifest"><script src="AT/script"></script>
<h1>report</h1>
<img src="AT/image"><iframe src="AT/frame"></iframe><object data="AT/object"></object><embed src="AT/embed">
<video src="AT/video" autoplay></video><p style="background: url(AT/background)">x</p>
<img src="x" onerror="start()">
<form action="AT/form"><button>send</button></form>
<a href="AT/clicked" ping="AT/ping">link</a> <a href="AT/saved" download="x">save</a>
<a href="AT/tab" target="_blank">tab</a> <a href="AT/top" target="_top">top</a> <a href="javascript:start()">call</a>
<script>
async function start() {
  document.querySelector("h1").textContent = "it runs";
  const peer = new RTCPeerConnection({ iceServers: [{ urls: "stun:ADDRESS:UDP" }] });
  peer.createDataChannel("x");
  await peer.setLocalDescription(await peer.createOffer());
}
start();
</script>"""
WAYS = ("send", "link", "save", "tab", "top", "call")
"""Things that can be clicked in the report."""


def own_address() -> str:
    """An address of this machine by which others could reach it, or the loopback's."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])


def hostile_run(application: Application, text: str | None) -> str:
    """A run of a stranger's, with this report in place of ours."""
    scenario = application.workspace / "theirs.toml"
    scenario.write_text(SCENARIO)
    command = [DUMBBELL, "run", scenario.name, "--engine", "simulate"]
    subprocess.run(command, cwd=application.workspace, check=True, capture_output=True)
    (run,) = (application.workspace / "runs").glob("theirs-*")
    if text is not None:
        (run / "report.html").write_text(text)
    return run.name


@pytest.mark.firefox
def test_a_report_reaches_nobody(application: Application, page: Page) -> None:
    address = own_address()
    with stranger() as (port, got), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stun:
        stun.bind((address, 0))
        at = f"http://127.0.0.1:{port}"
        text = HOSTILE.replace("AT/", f"{at}/").replace("ADDRESS", address).replace("UDP", str(stun.getsockname()[1]))
        run = hostile_run(application, text)
        frame = page.frame_locator(".report-frame")
        for way in WAYS:
            page.evaluate("location.hash = '#/files'")
            page.locator(".report-frame").wait_for(state="detached")
            page.evaluate(f"location.hash = '#/runs/{run}'")
            expect(frame.locator("h1")).to_have_text("report")
            frame.get_by_text(way, exact=True).click()
        time.sleep(2)
        # In a tab, no policy would keep it from leading elsewhere.
        tab = page.context.new_page()
        with tab.expect_download() as saved, suppress(Error):
            tab.goto(f"{application.url.partition('#')[0]}api/runs/{run}/report.html")
        assert saved.value.suggested_filename == "report.html"
        assert got == []
        assert not select.select([stun], [], [], 0)[0]
    application.complaints.clear()


def test_a_report_of_ours_draws_its_plots(application: Application, page: Page) -> None:
    run = hostile_run(application, None)
    page.evaluate(f"location.hash = '#/runs/{run}'")
    page.frame_locator(".report-frame").locator("canvas").first.wait_for()
