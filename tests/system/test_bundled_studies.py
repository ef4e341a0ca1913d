"""Bundled studies find what their comments say, simulated and with a kernel in virtual time."""

from __future__ import annotations

import pytest
from harness import Place
from stages import thorough_after

import dumbbell
from dumbbell.engines.names import SIMULATE, VIRTUAL


@pytest.mark.parametrize(
    ("name", "engine"),
    thorough_after(
        1,
        [
            ("ecn-marking", SIMULATE),
            ("several-flows", SIMULATE),
            ("wifi-versions", SIMULATE),
            ("ecn-marking", VIRTUAL),
            ("several-flows", VIRTUAL),
        ],
    ),
)
def test_all_expectations_hold(here: Place, name: str, engine: str) -> None:
    """A run of a kernel takes as long as twenty simulated ones. A single run has no interval: its value decides."""
    few = ("--repeat", "1") if engine == VIRTUAL else ()
    done = here.invoke("run", name, "--engine", engine, *few, "--quiet", "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    study = dumbbell.Study(here.directory / done.stdout.splitlines()[-1])
    assert set(study.runs["verdict"]) == {"valid"}
    assert {one["answer"] for one in study.manifest["expectations"]} == {"holds"}
