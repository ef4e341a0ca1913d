"""A lab waits for a server's port before a client asks it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from graphs import graph, link
from harness import Place

import dumbbell


@pytest.fixture
def lab(apart: Place) -> Iterator[dumbbell.Lab]:
    with dumbbell.Lab(apart.write(graph(link("h1", "h2"), duration=None))) as up:
        yield up


SLOW = "sleep 1; exec python3 -m http.server 80"
"""Without waiting, a client would come too early."""
ASK = "import urllib.request as u; print(u.urlopen('http://h2', timeout=30).status)"


def test_a_client_finds_a_server_that_is_ready(lab: dumbbell.Lab) -> None:
    with lab["h2"].start(SLOW, ready="tcp 80"):
        done = lab["h1"].run(["python3", "-c", ASK])
    assert done.stdout == "200\n", done.stderr


def test_a_server_that_fails_is_not_waited_for(lab: dumbbell.Lab) -> None:
    with pytest.raises(dumbbell.RunFailed, match="nothing listens on tcp 80 in h2") as failed:
        lab["h2"].start("echo no port for me >&2; exit 3", ready="tcp 80")
    assert "no port for me" in str(failed.value)
    with pytest.raises(dumbbell.InputError, match="protocol and a port"):
        lab["h2"].start("true", ready="80")
