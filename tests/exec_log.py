"""Runs a command, and writes down each program that the command or its descendants start, as the kernel tells it.

`python exec_log.py LOG COMMAND ...` traces all of them (ptrace(2)), so nothing is missed and nothing has to cooperate.
LOG gets a line of JSON for each execve(2) that succeeded: the arguments. It takes no privileges. With the tracer, all
that it traces ends.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from pathlib import Path

CONT, SETOPTIONS, SEIZE, LISTEN = 7, 0x4200, 0x4206, 0x4208
FORKS = 0b1110
"""PTRACE_O_TRACEFORK, _TRACEVFORK, _TRACECLONE."""
EXEC, EXITKILL = 1 << 4, 1 << 20
EVENT_EXEC, EVENT_STOP = 4, 128
ALL_CHILDREN = 0x40000000
"""__WALL."""
STOPS = {signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def ptrace(request: int, pid: int, data: int = 0) -> bool:
    """False if the process is gone meanwhile."""
    return bool(libc.ptrace(request, pid, None, data) == 0)


def started(command: list[str]) -> int:
    """A process that waits until it is traced, and then becomes the command."""
    ours, its = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(its)
        os.read(ours, 1)
        os.close(ours)
        os.execvp(command[0], command)
    os.close(ours)
    if not ptrace(SEIZE, pid, FORKS | EXEC | EXITKILL):
        raise OSError(ctypes.get_errno(), "this machine allows no ptrace")
    os.close(its)
    return pid


def follow(first: int, log: Path) -> int:
    """Trace until the first process has ended. Returns its exit code."""
    with log.open("w", buffering=1) as out:
        while True:
            pid, status = os.waitpid(-1, ALL_CHILDREN)
            if os.WIFEXITED(status) or os.WIFSIGNALED(status):
                if pid == first:
                    return os.waitstatus_to_exitcode(status)
                continue
            event, number = status >> 16, os.WSTOPSIG(status)
            if event == EVENT_EXEC:
                words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[:-1]
                out.write(json.dumps([os.fsdecode(word) for word in words]) + "\n")
            if event == EVENT_STOP and number in STOPS:
                ptrace(LISTEN, pid)
            else:
                ptrace(CONT, pid, 0 if event else number)


if __name__ == "__main__":
    child = started(sys.argv[2:])
    # The command is asked to end, and the tracer ends after it.
    for asked in (signal.SIGINT, signal.SIGTERM):
        signal.signal(asked, lambda number, _: os.kill(child, number))
    code = follow(child, Path(sys.argv[1]))
    sys.exit(code if code >= 0 else 128 - code)
