import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from rich.text import Text
from stages import thorough_after

from dumbbell.cli import VERBS, Verbs, invoke
from dumbbell.errors import DumbbellError, Interrupted, RunFailed, RunInvalid


def test_plan_json_is_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["plan", "bbr-vs-cubic", "--json"]) == 0
    golden = Path(__file__).parent / "golden" / "bbr-vs-cubic.plan.json"
    assert json.loads(capsys.readouterr().out) == json.loads(golden.read_text())


def test_plan_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["plan", "bbr-vs-cubic", "--set", 'topology.rtt=["20 ms", "80 ms"]', "--set", "seed=7"]) == 0
    lines = [line.split("  ") for line in capsys.readouterr().out.splitlines()]
    rows = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    assert ["seed", "7"] in rows
    assert [
        "bottleneck", "left", "right", "100 Mbit/s", "10 ms", "1 MB", "1 MB (660 packets, 80 ms, 1 bdp)", "drop-tail",
        "none", "0 B", "-",
    ] in rows  # fmt: skip
    assert ["f2", "s2", "r2", "5002", "TCP, bbr", "2 s", "20 s", "80 ms", "s2 > left > right > r2"] in rows
    assert ["net.ipv4.tcp_no_metrics_save", "1", "all"] in rows


def test_plan_of_an_algorithm_from_elsewhere_is_shown_with_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["plan", "single-flow", "--set", "flows.0.cc=no_such_cc"]) == 0
    shown = capsys.readouterr()
    assert "TCP, no_such_cc" in shown.out
    assert shown.err.startswith("note: --set flows.0.cc=no_such_cc: this kernel has no such congestion control\n")


def test_scenarios(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["scenarios"]) == 0
    assert "bbr-vs-cubic        CUBIC against BBR" in capsys.readouterr().out
    assert invoke(["scenarios", "--json"]) == 0
    assert {"name": "iperf3", "description": "iperf3 with BBR as an external program at 50 Mbit/s and 40 ms"} in (
        json.loads(capsys.readouterr().out)
    )


def test_a_bundled_scenario_can_be_copied(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    copy = tmp_path / "mine.toml"
    assert invoke(["scenarios", "copy", "rtt-fairness", str(copy)]) == 0
    assert capsys.readouterr().out == f"{copy}\n"
    assert invoke(["plan", str(copy), "--json"]) == 0
    mine = json.loads(capsys.readouterr().out)
    assert invoke(["plan", "rtt-fairness", "--json"]) == 0
    assert mine == json.loads(capsys.readouterr().out) | {"name": "mine"}
    assert invoke(["scenarios", "show", "rtt-fairness"]) == 0
    assert capsys.readouterr().out.replace('"rtt-fairness"', '"mine"') == copy.read_text()


def test_a_copy_takes_its_traces_along_and_overwrites_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert invoke(["scenarios", "copy", "cellular"]) == 0
    assert capsys.readouterr().out == "cellular.toml\ncellular.trace\n"
    assert invoke(["plan", "./cellular.toml"]) == 0
    capsys.readouterr()
    assert invoke(["scenarios", "copy", "cellular"]) == 2
    assert "cellular.toml exists already" in capsys.readouterr().err
    assert invoke(["scenarios", "copy", "cellular", "second.toml"]) == 0, "the same trace serves both"
    (tmp_path / "cellular.trace").write_text("1\n")
    assert invoke(["scenarios", "copy", "cellular", "third.toml"]) == 2
    assert "cellular.trace exists already" in capsys.readouterr().err
    assert not (tmp_path / "third.toml").exists()
    assert invoke(["scenarios", "copy", "cellular", "no/such/folder.toml"]) == 2


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("dumbbell scen", {"scenarios"}),
        ("dumbbell run bbr-v", {"bbr-vs-cubic"}),
        ("dumbbell run bbr-vs-cubic --engine s", {"simulate"}),
        ("dumbbell scenarios copy sat", {"satellite"}),
        ("dumbbell kernel bu", {"build"}),
    ],
)
def test_a_shell_completes_verbs_and_names(words: str, offered: set[str]) -> None:
    asked = {"_DUMBBELL_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    call = [sys.executable, "-m", "dumbbell"]
    done = subprocess.run(call, env=os.environ | asked, capture_output=True, text=True, check=False, timeout=60)
    assert set(done.stdout.split()) == offered, done.stderr


def test_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["schema"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "dumbbell scenario"


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (
            ["schem"],
            "error: No such command 'schem'. Did you mean 'schema'?\nhint: dumbbell --help lists the commands\n",
        ),
        (
            ["schema", "--nope"],
            "error: No such option: --nope\nhint: dumbbell schema --help lists the arguments and options\n",
        ),
        (["plan"], "error: Missing argument 'SCENARIO'\nhint: dumbbell plan --help lists the arguments and options\n"),
        (["plan", "nope.toml"], "error: nope.toml: no such file\nhint: dumbbell scenarios lists"),
        (
            ["plan", "single-flow", "--set", "duration=5", "--set", "sed=1"],
            "error: --set duration=5: no unit\n"
            '  expected a time with its unit (ns, us, ms, s, min), such as "20 s"\n'
            'hint: write "5 s" or "5 ms"\n'
            "error: --set sed=1: unknown key\n"
            "  expected one of name, description, duration, seed, starts, topology, events, flows, programs, hosts, "
            "record, emulate, simulate, sweep, repeat, expect, report, hunt\n"
            "hint: did you mean seed?\n",
        ),
    ],
)
def test_mistakes_are_told_on_stderr_with_exit_code_2(
    args: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(args) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(expected)


@pytest.mark.parametrize(
    ("error", "code"), [(RunFailed("x"), 1), (RunInvalid("x"), 3), (Interrupted("x"), 130), (KeyboardInterrupt(), 130)]
)
def test_exit_codes(
    error: BaseException, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(name: str) -> str:
        raise error

    monkeypatch.setattr("dumbbell.scenario.bundled.text", fail)
    assert invoke(["plan", "bbr-vs-cubic"]) == code
    assert capsys.readouterr().err == ("error: x\n" if isinstance(error, DumbbellError) else "")


def test_a_mistake_of_ours_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dumbbell.scenario.bundled.text", lambda name: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        invoke(["plan", "bbr-vs-cubic"])


def test_colour_on_a_terminal_only() -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "dumbbell", "plan", "nope.toml"]
    environment = {**os.environ, "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    done = subprocess.run(command, stderr=theirs, env=environment, check=False, timeout=60)
    os.close(theirs)
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    assert done.returncode == 2
    assert "\x1b[1;31merror: \x1b[0m\x1b[1mnope.toml: no such file\x1b[0m" in shown


@pytest.mark.parametrize("verb", VERBS)
def test_help_shows_every_bracket(verb: str) -> None:
    """Rich takes `[cluster]` for a style, unless it is escaped."""
    command = Verbs().get_command(None, verb)
    below = getattr(command, "commands", {}).values()
    for one in (command, *below):
        for text in filter(None, (one.help, *(getattr(parameter, "help", None) for parameter in one.params))):
            assert Text.from_markup(text).plain == text.replace("\\[", "[")


@pytest.mark.parametrize("verb", ["run", "reproduce"])
def test_help_says_how_to_install_what_is_missing(
    verb: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    assert invoke([verb, "--help"]) == 0
    assert "(pip install 'dumbbell[cluster]')" in capsys.readouterr().out


@pytest.mark.parametrize("args", [["--help"], ["plan", "bbr-vs-cubic"], ["scenarios"]])
def test_light_verbs_import_nothing_heavy(args: list[str]) -> None:
    heavy = {"polars", "matplotlib", "numpy"}
    code = (
        f"import sys; from dumbbell.cli import invoke; invoke({args!r})\n"
        f"if found := {heavy!r} & set(sys.modules): sys.exit(repr(found))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr.decode()


def test_importing_dumbbell_imports_nothing_else() -> None:
    code = (
        "import sys; before = set(sys.modules); import dumbbell; new = set(sys.modules) - before\n"
        "sys.exit(any(m.startswith(('dumbbell.', 'pydantic', 'rich', 'typer')) for m in new))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


@pytest.mark.parametrize(
    ("verb", "most"),
    thorough_after(
        3,
        [
            ("run", 12),
            ("query", 32),
            ("ui", 32),
            ("run", 20),
            ("run", 32),
            *((verb, 12) for verb in VERBS if verb != "run"),
        ],
    ),
)
def test_too_few_open_files_are_an_error_that_says_so(verb: str, most: int, tmp_path: Path) -> None:
    """Threads of polars wait for ever without descriptors."""
    command = ["sh", "-c", f'ulimit -n {most}; exec "$0" -m dumbbell {verb} x y', sys.executable]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == RunFailed.exit_code
    assert done.stdout == ""
    said = f"error: too few open files are allowed\n  this process may open {most} files, and dumbbell needs 64\n"
    assert done.stderr == f"{said}hint: ulimit -n 1024\n"
    assert not list(tmp_path.iterdir())


def test_a_low_limit_of_open_files_is_raised(tmp_path: Path) -> None:
    command = ["sh", "-c", 'ulimit -Sn 12; exec "$0" -m dumbbell run single-flow --engine simulate', sys.executable]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120).returncode == 0
