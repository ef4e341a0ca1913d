"""The wheel of QUIC stacks: a branch of a stack against main, from both wheels alone, as docs/how-to/quic.md says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from root import REPOSITORY

MOST_BYTES = 15_000_000
IN_IT = (
    "dumbbell_quic/sources/Cargo.toml",
    "dumbbell_quic/sources/quic/Cargo.lock",
    "dumbbell_quic/sources/quic/src/stacks/noq.rs",
    "dumbbell_quic/sources/crates/sim/src/lib.rs",
    "dumbbell_quic/sources/bpf/algorithms/cubic/algorithm.toml",
)


@pytest.fixture(scope="session")
def quic_wheel() -> Path:
    """The wheel that `make quic-wheel` has built."""
    (found,) = (REPOSITORY / "dist").glob("dumbbell_quic-*.whl")
    return found


def test_it_holds_the_program_and_what_builds_it_again(quic_wheel: Path) -> None:
    assert quic_wheel.stat().st_size < MOST_BYTES
    with zipfile.ZipFile(quic_wheel) as file:
        names = set(file.namelist())
    assert set(IN_IT) <= names
    assert any(name.endswith(".data/scripts/dumbbell-quic") for name in names)
    assert not [name for name in names if "/tests/" in name or "/target/" in name]


def test_a_branch_is_compared_with_main_from_wheels_alone(wheel: Path, quic_wheel: Path, tmp_path: Path) -> None:
    """The branch's window is reduced by half after a loss: networks on which packets are lost differ."""
    told = subprocess.run(
        ["cargo", "metadata", "--locked", "--format-version", "1", "--manifest-path", REPOSITORY / "quic/Cargo.toml"],
        capture_output=True, check=True,
    ).stdout  # fmt: skip
    (tree,) = (Path(one["manifest_path"]).parent for one in json.loads(told)["packages"] if one["name"] == "noq-proto")
    changed = Path(shutil.copytree(tree, tmp_path / "noq-proto")) / "src" / "congestion" / "cubic.rs"
    text = changed.read_text()
    assert text.count("const BETA_CUBIC: f64 = 0.7;") == 1
    changed.write_text(text.replace("const BETA_CUBIC: f64 = 0.7;", "const BETA_CUBIC: f64 = 0.5;"))
    venv = tmp_path / "venv"
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "PATH": f"{venv}/bin:{os.environ['PATH']}"}
    for name in ("DUMBBELL_QUIC", "PYTHONPATH", "VIRTUAL_ENV", "CARGO_TARGET_DIR"):
        environment.pop(name, None)

    def call(*words: str) -> str:
        done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{words}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
        return done.stdout

    call(sys.executable, "-m", "venv", str(venv))
    call("pip", "install", "--quiet", str(wheel), str(quic_wheel))
    assert "noq@branch" in call("dumbbell", "quic", "build", "noq", "noq-proto")
    call("dumbbell", "run", "quic-branch", "--engine", "simulate", "--output", "studies", "--no-report")
    (study,) = (tmp_path / "studies").glob("quic-branch-*")
    compared = json.loads(call("dumbbell", "compare", str(study), "--by", "flows.0.stack", "--differing", "--json"))
    assert compared["cells"]["both"] == 40
    assert compared["cells"]["equal"] < 20
    assert compared["metrics"]
