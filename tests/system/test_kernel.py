"""A real kernel, as `make kernel` builds it: what it has, what can be linked to it, and what it tells of each ACK."""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from stages import thorough_after, thorough_but

import dumbbell
from dumbbell import kernels
from dumbbell.cc.bundled import KERNEL
from dumbbell.engines.names import VIRTUAL
from dumbbell.engines.virtual import calls
from dumbbell.errors import RunFailed
from dumbbell.kernels import source
from dumbbell.kernels.additions import additions
from dumbbell.kernels.boot import booted
from dumbbell.kernels.names import version_of

ROOT = Path(__file__).parents[2]
CALM = (ROOT / "docs/tutorial/calm.bpf.c").read_bytes()
OURS = {"bbr2", "bbr3", "bbr3-draft", "bpf_cubic", "bpf_dctcp", "bpf_htcp", "bpf_reno", "bpf_westwood"}
QDISCS = {"cake", "codel", "fq", "fq_codel", "htb", "ingress", "netem", "pfifo", "pie", "prio", "red", "tbf"}
LINUX_OWN_FORM = b"""
#include <linux/module.h>
#include <net/tcp.h>

static u32 ssthresh(struct sock *sk)
{
	return 2;
}

static struct tcp_congestion_ops cubic = {
	.ssthresh = ssthresh,
	.undo_cwnd = tcp_reno_undo_cwnd,
	.cong_avoid = tcp_reno_cong_avoid,
	.name = "cubic",
	.owner = THIS_MODULE,
};

static int __init begin(void)
{
	return tcp_register_congestion_control(&cubic);
}
module_init(begin);
MODULE_LICENSE("GPL");
"""
END = "echo o >/proc/sysrq-trigger\nsleep 1\n"
_ASK = 0xFFFFFFFF
"""The argument of personality(2) that changes nothing."""
BEFORE, AFTER, CLOSE = 0, 1, 2
"""enum db_ack_moment"""
TRANSFER = ROOT / "tests/system/transfer_in_kernel.py"


@pytest.fixture(scope="module")
def kernel() -> kernels.Kernel:
    """Returns the kernel of `make kernel`; the error says so if there is none."""
    return kernels.find(kernels.DEFAULT)


def test_it_has_all_algorithms_and_disciplines(kernel: kernels.Kernel) -> None:
    assert {*KERNEL, *OURS} <= set(kernel.algorithms)
    assert set(kernel.qdiscs) >= QDISCS
    assert kernel.left_out == {}
    assert version_of(kernel.version)[:2] == version_of(kernels.DEFAULT)


def test_a_user_s_source_is_linked_in_either_form(kernel: kernels.Kernel) -> None:
    programs = [kernels.Program("calm", CALM, "calm.bpf.c"), kernels.Program("cubic", LINUX_OWN_FORM, "tcp_mine.c")]
    found = kernels.find(kernels.DEFAULT, programs)
    assert {one.registered for one in programs} == {*found.algorithms} - {*kernel.algorithms}
    assert found.hash != kernel.hash
    assert found.programs == ("calm", "cubic")
    again = kernels.find(kernels.DEFAULT, programs[::-1], lambda event: pytest.fail(f"links again: {event}"))
    assert again.hash == found.hash


@pytest.mark.parametrize("target", thorough_after(1, [2, 20]))
def test_a_flow_of_the_user_s_source_runs(kernel: kernels.Kernel, tmp_path: Path, target: int) -> None:
    """The tutorial's program keeps the queue at about the length that its parameter says."""
    (tmp_path / "calm.c").write_bytes(CALM)
    (tmp_path / "calm.toml").write_text((ROOT / "docs/tutorial/calm.toml").read_text().replace("bpf =", "kernel ="))
    text = (tmp_path / "calm.toml").read_text().replace("calm.bpf.c", "calm.c")
    (tmp_path / "calm.toml").write_text(text)
    changes = {"duration": "6 s", "flows.0.cc.parameters.target": target}
    run = dumbbell.run(tmp_path / "calm.toml", changes, directory=tmp_path / "runs", engine=VIRTUAL)
    assert [flow["cc"] for flow in run.summary["flows"]] == ["calm"]
    data = (pl.col("link") == "bottleneck") & (pl.col("payload_bytes") > 0) & (pl.col("arrival_ns") > 3_000_000_000)
    waited_ns = run.packets.filter(data)["sojourn_ns"].median()
    assert isinstance(waited_ns, float)
    packet_ns = 1514 * 8 / 20e6 * 1e9
    assert target / 2 < waited_ns / packet_ns < 2 * target + 2


def test_what_does_not_compile_is_told_by_file_and_line(kernel: kernels.Kernel) -> None:
    broken = CALM.replace(b"state->rtt_us = ~0;", b"state->rtt = ~0;")
    line = broken[: broken.index(b"state->rtt =")].count(b"\n") + 1
    with pytest.raises(RunFailed, match=r"calm\.bpf\.c for the kernel 6\.12 is not built") as failure:
        kernels.find(kernels.DEFAULT, [kernels.Program("calm", broken, "calm.bpf.c")])
    assert re.search(rf"calm\.bpf\.c:{line}:\d+: error: .*no member named .rtt.", failure.value.why)


def test_a_source_that_registers_nothing_is_refused(kernel: kernels.Kernel) -> None:
    with pytest.raises(RunFailed, match='the step "boot it for the first time" failed') as failure:
        kernels.find(kernels.DEFAULT, [kernels.Program("empty", b"int db_nothing;\n", "empty.c")])
    assert "has no congestion control of this name" in failure.value.why


def test_randomness_is_that_of_the_seed(kernel: kernels.Kernel, tmp_path: Path) -> None:
    script = f"#!/bin/sh\nmount -t proc proc /proc\ncat /proc/sys/kernel/random/uuid\n{END}"

    def drawn(seed: int) -> str:
        found = re.search(r"[0-9a-f-]{36}", booted(kernel.path, script, tmp_path, [f"random-seed={seed}"]))
        assert found
        return found[0]

    assert drawn(7) == drawn(7)
    assert drawn(7) != drawn(8)


def transfer(kernel: kernels.Kernel, folder: Path, *arguments: str) -> dict[str, str]:
    """A transfer inside the kernel, and what it tells: see transfer_in_kernel.py."""
    command = " ".join([sys.executable, "-S", str(TRANSFER), *arguments])
    script = f"#!/bin/sh\nexport PATH=/usr/sbin:/usr/bin:/sbin:/bin\nmount -t proc proc /proc\n{command}\n{END}"
    said = booted(kernel.path, script, folder, mem="256M")
    assert "lost: " in said, said
    return dict(re.findall(r"^(\w+): (.*?)\s*$", said, re.MULTILINE))


@pytest.mark.parametrize(
    ("algorithm", "moment"),
    thorough_but(
        [("cubic", BEFORE), ("bbr3", AFTER)],
        [("cubic", BEFORE), ("bbr", BEFORE), ("bbr2", AFTER), ("bbr3", AFTER), ("bbr3-draft", AFTER)],
    ),
)
def test_every_ack_has_a_row(kernel: kernels.Kernel, tmp_path: Path, algorithm: str, moment: int) -> None:
    told = transfer(kernel, tmp_path, algorithm)
    moments = [int(one) for one in told["moments"].split()]
    acked = [int(one) for one in told["acked"].split()]
    assert int(told["rows"]) >= 20
    # The application closes the connection, its FIN is acknowledged, and it is closed.
    assert set(moments[: moments.index(CLOSE)]) == {moment}
    assert moments.count(CLOSE) == 2
    assert moments[-1] == CLOSE
    assert acked == sorted(acked)
    # The SYN counts as one, and so may the FIN.
    assert 0 <= acked[-1] - 1_000_000 <= 2
    assert told["lost"] == "0"
    assert told["others"] == "0"


@pytest.fixture
def fixed_addresses() -> Iterator[None]:
    """Programs lie at the same addresses each time: where a kernel's processes lie changes their course."""
    personality = ctypes.CDLL(None).personality
    before = personality(_ASK)
    calls.fix_addresses()
    yield
    personality(before)


@pytest.mark.usefixtures("fixed_addresses")
def test_the_frame_s_reno_is_the_kernel_s(kernel: kernels.Kernel, tmp_path: Path) -> None:
    """Time, losses and all else being the same: both make the same of every ACK."""
    # As long in text: else the processes, which ask for the time, are not the same.
    own, ours = (transfer(kernel, tmp_path, f"'{name:8}'", "2%")["course"] for name in ("reno", "bpf_reno"))
    recovery = [point.split(",") for point in own.split() if point.split(",")[2] == "3"]
    assert recovery, "nothing was lost"
    assert ours == own


# Those of 6.12 have been applied by `make kernel`.
@pytest.mark.thorough
@pytest.mark.parametrize("name", ["6.1", "6.12"])
def test_the_patches_apply_to_debian_s_sources(name: str, tmp_path: Path) -> None:
    found = source.debian(name)
    if found.is_tarball:
        wanted = {file for patch in _patches(found) for file in _files(patch)}
        with tarfile.open(found.path) as tar:
            for member in tar:
                inside = member.name.removeprefix("./").partition("/")[2]
                if inside in wanted:
                    tar.extract(member, tmp_path, filter="data")
                    wanted.remove(inside)
                if not wanted:
                    break
        tree = tmp_path / found.prefix
    else:
        tree = found.path
    assert _patches(found)
    for patch in _patches(found):
        command = ["patch", "--strip=1", "--batch", "--forward", "--dry-run", "--directory", str(tree)]
        done = subprocess.run(command, input=patch, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout.decode()


def _patches(found: source.Source) -> list[bytes]:
    return [patch.content for patch in additions().patches(version_of(found.version))]


def _files(patch: bytes) -> list[str]:
    return [name.decode() for name in re.findall(rb"^--- a/(.*)$", patch, re.MULTILINE)]
