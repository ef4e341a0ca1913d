"""The engine of ready kernels in real time: what it refuses, and that a boot which never ends is noticed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import dumbbell
from dumbbell.doctor import kernels as doctor
from dumbbell.doctor.finding import Level
from dumbbell.engines.kvm.engine import KvmEngine
from dumbbell.engines.virtual.guest import NotStarted
from dumbbell.engines.virtual.ready import Snapshot
from dumbbell.kernels import ready
from dumbbell.kernels.ready import trial
from dumbbell.kernels.ready.machine import Machine

SOFTWARE = "tcg"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def machine(folder: Path, does: str) -> Machine:
    """A machine whose QEMU is a script."""
    program = folder / "qemu"
    program.write_text(f"#!/bin/sh\n{does}\n")
    program.chmod(0o755)
    return Machine(program, folder / "kernel", folder / "initrd", folder / "snapshot")


def test_a_kernel_that_is_not_ready_is_refused_by_its_key() -> None:
    for overrides, wrong in (([], "needs a ready kernel"), (["emulate.kernel=6.12"], "6.12 is no ready kernel")):
        scenario = dumbbell.load("single-flow", overrides)
        plan = KvmEngine.capabilities.settle(dumbbell.expand(scenario))
        (problem,) = KvmEngine().check(scenario, plan)
        assert problem.key == "emulate.kernel"
        assert wrong in problem.what
        assert "dumbbell kernel add debian-6.12" in problem.hint


def test_without_the_device_there_is_no_boot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "KVM", tmp_path / "kvm")
    told = ready.why_not_in_real_time(machine(tmp_path, "touch started"))
    assert told == f"there is no {tmp_path}/kvm: this machine's CPU, hypervisor or kernel offers no virtual machines"
    assert ready.closed("tcg") is None
    assert doctor.real_time().level is Level.WARN


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open any device")
def test_a_device_of_others_says_who_may_open_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kvm").touch(mode=0)
    monkeypatch.setattr(trial, "KVM", tmp_path / "kvm")
    assert "the group kvm" in (ready.closed() or "")


def test_a_machine_that_hangs_is_given_up(tmp_path: Path) -> None:
    told = ready.why_not_in_real_time(machine(tmp_path, "exec sleep 60"), SOFTWARE, 0.2)
    assert told == "it did not boot within 0.2 s (the virtual machine is silent)"


def test_a_machine_that_ends_says_so(tmp_path: Path) -> None:
    told = ready.why_not_in_real_time(machine(tmp_path, "echo no KVM >&2; exit 1"), SOFTWARE, 10)
    assert told == "it did not boot within 10 s (the virtual machine has ended: no KVM)"


def test_doctor_tries_no_kernel_where_none_is_added() -> None:
    found = doctor.real_time(SOFTWARE)
    assert found.level is Level.WARN
    assert "no kernel is added" in found.detail
    assert found.fix == "dumbbell kernel add debian-6.12"


def test_a_snapshot_that_somebody_removed_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotStarted, match="the snapshot of the kernel is gone") as failure:
        Snapshot(machine(tmp_path, "true"), ["plan.json"])
    assert "run it again" in failure.value.hint
