"""Tables on a terminal of any width show every number and every name whole."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
import rich.console

from dumbbell.cli import invoke
from dumbbell.cli.tables import print_table
from dumbbell.table import Table

HEAD = [
    "flows.0.cc",
    "topology.bottleneck.buffer",
    "runs",
    "goodput",
    "Jain",
    "RTT p50 (ms)",
    "retransmitted",
    "meaning",
]
ROWS = [
    ["cubic", "0.5 bdp", "30", "47.22 ± 0.04 Mbit/s", "0.918 ± 0.021", "68.21 ± 0.03", "22 ± 13", "two words"],
    [
        "bbr3",
        "10 bdp",
        "1,200",
        "946.35 ± 0.02 Mbit/s",
        "1.000",
        "42.60 ± 0.88",
        "12,856 ± 1,858",
        "what a sentence of words says",
    ],
]


def shown(width: int, table: Table, monkeypatch: pytest.MonkeyPatch, terminal: bool = True) -> list[str]:
    out = io.StringIO()
    real = rich.console.Console

    def console(**settings: Any) -> rich.console.Console:
        return real(**{"width": width, **settings}, file=out, force_terminal=terminal, color_system=None)

    monkeypatch.setattr("rich.console.Console", console)
    print_table(table)
    return out.getvalue().splitlines()


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 150, 300])
def test_nothing_is_cut(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown(width, Table("A title", HEAD, ROWS), monkeypatch)
    text = "\n".join(lines)
    assert "…" not in text
    for cell in [*HEAD, *(cell for row in ROWS for cell in row[:-1])]:
        assert cell in text
    assert set(re.findall("[a-z]+", ROWS[1][-1])) <= set(re.findall("[a-z]+", text))
    assert max(map(len, lines)) <= width


def test_parts_of_a_table_repeat_what_names_their_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown(80, Table("A title", HEAD, ROWS, keys=2), monkeypatch)
    heads = [line.split() for line in lines if "topology.bottleneck.buffer" in line]
    assert len(heads) > 1
    assert all(head[:2] == HEAD[:2] for head in heads)
    assert [line.split()[:3] for line in lines if line.lstrip().startswith("bbr3")] == [["bbr3", "10", "bdp"]] * len(
        heads
    )


def test_without_a_terminal_each_row_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown(40, Table("A title", HEAD, ROWS), monkeypatch, terminal=False)
    assert [re.split(r"\s{2,}", line.strip()) for line in lines if line] == [["A title"], HEAD, *ROWS]


def test_what_a_file_says_is_no_order_to_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    strange = ["\x1b[2J\x1b]0;title\x07", "a\nforged row", "\u202edetrever"]
    manifest = {"name": "a", "status": "complete", "engine": "simulate", "overrides": strange}
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "manifest.json").write_text(json.dumps(manifest))
    assert invoke(["runs", "list", "--in", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert r"\x1b[2J\x1b]0;title\x07, a\nforged row, \u202edetrever" in said
    assert all(one == "\n" or one.isprintable() for one in said)
    assert invoke(["runs", "show", "\x1b[2J", "--in", str(tmp_path)]) == 2
    assert "\x1b" not in capsys.readouterr().err
