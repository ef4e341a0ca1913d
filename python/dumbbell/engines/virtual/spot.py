"""Looks at what a user-mode kernel computes, seen from outside: its clock, and the function in which its process is.

The kernel cannot tell by itself: a congestion control that loops runs on behalf of the idle task. It imports nothing
but the standard library, as the guard does.
"""

from __future__ import annotations

import ctypes
import os
import re
import struct
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, TypedDict

from dumbbell.frozen import dataclass

_SYMTAB: Final = 2
_FUNC: Final = 2
_SECTION: Final = struct.Struct("<IIQQQQIIQQ")
_SYMBOL: Final = struct.Struct("<IBBHQQ")
_MARK: Final = re.compile(r"(?:__initcall__kmod_|db_license_)(.+?)(?:__\d+_\d+_.*)?")
"""Symbols with the name of the source that they are from. Each of our objects, and each user's program, ends with
them."""
_CLOCK: Final = "time_travel_time"
_USERS: Final = "user_"

_SEIZE, _INTERRUPT, _GETREGS, _DETACH = 0x4206, 0x4207, 12, 17
_RIP: Final = 16
_REGISTERS: Final = 27
_WALL: Final = 0x40000000


@dataclass(frozen=True)
class Spot:
    """A function of the kernel."""

    function: str
    unit: str
    """The source that it was compiled from; only for our additions and users' programs."""


class Symbols:
    """The symbols of a kernel that is an ELF program."""

    def __init__(self, program: Path) -> None:
        """Read them. Raises `OSError` or `ValueError` if there are none."""
        named = _symbols(program.read_bytes())
        self.clock = next((value for name, value, _, _ in named if name == _CLOCK), None)
        """Address of the virtual time, ns."""
        functions, unit = list[tuple[int, int, Spot]](), ""
        for name, value, size, kind in reversed(named):
            if mark := _MARK.fullmatch(name):
                unit = mark[1]
            if kind == _FUNC and size:
                functions.append((value, value + size, Spot(name, unit)))
        functions.sort(key=lambda one: one[0])
        self._functions = functions
        self._starts = [start for start, _, _ in functions]

    def at(self, address: int) -> Spot | None:
        """The function that holds an address."""
        index = bisect_right(self._starts, address) - 1
        if index < 0 or address >= self._functions[index][1]:
            return None
        return self._functions[index][2]


def _symbols(elf: bytes) -> list[tuple[str, int, int, int]]:
    """Name, value, size and kind of each symbol of an ELF program of 64 bits, in the order of its table."""
    if elf[:5] != b"\x7fELF\x02":
        raise ValueError("not an ELF program of 64 bits")
    (offset,) = struct.unpack_from("<Q", elf, 0x28)
    size, count = struct.unpack_from("<HH", elf, 0x3A)
    sections = [_SECTION.unpack_from(elf, offset + size * i) for i in range(count)]
    table = next((one for one in sections if one[1] == _SYMTAB), None)
    if table is None:
        raise ValueError("it has no symbols")
    names = sections[table[6]][4]
    found = []
    for name, info, _, _, value, length in _SYMBOL.iter_unpack(elf[table[4] : table[4] + table[5]]):
        begin = names + name
        found.append((elf[begin : elf.index(b"\0", begin)].decode(), value, length, info & 15))
    return found


class Sourced(TypedDict):
    """An algorithm of plan.json, as far as its source goes."""

    source: Mapping[str, str]


def own_program(unit: str, algorithms: Sequence[Sourced]) -> str | None:
    """The file of the user's program that a source of the kernel is; `None` if it is none of the plan's."""
    if not unit.startswith(_USERS):
        return None
    for one in algorithms:
        source = one["source"]
        if "path" in source and unit.removeprefix(_USERS).startswith(source["name"].rpartition("_")[2]):
            return Path(source["path"]).name
    return None


def clock_ns(pid: int, symbols: Symbols | None) -> int | None:
    """The virtual time of a kernel's process, which goes on meanwhile; `None` if it cannot be read."""
    if symbols is None or symbols.clock is None:
        return None
    with suppress(OSError, struct.error):
        memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
        try:
            (found,) = struct.unpack("<Q", os.pread(memory, 8, symbols.clock))
            return int(found)
        finally:
            os.close(memory)
    return None


def instruction(pid: int) -> int | None:
    """The address at which a process computes. It is stopped for an instant; `None` if that is not allowed."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    if libc.ptrace(_SEIZE, pid, None, None):
        return None
    registers = (ctypes.c_ulonglong * _REGISTERS)()
    try:
        if libc.ptrace(_INTERRUPT, pid, None, None):
            return None
        os.waitpid(pid, _WALL)
        return None if libc.ptrace(_GETREGS, pid, None, registers) else int(registers[_RIP])
    except OSError:
        return None
    finally:
        libc.ptrace(_DETACH, pid, None, None)
