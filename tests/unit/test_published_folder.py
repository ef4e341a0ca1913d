"""A published study in a folder of anyone's: its data are read with bounds, and its code runs after consent."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

import pytest

from dumbbell.cli import invoke
from dumbbell.errors import InputError
from dumbbell.published import document, expanding, folder
from dumbbell.published.markdown import markdown
from dumbbell.published.model import Reproduction, Status
from dumbbell.published.page import page
from dumbbell.published.stranger import Stranger, stranger
from dumbbell.report.render.markup import digest

STUDY: Final = """\
key = "doe-2026"
title = "Two buffers"
citation = "Doe: Two buffers, 2026"
open = ["The RTT is not given: 20 ms."]

[lists]
ccs = [{ cc = "reno" }, { cc = "cubic" }]

[notes]
short = "Half a second is short: not tested."

[[parts]]
name = "one"
title = "Two buffers"
scenario = "one.toml"
evidence = ["marks"]
notes = ["short"]
[[parts.plots]]
title = "Goodput"
source = "figure 1"
kind = "bars"
x = { title = "buffer" }
y = { title = "goodput (Mbit/s)", low = 0, factor = 1e6 }
metric = "goodput"
key = "topology.bottleneck.buffer"
curves = "flows.0.cc"

[[parts]]
name = "one-slow"
title = "The same on half of the rate"
like = "one"
set = { name = "doe-slow", "topology.bottleneck.rate" = "5 Mbit/s" }

[[claims]]
each = "ccs"
text = "{cc} has more with the larger buffer"
source = "page 3: a larger buffer is better"
printed = "8 and 9 Mbit/s"
part = "one"
values.small = { metric = "goodput", where = { "flows.0.cc" = "{cc}", "topology.bottleneck.buffer" = "3 packets" } }
values.large = { metric = "goodput", where = { "flows.0.cc" = "{cc}", "topology.bottleneck.buffer" = "60 packets" } }
holds = ["large > small"]

[[claims]]
text = "It was run"
source = "no page"
ours = true
printed = "nothing"
part = "one"
judge = "was_run"
arguments.least = 4
others = ["one"]

[[claims]]
text = "Cows fly"
source = "page 9"
printed = "in a figure"
untested = "there are no cows here"
"""
SCENARIO: Final = """\
name = "doe-2026-one"
duration = "0.5 s"
repeat = 3
[topology]
kind = "dumbbell"
rtt = "20 ms"
bottleneck = { rate = "10 Mbit/s", buffer = "60 packets" }
[[flows]]
from = "s1"
to = "r1"
cc = "reno"
[sweep]
"topology.bottleneck.buffer" = ["3 packets", "60 packets"]
"flows.0.cc" = ["reno", "cubic"]
"""
CODE: Final = """\
from pathlib import Path
from dumbbell.published.model import Judged, Status
Path(__file__).with_name("ran").touch()
def was_run(study, least, others):
    n = others[0].runs.height
    return Judged(Status.HOLDS if n >= least else Status.FAILS, f"{n} runs")
def marks(study):
    return "It left a mark."
"""
NUMBERS: Final = """\
part,flows.0.cc,topology.bottleneck.buffer,of,metric,value,source
one,reno,3 packets,,goodput,8 Mbit/s,table 1
one,reno,60 packets,,goodput,9 Mbit/s,table 1
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    place = tmp_path / "doe"
    (place / "scenarios").mkdir(parents=True)
    (place / "numbers").mkdir()
    (place / "study.toml").write_text(STUDY)
    (place / "scenarios" / "one.toml").write_text(SCENARIO)
    (place / "numbers" / "table.csv").write_text(NUMBERS)
    (place / "code.py").write_text(CODE)
    return place


@pytest.mark.parametrize("key", ["trace", "swept", "linked"])
def test_a_scenario_takes_no_file_from_outside_the_folder(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], key: str
) -> None:
    """Runs keep copies of traces, and whoever repeats a study may share them."""
    (tmp_path / "mine.trace").write_text("1\n2\n3\n4\n")
    (study / "scenarios" / "linked.trace").symlink_to(tmp_path / "mine.trace")
    name = "linked.trace" if key == "linked" else "../../mine.trace"
    if key == "swept":
        text = f'{SCENARIO}"topology.bottleneck.rate" = ["1 Mbit/s", {{ trace = "{name}" }}]\n'
    else:
        text = SCENARIO.replace('"10 Mbit/s"', f'{{ trace = "{name}" }}')
    (study / "scenarios" / "one.toml").write_text(text)
    args = ["reproduce", str(study), "--part", "one", "--output", str(tmp_path / "out"), "--jobs", "1", "--agree"]
    assert invoke(args) == 2
    assert "lies outside" in " ".join(capsys.readouterr().err.split())
    assert list((tmp_path / "out").rglob("*.trace")) == []


def test_a_terminal_obeys_no_text_of_a_study(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = r"\u001b]52;c;bXk=\u0007\u202e\r[/bold] "
    text = re.sub(r'(?m)^((title|citation|text|source|untested) = ")', lambda found: found[1] + odd, STUDY)
    (study / "study.toml").write_text(text)
    assert invoke(["reproduce", str(study), "--list"]) == 0
    args = ["reproduce", str(study), "--part", "one", "--output", str(tmp_path / "out"), "--jobs", "1"]
    assert invoke([*args, "--agree"]) == 0
    told = capsys.readouterr()
    assert "Cows fly" in told.out
    assert not set("\x1b\x07\u202e\r") & set(told.out + told.err)


def test_a_study_of_others_is_repeated_after_consent(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    args = ["reproduce", str(study), "--part", "one", "--json", "--output", str(tmp_path / "out"), "--jobs", "1"]
    assert invoke([*args, "--list"]) == 0
    assert "one-slow" not in capsys.readouterr().out
    assert invoke(args) == 2
    asked = capsys.readouterr().err
    assert "runs programs that you have not agreed to\n  code.py, SHA-256 " in asked
    assert "--agree" in asked
    assert not (study / "ran").exists()
    assert invoke([*args, "--agree"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["status"] for one in told["findings"]] == [*[Status.HOLDS] * 3, Status.UNTESTED]
    assert (study / "ran").exists()
    text = (tmp_path / "out" / "doe-2026" / "report.md").read_text()
    for said in (
        "Rule: `large > small`" if "Rule: " in text else "| `large > small` |", "| 8 |", "It left a mark.",
        "Half a second is short", f"dumbbell reproduce {study}",
    ):  # fmt: skip
        assert said in text
    # The question comes once, and again when the code is another one.
    assert invoke([*args, "--as-is"]) == 0
    (study / "code.py").write_text(CODE + "\n")
    assert invoke([*args, "--as-is"]) == 2


def test_what_its_scenarios_start_is_asked_about_too(study: Path) -> None:
    flow = '[[flows]]\nfrom = "s1"\nto = "r1"\ncommand = "curl example.org"\n[sweep]'
    (study / "scenarios" / "one.toml").write_text(SCENARIO.replace("[sweep]", flow))
    code, program = stranger(study).programs()
    assert code.startswith("code.py, SHA-256 ")
    assert program == "curl example.org"


def test_a_claim_fails_on_the_opposite_figures(study: Path) -> None:
    """The larger buffer is the smaller one."""
    opposite = STUDY.replace("3 packets", "SMALL").replace("60 packets", "3 packets").replace("SMALL", "60 packets")
    assert opposite != STUDY
    (study / "study.toml").write_text(opposite)
    out = study.parent / "out"
    assert invoke(["reproduce", str(study), "--agree", "--part", "one", "--output", str(out), "--quiet"]) == 0
    rows = (out / "doe-2026" / "report.md").read_text()
    assert "| doesn't hold | reno has more with the larger buffer |" in rows
    assert "| holds | It was run (ours, not theirs) |" in rows
    assert "| not tested | Cows fly | there are no cows here |" in rows
    assert "| page 3: a larger buffer is better | 8 and 9 Mbit/s | `large > small` |" in rows


def read_all(place: Path) -> None:
    found = stranger(place)
    assert found.programs()
    found.trusted()


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ('title = "Two buffers"\ncit', "cit", "title: field required"),
        ('key = "doe-2026"', 'key = "buffa-2020"', "is taken"),
        ('key = "doe-2026"', 'key = "../x"', "key: string should match"),
        ('scenario = "one.toml"', 'scenario = "../one.toml"', "scenario: string should match"),
        ('scenario = "one.toml"', 'scenario = "no.toml"', "no such file"),
        ('like = "one"', 'like = "two"', "which is not a part before it"),
        ('name = "one-slow"', 'name = "one"', "two parts are called"),
        ('source = "page 3: a larger buffer is better"', 'source = ""', "string should have at least 1 character"),
        ('source = "page 9"\n', "", "source: field required"),
        ('source = "page 9"\n', 'source = "page 9"\nabout = "cows"\n', "only the claim 'Cows fly' has about = 'cows'"),
        ('part = "one"\n', 'part = "two"\n', "is judged by part 'two', which there is not"),
        ('text = "Cows fly"', 'text = "It was run"', "the claim 'It was run' stands twice with the reading"),
        ("ours = true\n", 'untested = "so"\n', "one of `holds`, `judge` and `untested`"),
        ("large > small", "large > tiny", "has no value tiny"),
        ("large > small", "large", "is not a rule"),
        ('judge = "was_run"', 'judge = "was_run"\nholds = ["a > 1"]', "one of `holds`, `judge` and `untested`"),
        ("arguments.least", "arguments.most", "does not take these arguments"),
        ('judge = "was_run"', 'judge = "print_all"', "no function 'print_all'"),
        ('metric = "goodput"\nkey', 'metric = "speed"\nkey', "no metric 'speed'"),
        ('kind = "bars"', 'kind = "pies"', "kind: there is no 'pies'"),
        ("factor = 1e6", "factor = 0", "factor: input should be greater than 0"),
        ('notes = ["short"]', 'engines = ["warp"]', "no engine 'warp'"),
        ('each = "ccs"', 'each = "cc"', "is not a list of tables"),
        ("[lists]", "[lists", "is no TOML"),
    ],
)
def test_what_is_wrong_with_a_study_is_named(study: Path, old: str, new: str, error: str) -> None:
    assert old in STUDY
    (study / "study.toml").write_text(STUDY.replace(old, new))
    with pytest.raises(InputError) as raised:
        read_all(study)
    problem = str(raised.value)
    assert error in problem
    assert str(study) in problem or "rule" in problem or "each" in problem


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("metric,value", "metric,number", "lacks a column"),
        ("goodput,8", "speed,8", "table.csv:2: there is no metric 'speed'"),
        ("8 Mbit/s", "8 s", "table.csv:2: '8 s'"),
        ("8 Mbit/s", "", "table.csv:2"),
        ("8 Mbit/s", "nan", "table.csv:2"),
        ("8 Mbit/s", "8" * 200_000, "is no CSV"),
    ],
)
def test_what_is_wrong_with_printed_numbers_is_named(study: Path, old: str, new: str, error: str) -> None:
    (study / "numbers" / "table.csv").write_text(NUMBERS.replace(old, new))
    with pytest.raises(InputError, match=r"table\.csv") as raised:
        stranger(study)
    assert error in str(raised.value)


def test_what_a_study_has_is_bounded(study: Path, tmp_path: Path) -> None:
    (study / "study.toml").write_text(STUDY + "#" * folder.LARGEST)
    with pytest.raises(InputError, match="cannot read"):
        stranger(study)
    (study / "study.toml").unlink()
    (tmp_path / "elsewhere.toml").write_text(STUDY)
    (study / "study.toml").symlink_to(tmp_path / "elsewhere.toml")
    with pytest.raises(InputError, match="cannot read"):
        stranger(study)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        ({"a": [{"each": {"x": list(range(200)), "y": list(range(200))}, "v": 1}]}, "more than 10,000 tables"),
        ({"lists": {"l": [{"t": "x" * 100_000}] * 1000}, "a": [{"each": "l", "v": "{t}"}]}, "MiB of text"),
        ({"lists": 1, "a": []}, "lists is not a table"),
        ({"a": [{"each": 1}]}, "not a list of tables"),
    ],
)
def test_tables_that_stand_for_too_many_are_refused(data: dict[str, object], error: str) -> None:
    with pytest.raises(InputError, match=error):
        expanding.expanded(data)


def test_tables_within_tables_are_written_out() -> None:
    data = {
        "lists": {"ccs": [{"cc": "reno"}, {"cc": "bbr"}]},
        "a": [{"each": "ccs", "of": "{cc}", "b": [{"each": {"n": [1, 2]}, "text": "{cc} {n}", "n": "{n}"}]}, 5],
    }
    assert expanding.expanded(data)[0] == {
        "a": [
            {"of": "reno", "b": [{"text": "reno 1", "n": 1}, {"text": "reno 2", "n": 2}]},
            {"of": "bbr", "b": [{"text": "bbr 1", "n": 1}, {"text": "bbr 2", "n": 2}]},
            5,
        ]
    }


def test_programs_of_each_engine_and_of_quick_runs_are_listed(study: Path) -> None:
    """One question is asked, whatever the command is."""
    settings = """\
engines = ["simulate", "emulate"]
by_engine.emulate = { programs = [{ node = "s1", command = "touch by-engine" }] }
quick = { programs = [{ node = "s1", command = "touch quick" }] }
"""
    file = study / folder.FILE
    file.write_text(file.read_text().replace('scenario = "one.toml"\n', f'scenario = "one.toml"\n{settings}', 1))
    listed = stranger(study).programs()
    assert [one for one in listed if "touch" in one] == ["touch quick", "touch by-engine"]


def test_programs_of_overrides_are_asked_about_too(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    args = ["reproduce", str(study), "--part", "one", "--quiet", "--output", str(study.parent / "out"), "--jobs", "1"]
    assert invoke([*args, "--agree", "--as-is"]) == 0
    capsys.readouterr()
    assert invoke([*args, "--set", 'programs=[{node="s1",command="touch mine"}]']) == 2
    assert "touch mine" in capsys.readouterr().err
    # What brings no program is no other question.
    assert invoke([*args, "--set", "duration=0.3 s"]) == 0


@pytest.mark.parametrize("options", [[], ["--quick"], ["--part", "one"], ["--set", "duration=0.3 s"]])
def test_a_scenario_that_changes_after_the_question_starts_nothing_else(
    study: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    """Whoever can write to the folder waits for the answer."""
    trusted = Stranger.trusted

    def changed(self: Stranger) -> Reproduction:
        program = '[[programs]]\nnode = "s1"\ncommand = "touch later"\n[sweep]'
        (study / "scenarios" / "one.toml").write_text(SCENARIO.replace("[sweep]", program))
        return trusted(self)

    monkeypatch.setattr(Stranger, "trusted", changed)
    assert invoke(["reproduce", str(study), "--agree", "--output", str(study.parent / "out"), *options]) == 2
    said = capsys.readouterr().err
    assert "it starts another program" in said
    assert "touch later" in said


@pytest.mark.parametrize("name", ["../../../outside", "/tmp/outside", 'a"><script>x</script>', "", "x" * 65, "a b"])
def test_a_part_is_named_like_its_files(study: Path, name: str) -> None:
    """Plots of a part are files of its name, and identifiers in the page."""
    file = study / folder.FILE
    file.write_text(file.read_text().replace('"one"', json.dumps(name)))
    with pytest.raises(InputError, match=r"parts\.0\.name"):
        stranger(study)


HOSTILE: Final = "<img src=x onerror=start()>"


def test_texts_of_a_stranger_are_no_markup() -> None:
    drawn = document.Picture("one-1", HOSTILE, b'<svg id="a"></svg>', b"")
    said = f"{HOSTILE} `{HOSTILE}` \\`{HOSTILE}` ``{HOSTILE}`"
    blocks = [document.Heading(said), document.Paragraph(said), document.Bullets([said]),
              document.Rows(said, [said], [[said]]), document.Pictures([drawn])]  # fmt: skip
    text = markdown(document.Document(said, blocks), "plots")
    assert text.count(HOSTILE) == text.count(f"`{HOSTILE}` \\`") == 7
    # A carriage return ends a line, and two a paragraph, with all code in it.
    after = markdown(document.Document(f"`a\r\r{HOSTILE} b`", [document.Paragraph("![a](https://they.example/a)")]), "")
    assert HOSTILE not in after
    assert "![" not in after
    shown = page(document.Document(said, blocks))
    assert HOSTILE not in shown
    (script,) = re.findall("<script>(.*?)</script>", shown, re.DOTALL)
    assert f"script-src '{digest(script)}';" in shown
