"""Archives of strangers: packages of kernels, tarballs of sources, compressed modules."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import stat
import subprocess
import tarfile
from pathlib import Path

import pytest

from dumbbell.errors import InputError
from dumbbell.kernels import archives, source
from dumbbell.kernels.ready import debian, image, modules

MIB = 1 << 20


def member(name: str, content: bytes = b"", **of: object) -> tuple[tarfile.TarInfo, bytes]:
    found = tarfile.TarInfo(name)
    found.size = len(content)
    for key, value in of.items():
        setattr(found, key, value)
    return found, content


def packed(path: Path, *members: tuple[tarfile.TarInfo, bytes], mode: str = "w") -> Path:
    with tarfile.open(path, mode) as tar:  # type: ignore[call-overload]
        for info, content in members:
            tar.addfile(info, io.BytesIO(content))
    return path


def package(folder: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    """A package of Debian with these files."""
    folder.mkdir()
    (folder / "debian-binary").write_text("2.0\n")
    packed(folder / "control.tar.xz", member("./control", b"Package: x\nVersion: 1\n"), mode="w:xz")
    packed(folder / "data.tar.xz", *members, mode="w:xz")
    subprocess.run(
        ["ar", "rc", "linux-image.deb", "debian-binary", "control.tar.xz", "data.tar.xz"], cwd=folder, check=True
    )
    return folder / "linux-image.deb"


KERNEL = member("./boot/vmlinuz-6.1", b"kernel")


def test_a_package_writes_below_its_folder_alone(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    strange = package(
        tmp_path / "package",
        KERNEL,
        member("link", type=tarfile.SYMTYPE, linkname=str(outside)),
        member("link/through", b"x"),
        member(f"{outside}/absolute", b"x"),
        member("null", type=tarfile.CHRTYPE, devmajor=1, devminor=3),
        member("setuid", b"#!/bin/sh\n", mode=0o6755, uid=12345, gid=12345),
    )
    with pytest.raises(InputError, match="not a kernel's package"):
        debian.unpacked(strange, tmp_path / "unpacked")
    assert not list(outside.iterdir())
    above = package(tmp_path / "above", KERNEL, member("../escaped", b"x"))
    with pytest.raises(InputError, match="not a kernel's package"):
        debian.unpacked(above, tmp_path / "unpacked-2")
    assert not (tmp_path / "escaped").exists()
    for path in (*(tmp_path / "unpacked").rglob("*"), *(tmp_path / "unpacked-2").rglob("*")):
        found = path.lstat()
        assert not stat.S_ISCHR(found.st_mode)
        assert not stat.S_ISREG(found.st_mode) or (not found.st_mode & 0o6000 and found.st_uid == os.getuid())


def test_no_link_of_a_package_is_followed_out_of_it(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("CONFIG_NET_SCH_SECRET=y\n")
    link = {"type": tarfile.SYMTYPE, "linkname": str(secret)}
    with pytest.raises(InputError, match="outside"):
        debian.unpacked(package(tmp_path / "a", KERNEL, member("boot/config-6.1", **link)), tmp_path / "config")
    with pytest.raises(InputError, match="cannot read it"):
        image.add(str(package(tmp_path / "b", member("boot/vmlinuz-6.1", **link))))


def test_a_package_ends_at_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = package(tmp_path / "package", KERNEL, *(member(f"boot/{number}", bytes(MIB)) for number in range(40)))
    assert bomb.stat().st_size < MIB // 10
    monkeypatch.setattr(debian, "_MOST", 8 * MIB)
    with pytest.raises(InputError, match="the archive has more than 8 MiB"):
        debian.unpacked(bomb, tmp_path / "unpacked")
    assert sum(path.stat().st_size for path in (tmp_path / "unpacked").rglob("*") if path.is_file()) < 10 * MIB


def test_a_package_that_is_none_says_why(tmp_path: Path) -> None:
    (tmp_path / "x.deb").write_bytes(b"no package")
    with pytest.raises(InputError, match=r"(?s)not a kernel's package.*dpkg-deb: error"):
        debian.unpacked(tmp_path / "x.deb", tmp_path / "unpacked")


def test_a_makefile_without_end_is_no_tree_of_linux(tmp_path: Path) -> None:
    text = b"VERSION = 6\nPATCHLEVEL = 1\n"
    whole = packed(tmp_path / "a.tar.xz", member("linux/Makefile", text), mode="w:xz")
    assert source.opened(whole).version == "6.1"
    long = packed(tmp_path / "b.tar.xz", member("linux/Makefile", text + bytes(9 * MIB)), mode="w:xz")
    with pytest.raises(InputError, match="not a tarball of Linux\n  tar unpacks more than 8 MiB"):
        source.opened(long)


def test_programs_that_unpack_are_limited(tmp_path: Path) -> None:
    told = archives.output(["sh", "-c", "ulimit -t; ulimit -v; ulimit -f; ulimit -c; cat /proc/self/status"], MIB)
    lines = told.decode().splitlines()
    assert lines[:4] == ["600", "2097152", "1048576", "0"]
    bounding = next(line for line in lines if line.startswith("CapBnd:"))
    assert os.getuid() or not int(bounding.split()[1], 16) >> 27 & 1


@pytest.mark.parametrize("suffix", ["xz", "gz", "zst"])
def test_a_module_has_bounds_once_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    monkeypatch.setattr(modules, "_LARGEST", 4 * MIB)
    path = tmp_path / f"veth.ko.{suffix}"
    for size, fits in ((4 * MIB, True), (4 * MIB + 1, False)):
        match suffix:
            case "xz":
                path.write_bytes(lzma.compress(bytes(size)))
            case "gz":
                path.write_bytes(gzip.compress(bytes(size)))
            case _:
                path.write_bytes(subprocess.run(["zstd"], input=bytes(size), stdout=-1, check=True).stdout)
        if fits:
            assert len(next(iter(modules.wanted(tmp_path).values()))) == size
        else:
            with pytest.raises(InputError, match=r"the module cannot be unpacked\n.*more than 4 MiB"):
                modules.wanted(tmp_path)


def test_modules_that_need_one_another_end(tmp_path: Path) -> None:
    def module(needs: str) -> bytes:
        return b"\0depends=" + needs.encode() + b"\0"

    (tmp_path / "veth.ko").write_bytes(module("a0"))
    for number in range(2000):
        (tmp_path / f"a{number}.ko").write_bytes(module(f"a{(number + 1) % 2000}"))
    found = list(modules.wanted(tmp_path))
    assert len(found) == 2001
    assert found[-1].endswith("veth.ko")
    (tmp_path / "tun.ko.zst").write_bytes(b"no zstd")
    with pytest.raises(InputError, match="the module cannot be unpacked"):
        modules.wanted(tmp_path)


@pytest.mark.parametrize("name", [b"sch_\xff", b"sch_a\nb", b"sch_\x1b[2J", b"sch_" + b"a" * 240, b"sch_a b", b""])
def test_a_file_that_cannot_be_a_module_is_none(tmp_path: Path, name: bytes) -> None:
    """Names of modules become names of files, and of queueing disciplines, which are shown."""
    folder = tmp_path / "kernel" / "net" / "sched"
    folder.mkdir(parents=True)
    (folder / "sch_fq-codel.ko").write_bytes(b"\0depends=\0")
    Path(os.fsdecode(os.fsencode(folder) + b"/" + name + b".ko")).write_bytes(b"\0depends=\0")
    assert list(modules.wanted(tmp_path)) == ["000-sch_fq_codel.ko"]


@pytest.mark.parametrize("content", [b"", b"\0" * 0x202 + b"HdrS", b"\0" * 0x202 + b"HdrS" + b"\xff" * 60])
def test_a_kernel_without_a_version_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "kernel").write_bytes(content)
    with pytest.raises(InputError, match="not a kernel"):
        image.add(str(tmp_path / "kernel"))
