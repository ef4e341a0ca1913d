"""An ordinary user gets everything, or learns what this machine lacks."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from harness import ORDINARY, Place, until
from scenarios import checks, flow

THREE = f"""
name = "three"
duration = "1500 ms"
[topology]
kind = "dumbbell"
pairs = 3
rtt = ["20 ms", "30 ms", "40 ms"]
bottleneck = {{ rate = "30 Mbit/s" }}
{"".join(flow(f"s{i}", f"r{i}", cc=cc) for i, cc in enumerate(("reno", "cubic", "bbr"), 1))}
"""
"""The algorithms that an ordinary user may choose on any Linux that has them."""


def test_reno_cubic_and_bbr_run_without_privileges(ordinary: Place) -> None:
    run = ordinary.run(THREE)
    assert [flow["cc"] for flow in run.summary["flows"]] == ["reno", "cubic", "bbr"]
    assert all(flow["received_bytes"] > 100_000 for flow in run.summary["flows"])
    assert run.manifest["lab"]["rootless"] is True
    # All evidence is present, as for root: packets captured, settings pinned, offloads off, counters read.
    found = checks(run)
    for name in ("conservation", "packet-log", "algorithm", "offloads", "sysctls", "interfaces", "ring-drops"):
        assert found[name]["verdict"] == "valid", found[name]
    lab = json.loads((run.directory / "lab.json").read_text())
    assert lab["offloads"].keys() == lab["sysctls"].keys() == {"s1", "s2", "s3", "r1", "r2", "r3"}
    assert len(run.packets) > 1000
    assert run.samples["bbr_bw_bps"].drop_nulls().len() > 0
    owners = {path.stat().st_uid for path in [run.directory, *run.directory.rglob("*")]}
    assert owners == {ORDINARY if os.geteuid() == 0 else os.geteuid()}


def test_a_machine_without_user_namespaces_says_so(here: Place) -> None:
    # A user namespace whose limit of further ones is 0, and in it a process without privileges.
    limit = "echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all"
    run = [sys.executable, "-m", "dumbbell", "run", "single-flow", "--set", "duration=1 s"]
    confined = subprocess.run(
        ["unshare", "--user", "--map-root-user", "sh", "-c", f'{limit} --no-new-privs "$@"', "sh", *run],
        cwd=here.directory,
        capture_output=True,
        text=True,
        check=False,
    )
    if "unshare" in confined.stderr:
        pytest.skip(f"this machine has no user namespaces to begin with: {confined.stderr}")
    assert confined.returncode == 1
    what, why, kept, hint = confined.stderr.splitlines()
    assert what == "error: making a user namespace"
    assert "No space left on device" in why
    assert "the measurements until then are in " in kept
    assert hint == "hint: user namespaces are limited to none; as root: `sysctl -w user.max_user_namespaces=65536`"
    assert [name.endswith(".failed-1") for name in here.runs()] == [True]


def test_an_ordinary_user_goes_on_where_sudo_was(ordinary: Place) -> None:
    if not ordinary.becomes_ordinary:
        pytest.skip("only root can be what sudo makes of a user")
    environment = {**os.environ, "SUDO_UID": str(ORDINARY), "SUDO_GID": str(ORDINARY)}
    command = [sys.executable, "-m", "dumbbell", "run", ordinary.write(THREE), "--quiet"]
    for killed in (False, True):
        process = subprocess.Popen(command, cwd=ordinary.directory, env=environment, stdout=subprocess.DEVNULL)
        if killed:
            until(lambda: any(name.startswith(".partial-") for name in ordinary.runs()), 120, "a run that goes on")
            process.kill()
        assert process.wait(120) in ((-9,) if killed else (0, 3))
    roots = [path for path in (ordinary.directory / "runs").rglob("*") if path.stat().st_uid == 0]
    # A kill may come between a file's beginning and its going to the user, to whom its folder belongs.
    assert not [path for path in roots if path.is_dir() or ".partial-" not in str(path.parent)], roots
    run = ordinary.run(THREE)
    assert run.directory.stat().st_uid == ORDINARY
    assert any(".failed-" in name for name in ordinary.runs())
