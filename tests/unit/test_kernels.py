"""Kernels: what their names, their configuration and their sources are, and which there are."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from dumbbell.errors import InputError, RunFailed
from dumbbell.kernels import build, cache, config, find, known, remove, source
from dumbbell.kernels.additions import additions
from dumbbell.kernels.names import checked, version_in, version_of
from dumbbell.kernels.programs import Program
from tests.unit.fake_tree import fake_make, fake_tree


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test has a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A make that pretends."""
    monkeypatch.setenv("PATH", f"{fake_make(tmp_path / 'bin')}:/usr/bin:/bin")


def silent(event: object) -> None:
    pass


@pytest.mark.parametrize(
    ("text", "version"),
    [("6.12.94", (6, 12, 94)), ("6.1", (6, 1)), ("6.16-rc1", (6, 16)), ("7.0.0-dumbbell", (7, 0, 0))],
)
def test_versions(text: str, version: tuple[int, ...]) -> None:
    assert version_of(text) == version


def test_the_version_is_that_of_the_makefile() -> None:
    text = "# SPDX\nVERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 94\nEXTRAVERSION = -rc1\nNAME = Baby\n"
    assert version_in(text) == "6.12.94-rc1"
    assert version_in("VERSION = 6\nPATCHLEVEL = 1\nSUBLEVEL =\nEXTRAVERSION =\n") == "6.1"
    assert version_in("all:\n\ttrue\n") == ""


@pytest.mark.parametrize("name", ["", "../6.12", "-x", "a b", "x" * 65, "6.12\n"])
def test_a_name_is_no_path(name: str) -> None:
    with pytest.raises(InputError, match="cannot be the name of a kernel"):
        checked(name)


def test_patches_are_for_ranges_of_versions() -> None:
    names = {version: [patch.name for patch in additions().patches(version)] for version in ((6, 1), (6, 12), (6, 13))}
    assert "um-fp-size.patch" in names[6, 1]
    assert "um-fp-size.patch" in names[6, 12]
    assert names[6, 13] == [name for name in names[6, 12] if name != "um-fp-size.patch"]


def test_every_patch_is_in_the_series_and_under_the_licence() -> None:
    folder = additions().kernel / "patches"
    assert {patch.name for patch in additions().patches((6, 1))} == {path.name for path in folder.glob("*.patch")}
    sources = [*folder.glob("*.patch"), *additions().kernel.glob("src/*.c"), *additions().kernel.glob("include/*/*.h")]
    for path in sources:
        assert path.read_text().splitlines()[0].count("SPDX-License-Identifier: GPL-2.0-only") == 1, path


def test_settings_of_the_user_win() -> None:
    merged = config.merged(
        ["CONFIG_HZ_250=y", "CONFIG_A=y", "CONFIG_B=n"], config.lines(["HZ=1000", "CONFIG_A=n", "C=3"])
    )
    assert merged.splitlines() == ["CONFIG_B=n", "CONFIG_HZ_1000=y", "CONFIG_HZ=1000", "CONFIG_A=n", "CONFIG_C=3"]


@pytest.mark.parametrize("setting", ["HZ", "HZ=", "=1", "A B=y"])
def test_what_is_no_setting_is_refused(setting: str) -> None:
    with pytest.raises(InputError, match=f"--config {setting}: no setting"):
        config.lines([setting])


def test_what_a_configuration_does_not_take_is_found() -> None:
    settings = config.read("CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C=3\n")
    assert config.unmet(["CONFIG_A=y", "CONFIG_B=n", "CONFIG_C=4", "CONFIG_D=y"], settings) == [
        "CONFIG_C=4",
        "CONFIG_D=y",
    ]
    assert config.qdiscs({"CONFIG_NET_SCH_FQ": "y", "CONFIG_NET_SCH_FIFO": "y", "CONFIG_NET_SCH_HTB": "n"}) == (
        "bfifo",
        "fq",
        "pfifo",
    )


def test_a_debian_source_that_is_missing_is_named_with_all_ways_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "DEBIAN", tmp_path)
    with pytest.raises(InputError) as failure:
        build.order("6.12")
    assert "sudo apt-get install linux-source-6.12" in failure.value.hint
    assert "--source" in failure.value.hint
    assert str(tmp_path) in failure.value.why


def test_what_is_no_source_is_refused(tmp_path: Path) -> None:
    for path, wrong in (
        (tmp_path, "no source of Linux"),
        (tmp_path / "x", "no such file"),
        (Path(__file__), "tarball"),
    ):
        with pytest.raises(InputError, match=wrong):
            source.opened(path)
    with pytest.raises(InputError, match=r"Linux 5\.15\.0") as failure:
        source.opened(fake_tree(tmp_path / "old", "5.15.0"))
    assert "6.1 or later" in failure.value.why


def test_a_tarball_is_a_source(tmp_path: Path) -> None:
    fake_tree(tmp_path / "linux-6.12.7")
    tarball = tmp_path / "linux-6.12.7.tar.gz"
    subprocess.run(["tar", "-czf", tarball, "-C", tmp_path, "linux-6.12.7"], check=True)
    found = source.opened(tarball)
    assert (found.version, found.prefix) == ("6.12.7", "linux-6.12.7")


def test_patches_need_a_name_of_their_own(tmp_path: Path) -> None:
    tree = fake_tree(tmp_path / "tree")
    with pytest.raises(InputError, match="needs a name of its own") as failure:
        build.order(None, tree, settings=["HZ=1000"])
    assert "--name 6.12.7-mine" in failure.value.hint
    patch = tmp_path / "x.patch"
    patch.write_text("no diff\n")
    with pytest.raises(InputError, match="no patch"):
        build.order(None, tree, [patch], call="mine")


def test_the_hash_depends_on_all_that_goes_in(tmp_path: Path) -> None:
    tree = fake_tree(tmp_path / "tree")
    patch = tmp_path / "x.patch"
    patch.write_text("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n")

    def recipe(**order: object) -> object:
        wanted = build.order(None, tree, **order, call="mine")  # type: ignore[arg-type]
        return build.recipe(wanted, additions())

    found = [recipe(), recipe(patches=[patch]), recipe(settings=["HZ=1000"])]
    (tree / "net" / "tcp.c").write_text("int x;\n")
    found.append(recipe())
    (tree / "net" / "tcp.o").write_text("what a build leaves is no source")
    assert recipe() == found[-1]
    assert len({str(one) for one in found}) == 4


@pytest.mark.usefixtures("make")
def test_a_kernel_is_built_once_and_found_by_its_name(tmp_path: Path) -> None:
    events: list[dict[str, object]] = []
    wanted = build.order(None, fake_tree(tmp_path / "tree"), call="mine")
    base = build.build(wanted, lambda event: events.append(dict(event)))
    assert base.names == ("mine",)
    assert [event["done"] for event in events if event["event"] == "objects"] == [1, 2, 3]
    steps = [event["step"] for event in events if event["event"] == "step"]
    assert steps[:2] == ["look at the source", "unpack"]
    assert steps[-2:] == ["compile", "keep what can be linked again"]
    assert (base.folder / "kit" / "include/linux/tcp.h").is_file()
    assert not (base.folder / "tree").exists()

    events.clear()
    again = build.build(build.order(None, tmp_path / "tree", call="too"), lambda event: events.append(dict(event)))
    assert again.folder == base.folder
    assert again.names == ("mine", "too")
    assert [event["step"] for event in events] == ["look at the source"]
    assert [one.base.names for one in known()] == [("mine", "too")]

    # A name that another kernel takes over leaves nothing behind that nobody can name.
    (tmp_path / "tree" / "net" / "tcp.c").write_text("int x;\n")
    build.build(build.order(None, tmp_path / "tree", call="mine"), silent)
    assert sorted(one.base.names for one in known()) == [("mine",), ("too",)]
    assert remove("too") == [base.folder]
    assert not base.folder.exists()
    with pytest.raises(InputError, match="there is no kernel too") as failure:
        find("too")
    assert "dumbbell kernel build too builds it" in failure.value.hint
    assert "built are mine" in failure.value.why


@pytest.mark.usefixtures("make")
def test_a_kernel_of_other_patches_is_to_be_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = fake_tree(tmp_path / "tree")
    build.build(build.order(None, tree, settings=["HZ=1000"], call="mine"), silent)
    monkeypatch.setattr("dumbbell.kernels.additions.Additions.base_hash", lambda self, version: "another")
    assert [one.is_current for one in known()] == [False]
    with pytest.raises(InputError, match="built by another version of dumbbell") as failure:
        find("mine")
    assert f"--source {tree} --name mine" in failure.value.hint


@pytest.mark.usefixtures("make")
def test_a_failed_step_has_its_last_lines_and_the_log(tmp_path: Path, own_cache: Path) -> None:
    tree = fake_tree(tmp_path / "tree")
    (tree / "fails").touch()
    with pytest.raises(RunFailed, match='the step "compile" failed') as failure:
        build.build(build.order(None, tree, call="mine"), silent)
    assert failure.value.why.splitlines()[0] == "net/ipv4/tcp.c:7:1: error: it does not compile"
    log = Path(failure.value.hint.rpartition(" ")[2])
    assert "it does not compile" in log.read_text()
    bases = own_cache / "dumbbell/kernels/bases"
    assert [path for path in bases.iterdir() if not path.name.startswith(".lock-")] == []


@pytest.mark.usefixtures("make")
def test_a_setting_that_is_not_taken_is_an_error(tmp_path: Path) -> None:
    tree = fake_tree(tmp_path / "tree")
    (tree / "refuses").touch()
    with pytest.raises(RunFailed, match='the step "configure" failed') as failure:
        build.build(build.order(None, tree, call="mine"), silent)
    assert "CONFIG_UML_TIME_TRAVEL_SUPPORT=y: Linux 6.12.7 does not take it" in failure.value.why


def test_what_is_missing_is_named_with_what_gets_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = fake_tree(tmp_path / "tree")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RunFailed, match="tools are missing") as failure:
        build.build(build.order(None, tree, call="mine"), silent)
    assert "flex, bison" in failure.value.why
    assert "tools/install kernel" in failure.value.hint


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_a_build_that_is_stopped_leaves_no_process_and_no_kernel(
    number: int, code: int, tmp_path: Path, own_cache: Path
) -> None:
    tree, hangs = fake_tree(tmp_path / "tree"), tmp_path / "hangs"
    (tree / "hangs").touch()
    path = f"{fake_make(tmp_path / 'bin')}:/usr/bin:/bin"
    command = [sys.executable, "-m", "dumbbell", "kernel", "build", "--source", str(tree), "--name", "mine", "--quiet"]
    process = subprocess.Popen(command, env={**os.environ, "PATH": path, "HANGS": str(hangs)})
    while not hangs.exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(number)
    assert process.wait() == code
    until = time.monotonic() + 30
    while left := [one for one in psutil.process_iter(["cwd"]) if str(own_cache) in str(one.info["cwd"])]:
        assert time.monotonic() < until, left
        time.sleep(0.02)
    assert known() == []
    bases = own_cache / "dumbbell/kernels/bases"
    if number == signal.SIGINT:
        assert [one for one in bases.iterdir() if not one.name.startswith(".lock-")] == []
    with cache.making(bases / "next", lambda: None):
        assert not list(bases.glob(".partial-[!n]*"))


def test_half_a_folder_is_never_seen(own_cache: Path) -> None:
    folder = own_cache / "one"
    making = cache.making(folder, lambda: None)
    partial = making.__enter__()
    assert partial is not None
    (partial / "half").touch()
    assert making.__exit__(ValueError, ValueError("midway"), None) is False
    assert not partial.exists()
    assert not folder.exists()
    # What a build leaves that is killed.
    (own_cache / ".partial-two").mkdir()
    with cache.making(folder, lambda: None) as partial:
        assert partial is not None
        (partial / "whole").touch()
    assert not (own_cache / ".partial-two").exists()
    assert (folder / "whole").exists()
    with cache.making(folder, lambda: None) as partial:
        assert partial is None


def test_the_name_in_the_kernel_fits_and_is_nobody_else_s() -> None:
    one, other = Program("my very long name.c", b"a"), Program("my very long name.c", b"b")
    assert one.registered != other.registered
    assert len(one.registered) <= 15
    assert one.registered.startswith("my_very_l_")
    assert Program("cubic", b"a").registered != "cubic"
