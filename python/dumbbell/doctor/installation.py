"""The check that an installation that root made serves other users, too."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from dumbbell.doctor.finding import Finding, Level


def examine() -> Iterator[Finding]:
    """Ask only on behalf of root: an ordinary user's installation is that user's own."""
    if os.geteuid() == 0:
        yield other_users(needed())


def warn() -> None:
    """Print to stderr what shuts ordinary users out of an environment that root has just made, if anything does."""
    for found in examine():
        if found.level is not Level.OK:
            print(f"warning: {found.name} {found.detail}\nhint: {found.fix}", file=sys.stderr)


def needed() -> list[Path]:
    """Files that each process of a run opens: the package, its core, the environment, and the Python it links to."""
    package = Path(__file__).parents[1]
    python = Path(sys.executable)
    return [package / "__init__.py", *package.glob("_core*.so"), Path(sys.prefix), python, python.resolve()]


def other_users(paths: Iterable[Path], below: Path = Path("/")) -> Finding:
    """Check that everybody may read `paths`, and enter the folders above them, from `below` on."""
    for path in paths:
        if (shut := _closed(path, below)) is None:
            continue
        told = f"cannot use this installation: {shut} is closed to them (mode {stat.S_IMODE(shut.stat().st_mode):o})"
        fix = f"chmod a+r {shut}"
        if shut.is_dir():
            fix = f"chmod a+x {shut}, or make an environment elsewhere: /usr/bin/python3 -m venv /opt/dumbbell"
        return Finding("other users", Level.WARN, told, fix)
    return Finding("other users", Level.OK, "may use this installation, too")


def _closed(path: Path, below: Path) -> Path | None:
    """The first of the folders above `path`, or itself, that others may not enter or read."""
    for one in (*reversed(path.parents), path):
        mode = one.stat().st_mode
        if one.is_relative_to(below) and not mode & (stat.S_IXOTH if stat.S_ISDIR(mode) else stat.S_IROTH):
            return one
    return None
