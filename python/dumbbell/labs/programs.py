"""A program in a node that has this process's terminal, or its standard input, output and error."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import termios
import threading
import tty
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Final

from dumbbell.labs.agent import Connection, running

FORWARDED: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""Signals to us that are meant for the program."""


def run(lab: Path, node: str, arguments: Sequence[str], background: bool = False) -> int:
    """Run a program to its end. Returns its exit code; 128 and the signal's number if one has ended it.

    Where standard input and output are a terminal the program gets one of its own, of the same size; keys and Ctrl-C
    reach it. Else it gets our descriptors, and signals to us are passed on.

    Args:
        lab: the lab's directory.
        node: the node.
        arguments: the program and its arguments.
        background: what it starts goes on after its end, so it gets no terminal and no input.

    Raises:
        RunFailed: there is no such node or program, or the lab ends.
    """
    if os.isatty(0) and os.isatty(1) and not background:
        return _in_terminal(lab, node, arguments)
    with open(os.devnull, "rb") as nothing:
        descriptors = (nothing.fileno() if background else 0, 1, 2)
        with _forwarding(lambda: running(lab, node, arguments, descriptors)) as connection:
            return int(connection.answer()["code"])


@contextmanager
def _forwarding(start: Callable[[], Connection]) -> Iterator[Connection]:
    """Within, signals to us go to the program that `start` starts; so do those that come before it runs."""
    early: list[int] = []
    tell = early.append

    with _handling(dict.fromkeys(FORWARDED, lambda number: tell(number))), start() as connection:
        tell = connection.signal
        for number in early:
            tell(number)
        yield connection


@contextmanager
def _handling(handlers: dict[signal.Signals, Callable[[int], None]]) -> Iterator[None]:
    former = {}
    if threading.current_thread() is threading.main_thread():  # Python delivers no signals to others.
        for number, handle in handlers.items():
            former[number] = signal.signal(number, partial(_handle, handle))
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def _handle(handle: Callable[[int], None], number: int, frame: FrameType | None) -> None:
    handle(number)


def _in_terminal(lab: Path, node: str, arguments: Sequence[str]) -> int:
    ours, its = os.openpty()
    try:
        _copy_size(ours)
        settings = termios.tcgetattr(0)
        termios.tcsetattr(its, termios.TCSANOW, settings)
        try:
            connection = running(lab, node, arguments, (its,))
        finally:
            os.close(its)
        with connection, _handling({signal.SIGWINCH: lambda _: _copy_size(ours)}):
            tty.setraw(0, termios.TCSANOW)
            try:
                return _relay(ours, connection)
            finally:
                termios.tcsetattr(0, termios.TCSADRAIN, settings)
    finally:
        os.close(ours)


def _relay(terminal: int, connection: Connection) -> int:
    """Carry keys to the program and its output back, until it ends."""
    reads: list[int | Connection] = [0, terminal, connection]
    while True:
        ready, _, _ = select.select(reads, [], [])
        if terminal in ready and not _copy(terminal, 1):
            reads.remove(terminal)  # Nobody has it open any more.
        if 0 in ready and not _copy(0, terminal):
            reads.remove(0)
        if connection in ready:
            code = int(connection.answer()["code"])
            while select.select([terminal], [], [], 0)[0] and _copy(terminal, 1):
                pass
            return code


def _copy(source: int, target: int) -> bool:
    """Copy what is there. False: there will be nothing more."""
    try:
        data = os.read(source, 65536)
    except OSError:
        return False
    rest = data
    while rest:
        rest = rest[os.write(target, rest) :]
    return bool(data)


def _copy_size(terminal: int) -> None:
    with suppress(OSError):
        size = fcntl.ioctl(0, termios.TIOCGWINSZ, b"\0" * 8)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, size)
