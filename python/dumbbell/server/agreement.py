"""Programs of scenarios that come from elsewhere run only after the user has seen them and agreed, once.

A scenario is code where it has commands, BPF programs, sources of a kernel or routers' configurations. What is agreed
to is these texts, and what is in the files that they name: other values may change. What the user writes here by
himself needs no question. What is agreed to is kept in the user's own folder, where no scenario comes from.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
from collections.abc import Sequence
from contextlib import suppress
from json import dumps
from pathlib import Path
from typing import Final

from dumbbell import below, inputs
from dumbbell.errors import InputError
from dumbbell.machine import state_folder
from dumbbell.scenario.file.started import DIGEST, with_digest

_LARGEST: Final = 16 << 20
"""Bytes of the file with what was agreed to: 200,000 agreements. Later ones are asked about in each session."""
_SECRET_BYTES: Final = 32


_HINT: Final = "look at them, and agree: it is asked once"


class NotAgreed(InputError):
    """A scenario runs programs that the user has not agreed to."""

    def __init__(self, path: str, programs: Sequence[str], hint: str = _HINT, does: str = "runs programs") -> None:
        """Say so of the scenario `path`; `programs` are all that it runs and opens, in a word: `does`."""
        super().__init__(f"{path} {does} that you have not agreed to", "\n".join(programs), hint)
        self.programs = list(programs)


class Agreement:
    """The programs that may run in a workspace: lines of `agreed` in the user's state folder.

    A line is a keyed digest of the programs and of the workspace's path. Its key is a secret of the user's, so nobody
    else can write one, and a copy of a folder has no agreements.
    """

    def __init__(self, workspace: Path) -> None:
        """`workspace` is the folder's path, without symbolic links."""
        self._workspace = os.fspath(workspace)
        self._secret: bytes | None = None
        self._known: set[str] | None = None

    def has(self, programs: Sequence[str] | None) -> bool:
        """True if there is nothing to agree to, or it was agreed to; false if nobody knows what there is (`None`)."""
        if not programs:
            return programs is not None
        # To ask makes no secret: without one nothing was agreed to.
        return bool(known := self._read()) and self._key(programs) in known

    def add(self, programs: Sequence[str] | None) -> None:
        """Agree to what is known. If it cannot be written down, it holds as long as the server runs."""
        if programs is None or self.has(programs):
            return
        known, key = self._read(), self._key(programs)
        known.add(key)
        with suppress(OSError), open(os.open(_file(), _APPEND, 0o600), "a", encoding="utf-8") as out:
            out.write(f"{key}\n")

    def _read(self) -> set[str]:
        if self._known is None:
            try:
                self._known = set(_own(_file(), _LARGEST).decode("ascii", "replace").split())
            except OSError:
                self._known = set()
        return self._known

    def _key(self, programs: Sequence[str]) -> str:
        if self._secret is None:
            self._secret = _secret()
        message = dumps([self._workspace, *programs]).encode()
        return hmac.new(self._secret, message, hashlib.sha256).hexdigest()


def own(text: str) -> tuple[str, ...]:
    """Returns the text itself, which stands for the programs of a text that the user writes while nobody knows them.

    The text stands as a file without a name, which no scenario can start.
    """
    return (with_digest("", text),)


def has_changed(before: Sequence[str], now: Sequence[str]) -> bool:
    """True if another content is in a file that is named as before."""
    known = {one.partition(DIGEST)[0]: one for one in before}
    return any(DIGEST in one and known.get(one.partition(DIGEST)[0], one) != one for one in now)


_APPEND: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def _file() -> Path:
    return state_folder() / "agreed"


def _secret() -> bytes:
    """The user's secret, which is made if there is none. One that cannot be kept lasts as long as the server."""
    made = secrets.token_bytes(_SECRET_BYTES)
    try:
        folder = state_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = folder / "secret"
        if (found := _kept(file)) is not None:
            return found
        scratch = folder / f".secret.{secrets.token_hex(4)}"
        try:
            with open(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as out:
                out.write(made)
                out.flush()
                os.fsync(out.fileno())
            if file.is_symlink() or file.exists():  # Others could read or write it: what it has signed is void.
                scratch.replace(file)
            else:
                with suppress(FileExistsError):  # Another server may have made one meanwhile.
                    os.link(scratch, file)
        finally:
            scratch.unlink(missing_ok=True)
        return _kept(file) or made
    except OSError:
        return made


def _kept(file: Path) -> bytes | None:
    """The secret in a file that only this user can read and write; `None` if there is none such."""
    try:
        found = file.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
            return None
        secret = _own(file, _SECRET_BYTES)
    except OSError:
        return None
    return secret if len(secret) == _SECRET_BYTES else None


def _own(file: Path, most: int) -> bytes:
    """The content of a file of the user's own, which lies outside of the workspace. Raises `OSError`."""
    with below.confined(None):
        return inputs.read(file, most)
