"""Standard output and standard error that never fail while a command prints."""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import Any, Final, TextIO

from dumbbell.table import printable

_PLAIN: Final = str.maketrans(
    {
        **{"±": "+-", "…": "...", "µ": "u", "μ": "u", "≥": ">=", "≤": "<=", "→": "->", "·": "*"},
        **{"\N{EN DASH}": "-", "\N{MULTIPLICATION SIGN}": "x", "\N{RIGHT SINGLE QUOTATION MARK}": "'"},
    }
)
"""Characters that dumbbell prints, for terminals that lack them."""


class _Sink(io.FileIO):
    """A descriptor to which writing succeeds always: what can't be written is discarded.

    If the reader has closed the pipe (`| head`), that is how it should be. Otherwise `failure` says why.
    """

    failure: OSError | None = None

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            if not isinstance(error, BrokenPipeError):
                self.failure = error
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return memoryview(data).nbytes


def say(text: object = "", out: TextIO | None = None) -> None:
    """Print a line that may have texts of strangers at once: a terminal obeys none of it.

    `out`: where; without it, standard output.
    """
    print(printable(str(text), keep="\n\t"), file=out, flush=True)


def without_advice_of_matplotlib() -> None:
    """Omit what matplotlib says of a home that it cannot write to. It keeps a cache there, which a command can do
    without."""
    from logging import ERROR, getLogger

    getLogger("matplotlib").setLevel(ERROR)


class Output:
    """The output of a command."""

    def __init__(self) -> None:
        """Take the place of `sys.stdout` and `sys.stderr`."""
        codecs.register_error("dumbbell", _replaced)
        _open_standard_descriptors()
        self._sinks = {}
        for name, descriptor in (("stdout", 1), ("stderr", 2)):
            self._sinks[name] = _Sink(descriptor, "wb", closefd=False)
            setattr(sys, name, _text(self._sinks[name], getattr(sys, name)))

    @property
    def failure(self) -> OSError | None:
        """Why standard output could not be written, so far as it was flushed."""
        return self._sinks["stdout"].failure


def _open_standard_descriptors() -> None:
    """Closed ones (`>&-`) would be given to the next files that are opened, and text would be written into them."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)


def _text(sink: _Sink, former: TextIO | None) -> TextIO:
    buffer = io.BufferedWriter(sink)
    if not isinstance(former, io.TextIOWrapper):
        return io.TextIOWrapper(buffer, "utf-8", "dumbbell")
    former.flush()
    return io.TextIOWrapper(
        buffer,
        former.encoding,
        "dumbbell",
        line_buffering=former.line_buffering or sink.isatty(),
        write_through=former.write_through,
    )


def _replaced(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_PLAIN)
    return text.encode("ascii", "replace").decode("ascii"), error.end
