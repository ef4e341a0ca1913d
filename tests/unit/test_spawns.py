"""Each place that starts a program says whose files the program reads, and what limits it."""

from __future__ import annotations

import ast
import ctypes
import re
from pathlib import Path

import pytest

from dumbbell.core import core

ROOT = Path(__file__).parents[2]


def has_landlock() -> bool:
    """True if the kernel tells a version of Landlock (landlock_create_ruleset(2))."""
    return int(ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1)) > 0


LIMITED = "`run_helper`: 20 s of CPU, 2 GiB, 64 MiB of output, 2 minutes"
OURS = "a process of dumbbell's own"
AGREED = "what a scenario runs: a user who ran it, or agreed, lets it do what it does"
ASKED = "a program that a user types, in a lab of the user's"
NO_FILE = "reads no file of a stranger"
KERNEL = "a kernel, or its source, that a user names on the command line in order to run it"

STACK = "the tree of a stack that a user names on the command line in order to build it"

BOUNDED = "`archives.limit`: 600 s of CPU, 2 GiB, 512 MiB a file, no devices"

PYTHON = {
    "doctor/examine.py": NO_FILE,
    "engines/realm/qdiscs.py": NO_FILE,
    "engines/realm/process.py": OURS,
    "engines/simulate/quic.py": OURS,
    "engines/virtual/machine.py": KERNEL,
    "kernels/archives.py": BOUNDED,
    "kernels/boot.py": KERNEL,
    "kernels/ready/boot.py": KERNEL,
    "kernels/ready/debian.py": NO_FILE,
    "kernels/ready/machine.py": NO_FILE,
    "kernels/source.py": BOUNDED,
    "kernels/steps.py": KERNEL,
    "kernels/tools.py": NO_FILE,
    "labs/owner.py": OURS,
    "labs/shell/session.py": ASKED,
    "quic/build.py": STACK,
    "quic/program.py": NO_FILE,
    "routing/frr.py": NO_FILE,
    "server/children.py": OURS,
    "server/scratch.py": NO_FILE,
    "server/terminals.py": ASKED,
    "studies/planning.py": OURS,
}
RUST = {
    "agent/src/program.rs": ASKED,
    "agent/src/record.rs": OURS,
    "agent/src/serve.rs": OURS,
    "bpf/src/compile.rs": LIMITED,
    "bpf/src/helper.rs": LIMITED,
    "core-py/src/helper.rs": LIMITED,
    "lab/src/hops.rs": NO_FILE,
    "lab/src/sandbox/check.rs": OURS,
    "lab/src/sandbox/ids.rs": NO_FILE,
    "ready-init/src/relay.rs": OURS,
    "routers/src/namespaces.rs": OURS,
    "routers/src/program.rs": AGREED,
    "supervisor/src/child.rs": OURS,
    "supervisor/src/lib.rs": OURS,
    "supervisor/src/nat/mod.rs": OURS,
    "supervisor/src/nat/stack.rs": NO_FILE,
    "traffic/src/kinds/quic/end.rs": OURS,
    "traffic/src/process.rs": AGREED,
}
HELPED = {"kernels/steps.py", "routing/frr.py"}
"""Sources of strangers go to a compiler, and configurations to their daemon's check, by `run_helper` alone."""

SUBPROCESS = {"Popen", "call", "check_call", "check_output", "getoutput", "run"}
OTHERS = re.compile(r"(create_subprocess_\w+|exec[lv]\w*|fork|forkpty|popen|posix_spawnp?|spawn[lv]\w*|system)")

MENTIONS = re.compile(rf"subprocess\.|multiprocessing\.|{OTHERS.pattern}\(")


def starts(node: ast.AST) -> bool:
    """Whether a call starts a process."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    of, name = ast.unparse(node.func.value), node.func.attr
    return (
        (of == "subprocess" and name in SUBPROCESS)
        or (of in ("os", "pty", "asyncio") and OTHERS.fullmatch(name) is not None)
        or (of == "multiprocessing" and name in ("get_context", "Process", "Pool"))
    )


def test_python_starts_programs_in_these_places_alone() -> None:
    root = ROOT / "python" / "dumbbell"
    found, helped = set(), set()
    for file in root.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"from (subprocess|os|pty) import .*(Popen|run\b|call|exec|fork|spawn|system)", text), file
        if MENTIONS.search(text) and any(map(starts, ast.walk(ast.parse(text)))):
            found.add(str(file.relative_to(root)))
        if "core.run_helper(" in text:
            helped.add(str(file.relative_to(root)))
    assert found == PYTHON.keys()
    assert helped == HELPED


def test_rust_starts_programs_in_these_places_alone() -> None:
    root = ROOT / "crates"
    found = set()
    for file in root.glob("*/src/**/*.rs"):
        text = file.read_text(encoding="utf-8").partition("#[cfg(test)]")[0]
        code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//"))
        if re.search(r"Command::new\(|\bfork\(\)|\bexec[lv]\w*\(|posix_spawn|\.spawn\(\)\?", code):
            found.add(str(file.relative_to(root)))
    assert found == RUST.keys()


@pytest.mark.skipif(not has_landlock(), reason="this kernel has no Landlock")
def test_a_confined_helper_changes_files_of_its_folder_alone(tmp_path: Path) -> None:
    own, outside = tmp_path / "own", tmp_path / "outside"
    own.mkdir()
    outside.write_text("before")
    line = f"echo in > {own}/made; cat {outside}; echo out > {outside}; echo new > {tmp_path}/new; rm {outside}"
    _, said = core.run_helper(["/bin/sh", "-c", line], own, {"PATH": "/usr/bin:/bin"}, confined=True)
    assert (own / "made").read_text() == "in\n"
    assert outside.read_text() == "before"
    assert not (tmp_path / "new").exists()
    assert "before" not in said
