"""The directories of labs: where a user's labs are found, and who of them lives.

    RUNTIME/dumbbell/labs/<name>/     a lab; its file `lock` is locked as long as one of its processes lives
        agent                         the socket of its agent
        owned.json                    its name, scenario, owner and start
        plan.json, planned.json       its plan, and the scenario's, with its flows
        scenario.toml                 its scenario
        changes.jsonl                 the changes of its links, one a line
        daemons.jsonl                 the routing daemons that were killed and started, one a line
        waiting.json                  nodes that were added and have no link yet
        network                       locked while nodes and links are added or removed
        rewired                       if the network is another than at the start
        recording.json                while the lab is recorded: where

Only the user can enter it, so the labs of two users never meet. A directory that nobody locks was left by a killed lab:
the next command removes it.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypedDict, cast

if TYPE_CHECKING:
    from dumbbell.errors import DumbbellError, InputError

SOCKET: Final = "agent"
RECORDING: Final = "recording.json"
"""In the lab's directory while it is recorded: where, and since when."""


def root() -> Path:
    """The directory of this user's labs, which is made: below `XDG_RUNTIME_DIR`, `/run`, or a directory of the user's.

    Raises:
        InputError: another user could enter it.
    """
    base = _base()
    found = base / "labs"
    try:
        base.mkdir(mode=0o755 if os.geteuid() == 0 else 0o700, exist_ok=True)
        found.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise _refusal(f"cannot make {found}", error.strerror or str(error), "set XDG_RUNTIME_DIR") from None
    if not (_is_mine(base) and _is_mine(found)) or stat.S_IMODE(found.stat().st_mode) & 0o077:
        why = "it must be yours, and closed to others"
        raise _refusal(f"{found} is not safe for labs", why, f"remove {base}, or set XDG_RUNTIME_DIR")
    return found


def _base() -> Path:
    given = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    # A relative path is to be ignored (XDG Base Directory Specification).
    if given.is_absolute() and _is_mine(given):
        return given / "dumbbell"
    return Path("/run/dumbbell") if os.geteuid() == 0 else own()


def own(temporary: str = "/tmp") -> Path:
    """A directory of this user's below `temporary`, the same until it is removed or the machine starts anew.

    Anybody could take a name there that is known before. So it has a random one, which a link in the user's state
    directory (`XDG_STATE_HOME`) keeps. The link's name says for which `temporary` it is: machines may share a home.

    Raises:
        InputError: the state directory cannot be written.
    """
    from dumbbell.machine import state_folder

    state = state_folder()
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        there = os.stat(temporary)
        link = state / f"runtime-{boot}-{there.st_dev:x}-{there.st_ino:x}"
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        turn = os.open(state, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(turn, fcntl.LOCK_EX)
            with suppress(OSError):
                known = Path(os.readlink(link))
                if _is_mine(known):
                    return known
                link.unlink()
            import tempfile

            made = tempfile.mkdtemp(prefix="dumbbell-", dir=temporary)
            link.symlink_to(made)
            return Path(made)
        finally:
            os.close(turn)
    except (OSError, RuntimeError) as error:
        hint = "set XDG_RUNTIME_DIR to a directory that only you can write"
        raise _refusal("there is no place for labs", f"cannot keep it in {state}: {error}", hint) from None


def _is_mine(path: Path) -> bool:
    """True if it is a directory of this user's, in which nobody else can write."""
    with suppress(OSError):
        found = path.lstat()
        return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022
    return False


def alive() -> list[Path]:
    """The directories of the labs that live, sorted by name. Removes what killed labs have left."""
    with _turn():
        found = sorted(path for path in root().iterdir() if path.is_dir())
        living = [path for path in found if _is_locked(path / "lock")]
        for path in found:
            if path not in living:
                end(path)
    return living


def begin(name: str) -> tuple[Path, int]:
    """Make the directory of a new lab, and lock it. Returns it, and the descriptor of its lock.

    Raises:
        InputError: it cannot be a name, or a lab of this name lives.
    """
    from dumbbell import below, names

    names.checked("lab", name)
    alive()
    below.allow(root())
    path = root() / name
    with _turn():
        try:
            path.mkdir(mode=0o700)
        except FileExistsError:
            hint = f"dumbbell lab down --lab {name}, or start this one under another name: --name"
            raise _refusal(f"a lab named {name} is up", f"it is yours: {path}", hint) from None
        except OSError as error:
            raise _full(path, error) from error
        try:
            (path / "logs").mkdir()
            lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            end(path)
            raise _full(path, error) from error
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return path, lock


def end(path: Path) -> None:
    """Remove the directory of a lab that has ended."""
    import shutil

    shutil.rmtree(path, ignore_errors=True)


def find(name: str | None = None) -> Path:
    """The directory of the lab `name`; without one, of the only lab that lives, or of the one in `DUMBBELL_LAB`.

    Raises:
        InputError: there is none, or there are several.
    """
    name = name or os.environ.get("DUMBBELL_LAB")
    living = alive()
    if name is not None:
        for path in living:
            if path.name == name:
                return path
        known = ", ".join(path.name for path in living) or "none is up"
        raise _refusal(f"no lab named {name}", f"labs of this user: {known}", "dumbbell lab up FILE starts one")
    if len(living) == 1:
        return living[0]
    if not living:
        raise _refusal("no lab is up", "this user has none", "dumbbell lab up FILE starts one")
    known = ", ".join(path.name for path in living)
    raise _refusal("several labs are up", known, f"choose one: --lab {living[0].name}")


class Facts(TypedDict, total=False):
    """Facts about a lab."""

    name: str
    scenario: str
    file: str
    """The scenario's path."""
    owner: int
    """A process id."""
    started: str
    """UTC, as in ISO 8601."""
    origin_ns: int
    build_ms: float


def facts(path: Path) -> Facts:
    """Facts about a lab."""
    with suppress(OSError, ValueError):
        found = json.loads((path / "owned.json").read_text(encoding="utf-8"))
        if isinstance(found, dict):
            return cast(Facts, found)
    return {"name": path.name}


def _full(path: Path, error: OSError) -> DumbbellError:
    from dumbbell.errors import unwritable

    return unwritable(path, error, hint="set XDG_RUNTIME_DIR to a folder with room")


def _refusal(what: str, why: str, hint: str) -> InputError:
    # Errors and their dataclasses take longer to import than a command in a host may.
    from dumbbell.errors import InputError

    return InputError(what, why, hint)


@contextmanager
def _turn() -> Iterator[None]:
    """Commands of one user take turns at making and removing directories."""
    descriptor = os.open(root() / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _is_locked(lock: Path) -> bool:
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def is_recorded(lab: Path) -> bool:
    """True while the lab is recorded."""
    return (lab / RECORDING).exists()
