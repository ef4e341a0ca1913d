"""The modules of a ready kernel that a testbed needs, in the order in which they can be loaded."""

from __future__ import annotations

import gzip
import io
import lzma
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from dumbbell import inputs
from dumbbell.errors import InputError
from dumbbell.kernels import archives

WANTED: Final = (
    *("veth", "tun", "bridge", "dummy", "ifb", "8021q", "overlay", "af_packet", "ipv6"),
    *("inet_diag", "tcp_diag", "udp_diag", "packet_diag", "unix_diag"),
    *("cls_matchall", "cls_u32", "act_mirred"),
)
"""Names, without the queueing disciplines and congestion controls, which are all wanted."""
_LARGEST: Final = 256 << 20
"""More bytes than a module has."""
_MOST: Final = 512 << 20
"""More bytes than all that are wanted have."""
_FAMILIES: Final = ("kernel/net/sched/sch_", "kernel/net/ipv4/tcp_")
_NAME: Final = re.compile(r"[A-Za-z0-9_]{1,64}")
_SUFFIXES: Final = (".ko", ".ko.xz", ".ko.gz", ".ko.zst")


def wanted(folder: Path) -> dict[str, bytes]:
    """The modules below `folder`, `/lib/modules/VERSION`, that a testbed needs: file names in loading order, and
    contents.

    Raises:
        InputError: a module cannot be read.
    """
    files = [path for path in sorted(folder.rglob("*.ko*")) if path.name.endswith(_SUFFIXES)]
    # A stranger's package may have files of any name; Linux loads no module with another one.
    there = {_name(path): path for path in files if _NAME.fullmatch(_name(path))}
    chosen = [name for name, path in there.items() if name in WANTED or _is_of_family(path, folder)]
    contents: dict[str, bytes] = {}
    for name in chosen:
        _collect(name, there, contents)
        if sum(map(len, contents.values())) > _MOST:
            raise InputError(f"{folder}: too large", f"its modules have more than {_MOST >> 20} MiB", "")
    return {f"{number:03}-{name}.ko": content for number, (name, content) in enumerate(contents.items())}


def disciplines(names: Sequence[str], config: str) -> tuple[str, ...]:
    """Queueing disciplines among modules' file names, and among what a kernel's configuration has built in; sorted."""
    loaded = {found[1] for name in names if (found := re.fullmatch(r"\d+-sch_(\w+)\.ko", name))}
    built = {name.lower() for name in re.findall(r"^CONFIG_NET_SCH_(\w+)=y$", config, re.MULTILINE)}
    return tuple(sorted((loaded | built) - {"default"}))


def _collect(name: str, there: Mapping[str, Path], contents: dict[str, bytes]) -> None:
    """Add a module behind those that it depends on. One that is not there is built into the kernel."""
    waiting, begun = [name], dict[str, bytes]()
    while waiting:
        name = waiting[-1]
        if name in contents or name not in there:
            waiting.pop()
        elif name in begun:  # All that it depends on is there, or waits for it in turn.
            contents[name] = begun[waiting.pop()]
        else:
            begun[name] = _read(there[name])
            if sum(map(len, begun.values())) > _MOST:
                raise InputError(f"{there[name]}: too large", f"it needs modules of more than {_MOST >> 20} MiB", "")
            waiting += reversed(_depends(begun[name]))


def _depends(module: bytes) -> list[str]:
    """The names in a module's own list of what it depends on, in its section `.modinfo`."""
    found = re.search(rb"\0depends=([^\0]*)\0", module)
    return [_spelled(name) for name in found[1].decode(errors="replace").split(",") if name] if found else []


def _read(path: Path) -> bytes:
    try:
        content = inputs.read(path, _LARGEST)
        if path.suffix == ".xz":
            return _unpacked(lzma.open(io.BytesIO(content)))
        if path.suffix == ".gz":
            return _unpacked(gzip.open(io.BytesIO(content)))
        if path.suffix == ".zst":
            return _zstd(path)
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise InputError(
            f"{path}: the module cannot be unpacked", str(error), "take it from the package again"
        ) from None
    return content


def _unpacked(file: io.BufferedIOBase) -> bytes:
    with file:
        content = file.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise OSError(f"it has more than {_LARGEST >> 20} MiB")
    return content


def _zstd(path: Path) -> bytes:
    """Python's library knows zstd from 3.14 on only."""
    if shutil.which("zstd") is None:
        raise InputError(f"{path}: compressed with zstd", "the program zstd is not installed", "apt-get install zstd")
    with open(inputs.opened(path), "rb") as file:
        return archives.output(["zstd", "--decompress", "--stdout"], _LARGEST, file.fileno())


def _is_of_family(path: Path, folder: Path) -> bool:
    return str(path.relative_to(folder)).startswith(_FAMILIES)


def _name(path: Path) -> str:
    return _spelled(path.name.partition(".ko")[0])


def _spelled(name: str) -> str:
    """Names of files and of modules differ in these."""
    return name.replace("-", "_")
