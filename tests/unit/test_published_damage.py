"""A damaged file of a reproduction is named, and blocks nothing: what it held is made again, and the rest stays."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from dumbbell import Study
from dumbbell.cli import invoke
from dumbbell.errors import DamagedFile
from dumbbell.published import found, report
from dumbbell.published.model import Part, Published
from dumbbell.published.recorded import whole
from dumbbell.published.sides import Side
from dumbbell.published.tables import tables
from dumbbell.statistics.intervals import of_mean
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
    command = ["reproduce", str(place), "--quick", "--output", str(place / "out"), "--jobs", "1", "--quiet"]
    assert invoke([*command, "--part", "one", "--part", "two", "--agree"]) == 0
    return command


@pytest.fixture
def out(args: list[str]) -> Path:
    return Path(args[args.index("--output") + 1])


@pytest.mark.parametrize("file", ["samples.parquet", "links.parquet", "plan.json", "summary.json"])
@pytest.mark.parametrize("is_there", [True, False])
def test_a_damaged_run_over_time_is_made_again(out: Path, file: str, is_there: bool) -> None:
    (place,) = (out / "studies").glob("doe-2026-one-*")
    study = Study(place)
    run, other = whole(study, 1), whole(study, 2)
    assert run is not None
    assert other is not None
    before, kept = run.samples, (other.directory / "samples.parquet").stat().st_mtime_ns
    damaged = run.directory / file
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


def test_a_report_has_no_empty_sentence_and_no_empty_section(args: list[str], out: Path) -> None:
    assert invoke([*args, "--part", "one"]) == 0
    place = out / "doe-2026-quick"
    assert invoke(["report", str(place), "--format", "md"]) == 0
    for text in ((place / "report.md").read_text(), (place / "hand-in.md").read_text()):
        assert ": ." not in text
        assert "No finding of the study is judged" in text
        lines = [line for line in text.splitlines() if line]
        heads = [len(line) - len(line.lstrip("#")) for line in lines]
        # A heading is followed by text, or by one that is deeper.
        assert all(not a or (not b or b > a) for a, b in zip(heads, [*heads[1:], 1], strict=True))


def test_a_command_judges_once_and_says_what_it_does(
    args: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    judged: list[object] = []
    of_findings = found.judged
    monkeypatch.setattr(found, "judged", lambda *given: judged.append(given) or of_findings(*given))
    monkeypatch.setattr(report, "judged", found.judged)
    assert invoke([one for one in [*args, "--part", "one"] if one != "--quiet"]) == 0
    assert len(judged) == 1
    told = capsys.readouterr()
    assert "of computing for the report" in told.out
    assert "judging the findings and drawing the plots" in told.err


def test_an_interval_ends_where_a_metric_does() -> None:
    """Two runs lose 1 and 5 %: Student's interval of their mean begins far below nothing."""
    lost = Published({}, "retransmitted_share", None, 0.02, "table 1")
    interval = of_mean([0.01, 0.05])
    assert interval.low is not None
    assert interval.low < 0
    (table,) = tables(Part("one", "", "one.toml"), [Side(lost, 0.02, interval)])
    assert any(str(cell).startswith("3 [0, ") for cell in table.rows[0])
