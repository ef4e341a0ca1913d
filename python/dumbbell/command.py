"""Commands in hints, which work exactly as they are printed."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Final

_SUDO_PATH: Final = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
"""Folders in which sudo looks for programs, independent of the user's PATH."""


def command(*arguments: str) -> str:
    """`dumbbell` with `arguments`, quoted for a shell."""
    return " ".join(map(quoted, ["dumbbell", *arguments]))


def quoted(text: str) -> str:
    """A text as one word for a shell, without characters that a terminal obeys when it is pasted.

    A stranger's name may have Ctrl-C, which ends the line that was begun, or the end of a bracketed paste. `$'...'` is
    of POSIX.1-2024; older shells take such a word for another text, but carry nothing out.
    """
    if text.isprintable():
        return shlex.quote(text)
    written = (letter if letter.isprintable() and letter not in "\\'" else _hexadecimal(letter) for letter in text)
    return f"$'{''.join(written)}'"


def _hexadecimal(letter: str) -> str:
    # Of a file's name, a lone surrogate is a byte; of a JSON text, it may be any.
    errors = "surrogateescape" if "\udc80" <= letter <= "\udcff" else "surrogatepass"
    return "".join(f"\\x{byte:02x}" for byte in letter.encode(errors=errors))


def rebuild(target: str = "build") -> str:
    """Returns the command that builds a missing part: in a checkout a target of `make`, else `pip install`.

    `build` is the compiled core, `kernel` what virtual time needs, `ui` the web application's page.
    """
    checkout = (Path(__file__).parents[2] / "Makefile").is_file()
    return f"make {target}" if checkout else f"{sys.executable} -m pip install --force-reinstall dumbbell-*.whl"


def extra(name: str) -> str:
    """The command that adds an extra's packages to this installation, which may be another user's."""
    package = f"'dumbbell[{name}]'"
    mine = os.access(Path(sys.prefix) / "lib", os.W_OK)
    return f"pip install {package}" if mine else f"sudo {sys.prefix}/bin/pip install {package}"


def as_root(*arguments: str) -> str:
    """`sudo dumbbell` with `arguments`; the whole path if sudo would not find it, as in a virtual environment."""
    return f"sudo {' '.join(map(quoted, [*_program(), *arguments]))}"


def _program() -> list[str]:
    started = Path(sys.argv[0])
    candidates = [shutil.which(sys.argv[0])] if started.name == "dumbbell" else []
    candidates += [str(Path(sys.executable).with_name("dumbbell")), shutil.which("dumbbell")]
    for candidate in candidates:
        if candidate is not None and Path(candidate).is_file():
            path = Path(candidate).absolute()
            return ["dumbbell"] if str(path.parent) in _SUDO_PATH else [str(path)]
    return [sys.executable, "-P", "-m", "dumbbell"]
