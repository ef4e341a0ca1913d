"""A study's tables in LaTeX: what is written, and that LaTeX takes it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from synthetic_study import Synthetic

from dumbbell import Study
from dumbbell.report.study import write
from dumbbell.report.study.latex import MOST_ROWS, escaped, pieces, table_line, typeset_number

NASTY = ['["20 ms", "80 ms"]', "*a_b & 5 % <i>|x|~^\\#${}", 'µ ≤ 3 × "q" – é δ ≥', "[1]", "two\nlines"]  # noqa: RUF001


def tables(directory: Path, **spec: object) -> dict[str, str]:
    study = Study(Synthetic(**spec).write(directory / "study"))  # type: ignore[arg-type]
    return {path.stem: path.read_text() for path in write(study, "tex", directory / "tex")}


def test_what_means_something_to_latex_is_text() -> None:
    assert escaped("50 % & a_b #1 $x {y}") == r"50 \% \& a\_b \#1 \$x \{y\}"
    assert escaped("\\ ~ ^") == r"\textbackslash{} \textasciitilde{} \textasciicircum{}"
    assert escaped("<a>|b|") == r"\textless{}a\textgreater{}\textbar{}b\textbar{}"
    assert escaped("one\n% two") == r"one \% two"


def test_a_row_never_begins_with_what_would_be_an_argument() -> None:
    assert table_line(["[1]", "2"]) == r"{[1]} & 2 \\"
    assert table_line(["*", "2"]) == r"{*} & 2 \\"
    assert table_line(["a [1]", "2"]) == r"a [1] & 2 \\"


@pytest.mark.parametrize(
    ("text", "formula"),
    [("12.50", "12.50"), ("1,234", r"1\,234"), ("1.5e-05", r"1.5 \times 10^{-5}"), ("-2e+12", r"-2 \times 10^{12}")],
)
def test_numbers_are_formulas(text: str, formula: str) -> None:
    assert typeset_number(text) == formula


def test_pieces_are_alike() -> None:
    assert [len(piece) for piece in pieces(range(8), 5)] == [4, 4]
    assert [len(piece) for piece in pieces(range(5), 5)] == [5]
    assert pieces(range(11), 5) == [range(3), range(3, 7), range(7, 11)]


def test_many_columns_and_rows_are_several_tables(tmp_path: Path) -> None:
    rtts, buffers = [f"{10 * i} ms" for i in range(1, 5)], [f"{i} bdp" for i in range(1, 21)]
    cells = [{"topology.bottleneck.buffer": b, "topology.rtt": r} for b in buffers for r in rtts]
    text = tables(tmp_path, cells=cells, repeat=4)["goodput_by_algorithm"]
    parts = text.split(r"\begin{table}")[1:]
    # 4 RTTs of 2 algorithms each, 20 buffers.
    assert len(parts) == 4
    assert [re.findall(r"part \d of \d", part) for part in parts] == [[f"part {i} of 4"] for i in range(1, 5)]
    for part in parts:
        rows = [line for line in part.split(r"\midrule")[1].splitlines() if re.match(r"\d", line)]
        assert len(rows) == 10 <= MOST_ROWS
        assert {row.count("&") for row in rows} == {4}
        assert len(re.findall(r"\\multicolumn\{4\}\{c\}\{(?:CUBIC|BBRv1)\}", part)) == 1
        assert r"buffer (bdp) & 10 ms & 20 ms & 30 ms & 40 ms \\" in part


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="typesets tables: needs pdflatex (texlive-latex-base)")
def test_latex_takes_them_and_nothing_sticks_out(tmp_path: Path) -> None:
    cells = [{"flows.1.cc": name, "topology.rtt": rtt} for name in NASTY for rtt in ("10 ms", "20 ms", "50 ms")]
    files = tables(tmp_path, cells=cells, repeat=2, fct_s=1e-4, ccs=("cubic", "bbr3 (beta_keep=40)"))
    names = sorted(files)
    assert len(names) > 10
    inputs = "\n\\clearpage\n".join(rf"\input{{tex/{name}.tex}}" for name in names)
    preamble = "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n"
    (tmp_path / "all.tex").write_text(f"{preamble}{inputs}\n\\end{{document}}\n")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    log = (tmp_path / "all.log").read_text(errors="replace")
    assert "Missing character" not in log
    sticking_out = [line for line in log.splitlines() if line.startswith("Overfull") or "too large for page" in line]
    assert sticking_out == []
