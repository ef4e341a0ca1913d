"""Bundled studies find what their comments say, simulated and with a kernel in virtual time."""

from __future__ import annotations

import pytest
from harness import Place

import dumbbell
from dumbbell.engines.names import SIMULATE, VIRTUAL

STUDIES = {"ecn-marking": "5 s", "several-flows": "12 s"}
"""Name -> a duration that is enough. A run of a kernel takes as long as twenty simulated ones; one run of a cell has no
interval, so its value decides."""


@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.parametrize("engine", [SIMULATE, VIRTUAL])
def test_all_expectations_hold(here: Place, name: str, engine: str) -> None:
    short = ("--repeat", "1", "--set", f"duration={STUDIES[name]}") if engine == VIRTUAL else ()
    done = here.invoke("run", name, "--engine", engine, *short, "--quiet", "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    study = dumbbell.Study(here.directory / done.stdout.splitlines()[-1])
    assert set(study.runs["verdict"]) == {"valid"}
    assert {one["answer"] for one in study.manifest["expectations"]} == {"holds"}
