"""The how-to's examples can be run, and so can the bundled studies."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from dumbbell.scenario import bundled
from dumbbell.scenario.file.loading import checked, read
from dumbbell.studies.cells import cells, is_study, values, varied
from dumbbell.studies.check import check, check_metrics

HOW_TO = (Path(__file__).parents[2] / "docs" / "how-to" / "study.md").read_text()
SNIPPETS = re.findall(r"```toml\n(.*?)```", HOW_TO, re.DOTALL)
STUDIES = [name for name in bundled.names() if is_study(read(name))]


def test_there_are_bundled_studies() -> None:
    assert "buffer-sweep" in STUDIES


@pytest.mark.parametrize("name", STUDIES)
def test_bundled_studies_are_right(name: str) -> None:
    scenario = checked(read(name))
    found = cells(scenario.sweep)
    assert [*check(scenario, found), *check_metrics(scenario)] == []
    assert len(found) * scenario.repeat.least > 1
    for cell in found:
        checked(read(name, {**values(cell), "sweep": {}, "expect": []}))


def test_the_study_of_kernels_takes_a_kernel_of_ones_own() -> None:
    """Two kernels run on the same paths, as docs/how-to/kernel.md says."""
    draft = varied(read("kernels"), ["emulate.kernel=6.12,mine"], None)
    scenario = checked(draft)
    by_kernel: dict[object, list[dict[str, object]]] = {}
    for cell in map(dict, cells(scenario.sweep)):
        by_kernel.setdefault(cell.pop("emulate.kernel"), []).append(cell)
    assert list(by_kernel) == ["6.12", "mine"]
    assert by_kernel["6.12"] == by_kernel["mine"]
    assert [*check(scenario, cells(scenario.sweep)), *check_metrics(scenario)] == []


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_snippets_make_a_study_of_a_scenario(snippet: str) -> None:
    """Beside what another snippet varies, which the expectations name."""
    given = tomllib.loads(snippet)
    base = tomllib.loads(bundled.text("bbr-vs-cubic"))
    study = {"sweep": {"flows.0.cc": ["cubic", "reno"]}, **base, **given}
    scenario = checked(read(study))
    assert [*check(scenario, cells(scenario.sweep)), *check_metrics(scenario)] == []
    for cell in cells(scenario.sweep):
        checked(read(base, values(cell)))
