"""Firefox as tests of the page use it."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

RELAY = Path(__file__).with_name("firefox_relay.py")
PREFERENCES: dict[str, str | float | bool] = {
    # No other machine is found: a proxy that is not there stands before all but this one.
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    # The driver's preferences allow pages in files more than a user's Firefox does.
    "security.fileuri.strict_origin_policy": True,
}


@contextmanager
def firefox() -> Iterator[Browser]:
    """A browser that reaches this machine alone."""
    path = os.environ.get("FIREFOX") or next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)
    assert path, "these browser tests need Firefox: apt-get install firefox-esr, or set FIREFOX to its path"
    with tempfile.TemporaryDirectory(prefix="dumbbell-firefox-") as directory, sync_playwright() as playwright:
        script = Path(directory) / "firefox"
        script.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, str(RELAY), path])} "$@"\n')
        script.chmod(0o755)
        # By this channel the driver speaks WebDriver BiDi, as any Firefox does, in place of its own build's protocol.
        started = playwright.firefox.launch(
            channel="moz-firefox", executable_path=script, firefox_user_prefs=PREFERENCES
        )
        yield started
        started.close()
