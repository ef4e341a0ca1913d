"""The headers that programs include, in a folder of the user's."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from dumbbell import outputs
from dumbbell.below import Below, confined
from dumbbell.cc import core
from dumbbell.errors import InputError, unwritable

_HINT: Final = "choose another folder"


def write(folder: Path) -> None:
    """Writes the headers to `folder`, which is made if need be.

    Links in the folder, which may be a stranger's, lead no header out of it: that of a file is replaced.

    Raises:
        InputError: the folder's name is not UTF-8.
        RunFailed: a file cannot be written, or a link leads out.
    """
    try:
        str(folder).encode()
        outputs.make_folder(folder)
        with TemporaryDirectory(prefix="dumbbell-headers-") as scratch, confined(Below(folder)):
            core.headers(Path(scratch))
            for made in sorted(Path(scratch).rglob("*")):
                to = folder / made.relative_to(scratch)
                outputs.make_folder(to) if made.is_dir() else outputs.write(to, made.read_bytes())
    except UnicodeEncodeError:
        raise InputError("the folder's name is not UTF-8", "", _HINT) from None
    except OSError as error:
        raise unwritable(folder, error, hint=_HINT) from error
