"""Programs of a run: what they see of their node, and servers that are ready before clients come."""

from __future__ import annotations

import json
import os
import tomllib

import pytest
from graphs import flow, graph, link, program
from harness import Place
from scenarios import checks, path

import dumbbell
from dumbbell.engines.names import VIRTUAL
from dumbbell.labs import place

LOOK = "hostname; ls /sys/class/net | tr '\\n' ' '; echo; getent hosts h2 | cut -d ' ' -f 1; cat /etc/resolv.conf; pwd"
"""Program that prints a hostname, the interfaces, the address of h2, the name server, the working directory."""


PATIENT = "3 s"
"""Time for programs to start and to end, on a busy machine too."""


def said(run: dumbbell.Run, name: str = "f1") -> list[str]:
    """Returns the lines that a program has printed."""
    return (run.directory / "logs" / f"{name}.stdout").read_text().splitlines()


def test_programs_see_their_host(anyone: Place) -> None:
    run = anyone.run(path(flow(command=LOOK, server_command=LOOK), duration=PATIENT))
    rest = ["eth0 lo ", "10.0.1.1", "nameserver 127.0.0.1", str(anyone.directory)]
    assert said(run) == ["h1", *rest]
    assert said(run, "f1.server") == ["h2", *rest]


def test_programs_see_their_host_in_virtual_time(here: Place) -> None:
    text = path(flow(command=LOOK, server_command=LOOK), duration="500 ms")
    run = dumbbell.run(tomllib.loads(text), directory=here.directory / "runs", engine=VIRTUAL, report=False)
    for name, host in (("f1", "h1"), ("f1.server", "h2")):
        hostname, interfaces, address, *_ = said(run, name)
        assert (hostname, address) == (host, "10.0.1.1")
        # This kernel has its devices for tunnels in each network.
        assert {"eth0", "lo"} <= set(interfaces.split())


@pytest.mark.parametrize("engine", ["emulate", VIRTUAL])
def test_a_private_directory_is_the_programs_own(here: Place, engine: str) -> None:
    both = "ls -A /var/log; hostname > /var/log/own; cat /var/log/own"
    nodes = {"h1": {"private": ["/var/log"]}, "h2": {"private": ["/var/log"]}}
    text = graph(link("h1", "h2"), flow(command=both, server_command=both), nodes=nodes, duration=PATIENT)
    run = dumbbell.run(tomllib.loads(text), directory=here.directory / "runs", engine=engine, report=False)
    assert (said(run), said(run, "f1.server")) == (["h1"], ["h2"])


SERVE = "sleep 1; mkdir -p /tmp/served; cd /tmp/served; echo $(hostname) > file; exec python3 -m http.server 80"
"""A server that is up late: without waiting for it, clients would come too early."""
GET = "curl -sS --max-time 30 http://h3/file; ip route get 192.0.2.1 2>&1 || true"
SERVED = (
    link("h1", "s1"), link("h2", "s1"), link("s1", "h3", "core", rate="20 Mbit/s", delay="5 ms"),
    program("h2", "ip route replace unreachable 192.0.2.0/24", ready="exit"),
    program("h3", SERVE, name="web", ready="tcp 80"),
    flow("h1", "h3", command=GET), flow("h2", "h3", command=GET, id="second"),
)  # fmt: skip
"""Two clients of a server; one of them has a route that a command has made."""


@pytest.mark.parametrize("engine", ["emulate", VIRTUAL])
def test_clients_find_a_server_that_is_ready(here: Place, engine: str) -> None:
    text = graph(*SERVED, duration="6 s", nodes={"h3": {"private": ["/tmp"]}})
    run = dumbbell.run(tomllib.loads(text), directory=here.directory / "runs", engine=engine, report=False)
    assert checks(run)["commands"]["verdict"] == "valid", checks(run)["commands"]
    assert said(run) == ["h3", "RTNETLINK answers: Network is unreachable"]
    assert said(run, "second") == ["h3", "RTNETLINK answers: No route to host"]
    asked = [line for line in (run.directory / "logs" / "web.stderr").read_text().splitlines() if "GET /file" in line]
    assert len(asked) == 2
    # The setting up ended by itself; the server ran until the end of the run.
    ended = json.loads((run.directory / "traffic.json").read_text())["programs"]
    assert [(one["name"], one["ended_by_us"]) for one in ended] == [("p1", False), ("web", True)]
    assert ended[0]["exit_code"] == 0


@pytest.mark.parametrize(
    ("command", "ready", "why"),
    [
        ("echo no port for me >&2; exit 3", "tcp 80", "exited with 3. It said: no port for me"),
        ("kill -9 $$", "exit", "was ended by signal 9, without a word"),
    ],
)
def test_a_program_that_fails_is_not_waited_for(here: Place, command: str, ready: str, why: str) -> None:
    text = graph(link("h1", "h2"), flow(), program("h2", command, name="web", ready=ready), duration="500 ms")
    done = here.invoke("run", here.write(text))
    assert done.returncode == 1, done.stderr
    assert "program web in h2 is not ready" in done.stderr
    assert why in done.stderr


def test_a_program_that_fails_later_makes_the_run_invalid(here: Place) -> None:
    text = graph(link("h1", "h2"), flow(), program("h2", "sleep 0.1; exit 4", name="web"), duration=PATIENT)
    run = here.run(text)
    assert checks(run)["commands"]["measured"] == "web: exit code 4"
    assert checks(run)["commands"]["verdict"] == "invalid"


def test_programs_keep_to_the_cpus_of_their_node(anyone: Place) -> None:
    cpu = max(os.sched_getaffinity(0))
    look = "grep Cpus_allowed_list /proc/self/status"
    nodes = {"h1": {"cpus": [cpu]}}
    run = anyone.run(graph(link("h1", "h2"), flow(command=look, server_command=look), nodes=nodes, duration=PATIENT))
    assert said(run) == [f"Cpus_allowed_list:\t{cpu}"]
    assert said(run, "f1.server") != said(run)


def test_a_lab_starts_the_programs_of_its_scenario(apart: Place) -> None:
    text = graph(*SERVED, nodes={"h3": {"private": ["/tmp"]}})
    with dumbbell.Lab(apart.write(text)) as lab:
        assert lab["h1"].run("curl -sS --max-time 30 http://h3/file").stdout == "h3\n"
        assert "No route to host" in lab["h2"].run("ip route get 192.0.2.1").stderr
    failing = graph(*SERVED, program("h1", "echo not today >&2; false", ready="exit", name="sad"))
    with pytest.raises(dumbbell.RunFailed, match="program sad in h1 is not ready") as failed:
        dumbbell.Lab(apart.write(failing)).start()
    assert "not today" in str(failed.value)
    assert place.alive() == []
