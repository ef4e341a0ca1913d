"""A program that is not installed: the error names its package."""

from __future__ import annotations

from pathlib import Path

import pytest
from graphs import graph, link
from harness import Place

import dumbbell
from dumbbell.errors import RunFailed
from dumbbell.labs.packages import hint
from dumbbell.labs.shell.shell import NOT_FOUND, Shell


def test_an_error_names_the_package(
    here: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(here.directory)
    with dumbbell.Lab(here.write(graph(link("h1", "h2"), name="missing"))) as lab:
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(RunFailed) as caught:
            lab["h1"].start(["ping", "-c1", "h2"])
        assert "apt install iputils-ping" in caught.value.hint
        assert Shell(lab).interact(["h1 ping -c1 h2"]) == NOT_FOUND
        assert "apt install iputils-ping" in capsys.readouterr().err
        # One that we do not know has the shell's own words alone.
        assert Shell(lab).interact(["h1 dance"]) == NOT_FOUND
        assert "hint" not in capsys.readouterr().err
        (tmp_path / "ping").write_text("#!/bin/sh\n")
        (tmp_path / "ping").chmod(0o755)
        assert hint("ping") == ""
        assert Shell(lab).interact(["h1 ping -c1 h2"]) == 0
