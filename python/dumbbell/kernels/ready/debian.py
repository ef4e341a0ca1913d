"""Kernels of Debian's packages, for small virtual machines: `debian-6.12` is linux-image-6.12-cloud-amd64."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

from dumbbell import below, inputs
from dumbbell.errors import InputError
from dumbbell.kernels import archives

_MOST: Final = 2 << 30
"""Bytes of a package's files. Debian's kernels for real machines have a quarter of it."""
_LARGEST_CONFIG: Final = 4 << 20
_NAME: Final = re.compile(r"debian-(\d+\.\d+)")


def is_name(text: str) -> bool:
    """True for `debian-6.12`."""
    return bool(_NAME.fullmatch(text))


def fetched(name: str, folder: Path) -> Path:
    """The newest package of a version, in `folder`. Raises `InputError` where Debian's archive is not at hand."""
    found = _NAME.fullmatch(name)
    assert found is not None
    if shutil.which("apt-get") is None:
        hint = "give a file: dumbbell kernel add linux-image-VERSION.deb"
        raise InputError(f"{name} cannot be fetched", "this machine does not run Debian: there is no apt-get", hint)
    package = newest_package(found[1])
    if package is None:
        hint = "apt-get update; it is in Debian 12 and later, and in its backports"
        raise InputError(f"there is no kernel {name}", f"no package linux-image-{found[1]}*-cloud-amd64 is known", hint)
    # Root's download is done by a user who cannot write to a private folder.
    done = subprocess.run(
        ["apt-get", "download", "-o", "APT::Sandbox::User=root", package],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    packages = list(folder.glob("*.deb"))
    if done.returncode != 0 or not packages:
        raise InputError(f"{package} cannot be fetched", done.stderr.strip(), "apt-get update, and try again")
    return packages[0]


def unpacked(package: Path, folder: Path) -> tuple[Path, Path, str]:
    """The kernel, its folder of modules and its configuration in a package linux-image-*.deb.

    Raises:
        InputError: it is no such package.
    """
    if shutil.which("dpkg-deb") is None:
        raise InputError(f"{package}: cannot be unpacked", "dpkg-deb is not installed", "apt-get install dpkg")
    folder.mkdir()
    # dpkg-deb's own --extract has no bounds.
    try:
        archives.pipe(["dpkg-deb", "--fsys-tarfile", str(package)], archives.extract("-", folder, most=_MOST))
        why = ""
    except OSError as error:
        why = error.strerror or str(error)
    kernels = sorted(folder.glob("boot/vmlinuz-*"))
    if why or not kernels:
        why = why or "it has no /boot/vmlinuz-*"
        raise InputError(f"{package}: not a kernel's package", why, "expected a package linux-image-*.deb")
    version = kernels[0].name.removeprefix("vmlinuz-")
    places = [folder / part / version for part in ("lib/modules", "usr/lib/modules")]
    config = folder / "boot" / f"config-{version}"
    # A package may have links; none may lead out of it.
    with below.confined(below.Below(folder)):
        text = inputs.read_named(config, _LARGEST_CONFIG, f"{package}: its {config.name}") if config.exists() else ""
    return kernels[0], next((place for place in places if place.is_dir()), places[0]), text


def newest_package(version: str) -> str | None:
    """The newest signed package of a version that apt knows."""
    told = subprocess.run(
        ["apt-cache", "pkgnames", f"linux-image-{version}"], capture_output=True, text=True, check=False
    )
    exact = re.compile(rf"linux-image-{re.escape(version)}\.\d.*-cloud-amd64")
    found = [name for name in told.stdout.split() if exact.fullmatch(name)]
    return max(found, key=_numbers, default=None)


def _numbers(name: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", name)]
