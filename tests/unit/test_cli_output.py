"""Whatever standard output is, a command ends as it would have ended, and without a traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from stages import thorough_after

from dumbbell.cli import invoke

SCENARIO = """\
name = "small"
duration = "200 ms"
topology = { kind = "path", rtt = "10 ms", bottleneck = { rate = "5 Mbit/s", buffer = "1 bdp" } }
flows = [{ from = "h1", to = "h2", cc = "cubic" }]
"""
VERBS = thorough_after(
    2,
    ["run small.toml --engine simulate", "scenarios", "--help", "plan small.toml", "schema", "--version", "cc list"],
)
SCRIPTS = Path(__file__).parents[2] / "tools" / "installed" / "scripts"
DUMBBELL = f"{sys.executable} -m dumbbell"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(SCENARIO)
    return tmp_path


def shell(line: str) -> tuple[int, str]:
    """Exit code, and what was printed to stderr."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=environment, timeout=300)
    return done.returncode, done.stderr


@pytest.mark.parametrize("verb", VERBS)
def test_a_reader_that_leaves_and_a_closed_output_change_nothing(verb: str) -> None:
    assert shell(f"{DUMBBELL} {verb} | head -1; exit ${{PIPESTATUS[0]}}") == (0, "")
    assert shell(f"{DUMBBELL} {verb} >&-") == (0, "")
    assert shell(f"{DUMBBELL} {verb} >&- 2>&- <&-") == (0, "")


def test_the_exit_code_is_that_of_the_command_with_any_output() -> None:
    refused = shell(f"{DUMBBELL} plan small.toml --set seed=x")
    assert refused[0] == 2
    assert shell(f"{DUMBBELL} plan small.toml --set seed=x | head -1; exit ${{PIPESTATUS[0]}}") == refused
    assert shell(f"{DUMBBELL} plan small.toml --set seed=x >&-") == refused


@pytest.mark.parametrize("verb", VERBS)
def test_an_output_that_is_full_is_an_error_and_the_run_goes_on(verb: str) -> None:
    expected = "error: cannot write to standard output\n  No space left on device\n"
    assert shell(f"{DUMBBELL} {verb} > /dev/full") == (1, expected)
    if verb.startswith("run"):
        assert [path.name for path in Path("runs").glob("small-*/report.html")] == ["report.html"]


def test_files_of_a_run_are_not_given_the_numbers_of_closed_outputs() -> None:
    assert shell(f"{DUMBBELL} run small.toml --engine simulate >&- 2>&-")[0] == 0
    assert not any(path.stat().st_size for path in Path("runs").rglob("lock"))


def test_an_output_without_unicode_gets_plain_characters() -> None:
    code = "import sys\nfrom dumbbell.cli.output import Output\nOutput()\nprint('9.1 ± 0.2 \\u2013 5 µs, \\u2603')"
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, timeout=300)
    assert (done.stdout, done.stderr) == (b"9.1 +- 0.2 - 5 us, ?\n", b"")


def test_a_home_that_cannot_be_written_to_is_not_remarked_on() -> None:
    assert shell(f"{DUMBBELL} run small.toml --engine simulate --no-report") == (0, "")
    nowhere = "env --unset XDG_CONFIG_HOME --unset XDG_CACHE_HOME --unset MPLCONFIGDIR HOME=/proc/nowhere"
    assert shell(f"{nowhere} {DUMBBELL} report runs/small-* --format svg") == (0, "")
    assert [path.name for path in Path("runs").glob("small-*/report.svg")] == ["report.svg"]


@pytest.mark.parametrize(
    "name",
    thorough_after(2, ["sitecustomize", "typer", "dumbbell", "dumbbell.__main__", "signal", "dumbbell.cli"]),
)
def test_ctrl_c_leaves_no_traceback_whatever_the_installed_command_imports(name: str, tmp_path: Path) -> None:
    """Ctrl-C comes with the import of a module, the first of which CPython imports before the script."""
    for script in SCRIPTS.iterdir():
        text = script.read_text().replace("#!python\n", f"#!{sys.executable}\n")
        (tmp_path / script.name).write_text(text)
        (tmp_path / script.name).chmod(0o755)
    interrupting = tmp_path / "first"
    interrupting.mkdir()
    (interrupting / "sitecustomize.py").write_text(
        "import sys\n"
        "from posix import getpid, kill\n"
        "class Finder:\n"
        "    def find_spec(self, name, path, target=None):\n"
        f"        if name == {name!r}:\n"
        "            kill(getpid(), 2)\n"
        f"if {name!r} == 'sitecustomize':\n"
        "    kill(getpid(), 2)\n"
        "else:\n"
        f"    sys.modules.pop({name!r}, None)\n"
        "sys.meta_path.insert(0, Finder())\n"
    )
    (tmp_path / "link").symlink_to(tmp_path / "dumbbell")
    environment = {**os.environ, "PYTHONPATH": f"{interrupting}:{os.environ.get('PYTHONPATH', '')}"}
    for command in ("dumbbell", "link"):
        done = subprocess.run([tmp_path / command, "scenarios"], capture_output=True, env=environment, timeout=60)
        assert (done.returncode, done.stderr) == (130, b"")
        plain = subprocess.run([tmp_path / command, "scenarios", "show", "rrul"], capture_output=True, timeout=60)
        assert (plain.returncode, plain.stderr) == (0, b"")
        assert b'name = "rrul"' in plain.stdout


def test_ctrl_c_during_the_first_imports_leaves_no_traceback() -> None:
    code = (
        "import os, signal, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'typer':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from dumbbell.__main__ import main\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code, "scenarios"], capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, b"")


def test_a_terminal_obeys_no_text_of_a_mistake() -> None:
    code = (
        "from dumbbell import cli\n"
        "def fail(args):\n"
        "    raise ValueError('odd: \\x1b]52;c;QQ==\\x07\\u202e\\r')\n"
        "cli.invoke = fail\n"
        "cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=120, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("Traceback (most recent call last):\n")
    assert done.stderr.endswith("ValueError: odd: \\x1b]52;c;QQ==\\x07\\u202e\\r\n")


def test_ctrl_c_that_compiled_code_swallows_is_repeated() -> None:
    code = (
        "import time\n"
        "from dumbbell import cli\n"
        "class Lost:\n"
        "    def __del__(self):\n"
        "        raise KeyboardInterrupt\n"
        "def swallow(args):\n"
        "    Lost()\n"
        "    time.sleep(30)\n"
        "cli.invoke = swallow\n"
        "cli.main(True)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=120)
    assert (done.returncode, done.stderr) == (130, b"")


def test_ctrl_c_that_compiled_code_turns_into_another_error_ends_the_command() -> None:
    code = (
        "import os, signal\n"
        "from dumbbell import cli\n"
        "def turned(args):\n"
        "    try:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    except KeyboardInterrupt:\n"
        "        raise ValueError('no schema') from None\n"
        "cli.invoke = turned\n"
        "cli.main(True)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=120)
    assert (done.returncode, done.stderr) == (130, b"")


def test_ctrl_c_later_leaves_no_traceback_either() -> None:
    command = [sys.executable, "-m", "dumbbell", "run", "small.toml", "--engine", "simulate"]
    with subprocess.Popen(
        [*command, "--set", "duration=100 min"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        run.stdout.readline()
        time.sleep(0.2)
        run.send_signal(signal.SIGINT)
        # A shell says 130 of both: CPython ends itself by the signal if it came within exec() of a text (dataclasses).
        assert run.wait(60) in (130, -signal.SIGINT)
        assert b"Traceback" not in run.stderr.read()


@pytest.mark.parametrize(("number", "code", "said"), [(24, 1, "ulimit -n"), (28, 1, "make room"), (36, 2, "too long")])
def test_what_no_verb_foresees_of_the_system_is_a_message(
    number: int, code: int, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number), "some/file")

    monkeypatch.setattr("dumbbell.records.kept.kept", refuse)
    assert invoke(["runs", "list", "--json"]) == code
    told = capsys.readouterr()
    assert said in told.err
    assert "some/file" in told.err
    assert json.loads(told.out)["error"]["exit_code"] == code
