"""Programs that unpack a stranger's archive: within limits of time, memory and disk, and unable to make devices."""

from __future__ import annotations

import ctypes
import errno
import resource
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Final

_CPU_S: Final = 600
"""CPU time of each process. The sources of Linux take a tenth of it."""
_MEMORY: Final = 2 << 30
_LARGEST_FILE: Final = 512 << 20
_RECORD: Final = 10_240
"""Bytes that tar reads at once."""
_MOST: Final = 8 << 30
"""Bytes of an archive once it is decompressed. The sources of Linux have a fifth of it."""
_LONGEST_ERROR: Final = 4096
_PLAIN: Final = ("--no-same-owner", "--no-same-permissions")
"""Files are ours, and none gets another user's rights."""

_PR_SET_PDEATHSIG: Final = 1
_PR_CAPBSET_DROP: Final = 24
_CAP_MKNOD: Final = 27
_LIBRARY: Final = ctypes.CDLL(None)


def extract(archive: str, into: Path, *options: str, most: int = _MOST) -> list[str]:
    """The command of tar that extracts an archive, `-` for standard input, until it exceeds `most` bytes.

    tar itself follows no link that it has made, and makes no file outside `into`.
    """
    end = f"exec=echo 'the archive has more than {most >> 20} MiB' >&2; kill $PPID"
    bounds = [f"--checkpoint={max(1, most // _RECORD)}", f"--checkpoint-action={end}"]
    return ["tar", "--extract", "--file", archive, *_PLAIN, *bounds, *options, "--directory", str(into)]


def limit() -> None:
    """Limit this process, between fork and exec."""
    limits = (
        (resource.RLIMIT_CPU, _CPU_S),
        (resource.RLIMIT_AS, _MEMORY),
        (resource.RLIMIT_FSIZE, _LARGEST_FILE),
        (resource.RLIMIT_CORE, 0),
    )
    for number, wanted in limits:
        hard = resource.getrlimit(number)[1]
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(number, (most, most))
    # Root's tar would make devices, and who opens one may change it. Others have no such right.
    _LIBRARY.prctl(_PR_CAPBSET_DROP, _CAP_MKNOD, 0, 0, 0)
    _LIBRARY.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def output(command: Sequence[str], most: int, stdin: int = subprocess.DEVNULL) -> bytes:
    """Returns at most `most` bytes that a command prints. Raises `OSError` if it prints more, or fails."""
    with tempfile.TemporaryFile() as errors, _started(command, stdin, errors) as process:
        assert process.stdout is not None
        said = process.stdout.read(most + 1)
        if len(said) > most:
            process.kill()
            raise OSError(errno.EFBIG, f"{command[0]} unpacks more than {most >> 20} MiB of it")
        if process.wait() != 0:
            raise OSError(errno.EINVAL, _why(command, errors))
        return said


def pipe(first: Sequence[str], second: Sequence[str]) -> None:
    """Run a command on what another one prints. Raises `OSError` if one fails: the first one's reason, if both do."""
    with tempfile.TemporaryFile() as errors, _started(first, subprocess.DEVNULL, errors) as process:
        assert process.stdout is not None
        failed: OSError | None = None
        try:
            output(second, 0, process.stdout.fileno())
        except OSError as error:
            failed = error
        process.stdout.close()
        # The first one is ended by SIGPIPE if the second one wants no more.
        if process.wait() not in (0, -signal.SIGPIPE):
            raise OSError(errno.EINVAL, _why(first, errors))
        if failed is not None:
            raise failed


def _started(command: Sequence[str], stdin: int, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=errors, preexec_fn=limit)


def _why(command: Sequence[str], errors: IO[bytes]) -> str:
    errors.seek(0)
    said = errors.read(_LONGEST_ERROR).decode(errors="replace").strip()
    return said or f"{command[0]} was stopped by a limit of time, memory or file size"
