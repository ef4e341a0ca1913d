"""Commands in hints."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from dumbbell.command import as_root, command, extra, rebuild


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
