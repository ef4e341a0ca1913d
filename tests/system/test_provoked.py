"""Faults made on purpose: each shows in the verdict, and in the first words of the report.

CPU steal, starvation, steps of the wall clock and drops in the backlogs need the machine itself to misbehave, and
broken conservation a fault of ours; the unit tests of the verdict's rules cover them, with records made by hand.
"""

from __future__ import annotations

import re
import subprocess
import time

import pytest
from harness import Place, inside
from page import first_words
from scenarios import checks, flow, path
from stages import thorough_after

import dumbbell

UDP = flow(protocol="udp", rate="15 Mbit/s")
RECEIVER = ["h2", "h1"]
"""The hosts in the order for a program that acts on the receiving host."""


def assert_told(run: dumbbell.Run, check: str, verdict: str = "invalid") -> str:
    """The verdict has `check` among its reasons, and the report begins with it. Returns what was measured."""
    found = checks(run)[check]
    assert found["verdict"] == verdict, found
    assert run.verdict == "invalid" or verdict == "suspect"
    words = first_words(run.report())
    assert words[0] == run.verdict
    assert check in words
    assert any(found["measured"] in text for text in words)
    return found["measured"]


def test_the_emulator_stands_still(anyone: Place) -> None:
    with anyone.running(path(UDP)) as live:
        time.sleep(0.5)
        # More than the 200 ms from which a pause is invalid: packets of the whole pause are late by up to that.
        live.pause("db-emulator", 0.3)
        run = live.result()
    assert_told(run, "stall")
    assert_told(run, "lateness")
    # Late as it was, nothing was lost.
    assert checks(run)["conservation"]["verdict"] == checks(run)["ring-drops"]["verdict"] == "valid"


def test_fifty_milliseconds_are_noticed(here: Place) -> None:
    with here.running(path(UDP)) as live:
        time.sleep(0.5)
        live.pause("db-emulator", 0.05)
        run = live.result()
    # 50 of 1500 ms: 3 % of the packets were over 1 ms late, and 1 % is too much.
    assert_told(run, "lateness")
    assert checks(run)["stall"]["verdict"] in ("suspect", "invalid")


def test_the_traffic_process_stands_still(anyone: Place) -> None:
    with anyone.running(path(UDP)) as live:
        time.sleep(0.5)
        live.pause("db-traffic", 0.4)
        run = live.result()
    # 400 of 1500 ms without a sample.
    assert_told(run, "samples")
    assert_told(run, "udp-schedule")


def test_the_ring_is_too_small(here: Place) -> None:
    with here.running(path(UDP), "--set", 'emulate.ring="256 KiB"') as live:
        time.sleep(0.5)
        # 15 Mbit/s for 0.4 s are 750 kB.
        live.pause("db-emulator", 0.4)
        run = live.result()
    assert_told(run, "ring-drops")


def test_the_delay_line_is_too_small(here: Place) -> None:
    # 1 s of 50 Mbit/s are 6.2 MB under way, and there is room for 1 MiB: also of what a busy machine sends.
    fast = flow(protocol="udp", rate="50 Mbit/s")
    run = here.run(path(fast, rate="60 Mbit/s", rtt="2 s"), "--set", 'emulate.arena="1 MiB"')
    assert_told(run, "delay-line")


@pytest.mark.real_time
@pytest.mark.parametrize(
    ("sysctl", "limit"), thorough_after(1, [("tcp_rmem", "receive window"), ("tcp_wmem", "send buffer")])
)
def test_a_window_is_too_small(anyone: Place, sysctl: str, limit: str) -> None:
    # The BDP is 625 kB. A send buffer holds more than it says, since the kernel looks before it adds up to 64 kB.
    small = f'hosts.sysctl = {{ "net.ipv4.{sysctl}" = "4096 16384 16384" }}'
    run = anyone.run(path(flow(), rate="50 Mbit/s", rtt="100 ms", more=small))
    # Suspect, however much: the scenario asks for it.
    assert re.search(rf"f1: [\d.]+% of busy time limited by the {limit}", assert_told(run, "window-limits", "suspect"))


def test_offloads_come_back_in_mid_run(anyone: Place) -> None:
    ethtool = flow(command="ethtool -K eth0 tx on sg on tso on gso on", start="300 ms")
    run = anyone.run(path(flow(), ethtool))
    told = assert_told(run, "offloads")
    assert "h1: tx-tcp-segmentation is on" in told
    assert "packets larger than on a wire" in told


def test_a_sysctl_changes_in_mid_run(anyone: Place) -> None:
    change = flow(command="echo 0 > /proc/sys/net/ipv4/tcp_no_metrics_save", start="300 ms")
    run = anyone.run(path(flow(), change))
    assert assert_told(run, "sysctls") == "h1: net.ipv4.tcp_no_metrics_save = '0' instead of '1'"


def test_a_host_loses_its_link_in_mid_run(here: Place) -> None:
    down = flow(*RECEIVER, command="ip link set eth0 down; sleep 0.2; ip link set eth0 up", start="300 ms")
    run = here.run(path(UDP, down))
    assert_told(run, "interfaces")


def test_the_core_loses_a_link_in_mid_run(here: Place) -> None:
    with here.running(path(UDP)) as live:
        time.sleep(0.3)
        for state in ("down", "up"):
            subprocess.run([*inside(live.part("db-init").pid), "ip", "link", "set", "h2", state], check=True)
            time.sleep(0.2)
        run = live.result()
    assert "Network is down" in assert_told(run, "send-errors")


def test_a_program_fails(anyone: Place) -> None:
    run = anyone.run(path(flow(), flow(command="echo no >&2; exit 3", start="100 ms")))
    assert "f2: exit code 3" in assert_told(run, "commands")
    assert_told(run, "flow-errors")
    assert (run.directory / "logs" / "f2.stderr").read_text() == "no\n"


def test_a_program_sends_to_nowhere(here: Place) -> None:
    lost = flow(command="bash -c 'echo lost > /dev/udp/192.0.2.1/9'", start="100 ms")
    assert_told(here.run(path(flow(), lost)), "unroutable", "suspect")


def test_everything_on_one_cpu(anyone: Place) -> None:
    more = "[emulate]\ncpus = 1\n"
    run = anyone.run(path(flow(), flow(command="nproc", start="100 ms"), rate="5 Mbit/s", more=more))
    assert "shared 1" in assert_told(run, "cpus", "suspect")
    # All processes that the lab starts have this limit, programs as well.
    assert (run.directory / "logs" / "f2.stdout").read_text() == "1\n"
    assert (run.manifest["scheduling"]["cpus"], run.manifest["lab"]["cpus"]) == (1, 1)


def test_nothing_is_told_without_a_fault(anyone: Place) -> None:
    run = anyone.run(path(flow(), flow(protocol="udp", rate="2 Mbit/s"), flow(command="true", start="100 ms")))
    found = {name: check["measured"] for name, check in checks(run).items() if check["verdict"] != "valid"}
    # Processes on a loaded machine may wait for a CPU; everything else holds everywhere.
    timing = {
        "lateness",
        "stall",
        "read-lag",
        "emulator-starved",
        "traffic-starved",
        "steal",
        "samples",
        "rate",
        "cpus",
    }
    assert found.keys() <= timing | {"udp-schedule", "softnet"}, found
