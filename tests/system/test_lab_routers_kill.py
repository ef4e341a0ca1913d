"""A lab with routing daemons that is killed at a random moment leaves nothing, whichever of its processes it is."""

from __future__ import annotations

import os
import random
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from graphs import graph, link
from harness import Place, until
from remains import lives, namespaces, outside

LAB = graph(
    link("h1", "r1"),
    link("r1", "r2", "core", rate="20 Mbit/s", delay="2 ms", buffer="100 ms"),
    link("r2", "h2"),
    nodes={name: {"routing": ["ospf"]} for name in ("r1", "r2")},
    name="killed",
    duration=None,
)
LABS = 5
"""Labs that live side by side."""
LATEST_S = 6.0
"""The latest moment: an idle machine has the lab up after two seconds, a loaded one builds it still."""


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.thorough)])
def test_a_lab_with_routers_that_is_killed_leaves_nothing(user: Place, seed: int) -> None:
    """While daemons start, while routes converge, while traffic flows, while it ends."""
    before = outside()
    file = user.write(LAB)
    # Also the folders that the view of an ordinary user needs are made once, before all.
    user.command()
    with ThreadPoolExecutor(LABS) as side:
        list(side.map(lambda number: _live_and_be_killed(user, file, seed * LABS + number), range(LABS)))
    assert user.invoke("lab", "list").stdout.startswith("no lab is up")
    runtime = Path(os.environ["XDG_RUNTIME_DIR"], "dumbbell", "labs")
    assert [path.name for path in runtime.iterdir()] == [".lock"]
    assert outside() == before


def _live_and_be_killed(user: Place, file: str, number: int) -> None:
    chance = random.Random(number)
    lines = ("pingall", "traffic h1 h2 cc=reno seconds=1", "r1 vtysh -c 'show ip route'", "h1 sleep 2")
    words = user.command("lab", "up", file, "--name", f"killed-{number}", *_each("-c", lines))
    command = subprocess.Popen(words, cwd=user.directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    owner, seen, ours = psutil.Process(command.pid), set[psutil.Process](), namespaces(os.getpid())
    try:
        deadline = time.monotonic() + chance.uniform(0.2, LATEST_S)
        while time.monotonic() < deadline:
            with suppress(psutil.NoSuchProcess):
                seen |= {owner, *owner.children(recursive=True)}
            time.sleep(0.05)
        inside = {one for process in seen for one in namespaces(process.pid)} - ours
        living = sorted((process for process in seen if lives(process)), key=lambda process: process.pid)
        if living:
            with suppress(psutil.NoSuchProcess):
                chance.choice(living).kill()
        # One of its programs or daemons may be the victim: then the lab goes on to its end.
        command.wait(120)
    finally:
        command.kill()
        command.wait()
    until(lambda: not any(map(lives, seen)), 60, f"the end of all processes of lab {number}")
    until(lambda: not inside & _held(), 60, f"the end of all namespaces of lab {number}")


def _each(option: str, values: tuple[str, ...]) -> list[str]:
    return [word for value in values for word in (option, value)]


def _held() -> set[str]:
    """The namespaces that processes of the machine are in, or hold."""
    return {one for pid in psutil.pids() if pid != os.getpid() for one in namespaces(pid)}
