"""Any network of another program becomes a scenario that plans, as a lab that stays."""

from __future__ import annotations

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from others import FORMATS
from stages import thorough_after

from dumbbell.cli import invoke
from dumbbell.labs.build import load
from dumbbell.plan.expand import expand


@pytest.mark.parametrize("form", thorough_after(1, FORMATS))
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 1 << 32), routers=st.sampled_from(["static", "frr"]))
def test_an_import_always_plans(form: str, seed: int, routers: str) -> None:
    with TemporaryDirectory() as folder:
        home = Path(folder)
        files = FORMATS[form](Random(seed))
        for name, text in files.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text)
        command = ["import", str(home / next(iter(files))), "--routers", routers, "-o", str(home / "made.toml")]
        assert invoke(command) == 0
        expand(load(home / "made.toml"))
