"""Engines by their names."""

from __future__ import annotations

import subprocess
import sys

import pytest

import dumbbell
from dumbbell.cli import invoke
from dumbbell.engines.emulate.engine import EmulateEngine
from dumbbell.engines.names import EMULATE, SIMULATE, VIRTUAL
from dumbbell.engines.registry import engine, names
from dumbbell.engines.simulate.engine import SimulateEngine
from dumbbell.engines.virtual.engine import VirtualEngine
from dumbbell.errors import InputError


def test_names_and_engines() -> None:
    assert isinstance(engine("emulate"), EmulateEngine)
    assert isinstance(engine("virtual"), VirtualEngine)
    assert isinstance(engine("simulate"), SimulateEngine)
    assert [engine(name).capabilities.name for name in names()] == [EMULATE, VIRTUAL, SIMULATE]
    own = SimulateEngine()
    assert engine(own) is own


def test_another_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(InputError) as refused:
        dumbbell.run("bbr-vs-cubic", engine="simulator")
    (problem,) = refused.value.problems
    assert problem.text() == (
        "no engine 'simulator'\n  expected one of emulate, virtual, simulate\nhint: did you mean simulate?"
    )


@pytest.mark.parametrize("verb", ["run", "plan"])
def test_so_is_it_on_the_command_line(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke([verb, "bbr-vs-cubic", "--engine", "vm"]) == 2
    assert "error: no engine 'vm'" in capsys.readouterr().err


def test_the_simulation_engine_takes_nothing_of_emulation_s() -> None:
    """The simulation engine uses no Linux-only module either: it must run wherever Python does."""
    code = (
        "import os, sys\n"
        "for name in ('pipe2', 'sched_getaffinity', 'uname', 'getloadavg', 'sysconf_names'):\n"
        "    delattr(os, name)\n"
        "from dumbbell.engines.registry import engine\n"
        "from dumbbell.machine import machine\n"
        "import dumbbell.pipeline.run\n"
        "engine('simulate'), machine()\n"
        "print([name for name in sys.modules if name.startswith('dumbbell.engines.emulate')])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr
