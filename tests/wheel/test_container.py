"""The Containerfile, built by podman on a bare Debian 13 in place of the image that it names, and what runs need.

Each command of podman has a mount namespace of its own, in which control groups are of version 2 only: on machines that
mount both versions its runtime refuses to start. Images are kept in the test's folder.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from root import REPOSITORY, bare, copy_kernel

_ANN = 54321
"""The ordinary user's number: no account of this machine."""
_VIEW = """
umount --recursive /sys/fs/cgroup
mount -t cgroup2 none /sys/fs/cgroup
"""
_ROOT = f'{_VIEW} exec podman "$@"'
_ORDINARY = f"""{_VIEW}
for file in passwd group subuid subgid; do touch /etc/$file; mount --bind "$1/etc/$file" /etc/$file; done
cd "$1/home"; export HOME="$1/home" XDG_RUNTIME_DIR="$1/running"; shift
exec setpriv --reuid={_ANN} --regid={_ANN} --init-groups podman "$@"
"""
"""An account of the test's own, with ids that its containers may use: they are seen in this mount namespace only."""
_LIMITS = ("--ulimit=nofile=4096:4096", "--ulimit=nproc=4096:4096")
"""The defaults are larger than a root without CAP_SYS_RESOURCE may set."""
_CONFINED = ("run", "--rm", "--cgroups=disabled", "--network=none", *_LIMITS)

Podman = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def podman(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Podman]:
    """Calls podman. The image `dumbbell` is built."""
    store = tmp_path_factory.mktemp("podman")
    places = [f"--root={store}/images", f"--runroot={store}/running", f"--tmpdir={store}/tmp"]

    def call(*words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c", _ROOT, "sh", *places, *words],
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
        return podman(*_CONFINED, f"--volume={tmp_path}:/work", *options.split(), "dumbbell", *words, check=False)

    return call


def test_a_simulation_needs_no_option(run: Podman, tmp_path: Path) -> None:
    done = run("", "run", "bbr-vs-cubic", "--engine", "simulate", "--json")
    told = json.loads(done.stdout)
    assert told["verdict"] == "valid"
    assert (tmp_path / told["run_dir"] / "report.html").is_file()


EMULATED = ("run", "bbr-vs-cubic", "--set", "duration=4 s", "--json", "--no-report")


@pytest.mark.parametrize(
    ("options", "cc", "every_ack"),
    [
        ("--security-opt=unmask=ALL", "bbr", False),
        ("--cap-add=SYS_ADMIN --cap-add=NET_ADMIN --cap-add=NET_RAW", "bbr3", True),
    ],
)
def test_an_emulation_needs_these(options: str, cc: str, every_ack: bool, run: Podman, tmp_path: Path) -> None:
    """The verdict is about this machine's load; that there are figures of both flows is about the container."""
    done = run(options, *EMULATED, "--set", f"flows.1.cc={cc}")
    assert done.returncode in (0, 3), done.stderr
    told = json.loads(done.stdout)
    assert [flow["cc"] for flow in told["flows"]] == ["cubic", cc]
    assert all(flow["received_bytes"] > 1_000_000 for flow in told["flows"])
    assert (tmp_path / told["run_dir"] / "acks.parquet").exists() is every_ack


@pytest.mark.parametrize("options", ["", "--security-opt=unmask=ALL", "--cap-add=SYS_ADMIN --cap-add=NET_ADMIN"])
def test_virtual_time(options: str, run: Podman, tmp_path: Path) -> None:
    """With root's capabilities as without: it needs none of them, and another set of them is in its way no more."""
    copy_kernel(tmp_path / "kernels")
    done = run(
        f"--env=XDG_CACHE_HOME=/work/kernels {options}",
        "run",
        "bbr-vs-cubic",
        "--set",
        "duration=3 s",
        "--json",
        "--engine=virtual",
    )
    assert done.returncode == 0, done.stderr


def test_without_them_it_is_told(run: Podman) -> None:
    done = run("", *EMULATED)
    assert done.returncode == 1
    assert "this container mounts /proc/sys read-only" in done.stderr
    assert "hint: " in done.stderr
    assert "Traceback" not in done.stderr


def test_an_ordinary_user_s_container_emulates(podman: Podman) -> None:
    """Rootless: the container's root is that user, and so is the owner of what it writes."""
    with tempfile.TemporaryDirectory(prefix="dumbbell-rootless-") as place:
        home = Path(place)
        home.chmod(0o755)
        for folder in ("etc", "home", "running"):
            (home / folder).mkdir()
            os.chown(home / folder, _ANN, _ANN)
        for name, line in (("passwd", f"{_ANN}::{home}/home:/bin/sh"), ("group", "")):
            known = Path("/etc", name).read_text(encoding="utf-8")
            (home / "etc" / name).write_text(f"{known}ann:x:{_ANN}:{line}\n", encoding="utf-8")
        for name in ("subuid", "subgid"):
            (home / "etc" / name).write_text("ann:100000:65536\n")
        podman("save", "--quiet", f"--output={home}/image.tar", "dumbbell")
        (home / "image.tar").chmod(0o644)

        def call(*words: str) -> str:
            command = ["unshare", "--mount", "sh", "-c", _ORDINARY, "sh", place, *words]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode in (0, 3), done.stderr
            return done.stdout

        call("load", "--quiet", f"--input={home}/image.tar")
        told = json.loads(
            call(*_CONFINED, f"--volume={home}/home:/work", "--security-opt=unmask=ALL", "dumbbell", *EMULATED)
        )
        assert all(flow["received_bytes"] > 1_000_000 for flow in told["flows"])
        assert (home / "home" / told["run_dir"]).stat().st_uid == _ANN
        # Its layers belong to the ids of its containers.
        call("unshare", "rm", "-rf", f"{home}/home/.local")
