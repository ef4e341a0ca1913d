"""The wheel: what is in it, and that it works where nothing else of ours is."""

from __future__ import annotations

import json
import re
import sys
import zipfile
from pathlib import Path

import pytest
from root import REPOSITORY, USER, Root, copy_kernel

DUMBBELL = "/opt/dumbbell/bin/dumbbell"
MOST_BYTES = 30_000_000
IN_IT = (
    "dumbbell/_core.abi3.so",
    "dumbbell/py.typed",
    "dumbbell/report/assets/report.js",
    "dumbbell/report/assets/study.js",
    "dumbbell/scenario/bundled/cellular.trace",
    "dumbbell/kernels/guest_init",
    "dumbbell/kernels/ready_init",
    "dumbbell/kernels/guest_links.so",
    "dumbbell/kernels/qemu_turns.so",
    "dumbbell/kernels/kernel/LICENSE",
    "dumbbell/kernels/kernel/patches/series.toml",
    "dumbbell/kernels/bpf/algorithms/bbr3/bbr3.bpf.c",
    "dumbbell/kernels/bpf/LICENSE-GPL-2.0",
)


def test_one_file_serves_every_python_and_many_distributions(wheel: Path) -> None:
    found = re.fullmatch(r"dumbbell-[0-9.]+-cp311-abi3-manylinux_2_([0-9]+)_x86_64\.whl", wheel.name)
    assert found, wheel.name
    assert int(found[1]) <= 36, "Debian 12 has glibc 2.36"
    assert wheel.stat().st_size < MOST_BYTES


def test_it_holds_all_that_a_run_needs_and_no_more(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        names = set(file.namelist())
        metadata = file.read(next(name for name in names if name.endswith(".dist-info/METADATA"))).decode()
    assert set(IN_IT) <= names
    assert any(re.fullmatch(r"dumbbell\.libs/libelf-\w+\.so[.0-9]*", name) for name in names)
    unwanted = [name for name in names if re.search(r"\.pyc$|__pycache__|/tests?/|\.partial|^(?!dumbbell[-./])", name)]
    assert unwanted == []
    for line in (
        "Provides-Extra: cluster",
        "Provides-Extra: query",
        "Requires-Python: >=3.11",
        "License-File: LICENSE",
    ):
        assert f"{line}\n" in metadata


@pytest.mark.parametrize("user", [None, USER], ids=["root", "ordinary user"])
class TestInstalled:
    """Root has installed it, and each user runs it in a directory of their own."""

    def test_it_simulates_and_reports(self, installed: Root, user: str | None) -> None:
        told = installed.run(
            f"""cd; {DUMBBELL} run bbr-vs-cubic --engine simulate --output simulated --json;
            {DUMBBELL} report simulated/* --format pdf >&2; {DUMBBELL} runs list --in simulated >&2""",
            user,
        )
        summary = json.loads(told.stdout)
        assert summary["verdict"] == "valid"
        home = "/root" if user is None else "/home/ann"
        folder = installed.path(f"{home}/{summary['run_dir']}")
        script = (REPOSITORY / "python/dumbbell/report/assets/report.js").read_bytes().strip()
        assert script in (folder / "report.html").read_bytes()
        assert (folder / "report.pdf").read_bytes().startswith(b"%PDF")

    def test_it_emulates(self, installed: Root, user: str | None) -> None:
        """The verdict is about this machine's load; that there are figures of all flows is about the wheel."""
        told = installed.run(
            f"cd; {DUMBBELL} run bbr-vs-cubic --set duration='4 s' --output emulated --json", user, check=False
        )
        assert told.returncode in (0, 3), told.stderr
        summary = json.loads(told.stdout)
        assert [flow["cc"] for flow in summary["flows"]] == ["cubic", "bbr"]
        assert all(flow["received_bytes"] > 1_000_000 for flow in summary["flows"])

    def test_it_runs_in_virtual_time(self, installed: Root, user: str | None) -> None:
        """With a kernel that this machine has built: the wheel's additions are those that are linked to it."""
        copy_kernel(installed.path("/kernels"))
        call = f"{DUMBBELL} run bbr-vs-cubic --set duration='3 s' --engine virtual --output virtual --json"
        summary = json.loads(installed.run(f"cd; {call}", user, {"XDG_CACHE_HOME": "/kernels"}).stdout)
        assert summary["verdict"] == "valid"

    def test_what_is_not_in_it_is_named_with_what_gets_it(self, installed: Root, user: str | None) -> None:
        installed.write("/calm.bpf.c", (REPOSITORY / "docs" / "tutorial" / "calm.bpf.c").read_bytes())
        told = installed.run(f"cd; {DUMBBELL} cc build /calm.bpf.c -o calm.bpf.o", user, check=False)
        assert told.returncode == 1
        assert "apt-get install clang" in told.stderr
        told = installed.run(f"cd; {DUMBBELL} kernel build", user, check=False)
        assert told.returncode == 2
        assert "sudo apt-get install linux-source-6.12" in told.stderr
        told = installed.run(f"cd; {DUMBBELL} doctor", user, check=False)
        assert re.search(r"apt-get install gcc make .*libc6-dev", told.stdout)
        assert "make build" not in told.stdout

    def test_importing_it_imports_nothing_else(self, installed: Root, user: str | None) -> None:
        code = "import sys; before = set(sys.modules); import dumbbell; print(*set(sys.modules) - before)"
        told = installed.run(f"cd; /opt/dumbbell/bin/python -c '{code}'", user).stdout
        assert {name for name in told.split() if name.partition(".")[0] not in sys.stdlib_module_names} == {"dumbbell"}


def test_who_may_not_read_it_is_told_so(installed: Root) -> None:
    core = "/opt/dumbbell/lib/python3*/site-packages/dumbbell/_core.abi3.so"
    installed.run(f"chmod go-r {core}")
    try:
        told = installed.run(f"cd; {DUMBBELL} run bbr-vs-cubic --engine simulate", USER, check=False)
        assert told.returncode == 1
        assert "error: this user may not read the compiled core" in told.stderr
        doctor = installed.run(f"{DUMBBELL} doctor", check=False).stdout
        assert "_core.abi3.so is closed to them (mode 711)" in doctor
        assert re.search(r"fix: chmod a\+r \S+_core\.abi3\.so", doctor)
    finally:
        installed.run(f"chmod go+r {core}")
    assert re.search(r"ok +other users", installed.run(f"{DUMBBELL} doctor", check=False).stdout)


def test_a_shell_completes_it(installed: Root) -> None:
    installed.run("cd; PATH=/opt/dumbbell/bin:$PATH bash -c 'dumbbell --install-completion; true'", USER)
    script = installed.run("cat /home/ann/.bash_completions/dumbbell.sh /home/ann/.bashrc").stdout
    assert "_DUMBBELL_COMPLETE=complete_bash" in script
