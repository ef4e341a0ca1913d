"""Files that a study varies are kept with it: it can continue in any place."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import dumbbell
from dumbbell.scenario import load
from dumbbell.scenario.file.writing import names_files, write

STUDY = """\
name = "files"
duration = "200 ms"
starts = "0 s"

[topology]
kind = "path"
rtt = "5 ms"
bottleneck = { rate = { trace = "base.trace" }, buffer = "1 bdp", loss = { model = "trace", file = "lost.csv" } }

[[flows]]
from = "h1"
to = "h2"
cc = "cubic"

[sweep]
"topology.bottleneck.rate" = [{ trace = "a/cell.trace" }, { trace = "b/cell.trace" }, "10 Mbit/s"]
"topology.bottleneck.loss.file" = ["lost.csv", "b/lost.csv"]

[[expect]]
metric = "goodput"
min = "1 kbit/s"
where = { "topology.bottleneck.loss.file" = "b/lost.csv" }
"""


def test_a_study_goes_on_without_the_files_that_it_came_from(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for folder, trace in ((".", "1\n2\n"), ("a", "1\n"), ("b", "2\n4\n")):
        (home / folder).mkdir(exist_ok=True, parents=True)
        name = "base.trace" if folder == "." else "cell.trace"
        (home / folder / name).write_text(trace)
        (home / folder / "lost.csv").write_text("30\n" if folder == "." else "40\n")
    (home / "files.toml").write_text(STUDY)
    first = dumbbell.run(home / "files.toml", directory=tmp_path, engine="simulate", report=False)
    assert isinstance(first, dumbbell.Study)
    goodput = first.flows["goodput_bps"].to_list()
    assert len(set(goodput)) > 4
    shutil.rmtree(home)
    kept = first.directory / "scenario.toml"
    again = dumbbell.run(kept, directory=tmp_path, engine="simulate", repeat=2, report=False)
    assert isinstance(again, dumbbell.Study)
    assert again.directory == first.directory
    assert again.manifest["cost"]["found"] == 6
    assert again.flows["goodput_bps"].to_list()[:6] == goodput
    assert [one["answer"] for one in again.manifest["expectations"]] == ["holds"]
    # Written once more, it is the same, and nothing has been copied twice.
    assert len(list((first.directory / "traces").iterdir())) == 5


def test_programs_of_one_name_in_two_cells_are_both_kept(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "y").mkdir()
    for folder in "xy":
        (tmp_path / folder / "mine.bpf.c").write_text(f"// {folder}\n")
    key = "flows.0.cc"
    bodies = [f'{{ bpf = "{folder}/mine.bpf.c" }}' for folder in "xy"]
    plain = STUDY.partition("[sweep]")[0].replace('rate = { trace = "base.trace" }', 'rate = "1 Mbit/s"')
    plain = plain.replace(', loss = { model = "trace", file = "lost.csv" }', "")
    (tmp_path / "s.toml").write_text(f'{plain}[sweep]\n"{key}" = ["cubic", {", ".join(bodies)}]\n')
    scenario = load(tmp_path / "s.toml")
    cells = [load(tmp_path / "s.toml", [f"{key}={body}", "sweep={}"]) for body in bodies]
    (tmp_path / "out").mkdir()
    write(scenario, tmp_path / "out", cells)
    kept = tomllib.loads((tmp_path / "out" / "scenario.toml").read_text())["sweep"][key]
    assert kept == ["cubic", {"bpf": "algorithms/mine.bpf.c"}, {"bpf": "algorithms/2/mine.bpf.c"}]
    assert [(tmp_path / "out" / one["bpf"]).read_text() for one in kept[1:]] == ["// x\n", "// y\n"]


def test_what_names_a_file() -> None:
    assert names_files("topology.bottleneck.rate.trace", "a.trace")
    assert names_files("flows.0.cc", {"bpf": "mine.bpf.c"})
    assert names_files("topology.bottleneck.loss", ["1 %", {"model": "trace", "file": "lost.csv"}])
    assert not names_files("flows.0.cc", "bpf")
    assert not names_files("topology.bottleneck.rate", {"steps": [["0 s", "1 Mbit/s"]]})
