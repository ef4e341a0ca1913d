"""Tests of crates that measure this machine's kernel against the wall clock: `cargo test` alone leaves them out."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.real_time

ROOT = Path(__file__).parents[2]
ORACLE = (ROOT / "crates/bpf/tests/oracle/main.rs").read_text(encoding="utf-8")
PATHS = re.findall(r'"(.+)",', ORACLE.partition("const NAMES")[2].partition("];")[0])
"""Paths of the oracle, each a test of its own."""
assert PATHS, "the oracle declares its paths otherwise"
THOROUGH = {"30 flows", "IPv6", "200 Mbit/s x 500 ms", "BBRv3, 1 % random loss"}
assert set(PATHS) > THOROUGH


def cargo(target: str, *words: str) -> str:
    """Runs a test of a crate. Returns what it prints."""
    # The selection and the compiler are those of `make test-rust`, which has compiled all of it.
    call = ["cargo", "test", "--release", "--locked", "--quiet", "--workspace", "--test", target, "--", *words]
    env = os.environ | {"RUSTC_WRAPPER": str(ROOT / "tools" / "rustc-tests")}
    done = subprocess.run(
        call, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:]
    if "SKIPPED" in done.stdout:
        pytest.skip(done.stdout.strip().splitlines()[-1])
    return done.stdout


@pytest.mark.alone
@pytest.mark.skipif(os.geteuid() != 0, reason="loading BPF programs takes root")
@pytest.mark.parametrize(
    "path", [pytest.param(path, marks=[pytest.mark.thorough] if path in THOROUGH else []) for path in PATHS]
)
def test_the_history_is_what_an_oracle_in_the_kernel_saw(path: str) -> None:
    assert cargo("oracle", "--exact", path).count("\n") >= 2


@pytest.mark.skipif(os.geteuid() != 0, reason="loading BPF programs takes root")
def test_our_reno_and_cubic_answer_as_the_kernels() -> None:
    """Each answer is compared in the kernel, at the callback: other tests may run beside it."""
    assert "twins_cubic" in cargo("twins")


@pytest.mark.alone
def test_flows_over_loopback_keep_their_schedule() -> None:
    assert "test result: ok" in cargo("live")


@pytest.mark.alone
@pytest.mark.skipif(os.geteuid() != 0, reason="loading BPF programs takes root")
def test_the_probe_has_a_row_for_each_acknowledgement() -> None:
    assert "test result: ok" in cargo("loopback")
