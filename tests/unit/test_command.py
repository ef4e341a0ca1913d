"""Commands in hints."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from synthetic_study import Synthetic

import dumbbell
from dumbbell.command import as_root, command, extra, quoted, rebuild
from dumbbell.engines.realm.programs import check_programs
from dumbbell.errors import InputError
from dumbbell.plan.expand import expand
from dumbbell.records import kept
from dumbbell.report import study as reports
from dumbbell.scenario.file.loading import load
from dumbbell.studies import Study

EVIL = "x; touch owned #"
"""A text of a stranger that a shell would carry out, unless it is quoted."""


def test_arguments_are_quoted() -> None:
    assert command("cc", "build", "my files/x.bpf.c") == "dumbbell cc build 'my files/x.bpf.c'"


def test_sudo_gets_the_path_that_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "dumbbell"
    program.parent.mkdir()
    program.touch(mode=0o755)
    monkeypatch.setattr(sys, "argv", [str(program)])
    assert shlex.split(as_root("cc", "load", "a b")) == ["sudo", str(program), "cc", "load", "a b"]
    monkeypatch.setattr("dumbbell.command._SUDO_PATH", (str(program.parent),))
    assert as_root("doctor") == "sudo dumbbell doctor"
    monkeypatch.setattr(sys, "argv", ["-c"])
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python3"))
    monkeypatch.setenv("PATH", "")
    assert as_root("doctor") == f"sudo {tmp_path}/python3 -P -m dumbbell doctor"


def test_an_extra_is_added_where_this_installation_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lib").mkdir()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert extra("query") == "pip install 'dumbbell[query]'"
    monkeypatch.setattr(sys, "prefix", "/opt/of-root")
    assert extra("query") == "sudo /opt/of-root/bin/pip install 'dumbbell[query]'"


def test_a_checkout_is_built_again_and_a_package_installed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (rebuild(), rebuild("kernel")) == ("make build", "make kernel")
    monkeypatch.setattr("dumbbell.command.__file__", str(tmp_path / "lib" / "dumbbell" / "command.py"))
    assert rebuild() == f"{sys.executable} -m pip install --force-reinstall dumbbell-*.whl"


def test_no_text_becomes_a_command_unless_it_is_quoted() -> None:
    """Hints and pages have commands to be copied. Names that stand there unquoted have been checked, or are ours."""
    checked = {
        "labs/place.py: name", "labs/shell/session.py: session.lab.path.name", "labs/shell/session.py: name",
        "cli/cc.py: name", "published/registry.py: study.key", "scenario/bundled/__init__.py: name",
        "cc/parameters.py: of", "command.py: package", "command.py: sys.prefix", "kernels/link.py: folder",
    }  # fmt: skip
    package = Path(dumbbell.__file__).parent
    unquoted = {
        f"{file.relative_to(package)}: {ast.unparse(value)}"
        for file in package.rglob("*.py")
        for value in _in_commands(ast.parse(file.read_text(encoding="utf-8")))
    }
    assert {one for one in unquoted if not re.search(r"\bquoted\b|shlex\.(quote|join)\(", one)} == checked


def _in_commands(tree: ast.AST) -> Iterator[ast.expr]:
    """Values in texts behind the beginning of a command."""
    begins = re.compile(
        r"(?:^|[\s`])(?:dumbbell (?:cc|compare|export|fit|import|kernel|lab|pcap|query|report|reproduce|run|scenarios)"
        r"|rm|sudo \S*pip|pip)(?: [^:;,]*)? $|(?:^|[\s`])sudo $"
    )
    for node in ast.walk(tree):
        text = ""
        for value in node.values if isinstance(node, ast.JoinedStr) else ():
            if isinstance(value, ast.FormattedValue):
                if begins.search(text):
                    yield value.value
                text += "X"
            elif isinstance(value, ast.Constant):
                text += str(value.value)


def test_a_study_of_a_stranger_puts_no_command_of_its_own_into_those_to_be_copied(tmp_path: Path) -> None:
    path = Synthetic(manifest={"engine": f"simulate{EVIL}", "name": f"name{EVIL}"}).write(tmp_path / "a study")
    for file in (path / "shards").glob("*/*.parquet"):
        pl.read_parquet(file).with_columns(run_id=pl.format("{}" + EVIL, "run_id")).write_parquet(file)
    study = Study(path)
    with pytest.raises(InputError) as lacking:
        study.open(0)
    hint = lacking.value.problems[0].hint
    assert shlex.split(hint)[:5] == ["dumbbell", "run", str(path / "scenario.toml"), "--engine", f"simulate{EVIL}"]
    (page,) = reports.write(study, "html", tmp_path / "without.html")
    assert f"--engine 'simulate{EVIL}'" in page.read_text()
    (path / "runs").mkdir()
    (page,) = reports.write(study, "html", tmp_path / "with.html")
    # The page writes both behind one another.
    assert f"'{path}/runs/name{EVIL}-'" in page.read_text()
    assert f"'000000000000{EVIL}'" in page.read_text()


@pytest.mark.parametrize("program", ["./theirs.deb", "theirs x.deb", "theirs\ntouch owned", "-o", "Theirs"])
def test_a_program_that_is_no_package_is_not_installed(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command_line = shlex.quote(program).replace("\n", "\\n")
    text = Path(Synthetic().write(tmp_path / "s") / "scenario.toml").read_text()
    Path("s.toml").write_text(f'{text}\n[[programs]]\nnode = "s1"\ncommand = "{command_line}"\n')
    scenario = load("s.toml")
    (problem,) = check_programs(scenario, expand(scenario))
    assert problem.hint == "install it"


def test_a_link_is_removed_by_a_command_that_is_quoted(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / f"link {EVIL}").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError) as refused:
        kept.remove(kept.Kept(tmp_path / f"link {EVIL}", "x", "", "valid", (), (), 0))
    assert refused.value.problems[0].hint == f"rm '{tmp_path}/link {EVIL}' removes the link"


def test_a_word_to_be_pasted_has_nothing_that_a_terminal_obeys() -> None:
    """Ctrl-C would end the line, and ESC [201~ the paste: what follows would be carried out."""
    text = "x\x03\n\x1b[201~touch 'owned' \\ é\u202e"
    word = quoted(text)
    assert word.isprintable()
    printed = subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True, check=True)
    assert printed.stdout.decode() == text
    assert command("run", text).isprintable()
    assert quoted("a\udcff\ud800") == "$'a\\xff\\xed\\xa0\\x80'"
    assert shlex.split(command("run", "a b")) == ["dumbbell", "run", "a b"]
