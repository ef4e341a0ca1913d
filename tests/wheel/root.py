"""A bare Debian in a folder, and commands in it: no Rust, no clang, no Node.js, nothing of this repository."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dumbbell.kernels import DEFAULT, cache, find, known

REPOSITORY: Final = Path(__file__).parents[2]
PACKAGES: Final = ("ca-certificates", "python3", "python3-venv")
"""All that a user has to have beside a bare system."""
USER: Final = "1000"
"""The ordinary user: the number of its account and group."""
_NETWORK: Final = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST", "PIP_DEFAULT_TIMEOUT")
_CERTIFICATES: Final = ("PIP_CERT", "SSL_CERT_FILE", "CARGO_HTTP_CAINFO", "NODE_EXTRA_CA_CERTS")
_ENTER: Final = """
set -eu
mount -t overlay overlay -o lowerdir={base},upperdir={own}/upper,workdir={own}/work {own}/merged
cd {own}/merged
mount --rbind /dev dev
mount -t tmpfs shm dev/shm
mount --rbind /sys sys
mount -t proc proc proc
mount -t tmpfs -o mode=1777 tmpfs tmp
mount -t tmpfs tmpfs run
mkdir -p run/machine
pivot_root . run/machine
umount -l /run/machine
exec {command}
"""
"""Not chroot alone: a process whose root is not that of its mount namespace may not make user namespaces."""


def copy_kernel(cache_home: Path) -> None:
    """Copy the default kernel that this machine has built to another `XDG_CACHE_HOME`."""
    linked = find(DEFAULT).path.parent
    (base,) = (one.base.folder for one in known() if DEFAULT in one.base.names)
    for folder in (base, linked):
        copy = cache_home / "dumbbell" / "kernels" / folder.relative_to(cache.root())
        shutil.copytree(folder, copy, symlinks=True, dirs_exist_ok=True)


def bare(suite: str, packages: Sequence[str] = PACKAGES) -> Path:
    """A bare root of a release, made once by debootstrap and kept below `target/`: it is never written to."""
    root = REPOSITORY / "target" / "roots" / f"{suite}-{'-'.join(packages)}"
    if not root.exists():
        partial = root.with_name(f".{root.name}")
        shutil.rmtree(partial, ignore_errors=True)
        partial.parent.mkdir(parents=True, exist_ok=True)
        call = ["debootstrap", "--variant=minbase", f"--include={','.join(packages)}", suite, str(partial)]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        partial.rename(root)
    return root


@dataclass(frozen=True)
class Root:
    """A bare root with changes of its own. The commands have namespaces of mounts and processes of their own."""

    base: Path
    own: Path
    """Holds the changes."""

    def __post_init__(self) -> None:
        """Make the folders of the changes, and the ordinary user."""
        for name in ("upper", "work", "merged"):
            (self.own / name).mkdir(parents=True)
        self.write("/etc/resolv.conf", Path("/etc/resolv.conf").read_bytes())
        self.write("/etc/hosts", Path("/etc/hosts").read_bytes())
        for path in (os.environ.get("PIP_CERT"), os.environ.get("SSL_CERT_FILE")):
            if path is not None:
                self.write("/etc/pip-certificates.pem", Path(path).read_bytes())
        self.run(f"useradd --uid {USER} --create-home --shell /bin/bash ann")

    def path(self, inside: str) -> Path:
        """Where a file that was written in the root is found outside."""
        return self.own / "upper" / inside.lstrip("/")

    def write(self, inside: str, content: bytes) -> None:
        """Put a file there, before the next command."""
        self.path(inside).parent.mkdir(parents=True, exist_ok=True)
        self.path(inside).write_bytes(content)

    def run(
        self, script: str, user: str | None = None, more: Mapping[str, str] | None = None, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run a shell script, as root or as a user by number. Fails the test if it fails, unless told not to."""
        command, environment = self._call(script, user)
        done = subprocess.run(
            command,
            env=environment | (more or {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert not check or done.returncode == 0, f"{script}\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
        return done

    @contextmanager
    def running(self, script: str, user: str | None = None) -> Iterator[subprocess.Popen[str]]:
        """A shell script that runs until the block ends: then all that it has started is killed."""
        command, environment = self._call(script, user)
        with subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    def _call(self, script: str, user: str | None) -> tuple[list[str], dict[str, str]]:
        """Returns what runs a script, and its environment."""
        certificates = "/etc/pip-certificates.pem"
        environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
        environment["HOME"] = "/root" if user is None else "/home/ann"
        environment |= {name: os.environ[name] for name in _NETWORK if name in os.environ}
        if self.path(certificates).exists():
            environment |= dict.fromkeys(_CERTIFICATES, certificates)
        command = ["/usr/bin/sh", "-euc", script]
        if user is not None:
            # Another user is no longer killed with its parent, unless it asks for that.
            options = [f"--reuid={user}", f"--regid={user}", "--clear-groups", "--pdeathsig=KILL"]
            command = ["/usr/bin/setpriv", *options, *command]
        enter = _ENTER.format(base=self.base, own=self.own, command=shlex.join(command))
        return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", enter], environment
