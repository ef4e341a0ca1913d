"""Kernels that somebody else has built: what is taken of them, and what they are refused for."""

from __future__ import annotations

import gzip
import lzma
import struct
import subprocess
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import dumbbell
from dumbbell import kernels
from dumbbell.engines.virtual import refusals
from dumbbell.errors import DumbbellError, InputError, RunFailed
from dumbbell.kernels import Kernel, find, ready, remove, store
from dumbbell.kernels.build import order
from dumbbell.kernels.ready import cpio, debian, machine, modules
from dumbbell.pipeline.planned import kernel_override

VERSION = "6.12.1-test"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test has a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def kernel_file(path: Path, version: str = VERSION) -> Path:
    """A file that begins as a bzImage does."""
    content = bytearray(0x400)
    content[0x202:0x206] = b"HdrS"
    struct.pack_into("<H", content, 0x20E, 0x100)
    text = f"{version} (somebody@somewhere) #1 SMP\0".encode()
    content[0x300 : 0x300 + len(text)] = text
    path.write_bytes(content)
    return path


def module(depends: str = "") -> bytes:
    return b"\x7fELF...\0license=GPL\0depends=" + depends.encode() + b"\0retpoline=Y\0"


def folder_of_modules(folder: Path) -> Path:
    for name, content in {
        "kernel/drivers/net/veth.ko": module(),
        "kernel/drivers/net/unwanted.ko": module(),
        "kernel/net/ipv4/tcp_bbr.ko.xz": lzma.compress(module()),
        "kernel/net/ipv4/tcp_diag.ko.gz": gzip.compress(module("inet-diag")),
        "kernel/net/ipv4/inet_diag.ko": module(),
        "kernel/net/sched/sch_fq.ko": module("not_there"),
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def test_modules_come_behind_those_that_they_depend_on(tmp_path: Path) -> None:
    found = modules.wanted(folder_of_modules(tmp_path))
    names = [name.partition("-")[2] for name in found]
    assert sorted(names) == ["inet_diag.ko", "sch_fq.ko", "tcp_bbr.ko", "tcp_diag.ko", "veth.ko"]
    assert names.index("inet_diag.ko") < names.index("tcp_diag.ko")
    assert list(found) == sorted(found), "the order of names is that of loading"
    assert found[next(name for name in found if "tcp_bbr" in name)] == module()
    assert modules.disciplines(tuple(found), "CONFIG_NET_SCH_FQ_CODEL=y\nCONFIG_NET_SCH_RED=m\n") == ("fq", "fq_codel")


def test_a_module_that_cannot_be_unpacked_is_named(tmp_path: Path) -> None:
    (tmp_path / "veth.ko.xz").write_bytes(b"no xz")
    with pytest.raises(InputError, match=r"veth.ko.xz: the module cannot be unpacked"):
        modules.wanted(tmp_path)


def test_an_archive_has_folders_before_files_and_the_same_bytes_each_time(tmp_path: Path) -> None:
    files = {"lib/x/libc.so": b"library", "init": b"program"}
    content = cpio.archive(files)
    assert content == cpio.archive(dict(reversed(files.items())))
    assert len(content) % 4 == 0
    names = [part.split(b"\0")[0] for part in content.split(b"070701")[1:]]
    assert [name[104:].decode() for name in names] == ["init", "lib", "lib/x", "lib/x/libc.so", "TRAILER!!!"]


def test_a_kernel_and_its_modules_are_added_under_the_version_or_a_name(tmp_path: Path) -> None:
    beside = folder_of_modules(tmp_path / "modules")
    file = kernel_file(tmp_path / "bzImage")
    image = ready.add(str(file), beside=beside)
    assert (image.version, image.names, image.qdiscs) == (VERSION, (VERSION,), ("fq",))
    assert next(path.read_bytes() for path in image.modules) == module()
    again = ready.add(str(file), "mine", beside)
    assert again.folder == image.folder
    assert again.names == (VERSION, "mine")
    assert ready.named("mine") == again
    other = ready.add(str(kernel_file(tmp_path / "other", "6.13.0")), "mine")
    assert ready.named("mine") == other
    assert [one.names for one in ready.images()] == [(VERSION,), ("mine",)]
    remove("mine")
    assert [one.names for one in ready.images()] == [(VERSION,)]
    remove(VERSION)
    assert not image.folder.exists()


def test_a_file_takes_no_name_that_another_kernel_has(tmp_path: Path) -> None:
    """Runs name a kernel, and would run another one: the version is what a stranger's file says of itself."""
    ours = ready.add(str(kernel_file(tmp_path / "ours", "6.12.1-debian")), "6.12")
    (tmp_path / "theirs").write_bytes(kernel_file(tmp_path / "theirs", "6.12").read_bytes() + b"theirs")
    with pytest.raises(InputError, match=r"theirs calls itself 6\.12") as failure:
        ready.add(str(tmp_path / "theirs"))
    assert failure.value.why == f"this is the name of the kernel of {tmp_path}/ours"
    with pytest.raises(InputError, match="calls itself"):
        kernel_override(str(tmp_path / "theirs"))
    assert ready.named("6.12") == ours
    assert len(list(ready.images())) == 1
    # A name that the user gives stands, and a kernel built again at the same place is the user's.
    again = ready.add(str(tmp_path / "theirs"), "6.12")
    assert ready.named("6.12") == again
    kernel_file(tmp_path / "theirs", "6.12")
    assert ready.add(str(tmp_path / "theirs")).names == ("6.12",)


def test_no_added_kernel_hides_one_that_was_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = SimpleNamespace(names=("6.12", "patched"))
    monkeypatch.setattr(store, "bases", lambda: iter([built]))
    file = str(kernel_file(tmp_path / "bzImage", "6.12"))
    for call in (None, "patched"):
        with pytest.raises(InputError, match=f"cannot be called {call or '6.12'}") as failure:
            kernels.add(file, call)
        assert failure.value.why == "a kernel that was built has this name"
    assert kernels.add(file, "mine").names == ("mine",)
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "Kbuild").touch()
    (tmp_path / "tree" / "Makefile").write_text("VERSION = 6\nPATCHLEVEL = 12\n")
    with pytest.raises(InputError, match="a kernel cannot be called mine"):
        order("mine", tmp_path / "tree")


@pytest.mark.parametrize("version", ["--all", "../x", "\x1b[2J", "6.12\u202e", "x" * 65, "."])
def test_a_version_that_cannot_be_a_name_is_none(tmp_path: Path, version: str) -> None:
    file = str(kernel_file(tmp_path / "bzImage", version))
    with pytest.raises(InputError, match="has no name") as failure:
        ready.add(file)
    assert failure.value.why.isprintable()
    assert ready.images() == []
    assert ready.add(file, "mine").names == ("mine",)


def test_a_kernel_that_does_not_boot_takes_no_name(tmp_path: Path) -> None:
    def fails(image: ready.Image) -> None:
        raise RunFailed(f"{image.names[0]} does not boot")

    ours = ready.add(str(kernel_file(tmp_path / "ours")), "mine")
    with pytest.raises(RunFailed, match="mine does not boot"):
        ready.add(str(kernel_file(tmp_path / "other", "6.13.0")), "mine", boots=fails)
    assert ready.images() == [ours]
    assert [one.name for one in ours.folder.parent.iterdir() if one.name[0] != "."] == [ours.folder.name]


def test_a_path_is_a_kernel_too(tmp_path: Path) -> None:
    assert kernel_override(str(kernel_file(tmp_path / "bzImage"))) == [f"emulate.kernel={VERSION}"]
    assert kernel_override("6.12") == ["emulate.kernel=6.12"]
    assert kernel_override(None) == []


def test_what_is_no_kernel_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no kernel")
    with pytest.raises(InputError, match="not a kernel") as failure:
        ready.add(str(tmp_path / "text"))
    assert "bzImage or vmlinux" in failure.value.why
    with pytest.raises(InputError, match="no such file"):
        ready.add(str(tmp_path / "nothing"))
    (tmp_path / "a.deb").write_text("no package")
    with pytest.raises(InputError, match="not a kernel's package"):
        ready.add(str(tmp_path / "a.deb"))


def test_the_newest_package_of_debian_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    told = "\n".join(
        ["linux-image-6.1.0-9-cloud-amd64", "linux-image-6.1.0-56-cloud-amd64", "linux-image-6.1.0-99-amd64",
         "linux-image-6.1.0-70-cloud-amd64-unsigned", "linux-image-6.12.3+deb12-cloud-amd64"]
    )  # fmt: skip
    done = subprocess.CompletedProcess([], 0, told, "")
    monkeypatch.setattr(subprocess, "run", lambda *arguments, **options: done)
    assert debian.newest_package("6.1") == "linux-image-6.1.0-56-cloud-amd64"
    assert debian.newest_package("6.12") == "linux-image-6.12.3+deb12-cloud-amd64"
    assert debian.newest_package("5.10") is None


def test_without_qemu_a_ready_kernel_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ready.add(str(kernel_file(tmp_path / "bzImage")), "mine")
    monkeypatch.setattr(machine, "QEMU", "no-such-qemu")
    with pytest.raises(RunFailed, match="no-such-qemu is not installed") as failure:
        find("mine")
    assert "apt-get install" in failure.value.hint


def test_a_kernel_that_is_not_there_says_how_to_get_it() -> None:
    with pytest.raises(DumbbellError, match=r"there is no kernel debian-6\.12") as failure:
        find("debian-6.12")
    assert failure.value.hint == "dumbbell kernel add debian-6.12 fetches it"


KERNEL = Kernel(
    name="mine",
    version="6.12.1",
    path=Path("/kernel"),
    hash="ab",
    patches=(),
    algorithms=("bbr", "cubic", "reno"),
    qdiscs=(),
    machine=machine.Machine(Path("/qemu"), Path("/kernel"), Path("/initrd"), Path("/snapshot")),
    loads_bpf=True,
)


def refused(kernel: Kernel, *overrides: str) -> list[str]:
    scenario = dumbbell.load("single-flow", overrides)
    found = [*refusals.check(scenario, kernel), *refusals.check_ready(scenario, dumbbell.expand(scenario))]
    return [f"{one.key}: {one.what}" for one in found]


def test_a_ready_kernel_takes_bpf_programs_where_it_can() -> None:
    assert refused(KERNEL, "flows.0.cc=bbr3") == []
    (said,) = refused(replace(KERNEL, loads_bpf=False), "flows.0.cc=bbr3")
    assert said.endswith("bbr3: the kernel mine loads no congestion controls in BPF")
    (said,) = refused(KERNEL, "flows.0.cc=vegas")
    assert said.endswith("the kernel mine has no such congestion control")


def test_a_virtual_machine_has_no_programs() -> None:
    flow = {"from": "h1", "to": "h2", "command": "iperf3 -c {server} -p {port}"}
    topology = {"kind": "path", "rtt": "20 ms", "bottleneck": {"rate": "20 Mbit/s"}}
    loaded = dumbbell.load({"name": "x", "duration": "1 s", "topology": topology, "flows": [flow]})
    (problem,) = refusals.check_ready(loaded, dumbbell.expand(loaded))
    assert problem.key == "flows.0.command"
    assert "no programs" in problem.what
    flow, programs = {"from": "h1", "to": "h2"}, [{"node": "h2", "command": "sleep 1"}]
    nodes: dict[str, object] = {"h1": {}, "h2": {}}
    links = [{"between": ["h1", "h2"], "rate": "20 Mbit/s"}]
    drawn = {"kind": "graph", "nodes": nodes, "links": links}
    loaded = dumbbell.load({"name": "x", "duration": "1 s", "topology": drawn, "flows": [flow], "programs": programs})
    (problem,) = refusals.check_ready(loaded, dumbbell.expand(loaded))
    assert problem.key == "programs.0.command"
    assert "no programs" in problem.what
