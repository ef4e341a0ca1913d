"""Debian's own kernel, unmodified, in a virtual machine whose clock counts instructions."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress

import psutil
import pytest
from harness import ORDINARY, Place, place, until
from scenarios import flow, path

import dumbbell
from dumbbell.kernels import cache, find, ready
from dumbbell.kernels.ready import machine

pytestmark = pytest.mark.xdist_group("ready")

NAME = "debian-6.12"
ENGINE = ("--engine", "virtual", "--kernel", NAME)
SCENARIO = """
name = "ready"
duration = "2 s"
topology = { kind = "dumbbell", pairs = 2, rtt = "20 ms", bottleneck = { rate = "20 Mbit/s" } }
[[flows]]
from = "s1"
to = "r1"
cc = "bbr3"
[[flows]]
from = "s2"
to = "r2"
cc = "bbr"
"""


@pytest.fixture(scope="module", autouse=True)
def kernel() -> ready.Image:
    """The kernel of Debian's package, as `dumbbell kernel add` fetches it."""
    return ready.named(NAME) or ready.add(NAME)


@pytest.fixture(scope="module")
def first_run() -> Iterator[dumbbell.Run]:
    """One run, on a machine that may be idle."""
    with place(ordinary=False) as here:
        run = here.run(SCENARIO, *ENGINE)
        assert run.verdict == "valid", run.summary["reasons"]
        yield run


@pytest.fixture(scope="module")
def first(first_run: dumbbell.Run) -> Mapping[str, str]:
    """The digests of the tables of that run."""
    return digests(first_run)


def digests(run: dumbbell.Run) -> Mapping[str, str]:
    tables = sorted(run.directory.glob("*.parquet"))
    return {table.name: hashlib.sha256(table.read_bytes()).hexdigest() for table in tables}


def test_bbr3_runs_by_bpf_in_debians_kernel(first_run: dumbbell.Run) -> None:
    assert first_run.acks is not None
    assert set(first_run.acks["flow"].unique()) == {"f1", "f2"}
    told = first_run.manifest["kernel"]
    assert told["version"].startswith("6.12.")
    assert told["sha256"] == find(NAME).hash
    assert told["memory_bytes"] < 400 << 20


@pytest.mark.thorough
def test_a_run_is_the_same_beside_a_busy_machine(here: Place, first: Mapping[str, str]) -> None:
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3)]
    try:
        run = here.run(SCENARIO, *ENGINE)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert digests(run) == first
    checks = {one["check"]: one for one in run.summary["checks"]}
    assert "busy" in checks["virtual-cpu"]["measured"]


HOLD_UP = r"""
/* Holds the threads of QEMU up: that of the virtual CPU and the main loop's, at random moments, for up to 0.4 ms. */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void sleep_us(int at_least, int range)
{
    struct timespec time = { 0, (at_least + rand() % range) * 1000 };
    nanosleep(&time, NULL);
}

static void hold_up(int number) { sleep_us(0, 400); }

static pid_t of_cpu(void)
{
    pid_t found = 0;
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *one; threads && !found && (one = readdir(threads));) {
        char path[300], name[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", one->d_name);
        FILE *file = fopen(path, "r");
        if (file && fgets(name, sizeof name, file) && strstr(name, "/TCG"))
            found = atoi(one->d_name);
        if (file)
            fclose(file);
    }
    if (threads)
        closedir(threads);
    return found;
}

static void *disturb(void *none)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    srand(getpid() ^ time(NULL));
    for (pid_t cpu = 0;;) {
        sleep_us(100, 400);
        if (cpu)
            syscall(SYS_tgkill, getpid(), rand() % 4 ? cpu : getpid(), SIGRTMAX - 3);
        else
            cpu = of_cpu();
    }
    return NULL;
}

__attribute__((constructor)) static void start(void)
{
    char name[32] = "";
    FILE *file = fopen("/proc/self/comm", "r");
    int is_qemu = file && fgets(name, sizeof name, file) && !strncmp(name, "qemu", 4);
    if (file)
        fclose(file);
    if (!is_qemu)
        return;
    pthread_t thread;
    sigaction(SIGRTMAX - 3, &(struct sigaction){ .sa_handler = hold_up, .sa_flags = SA_RESTART }, NULL);
    pthread_create(&thread, NULL, disturb, NULL);
}
"""


@pytest.mark.thorough
def test_threads_of_qemu_that_are_held_up_change_nothing(
    here: Place, first: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bare of `qemu_turns.so`, 4 of 8 such runs were other ones."""
    library = here.directory / "hold-up.so"
    compiler = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(library)]
    subprocess.run(compiler, input=HOLD_UP, text=True, check=True)
    instead = here.directory / "bin" / machine.QEMU
    instead.parent.mkdir()
    instead.write_text(f'#!/bin/sh\nLD_PRELOAD={library}:$LD_PRELOAD exec {machine.qemu()} "$@"\n')
    instead.chmod(0o755)
    monkeypatch.setenv("PATH", f"{instead.parent}{os.pathsep}{os.environ['PATH']}")
    assert digests(here.run(SCENARIO, *ENGINE)) == first


@pytest.mark.thorough
def test_a_new_snapshot_gives_the_same_run(
    here: Place, first: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = here.directory / "cache"
    shutil.copytree(cache.root() / "images", own / "dumbbell" / "kernels" / "images")
    monkeypatch.setenv("XDG_CACHE_HOME", str(own))
    assert digests(here.run(SCENARIO, *ENGINE)) == first
    assert [folder for folder in (cache.root() / "booted").iterdir() if folder.is_dir()]


@pytest.mark.thorough
def test_a_snapshot_that_somebody_removes_meanwhile_takes_nothing_from_a_run(
    here: Place, first: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run holds what it goes on from: the test removes it before the machine has read it."""
    own = here.directory / "cache"
    there = find(NAME).machine
    assert there is not None
    boots = own / "dumbbell" / "kernels" / "booted"
    shutil.copytree(cache.root() / "images", boots.with_name("images"))
    boots.mkdir()
    # Most of the memory's file is holes.
    subprocess.run(["cp", "-a", "--sparse=always", str(there.snapshot.parent), str(boots)], check=True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(own))
    instead = here.directory / "bin" / machine.QEMU
    instead.parent.mkdir()
    gone = here.directory / "gone"
    instead.write_text(
        f'#!/bin/sh\ncase "$*" in *--version*) ;; *) until [ -e {gone} ]; do sleep 0.05; done ;; esac\n'
        f'exec {machine.qemu()} "$@"\n'
    )
    instead.chmod(0o755)
    monkeypatch.setenv("PATH", f"{instead.parent}{os.pathsep}{os.environ['PATH']}")
    with here.starting(SCENARIO, *ENGINE) as live:

        def waits() -> bool:
            # The command itself asks QEMU for its version: the run's is below the guard.
            with suppress(psutil.NoSuchProcess):
                guards = psutil.Process(live.process.pid).children()
                below = [one.name() for guard in guards for one in guard.children(recursive=True)]
                return machine.QEMU[:15] in [name[:15] for name in below]
            return False

        until(waits, 120, "the machine's start")
        for folder in [one for one in boots.iterdir() if one.is_dir()]:
            cache.discard(folder)
        gone.touch()
        assert live.end(180) in (0, 3), live.output()
    (directory,) = [one for one in (here.directory / "runs").iterdir() if one.is_dir()]
    assert digests(dumbbell.open(directory)) == first


@pytest.mark.thorough
def test_another_seed_gives_another_run(here: Place, first: Mapping[str, str]) -> None:
    run = here.run(SCENARIO, *ENGINE, "--set", "seed=2")
    assert digests(run)["packets.parquet"] != first["packets.parquet"]


@pytest.mark.thorough
def test_an_ordinary_user_needs_no_privilege(
    ordinary: Place, first: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = ordinary.directory / "cache"
    shutil.copytree(cache.root() / "images", theirs / "dumbbell" / "kernels" / "images")
    for each in [theirs, *theirs.rglob("*")]:
        os.chown(each, ORDINARY, ORDINARY)
    monkeypatch.setenv("XDG_CACHE_HOME", str(theirs))
    assert digests(ordinary.run(SCENARIO, *ENGINE)) == first


@pytest.mark.thorough
@pytest.mark.parametrize("victim", ["command", "guard", "machine"])
def test_whatever_is_killed_no_machine_stays(here: Place, victim: str) -> None:
    with here.running(path(flow(), duration="60 s"), *ENGINE) as live:
        command = psutil.Process(live.process.pid)
        (guard,) = command.children()
        (machine,) = [one for one in guard.children(recursive=True) if one.name().startswith("qemu")]
        {"command": command, "guard": guard, "machine": machine}[victim].send_signal(signal.SIGKILL)
        until(lambda: not machine.is_running() or machine.status() == psutil.STATUS_ZOMBIE, 60, "the machine's end")
        until(lambda: live.process.poll() is not None, 60, "the command's end")
    if victim == "machine":
        assert "the kernel ended in mid-run" in live.output()


@pytest.mark.thorough
def test_ctrl_c_ends_it_early_and_keeps_its_records(here: Place) -> None:
    with here.running(path(flow(), duration="60 s"), *ENGINE) as live:
        os.kill(live.process.pid, signal.SIGINT)
        assert live.end(120) == 130, live.output()
        assert "error: the run was interrupted" in live.output()
    (directory,) = [one for one in (here.directory / "runs").iterdir() if one.is_dir()]
    assert (directory / "samples.parquet").stat().st_size > 0


def test_half_a_kernel_does_not_boot(here: Place) -> None:
    broken = here.directory / "bzImage"
    broken.write_bytes(find(NAME).path.read_bytes()[: 1 << 20])
    done = here.invoke("kernel", "add", str(broken), "--name", "broken-test", timeout_s=300)
    try:
        assert done.returncode == 1, done.stdout
        assert "does not boot" in done.stderr
    finally:
        here.invoke("kernel", "remove", "broken-test")
