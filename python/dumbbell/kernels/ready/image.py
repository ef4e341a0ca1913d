"""Ready kernels in the store: a kernel, its modules, and where they come from."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from dumbbell import below, inputs, outputs
from dumbbell.command import command
from dumbbell.errors import InputError
from dumbbell.frozen import dataclass
from dumbbell.kernels import cache
from dumbbell.kernels.names import is_name
from dumbbell.kernels.ready import debian, modules
from dumbbell.names import shortened

_FORMAT: Final = 1
_HEADER_AT: Final = 0x202
"""A bzImage has `HdrS` here, and behind it the version of its header (Documentation/arch/x86/boot.rst)."""
_VERSION_AT: Final = 0x20E
_LONGEST_VERSION: Final = 512
_LARGEST: Final = 1 << 30
"""More bytes than a kernel has, with what helps to debug it."""
_EXPECTED: Final = "expected a bzImage or vmlinux of x86-64, a package linux-image-*.deb, or debian-6.12 or debian-6.1"


@dataclass(frozen=True)
class Image:
    """A kernel that somebody else has built."""

    folder: Path
    hash: str
    """SHA-256 of the kernel and its modules, in hex."""
    names: tuple[str, ...]
    """The names that the user calls it."""
    version: str
    """`6.12.117+deb12-cloud-amd64`, as far as the file tells it."""
    origin: str
    """The file that it comes from, for people."""
    qdiscs: tuple[str, ...]

    @property
    def kernel(self) -> Path:
        """The kernel, as QEMU loads it."""
        return self.folder / "kernel"

    @property
    def modules(self) -> list[Path]:
        """Modules in loading order."""
        return sorted((self.folder / "modules").iterdir())

    @property
    def bytes(self) -> int:
        """Bytes on disk."""
        return sum(path.stat().st_blocks * 512 for path in self.folder.rglob("*") if path.is_file())


def folder() -> Path:
    """The folder of all images; it need not exist."""
    return cache.root() / "images"


def images() -> list[Image]:
    """All images that have a name, by version."""
    if not folder().is_dir():
        return []
    found = [_read(path) for path in sorted(folder().iterdir()) if not path.name.startswith(".")]
    return sorted((one for one in found if one is not None and one.names), key=lambda one: (one.version, one.names))


def named(name: str) -> Image | None:
    """The image that is called `name`; `None` if there is none."""
    return next((image for image in images() if name in image.names), None)


def add(
    wanted: str,
    call: str | None = None,
    beside: Path | None = None,
    built: Collection[str] = (),
    boots: Callable[[Image], object] | None = None,
) -> Image:
    """Put a kernel into the store. One that is there already gets the name, too.

    Args:
        wanted: a file, or `debian-6.12`, which is fetched from Debian.
        call: what runs call it; `None`: `debian-6.12`, or the version.
        beside: the folder of its modules, `/lib/modules/VERSION`, if it is not a package.
        built: names of kernels that were built from source, which none takes.
        boots: boots it before it gets its name, if it is to. What it raises is passed on.

    Raises:
        InputError: it is no kernel, or cannot be had, or its name is taken.
    """
    with tempfile.TemporaryDirectory(prefix="dumbbell-kernel-") as place:
        file = debian.fetched(wanted, Path(place)) if debian.is_name(wanted) else Path(wanted)
        if not file.is_file():
            raise InputError(f"{wanted}: no such file", _EXPECTED, "")
        kernel, config = file, ""
        if file.suffix == ".deb":
            kernel, beside, config = debian.unpacked(file, Path(place, "unpacked"))
        unpacked = below.Below(Path(place, "unpacked")) if file.suffix == ".deb" else below.confining()
        with below.confined(unpacked):
            try:
                content = inputs.read(kernel, _LARGEST)
            except OSError as error:
                raise InputError(f"{wanted}: cannot read it", error.strerror or str(error), _EXPECTED) from None
            version = _version(content, wanted)
            taken = modules.wanted(beside) if beside is not None else {}
        origin = file.name if debian.is_name(wanted) else str(file.resolve())
        digest = _digest(content, taken)
        chosen = call or (wanted if debian.is_name(wanted) else _own_name(version, wanted, origin, digest))
        if chosen in built:
            hint = f"add --name mine, or {command('kernel', 'remove', chosen)}"
            raise InputError(f"{wanted} cannot be called {chosen}", "a kernel that was built has this name", hint)
        image = _stored(digest, content, taken, version, chosen)
        described = replace(image, origin=origin, qdiscs=modules.disciplines(tuple(taken), config))
        try:
            if boots is not None:
                boots(described)
            return _described(described)
        except BaseException:
            if _read(image.folder) is None:  # No other name leads to it.
                cache.discard(image.folder)
            raise


def _own_name(version: str, wanted: str, origin: str, digest: str) -> str:
    """The version as the name of a kernel that gets no other. Raises `InputError`.

    The file states it, and may be a stranger's. So it must be a name, and none that another file's kernel has: runs
    that name the other one would run this one.
    """
    hint = f"give it a name: {command('kernel', 'add', wanted, '--name', 'mine')}"
    if not is_name(version):
        why = f"it says that its version is {shortened(version)}, which cannot be a name"
        raise InputError(f"{wanted} has no name", why, hint)
    other = named(version)
    if other is not None and other.hash != digest and other.origin != origin:
        raise InputError(f"{wanted} calls itself {version}", f"this is the name of the kernel of {other.origin}", hint)
    return version


def forget(image: Image, name: str) -> list[Path]:
    """Take a name away, and with the last one the image: the folders that went."""
    if len(image.names) > 1:
        _write(replace(image, names=tuple(one for one in image.names if one != name)))
        return []
    cache.discard(image.folder)
    return [image.folder]


def _digest(kernel: bytes, taken: dict[str, bytes]) -> str:
    """SHA-256 of a kernel and its modules, in hex."""
    digest = hashlib.sha256(kernel)
    for path, content in taken.items():
        digest.update(path.encode() + b"\0" + content)
    return digest.hexdigest()


def _stored(digest: str, kernel: bytes, taken: dict[str, bytes], version: str, name: str) -> Image:
    place = folder() / digest[: cache.SHORT]
    with cache.making(place, lambda: None) as partial:
        if partial is not None:
            (partial / "kernel").write_bytes(kernel)
            (partial / "modules").mkdir()
            for path, content in taken.items():
                (partial / "modules" / path).write_bytes(content)
    former = _read(place)
    names = (*(former.names if former else ()), name)
    return Image(place, digest, tuple(dict.fromkeys(names)), version, "", ())


def _described(image: Image) -> Image:
    """The image, whose description is written. Another image loses the name."""
    for other in images():
        if other.folder != image.folder and image.names[-1] in other.names:
            forget(other, image.names[-1])
    _write(image)
    return image


def _version(kernel: bytes, wanted: str) -> str:
    """The version that a kernel's file tells. Raises `InputError` if it is none for this machine."""
    if kernel[:4] == b"\x7fELF" and (found := re.search(rb"Linux version (\S+) \(", kernel)):
        return found[1].decode(errors="replace")
    if kernel[_HEADER_AT : _HEADER_AT + 4] != b"HdrS":
        raise InputError(
            f"{wanted}: not a kernel", _EXPECTED, "the kernel of this machine is in /boot, or in its package"
        )
    # The text lies as many bytes behind 0x200 as this number says.
    at = 0x200 + int.from_bytes(kernel[_VERSION_AT : _VERSION_AT + 2], "little")
    words = kernel[at : at + _LONGEST_VERSION].partition(b"\0")[0].decode(errors="replace").split()
    if not words:
        raise InputError(f"{wanted}: not a kernel", "it states no version", _EXPECTED)
    return words[0]


def _read(place: Path) -> Image | None:
    try:
        told: dict[str, Any] = json.loads((place / "image.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if told.pop("format", None) != _FORMAT:
        return None
    lists = {key: tuple(value) for key, value in told.items() if isinstance(value, list)}
    return Image(folder=place, **{**told, **lists})


def _write(image: Image) -> None:
    told = {"format": _FORMAT, "hash": image.hash, "names": image.names, "version": image.version,
            "origin": image.origin, "qdiscs": image.qdiscs}  # fmt: skip
    outputs.write(image.folder / "image.json", json.dumps(told, indent=2))
