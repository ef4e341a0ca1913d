"""The source distribution: a wheel that is built from it holds what the one of the checkout does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

from root import REPOSITORY


def packed(wheel: Path) -> set[str]:
    """Names of the package's files, without libraries that only a wheel for other machines bundles."""
    with zipfile.ZipFile(wheel) as file:
        scripts = [one for one in file.infolist() if ".data/scripts/" in one.filename]
        assert len(scripts) == 2
        assert all(one.external_attr >> 16 & 0o111 for one in scripts), "pip keeps the mode of a script"
        return {name for name in file.namelist() if name.startswith("dumbbell/")}


def test_it_is_all_that_is_checked_in_and_the_pages(sdist: Path) -> None:
    with tarfile.open(sdist) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    checked_in = {name for name in listed.stdout.split("\0") if name and (REPOSITORY / name).exists()}
    assert checked_in - names == set()
    assert {name for name in names - checked_in if not name.startswith("python/dumbbell/report/assets/")} == {
        "PKG-INFO"
    }


def test_a_wheel_can_be_built_from_it(sdist: Path, wheel: Path, tmp_path: Path) -> None:
    # At the same place each time, and beside the checkout's own build: libraries that both need are compiled once.
    source = REPOSITORY / "target" / "sdist"
    shutil.rmtree(source, ignore_errors=True)
    with tarfile.open(sdist) as file:
        file.extractall(source, filter="data")
    (unpacked,) = source.iterdir()
    pip = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--wheel-dir",
        tmp_path,
    ]
    # Node.js is not needed: its page is in the source distribution.
    beside = str(Path(sys.executable).parent)
    path = os.pathsep.join([beside, *(part for part in os.environ["PATH"].split(os.pathsep) if "node" not in part)])
    environment = os.environ | {"CARGO_TARGET_DIR": str(REPOSITORY / "target"), "PATH": path}
    done = subprocess.run([*pip, unpacked], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    (built,) = tmp_path.glob("*.whl")
    assert packed(built) == packed(wheel)
