"""A share of a CPU: obeyed where the machine allows it, else refused with the reason. No case passes without either."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from graphs import flow, graph, link
from harness import Place, until
from scenarios import checks

pytestmark = pytest.mark.xdist_group("cpu")
"""Control groups of one test would be those that another has left behind."""

BUSY = (
    "import json, time; begin = time.monotonic()\n"
    "while time.monotonic() < begin + 2: pass\n"
    "print(json.dumps([time.process_time(), time.monotonic() - begin]))"
)
"""Two seconds of nothing else: how much CPU time, in how much time."""
SHARED = graph(
    link("h1", "h2"),
    flow("h1", "h2", id="limited", command=f"python3 -c '{BUSY}'"),
    nodes={"h1": {"cpu": "20 %"}},
    name="shared",
    duration="5 s",
)
ASK = "from dumbbell.core import core; import json; print(json.dumps(core.cpu_share_refusal()))"


def refusal(user: Place) -> list[str] | None:
    """Why this user cannot have it here; `None` if he can."""
    done = subprocess.run(user.python("-c", ASK), cwd=user.directory, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    found: list[str] | None = json.loads(done.stdout)
    return found


def left_behind() -> list[Path]:
    return [path for path in Path("/sys/fs/cgroup").glob("**/dumbbell-*") if path.is_dir()]


@pytest.mark.real_time
def test_a_program_gets_its_share_or_is_refused_with_the_reason(anyone: Place) -> None:
    reason = refusal(anyone)
    if reason is not None:
        done = anyone.invoke("run", anyone.write(SHARED), "--quiet")
        assert done.returncode == 2
        assert "scenario.toml" in done.stderr
        assert "topology.nodes.h1.cpu" in done.stderr
        assert all(part in done.stderr for part in reason[:2])
        assert "leave `cpu` out" in done.stderr
        return
    run = anyone.run(SHARED)
    assert checks(run)["commands"]["verdict"] == "valid", checks(run)["commands"]
    used, took = json.loads((run.directory / "logs" / "limited.stdout").read_text())
    # The kernel gives 20 ms in each 100 ms; whoever begins in the middle of one gets those of a whole.
    assert 0 < used / took < 0.27, (used, took)
    until(lambda: not left_behind(), 60, "the groups' end")


@pytest.mark.real_time
def test_programs_of_a_lab_get_it_too_or_none_of_its_words_works(user: Place) -> None:
    lines = (f'h1 python3 -c "{BUSY}"', f'h2 python3 -c "{BUSY}"')
    done = user.invoke("lab", "up", user.write(SHARED), *(word for line in lines for word in ("-c", line)))
    if (reason := refusal(user)) is not None:
        assert done.returncode == 2
        assert reason[0] in done.stderr
        return
    assert done.returncode == 0, done.stderr
    (limited, took), (free, its) = (json.loads(line) for line in done.stdout.splitlines())
    assert limited / took < 0.27
    # The other host has no limit; other tests have the machine, too.
    assert free / its > limited / took
    until(lambda: not left_behind(), 60, "the groups' end")


HIDE = """
for place in $(awk '$3 ~ /^cgroup/ { print $2 }' /proc/self/mounts); do mount -t tmpfs none "$place"; done
exec "$@"
"""
"""Makes a machine without control groups, for one command."""


def test_without_control_groups_it_is_refused(here: Place) -> None:
    own = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    words = ["unshare", *own, "--mount", "sh", "-c", HIDE, "sh", *here.python("-c", ASK)]
    asked = subprocess.run(words, cwd=here.directory, capture_output=True, text=True, timeout=60)
    assert asked.returncode == 0, asked.stderr
    what, why, hint = json.loads(asked.stdout)
    assert "no share of a CPU" in what
    assert "No such file" in why or "no control groups" in why
    assert "leave `cpu` out" in hint


@pytest.mark.parametrize("engine", ["simulate", "virtual"])
def test_other_engines_refuse_it(here: Place, engine: str) -> None:
    text = graph(link("h1", "h2"), flow(), nodes={"h1": {"cpu": "20 %"}}, duration="1 s")
    done = here.invoke("run", here.write(text), "--engine", engine)
    assert done.returncode == 2
    assert "topology.nodes.h1.cpu" in done.stderr
    assert "leave cpu out" in done.stderr
