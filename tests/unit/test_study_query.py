"""SQL over a study: the answers, and that nothing can be changed."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import pytest
from synthetic_study import Synthetic

import dumbbell
from dumbbell import Study
from dumbbell.cli import invoke
from dumbbell.errors import InputError
from dumbbell.statistics.query import of_study, query

CELLS = [{"topology.bottleneck.buffer": f"{buffer} bdp"} for buffer in (1, 4)]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Synthetic(cells=CELLS, repeat=3, failed=(0,)).write(tmp_path_factory.mktemp("queried") / "study")


@pytest.fixture
def study(path: Path) -> Study:
    return Study(path)


def test_tables_have_the_frames_rows_and_columns(study: Study) -> None:
    for name in ("runs", "flows", "links"):
        answer = query(of_study(study), f"select * from {name} order by run")
        frame = getattr(study, name)
        assert list(answer.columns) == frame.columns
        assert len(answer.rows) == frame.height
    assert query(of_study(study), "select * from cells").rows == ((0, "1 bdp"), (1, "4 bdp"))


def test_tables_are_listed_for_who_names_none(study: Study) -> None:
    assert query(of_study(study), "show tables").rows == (("cells",), ("flows",), ("links",), ("runs",))


def test_tables_can_be_joined(study: Study) -> None:
    sql = """
        with good as (select run, cell from RUNS where error is null)
        select cell, cc, count(*) from flows semi join good using (run) group by all order by cell, cc
    """
    assert query(of_study(study), sql).rows == ((0, "bbr", 2), (0, "cubic", 2), (1, "bbr", 3), (1, "cubic", 3))


@pytest.mark.parametrize(
    "sql",
    ["delete from runs", "create table t as select 1", "copy (select 1) to 'x.csv'", "attach 'x.db'", "pragma version"],
)
def test_a_study_is_only_read(study: Study, sql: str) -> None:
    with pytest.raises(InputError, match="not a query"):
        query(of_study(study), sql)


def test_no_other_file_is_read(study: Study, tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("a\n1\n")
    with pytest.raises(InputError, match="the query failed"):
        query(of_study(study), f"select * from read_csv('{tmp_path}/secret.csv'), cells")


@pytest.mark.parametrize(("sql", "what"), [("", "no query"), ("select 1; select 2", "2 statements")])
def test_one_statement(study: Study, sql: str, what: str) -> None:
    with pytest.raises(InputError, match=what):
        query(of_study(study), sql)


def test_an_error_says_what_failed_and_lists_the_columns(study: Study) -> None:
    with pytest.raises(InputError) as refused:
        query(of_study(study), "select goodput from flows")
    said = str(refused.value)
    assert '"goodput" not found' in said
    assert 'hint: flows has run, run_id, cell, repetition, seed, "topology.bottleneck.buffer", id' in said
    assert "cells" not in said
    with pytest.raises(InputError, match=r"hint: the tables are runs, flows, links and cells$"):
        query(of_study(study), "select * from nothing")


def test_without_duckdb(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(InputError, match="queries need DuckDB") as refused:
        query(of_study(study), "select 1")
    assert "pip install 'dumbbell[query]'" in str(refused.value)


def test_the_command_in_each_format(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sql = "select cell, error from runs where run in (0, 1) order by run"
    assert invoke(["query", str(path), sql]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "2 rows"
    assert invoke(["query", str(path), sql, "--format", "csv"]) == 0
    told = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert told == [["cell", "error"], ["0", "it broke"], ["1", ""]]
    assert invoke(["query", str(path), sql, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"cell": 0, "error": "it broke"}, {"cell": 1, "error": None}]


def test_the_command_refuses(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["query", str(path), "select 1", "--format", "xml"]) == 2
    assert "--format must be table, csv or json" in capsys.readouterr().err
    assert invoke(["query", str(tmp_path), "select 1"]) == 2
    assert str(tmp_path) in capsys.readouterr().err


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_terminal_obeys_no_text_of_an_answer(path: Path, monkeypatch: pytest.MonkeyPatch, is_terminal: bool) -> None:
    out = io.StringIO()
    monkeypatch.setattr(out, "isatty", lambda: is_terminal)
    monkeypatch.setattr(sys, "stdout", out)
    assert invoke(["query", str(path), "select 'a' || chr(27) || ']0;b' as text", "--format", "csv"]) == 0
    assert out.getvalue() == ("text\na\\x1b]0;b\n" if is_terminal else "text\na\x1b]0;b\n")


def test_a_run_is_queried_by_its_own_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = dumbbell.run("single-flow", {"duration": "0.2 s"}, tmp_path, engine="simulate", report=False)
    sql = "select flow, max(cwnd_packets) as most from samples group by flow"
    assert invoke(["query", str(run.directory), sql, "--format", "json"]) == 0
    most = run.samples["cwnd_packets"].max()  # type: ignore[union-attr]
    assert json.loads(capsys.readouterr().out) == [{"flow": "f1", "most": most}]
    assert invoke(["query", str(run.directory), "show tables", "--format", "csv"]) == 0
    assert {"flows", "links", "packets", "samples"} <= set(capsys.readouterr().out.split())


def test_a_study_is_found_by_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Synthetic(repeat=2).write(tmp_path / "studies" / "my-0123456789ab")
    assert invoke(["query", "my", "select run from runs", "--format", "csv"]) == 0
    assert capsys.readouterr().out == "run\n0\n1\n"
    assert invoke(["query", "mine", "select run from runs"]) == 2
    assert "no study and no run at mine\n" in capsys.readouterr().err
