"""`dumbbell run --engine simulate` as a user meets it: no kernel, no privilege, the same bytes each time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from graphs import large
from harness import Live, Place, until
from page import first_words
from scenarios import checks, flow, path
from stages import thorough_after

import dumbbell

SIMULATE = ("--engine", "simulate")
CALM = Path(__file__).parents[2] / "docs" / "tutorial" / "calm.bpf.c"
TABLES = ("samples", "acks", "packets", "links", "flows")
FILES = {
    *(f"{table}.parquet" for table in TABLES),
    *("logs", "manifest.json", "plan.json", "report.html", "scenario.toml", "simulator.json", "summary.json"),
    "traffic.json",
}
LONG = path(flow(), flow(protocol="udp", rate="1 Mbit/s"), rate="100 Mbit/s", duration="100 min")
"""Hours of packets: never over before it is interrupted."""


def test_it_leaves_all_files_and_says_what_it_did(anyone: Place) -> None:
    done = anyone.invoke("run", "bbr-vs-cubic", "--set", "duration=3 s", *SIMULATE)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    run = dumbbell.open((anyone.directory / lines[-1]).parent)
    assert {file.name for file in run.directory.iterdir()} == FILES
    assert lines[0] == "bbr-vs-cubic: checking"
    assert lines.index("simulating") < lines.index("judging the run")
    assert "verdict: valid" in lines
    assert lines[-2].startswith("simulated 3 s in ")
    assert lines[-2].endswith("times as fast as real time")
    assert run.manifest["engine"] == run.summary["engine"] == "simulate"
    assert run.repeat == f"dumbbell run {run.directory}/scenario.toml --engine simulate"
    assert "lab" not in run.manifest
    assert run.manifest["cost"]["simulated_s"] == 3
    assert {check["verdict"] for check in run.summary["checks"]} == {"valid"}
    assert checks(run)["algorithm"]["measured"] == "f1: cubic, f2: bbr"


def test_without_user_namespaces_and_capabilities(here: Place) -> None:
    """The parts of a lab are all forbidden, and the simulation needs none."""
    script = 'echo 0 > /proc/sys/user/max_user_namespaces && ! unshare --user true 2>/dev/null && exec "$@"'
    inside = ["unshare", "--user", "--map-root-user", "sh", "-c", script, "sh"]
    powerless = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]
    command = here.command("run", here.write(path(flow())), "--quiet", *SIMULATE)
    if subprocess.run(["unshare", "--user", "--map-root-user", "true"], capture_output=True).returncode != 0:
        pytest.skip("this user can make no user namespace, so every other test here is run without them")
    words = [*inside, *powerless, *command]
    done = subprocess.run(words, cwd=here.directory, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "verdict: valid" in done.stdout


def test_the_same_run_twice_is_the_same_to_the_last_byte(here: Place) -> None:
    """The run has random losses; another seed gives another run."""
    lossy = path(flow(cc="bbr3"), flow(cc="cubic"), bottleneck='buffer = "1 bdp", loss = "0.5 %", jitter = "1 ms"')
    first, again, other = (here.run(lossy, *SIMULATE, *more) for more in ((), (), ("--set", "seed=2")))
    # The first run has been moved aside.
    first = dumbbell.open(f"{first.directory}.1")
    for name in [*(f"{table}.parquet" for table in TABLES), "traffic.json", "plan.json"]:
        assert (first.directory / name).read_bytes() == (again.directory / name).read_bytes(), name
    assert {**first.summary, "attempts": None} == {**again.summary, "attempts": None}
    assert other.run_id != again.run_id
    assert (other.directory / "packets.parquet").read_bytes() != (again.directory / "packets.parquet").read_bytes()


def test_the_engine_is_part_of_a_run_s_identity(here: Place) -> None:
    scenario = path(flow())
    simulated = here.run(scenario, *SIMULATE)
    repeated = here.invoke(*simulated.repeat.split()[1:])
    assert repeated.returncode == 0, repeated.stderr
    assert here.runs() == [simulated.directory.name, f"{simulated.directory.name}.1"]
    assert here.run(scenario).run_id != simulated.run_id


@pytest.mark.parametrize("send", thorough_after(1, [signal.SIGINT, signal.SIGTERM]))
def test_a_signal_stops_early_and_keeps_what_was_simulated(anyone: Place, send: signal.Signals) -> None:
    with anyone.running(LONG, *SIMULATE, stage="simulating") as live:
        until(lambda: _packets_written(live) > 0, 30, "some of it to be simulated")
        live.process.send_signal(send)
        assert live.end() == 130
        # It has many records, so it is not judged.
        assert "error: the run was interrupted\n  it is not judged: " in live.output()
        assert "\n  the measurements until then are in runs/test-" in live.output()
        assert "Traceback" not in live.output()
    (kept,) = anyone.runs()
    assert kept.endswith(".failed-1")
    run = dumbbell.open(live.runs / kept, incomplete=True)
    assert run.manifest["status"] == "interrupted"
    assert run.samples.height > 0
    assert run.packets is not None
    assert run.packets.height > 0


def test_a_large_network_stops_within_a_second_of_work(anyone: Place) -> None:
    """In CPU time, which other programs on the machine don't lengthen."""
    scenario = large(flows=400).replace('duration = "2 s"', 'duration = "10 min"')
    with anyone.starting(scenario, *SIMULATE) as live:
        pid = live.process.pid
        until(lambda: _packets_written(live) > 0, 300, "some of it to be simulated")
        before_s, _ = _work(pid)
        live.process.send_signal(signal.SIGINT)
        until(lambda: _work(pid)[1] == "Z", 120, "its end")
        spent_s = _work(pid)[0] - before_s
        assert live.end() == 130
        assert "error: the run was interrupted" in live.output()
        assert spent_s < 1
    (kept,) = anyone.runs()
    assert kept.endswith(".failed-1")


def _work(pid: int) -> tuple[float, str]:
    """The CPU time of a process in seconds, and its state; `Z` if it has ended and nobody has waited for it."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), fields[0]


def _packets_written(live: Live) -> int:
    """The size in bytes."""
    return sum(file.stat().st_size for file in live.runs.glob(".partial-*/packets.parquet"))


REFUSED = {
    "a program": (
        path(flow(command="iperf3 -c {server}")),
        [
            'scenario.toml:13: flows.0.command = "iperf3 -c {server}": ',
            "hint: run it with --engine emulate or --engine virtual",
        ],
    ),
    "an algorithm that only a kernel has": (
        path(flow(cc="illinois")),
        [
            'scenario.toml:13: flows.0.cc = "illinois": ',
            "vegas",
            "--engine emulate or --engine virtual if its kernel has it",
        ],
    ),
    "a setting that is not simulated": (
        path(flow(), more='[hosts]\nsysctl = { "net.ipv4.tcp_sack" = 0 }'),
        ['scenario.toml:5: hosts.sysctl."net.ipv4.tcp_sack" = 0: ', "--engine emulate or --engine virtual"],
    ),
    "a setting that flows have": (
        path(flow(), more='[hosts]\nh1.sysctl = { "net.ipv4.tcp_ecn" = 1 }'),
        [
            'scenario.toml:5: hosts.h1.sysctl."net.ipv4.tcp_ecn"',
            "asks for ECN by itself",
            "--engine emulate or --engine virtual",
        ],
    ),
    "whole bursts": (
        path(flow(), more="[emulate]\nwhole_bursts = true"),
        ["scenario.toml:5: emulate.whole_bursts = true: ", "--engine emulate"],
    ),
}


@pytest.mark.parametrize("case", thorough_after(2, REFUSED))
def test_refused(here: Place, case: str) -> None:
    text, said = REFUSED[case]
    done = here.invoke("run", here.write(text), "--quiet", *SIMULATE)
    assert (done.returncode, done.stdout) == (2, "")
    assert [word for word in said if word not in done.stderr] == [], done.stderr
    assert done.stderr.count("error: ") == 1
    assert not (here.directory / "runs").exists()
    noted = here.invoke("plan", "./scenario.toml", *SIMULATE)
    assert (noted.returncode, noted.stderr) == (0, done.stderr.replace("error: ", "note: "))


def test_what_a_program_of_one_s_own_needs_and_the_model_lacks_is_told_at_its_flow(here: Place) -> None:
    source = CALM.read_text().replace("tp->snd_nxt;", "tp->snd_nxt + tp->total_retrans;")
    (here.directory / "mine.bpf.c").write_text(source)
    scenario = here.write(path(flow(cc={"bpf": "mine.bpf.c"})))
    done = here.invoke("run", scenario, "--quiet", *SIMULATE)
    assert done.returncode == 2
    assert "scenario.toml:13: flows.0.cc" in done.stderr
    assert "the simulator does not have tcp_sock.total_retrans (mine.bpf.c:" in done.stderr
    assert "--engine emulate" in done.stderr


def test_what_only_the_simulator_has_is_told_in_emulation(here: Place) -> None:
    done = here.invoke("run", here.write(path(flow(cc="bbr3-draft"))), "--quiet")
    assert done.returncode == 2
    assert "hint: --engine simulate has it" in done.stderr
    assert here.run(path(flow(cc="bbr3-draft")), *SIMULATE).verdict == "valid"


def test_the_report_says_that_it_is_a_simulation(here: Place) -> None:
    run = here.run(path(flow(cc="bbr3")), *SIMULATE)
    page = run.report().read_text(encoding="utf-8")
    assert first_words(run.report())[0] == "valid"
    assert "This is a simulation:" in page
    assert "SHA-256 of the source" not in page
    assert "Kernel</dt>" not in page
    assert 'class="missing"' not in page.partition("<noscript>")[0], "nothing could not be drawn"
    assert here.invoke("report", str(run.directory), "--format", "csv").returncode == 0
    written = {file.name for file in (run.directory / "report-csv").iterdir()}
    assert {"bbr_state.csv", "kleinrock.csv", "queue_bytes.csv", "rtt_ms.csv", "snd_nxt_bytes.csv"} <= written


def test_a_flow_that_hears_of_no_acknowledgement_is_no_fault_of_the_record(here: Place) -> None:
    """Its data arrives in the run's last moments; what acknowledges them is still under way."""
    run = here.run(path(flow(), flow(start="1460 ms")), *SIMULATE)
    assert run.acks is not None
    assert set(run.acks["flow"].unique()) == {"f1"}
    assert checks(run)["ack-coverage"]["verdict"] == "valid"


def test_the_python_interface(here: Place) -> None:
    events: list[str] = []
    run = dumbbell.run(
        "bbr-vs-cubic",
        {"duration": "3 s"},
        here.directory / "runs",
        on_event=lambda event: events.append(event["event"]),
        engine="simulate",
    )
    assert run.verdict == "valid"
    assert run.acks is not None
    assert set(run.acks["moment"].unique()) == {"after"}
    assert {"planned", "simulating", "progress", "composing"} <= set(events)
    assert json.loads((run.directory / "simulator.json").read_text())["simulated_s"] == 3
