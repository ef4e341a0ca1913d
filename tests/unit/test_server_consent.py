"""Programs of strangers' files are neither compiled nor started before the user agrees; no folder brings consent."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import exec_log
import pytest
import tomlkit
from serving import STUDY, Page, Served, serving
from test_server_process import AS_ROOT, logged_in
from test_study_programs import BPF, ENDS, FILES, HEAD

from dumbbell.core import core
from dumbbell.errors import InputError
from dumbbell.scenario.file.loading import load, read
from dumbbell.scenario.file.started import DIGEST, only, with_digest
from dumbbell.server.agreement import Agreement, own
from dumbbell.server.children import Child, Children
from dumbbell.studies.programs import programs

SCENARIO = """\
name = "foreign"
duration = "1 s"
[topology]
kind = "dumbbell"
pairs = 1
rtt = "20 ms"
[topology.bottleneck]
rate = "10 Mbit/s"
[[flows]]
from = "s1"
to = "r1"
"""
PROGRAM = '[[programs]]\nnode = "s1"\ncommand = "touch /tmp/never"\n'
LISTED = ["touch /tmp/never"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user who has agreed to nothing."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "dumbbell"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    (tmp_path / "workspace").mkdir()
    with serving(tmp_path / "workspace") as found:
        yield found


def asked(served: Served, route: str, body: object) -> list[str]:
    """The programs that a start is refused for."""
    status, _, content = served.ask("POST", route, body)
    assert status == 428, content
    found: list[str] = json.loads(content)["programs"]
    return found


@pytest.mark.parametrize(
    "key",
    ['flows.0."command"', "flows.0. command", "flows . 0.'command'", 'flows.0."comm\\u0061nd"', "flows.0.command"],
)
def test_no_spelling_hides_a_command_of_a_cell(served: Served, key: str) -> None:
    text = f"{SCENARIO}[sweep]\n{json.dumps(key)} = {json.dumps(LISTED)}\n"
    (served.root / "theirs.toml").write_text(text)
    assert asked(served, "/api/runs", {"path": "theirs.toml"}) == LISTED
    with served.page() as page:
        state = page.open("theirs.toml")
        assert (state["runs_programs"], state["trusted"]) == (LISTED, False)


def test_what_overrides_bring_is_asked_about(served: Served) -> None:
    (served.root / "theirs.toml").write_text(SCENARIO)
    body = {"path": "theirs.toml", "overrides": ['flows.0."command"=touch /tmp/never']}
    assert asked(served, "/api/runs", body) == LISTED
    assert asked(served, "/api/labs", body) == LISTED


def test_a_folder_brings_no_agreement(tmp_path: Path, home: Path) -> None:
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    (theirs / ".dumbbell").mkdir(parents=True)
    assert Agreement(mine).has([])
    Agreement(mine).add(LISTED)
    assert Agreement(mine).has(LISTED)
    assert not Agreement(mine).has([*LISTED, "another"])
    agreed, secret = home / "agreed", home / "secret"
    assert [stat.S_IMODE(file.stat().st_mode) for file in (agreed, secret, home)] == [0o600, 0o600, 0o700]
    shutil.copy(agreed, theirs / ".dumbbell" / "agreed")
    assert not Agreement(theirs).has(LISTED)


@pytest.mark.parametrize("damage", ["mode", "link", "size"])
def test_a_secret_that_others_know_signs_nothing(tmp_path: Path, home: Path, damage: str) -> None:
    Agreement(tmp_path).add(LISTED)
    secret = home / "secret"
    if damage == "mode":
        secret.chmod(0o644)
    elif damage == "link":
        secret.rename(tmp_path / "known")
        secret.symlink_to(tmp_path / "known")
    else:
        secret.write_bytes(b"")
    assert not Agreement(tmp_path).has(LISTED)
    Agreement(tmp_path).add(LISTED)
    assert Agreement(tmp_path).has(LISTED)
    assert not secret.is_symlink()
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600


def test_without_a_place_an_agreement_lasts_as_long_as_the_server(tmp_path: Path, home: Path) -> None:
    home.parent.write_text("no folder")
    agreement = Agreement(tmp_path)
    agreement.add(LISTED)
    assert agreement.has(LISTED)
    assert not Agreement(tmp_path).has(LISTED)


def test_what_means_nothing_is_not_trusted_when_it_is_mended(served: Served) -> None:
    assert not Agreement(served.root).has(None)
    (served.root / "theirs.toml").write_text(f"{SCENARIO}{PROGRAM}seed = = 1\n")
    with served.page() as page:
        assert not page.open("theirs.toml")["trusted"]
        assert served.ask("POST", "/api/runs", {"path": "theirs.toml"})[0] == 400
        mended = page.do("theirs.toml", do="replace_text", text=f"{SCENARIO}{PROGRAM}")
        assert not page.until("theirs.toml", mended["revision"], runs_programs=LISTED)["trusted"]
        assert asked(served, "/api/runs", {"path": "theirs.toml"}) == LISTED


def test_more_cells_than_are_looked_at_are_counted(served: Served) -> None:
    values = ", ".join(f'"{i} ms"' for i in range(1, 1001))
    sweep = "".join(f'"{key}" = [{values}]\n' for key in ("topology.rtt", "record.sample_interval"))
    (served.root / "theirs.toml").write_text(f'{SCENARIO}[sweep]\n{sweep}"flows.0. command" = {json.dumps(LISTED)}\n')
    with served.page() as page:
        state = page.open("theirs.toml")
        assert (state["study_runs"], state["runs_programs"], state["trusted"]) == (10**6, LISTED, False)


def test_a_lab_needs_no_flows_to_be_asked_about(served: Served) -> None:
    text = SCENARIO.partition("[[flows]]")[0] + PROGRAM
    (served.root / "lab.toml").write_text(text)
    assert asked(served, "/api/labs", {"path": "lab.toml"}) == LISTED
    with served.page() as page:
        assert page.open("lab.toml")["runs_programs"] == LISTED


@pytest.mark.parametrize(("route", "more"), [("/api/labs", ""), ("/api/runs", "[sweep]\nseed = [1, 2]\n")])
def test_what_changes_after_the_question_is_not_started(
    served: Served, route: str, more: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, start = served.root / "theirs.toml", Children.start
    file.write_text(SCENARIO + PROGRAM + more)
    assert served.ask("POST", "/api/agree", {"programs": asked(served, route, {"path": file.name})})[0] == 200

    async def late(*words: Any, **options: Any) -> Child:
        file.write_text(SCENARIO + PROGRAM.replace("never", "other") + more)
        return await start(*words, **options)

    monkeypatch.setattr(Children, "start", late)
    status, _, content = served.ask("POST", route, {"path": file.name})
    assert status == 400, content
    assert b"has changed: it starts another program" in content
    assert b"touch /tmp/other" in content


def test_a_scenario_starts_what_was_agreed_to_alone(tmp_path: Path) -> None:
    (tmp_path / "theirs.bpf.c").write_text(BPF)
    file = tmp_path / "theirs.toml"
    file.write_text(f'{SCENARIO}cc = {{ bpf = "theirs.bpf.c" }}\n{PROGRAM}')
    listed = programs(read(file))
    assert len(listed) == 2
    with only(listed):
        load(file)
    for one in listed:
        with only([one]), pytest.raises(InputError, match="has changed"):
            load(file)
    (tmp_path / "theirs.bpf.c").write_text(f"{BPF}//\n")
    with only(listed), pytest.raises(InputError, match="has changed"):
        load(file)
    load(file)


def test_a_command_passes_for_nothing_else(tmp_path: Path) -> None:
    def starting(command: str) -> list[str]:
        (tmp_path / "theirs.toml").write_text(f"{SCENARIO}command = {json.dumps(command)}\n")
        return list(programs(read(tmp_path / "theirs.toml")))

    text = "= what means nothing"
    digest = hashlib.sha256(text.encode()).hexdigest()
    alike = [f"true #{DIGEST}{digest}", f"touch /tmp/never #{DIGEST}{digest}", f"r1.conf{DIGEST}{digest}", digest]
    listed = [*map(starting, alike), [with_digest("r1.conf", text)]]
    assert len(set(map(tuple, listed))) == len(listed)
    for command, own_one in zip(alike, listed, strict=False):
        for agreed in listed:
            starting(command)
            with only(agreed), nullcontext() if agreed == own_one else pytest.raises(InputError, match="has changed"):
                load(tmp_path / "theirs.toml")
    # Nor does a file that holds it.
    for command in alike:
        starting(command)
        with only([with_digest("r1.conf", command)]), pytest.raises(InputError, match="has changed"):
            load(tmp_path / "theirs.toml")
    assert [*own(text)] not in [starting(own(text)[0]), starting(f"a text of one's own{DIGEST}{digest}")]


@pytest.mark.parametrize("start", ["\ufeff", "", "= ="])
def test_a_study_of_others_goes_on_as_it_would_run(served: Served, start: str) -> None:
    study = served.root / "studies" / "theirs-0123"
    study.mkdir(parents=True)
    (study / "study.json").write_text(json.dumps(STUDY))
    (study / "study.toml").write_text("")
    (study / "scenario.toml").write_text(f"{start}{SCENARIO}{PROGRAM}", encoding="utf-8")
    if start == "= =":
        status, _, content = served.ask("POST", "/api/studies/theirs-0123/resume", {})
        assert status == 400, content
        assert b"studies/theirs-0123/scenario.toml:1" in content
        assert str(served.root).encode() not in content
    else:
        assert asked(served, "/api/studies/theirs-0123/resume", {}) == LISTED


class Compiler:
    """A compiler that goes on until it is let end. It can write no file: it connects to us, and reads."""

    def __init__(self) -> None:
        self.began, self.may_end = threading.Event(), threading.Event()

    def hear(self, heard: socket.socket) -> None:
        """Takes its calls, one after the other."""
        with suppress(OSError):
            while True:
                with heard.accept()[0]:
                    self.began.set()
                    self.may_end.wait()


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Compiler]:
    """The compiler that programs start."""
    program, made = tmp_path / "clang", Compiler()
    with socket.create_server(("127.0.0.1", 0)) as heard:
        port = heard.getsockname()[1]
        program.write_text(
            f"#!/bin/bash\nread </dev/tcp/127.0.0.1/{port}\necho 'calm.bpf.c:1:1: error: too slow' >&2\nexit 1\n"
        )
        program.chmod(0o755)
        monkeypatch.setenv("CLANG", str(program))
        thread = threading.Thread(target=made.hear, args=[heard])
        thread.start()
        yield made
        made.may_end.set()
        heard.shutdown(socket.SHUT_RDWR)
        thread.join()


def foreign_program(served: Served, page: Page) -> dict[str, object]:
    (served.root / "calm.bpf.c").write_text(f"{BPF}// {served.root}\n")
    (served.root / "theirs.toml").write_text(f'{SCENARIO}cc = {{ bpf = "calm.bpf.c" }}\n')
    return page.open("theirs.toml")


def test_nothing_is_compiled_before_consent_and_the_page_answers_meanwhile(served: Served, compiler: Compiler) -> None:
    with served.page() as page:
        state = foreign_program(served, page)
        assert not state["trusted"]
        served.json("POST", "/api/plan", {"path": "theirs.toml"})
        status, _, said = served.ask("POST", "/api/whatif/plan", {"path": "theirs.toml", "overrides": []})
        assert (status, b"no compiler" in said) == (400, True), said
        time.sleep(1)  # Documents are looked at further 0.3 s after a change.
        assert not compiler.began.is_set()
        served.json("POST", "/api/agree", {"programs": state["runs_programs"]})
        assert compiler.began.wait(60), "once that is agreed to, it is compiled"
        # Nobody waits for it: whoever did would get no answer.
        served.json("GET", "/api/files?dir=")
        page.do("theirs.toml", do="set", key=["seed"], value=7)
        page.until("theirs.toml", 1)
        compiler.may_end.set()


def test_other_threads_run_while_the_core_waits(tmp_path: Path, compiler: Compiler) -> None:
    source = tmp_path / "calm.bpf.c"
    source.write_text(BPF)
    thread = threading.Thread(target=core.cc_build, args=[source, tmp_path / "calm.bpf.o"])
    thread.start()
    # Else the thread that takes the compiler's call would wait for the compiler.
    assert compiler.began.wait(60)
    assert thread.is_alive()
    compiler.may_end.set()
    thread.join()


@pytest.mark.parametrize(
    "program", ['cc = { bpf = "calm.bpf.c" }', '[sweep]\n"flows.0.cc" = ["reno", "calm.bpf.c"]'], ids=["run", "cell"]
)
def test_a_command_that_only_shows_compiles_nothing(
    tmp_path: Path,
    compiler: Compiler,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    program: str,
) -> None:
    from dumbbell.cli import invoke

    compiler.may_end.set()
    monkeypatch.chdir(tmp_path)
    Path("calm.bpf.c").write_text(f"{BPF}// shown {len(program)}\n")
    Path("theirs.toml").write_text(f"{SCENARIO}{program}\n")
    assert invoke(["plan", "theirs.toml", "--engine", "emulate"]) == 0
    assert "nothing was compiled" in capsys.readouterr().err
    assert not compiler.began.is_set()
    assert invoke(["run", "theirs.toml"]) == 2
    assert compiler.began.is_set(), "one's own run compiles it"


def patiently(ask: Callable[[], Served]) -> Served:
    """Returns the server's answer. It imports a lot first, and is traced: on a busy machine that takes a minute."""
    for _ in range(5):
        with suppress(TimeoutError):
            return ask()
    return ask()


def test_opening_starts_nothing(tmp_path: Path) -> None:
    """Opening starts nothing, as the kernel tells: no other program even looks at what a stranger's file brings."""
    workspace, log = tmp_path / "workspace", tmp_path / "log"
    workspace.mkdir()
    for name, content in FILES.items():
        (workspace / name).write_text(f"{content}{'!' if name.endswith('.conf') else '//'} {tmp_path}\n")
    flows = [{**ENDS, "cc": {"bpf": "theirs.bpf.c"}}, {**ENDS, "command": "touch flow"}]
    data = tomllib.loads(HEAD) | {"flows": flows, "programs": [{"node": "h1", "command": "touch program"}]}
    data["topology"]["nodes"] = {"h1": {}, "h2": {}, "r1": {"kind": "router", "frr": "r1.conf"}}
    (workspace / "theirs.toml").write_text(tomlkit.dumps(data | {"sweep": {"flows.1. command": ["touch cell"]}}))
    (workspace / "lab.clab.yml").write_text("name: x\ntopology:\n  nodes:\n    a: {kind: linux, exec: [touch clab]}\n")
    command = [sys.executable, "-m", "dumbbell", "ui", str(workspace), "--no-open", *AS_ROOT]
    process = subprocess.Popen(
        [sys.executable, exec_log.__file__, str(log), *command],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
    )

    def started() -> list[list[str]]:
        return [json.loads(line) for line in log.read_text().splitlines()]

    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        served = patiently(lambda: logged_in(url, workspace))
        with served.page() as page:
            state = page.open("theirs.toml")
            assert state["problems"] == []
            assert [one.partition(", SHA-256 ")[0] for one in state["runs_programs"]] == [
                *("r1.conf", "theirs.bpf.c", "touch flow", "touch program", "touch cell")
            ]
            for engine in ("emulate", "simulate"):
                served.json("POST", "/api/plan", {"path": "theirs.toml", "engine": engine})
            served.json("POST", "/api/import", {"name": "lab.clab.yml", "path": "lab.clab.yml"})
            for route in ("/api/runs", "/api/labs"):
                assert asked(served, route, {"path": "theirs.toml"}) == state["runs_programs"]
            time.sleep(1)  # Documents are looked at further 0.3 s after a change.
            assert started() == [command]
            served.json("POST", "/api/agree", {"programs": state["runs_programs"]})
            until = time.monotonic() + 60
            while not any("clang" in words[0] for words in started()):
                assert time.monotonic() < until, "once that is agreed to, it is compiled"
                time.sleep(0.05)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


def test_a_question_makes_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    asked = Agreement(tmp_path)
    assert not asked.has(["curl x"])
    assert asked.has([])
    assert not asked.has(None)
    assert not list(tmp_path.rglob("secret"))
    asked.add(["curl x"])
    assert asked.has(["curl x"])
    assert Agreement(tmp_path).has(["curl x"])
