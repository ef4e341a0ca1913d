"""The Containerfile, built by podman on a bare Debian 13 in place of the image that it names, and what runs need.

Each command of podman has a mount namespace of its own, in which control groups are of version 2 only: on machines that
mount both versions its runtime refuses to start. Images are kept in the test's folder.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from root import REPOSITORY, bare

_PODMAN = 'umount --recursive /sys/fs/cgroup; mount -t cgroup2 none /sys/fs/cgroup; exec podman "$@"'
_LIMITS = ("--ulimit=nofile=4096:4096", "--ulimit=nproc=4096:4096")
"""The defaults are larger than a root without CAP_SYS_RESOURCE may set."""

Podman = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def podman(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Podman]:
    """Calls podman. The image `dumbbell` is built."""
    store = tmp_path_factory.mktemp("podman")
    places = [f"--root={store}/images", f"--runroot={store}/running", f"--tmpdir={store}/tmp"]

    def call(*words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c", _PODMAN, "sh", *places, *words],
            cwd=REPOSITORY,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert not check or done.returncode == 0, f"{words}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        return done

    text = (REPOSITORY / "Containerfile").read_text(encoding="utf-8")
    (image,) = re.findall(r"^FROM (\S+)$", text, re.MULTILINE)
    base = store / "base.tar"
    subprocess.run(["tar", "-C", bare("trixie"), "-cf", base, "."], check=True)
    call("import", "--quiet", str(base), image)
    base.unlink()
    certificates = os.environ.get("PIP_CERT")
    trust = [f"--volume={certificates}:/ca.pem:ro", "--env=PIP_CERT=/ca.pem"] if certificates else []
    call("build", "--isolation=chroot", "--pull=never", "--network=host", *trust, "--tag=dumbbell", ".")
    yield call
    call("rmi", "--all", "--force", check=False)


@pytest.fixture
def run(podman: Podman, tmp_path: Path) -> Podman:
    """Runs the image on a folder, with options of podman's and then the words of dumbbell."""

    def call(options: str, *words: str) -> subprocess.CompletedProcess[str]:
        confined = ("--cgroups=disabled", "--network=none", *_LIMITS, f"--volume={tmp_path}:/work")
        return podman("run", "--rm", *confined, *options.split(), "dumbbell", *words, check=False)

    return call


def test_a_simulation_needs_no_option(run: Podman, tmp_path: Path) -> None:
    done = run("", "run", "bbr-vs-cubic", "--engine", "simulate", "--json")
    told = json.loads(done.stdout)
    assert told["verdict"] == "valid"
    assert (tmp_path / told["run_dir"] / "report.html").is_file()


EMULATED = ("run", "bbr-vs-cubic", "--set", "duration=4 s", "--json", "--no-report")


@pytest.mark.parametrize(
    ("options", "every_ack"),
    [
        ("--security-opt=unmask=ALL", False),
        ("--cap-add=SYS_ADMIN --cap-add=NET_ADMIN --cap-add=NET_RAW", True),
    ],
)
def test_an_emulation_needs_these(options: str, every_ack: bool, run: Podman, tmp_path: Path) -> None:
    """The verdict is about this machine's load; that there are figures of both flows is about the container."""
    done = run(options, *EMULATED)
    assert done.returncode in (0, 3), done.stderr
    told = json.loads(done.stdout)
    assert all(flow["received_bytes"] > 1_000_000 for flow in told["flows"])
    assert (tmp_path / told["run_dir"] / "acks.parquet").exists() is every_ack


def test_without_them_it_is_told(run: Podman) -> None:
    done = run("", *EMULATED)
    assert done.returncode == 1
    assert "this container mounts /proc/sys read-only" in done.stderr
    assert "hint: " in done.stderr
    assert "Traceback" not in done.stderr
