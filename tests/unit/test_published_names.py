"""Names in a study's file that its parts do not have are refused, with what there is, by `--list` as by a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from dumbbell.cli import invoke
from dumbbell.errors import InputError
from dumbbell.published.checking import check
from dumbbell.published.packaged import folder
from dumbbell.published.registry import KEYS, reproduction
from dumbbell.published.stranger import stranger
from tests.unit.test_published_folder import CODE, NUMBERS, SCENARIO, STUDY

CLAIM = """
[[claims]]
text = "Reno has less than CUBIC"
source = "page 4"
printed = "8 and 9 Mbit/s"
part = "one"
values.goodput.metric = "goodput"
values.goodput.by = "flows.0.cc"
values.goodput.where."topology.bottleneck.buffer" = "60 packets"
values.goodput.unit = "Mbit/s"
holds = ["goodput.reno < goodput.cubic"]
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    place = tmp_path / "doe"
    (place / "scenarios").mkdir(parents=True)
    (place / "numbers").mkdir()
    (place / "study.toml").write_text(STUDY + CLAIM)
    (place / "scenarios" / "one.toml").write_text(SCENARIO)
    (place / "numbers" / "table.csv").write_text(NUMBERS)
    (place / "code.py").write_text(CODE)
    return place


@pytest.mark.parametrize("key", KEYS)
def test_the_studies_that_come_along_name_what_there_is(key: str) -> None:
    check(folder(key) / "study.toml", reproduction(key))


@pytest.mark.parametrize(
    ("old", "new", "wrong", "known", "hint"),
    [
        ("goodput.cubic", "goodput.cubik", "goodput has no member 'cubik'", "reno, cubic", "cubic?"),
        ("< goodput.cubic", "< godput.cubic", "has no value godput", "goodput", "goodput?"),
        ("large > small", "large.reno > small", "large has no member reno", "one figure", "write large"),
        ('by = "flows.0.cc"', 'by = "flow.0.cc"', "values.goodput.by = 'flow.0.cc'", "flows.0.cc", "flows.0.cc?"),
        ('unit = "Mbit/s"', 'unit = "Mbits"', "values.goodput.unit = 'Mbits'", "Gbit/s, Mbit/s", "Mbit/s?"),
        ('unit = "Mbit/s"', 'unit = "ms"', "values.goodput.unit = 'ms'", "Gbit/s, Mbit/s", ""),
        ('"60 packets"\nvalues', '"6 packets"\nvalues', "has '6 packets'", "3 packets, 60 packets", "60 packets?"),
        ('goodput.metric = "goodput"', 'goodput.metric = "godput"', "no metric 'godput'", "", "goodput?"),
        ('key = "topology.bottleneck.buffer"', 'key = "topology.buffer"', "the plot 'Goodput': key", "it varies", ""),
        ("holds = [\"goodput", 'within = "some setting"\nholds = ["goodput', "within is for several", "one", "along"),
        ('source = "page 4"', 'sourec = "page 4"', "claims.3.sourec", "text, source", "source?"),
        ('kind = "bars"', 'kind = "bar"', "parts.0.plots.0.kind: there is no 'bar'", "lines, bars", "'bars'?"),
        ('metric = "goodput"\nkey', 'metric = "goodput"\nof = ["cubik"]\nkey', "the plot 'Goodput': of = 'cubik'",
         "reno, f1, cubic", "cubic?"),
        ('metric = "goodput"\nkey', 'metric = "queue_p95"\nof = ["cubic"]\nkey', "of = 'cubic'", "bottleneck", ""),
        ('metric = "goodput"\nkey', 'metric = "goodput"\nof = ["reno"]\nrelative_to = "cubik"\nkey',
         "the plot 'Goodput': relative_to = 'cubik'", "reno, f1, cubic", "cubic?"),
        ('evidence = ["marks"]\n', 'evidence = ["marks"]\ntables = [{ title = "Table 1", source = "page 2", '
         'rows = "flows.0.cc", columns = "topology.bottleneck.buffer", metric = "goodput", of = "f2" }]\n',
         "the table 'Table 1': of = 'f2'", "reno, f1, cubic", ""),
        ('goodput.metric = "goodput"', 'goodput.metric = "goodput"\nvalues.goodput.of = "cubik"',
         "values.goodput.of = 'cubik'", "reno, f1, cubic", "cubic?"),
        ('values.small = { metric = "goodput", ', 'values.small = { of = "{cc}x", metric = "goodput", ',
         "values.small.of = 'renox'", "reno, f1, cubic", "reno?"),
        ('x = { title', 'x = { titel', "parts.0.plots.0.x.titel", "title", "title?"),
        ('each = "ccs"', "each = []", "claims.0: each = [] is empty", "", "remove it"),
        ('each = "ccs"', 'each = "cc"', 'claims.0: each = "cc" is not a list', "", "ccs?"),
        ('text = "{cc} has', 'text = "{ccc} has', "claims.0.text = '{ccc} has more", "each has cc", "cc?"),
        ('"flows.0.cc" = "{cc}"', '"flows.0.cc" = "{cx}"', "nothing fills {cx}", "part", ""),
        ('printed = "8 and 9 Mbit/s"\npart = "one"\nvalues.small', 'printd = ""\npart = "one"\nvalues.small',
         'claims.0.printd with each = { cc = "reno" }', "printed", "printed?"),
    ],
)  # fmt: skip
def test_a_name_that_there_is_not_is_refused(
    study: Path, old: str, new: str, wrong: str, known: str, hint: str
) -> None:
    text = STUDY + CLAIM
    assert old in text
    (study / "study.toml").write_text(text.replace(old, new))
    with pytest.raises(InputError) as raised:
        stranger(study)
    error = raised.value
    assert str(study / "study.toml") in error.what
    assert wrong in error.what
    assert known in error.why
    assert hint in error.hint


@pytest.mark.parametrize(
    ("columns", "cells", "wrong"),
    [("of", "cubik", "of = 'cubik'"), ("of,relative_to", "cubic,cubik", "relative_to = 'cubik'")],
)
def test_a_printed_number_of_a_name_that_there_is_not_is_refused(
    study: Path, columns: str, cells: str, wrong: str
) -> None:
    (study / "numbers" / "table.csv").write_text(
        f"part,flows.0.cc,{columns},metric,value,source\none,cubic,{cells},goodput,8 Mbit/s,table 1\n"
    )
    with pytest.raises(InputError, match=f"a number of part one .table 1.: {wrong}: no run of part one has it"):
        stranger(study)


def test_a_printed_number_of_a_cell_that_there_is_not_is_refused(study: Path) -> None:
    (study / "numbers" / "table.csv").write_text(NUMBERS.replace("60 packets", "6 packets"))
    with pytest.raises(InputError, match=r"table 1.*no cell of part one has '6 packets'") as raised:
        stranger(study)
    assert raised.value.why == "it has: 3 packets, 60 packets"


def test_a_list_of_parts_checks_what_a_run_checks(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["--output", str(study.parent / "out"), "--jobs", "1", "--quiet"]
    assert invoke(["reproduce", str(study), "--list"]) == 0
    assert "code.py is not checked" in capsys.readouterr().err
    for file, old, new in (
        ("study.toml", "goodput.cubic", "goodput.cubik"),
        ("scenarios/one.toml", 'to = "r1"', 'to = "r9"'),
        ("code.py", "def was_run(study, least", "def was_run(study, most"),
    ):
        before = (study / file).read_text()
        assert old in before
        (study / file).write_text(before.replace(old, new))
        assert invoke(["reproduce", str(study), "--agree", *out]) == 2
        said = capsys.readouterr().err
        assert invoke(["reproduce", str(study), "--list", *out]) == 2
        assert capsys.readouterr().err == said
        (study / file).write_text(before)
