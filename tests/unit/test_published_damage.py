"""A damaged file of a reproduction is named, and blocks nothing: what it held is made again, and the rest stays."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from dumbbell import Study
from dumbbell.cli import invoke
from dumbbell.errors import DamagedFile
from dumbbell.published.recorded import whole
from tests.unit.test_published_folder import SCENARIO

STUDY = """\
key = "doe-2026"
title = "Two buffers"
citation = "Doe: Two buffers, 2026"
[[parts]]
name = "one"
title = "Two buffers"
scenario = "one.toml"
quick = { repeat = 2, duration = "0.3 s" }
[[parts]]
name = "two"
like = "one"
set = { name = "doe-two" }
"""


@pytest.fixture(scope="module")
def args(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    place = tmp_path_factory.mktemp("doe")
    (place / "scenarios").mkdir()
    (place / "study.toml").write_text(STUDY)
    (place / "scenarios" / "one.toml").write_text(SCENARIO)
    found = ["reproduce", str(place), "--quick", "--output", str(place / "out"), "--jobs", "1", "--quiet"]
    assert invoke([*found, "--part", "one", "--part", "two", "--agree"]) == 0
    return found


@pytest.fixture
def out(args: list[str]) -> Path:
    return Path(args[args.index("--output") + 1])


@pytest.mark.parametrize("file", ["samples.parquet", "links.parquet", "plan.json", "summary.json"])
@pytest.mark.parametrize("is_there", [True, False])
def test_a_damaged_run_over_time_is_made_again(out: Path, file: str, is_there: bool) -> None:
    (place,) = (out / "studies").glob("doe-2026-one-*")
    study = Study(place)
    found, other = whole(study, 1), whole(study, 2)
    assert found is not None
    assert other is not None
    before, kept = found.samples, (other.directory / "samples.parquet").stat().st_mtime_ns
    damaged = found.directory / file
    damaged.write_bytes(damaged.read_bytes()[:40])
    if not is_there:
        damaged.unlink()
    with pytest.warns(DamagedFile, match=f"{file} .*: the run of cell 1, repetition 0 counts as missing"):
        again = whole(study, 1)
    assert again is not None
    assert again.samples.equals(before)
    assert (other.directory / "samples.parquet").stat().st_mtime_ns == kept
    with warnings.catch_warnings():
        warnings.simplefilter("error", DamagedFile)
        assert whole(study, 1) is not None


@pytest.mark.parametrize("file", ["study.json", "shards/*/flows.parquet", "parts.json"])
def test_a_damaged_part_is_left_out_until_it_is_run_again(args: list[str], out: Path, file: str) -> None:
    pattern = f"doe-2026-quick/{file}" if file == "parts.json" else f"studies/doe-two-*/{file}"
    for damaged in out.glob(pattern):
        damaged.write_bytes(damaged.read_bytes()[:20])
    with pytest.warns(DamagedFile, match=f"{Path(file).name} cannot be read"):
        assert invoke([*args, "--part", "one"]) == 0
    report = out / "doe-2026-quick" / "report.md"
    assert "1 of 2 parts" in report.read_text()
    assert invoke([*args, "--part", "two"]) == 0
    assert "2 of 2 parts" in report.read_text()


def test_a_report_tells_how_runs_were_shortened_and_which_parts_to_repeat(args: list[str], out: Path) -> None:
    assert invoke([*args, "--part", "one", "--part", "two"]) == 0
    command = " ".join(["dumbbell", *args[:3]])
    hand_in = out / "doe-2026-quick" / "hand-in.md"
    assert invoke(["report", str(hand_in.parent), "--format", "md"]) == 0
    for text in ((out / "doe-2026-quick" / "report.md").read_text(), hand_in.read_text()):
        assert '- --quick sets repeat = 2, duration = "0.3 s" in one and two.' in text
        # `two` is a variant, which the command alone does not run.
        assert f"    {command}\n    {command} --part two\n" in text
    assert invoke([*args, "--part", "two", "--output", str(out / "other")]) == 0
    text = (out / "other" / "doe-2026-quick" / "report.md").read_text()
    assert f"    {command} --part two\n" in text
    assert f"    {command}\n" not in text
