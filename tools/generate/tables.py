"""The files that follow from the declarations of tables and figures in the crates `records` and `figures`.

They are the columns and the places of figures, for `dumbbell.records`; the metrics that studies make of single figures,
for `dumbbell.statistics`; and the tables of columns of `docs/reference/records.md`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from dumbbell import _core
from dumbbell.records.columns import STUDY_TABLES, TABLES
from dumbbell.statistics.metrics import METRICS
from dumbbell.statistics.metrics.model import OF_FLOWS
from tools.generate.keys import items

Declarations = Mapping[str, Any]
Column = Mapping[str, Any]

_COLUMNS: Final = '''"""The columns of every table. The crates `records` and `figures` declare them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
'''

_METRICS: Final = '''"""Metrics of studies that follow from single figures. The crate `figures` declares them."""

from __future__ import annotations

from typing import Final

import polars as pl

from dumbbell.statistics.metrics.model import Metric, OF_ALGORITHMS, OF_FLOWS, OF_LINKS, over_flows, over_links, total
'''

_SCOPES: Final = {"run": "OF_FLOWS", "algorithm": "OF_ALGORITHMS", "link": "OF_LINKS"}
_VALUES: Final = {
    "sum": "over_flows(total({}))",
    "mean": "over_flows(pl.col({}).mean())",
    "min": "over_flows(pl.col({}).min())",
    "itself": "over_links(pl.col({}))",
}


def columns_module(declarations: Declarations) -> str:
    """The module of `dumbbell.records`."""
    places = {
        figure["name"]: tuple(figure["place"])
        for figure in declarations["figures"]["link"]
        if figure["place"] != [figure["name"]]
    }
    return "\n".join(
        [
            _COLUMNS,
            f"TABLES: Final[Mapping[str, Mapping[str, str]]] = {_types(declarations['tables'])!r}",
            '"""The tables of a run -> column -> type. `dict` is text of few values, stored as an Arrow dictionary."""',
            "",
            f"STUDY_TABLES: Final[Mapping[str, Mapping[str, str]]] = {_types(declarations['studies'])!r}",
            '"""The tables of a study -> column -> type."""',
            "",
            f"LINK_KEYS: Final[Mapping[str, tuple[str, ...]]] = {places!r}",
            '"""Figure of a link -> the keys that lead to it in the link\'s summary, if not its name."""',
            "",
            f"FIGURES: Final[Mapping[str, Mapping[str, str]]] = {_figures(declarations['figures'])!r}",
            '"""Figures of a flow and of a link in the summary: keys -> type; `?`: may be null."""',
            "",
        ]
    )


def _figures(of: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, dict[str, str]]:
    return {
        kind: {".".join(one["place"]): one["type"] + "?" * one["nullable"] for one in figures}
        for kind, figures in of.items()
    }


def metrics_module(declarations: Declarations) -> str:
    """The module of `dumbbell.statistics.metrics`."""
    parts = [_METRICS]
    for of in ("flow", "link"):
        metrics = ", ".join(_metric(figure) for figure in declarations["figures"][of] if figure["metric"])
        parts.append(f"{of.upper()}S: Final = ({metrics},)")
    return "\n".join([*parts, ""])


def _types(tables: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    return {table["name"]: {column["name"]: column["type"] for column in table["columns"]} for table in tables}


def _metric(figure: Mapping[str, Any]) -> str:
    declared = figure["metric"]
    texts = [declared[key] for key in ("name", "title", "unit", "better")]
    value = _VALUES[declared["over"]].format(repr(figure["name"]))
    rest = [_SCOPES[declared["scope"]], _text(declared["formula"]), _text(declared["source"]), value]
    return f"Metric({', '.join([*map(repr, texts), *rest])})"


def _text(words: str) -> str:
    """A literal in lines that fit."""
    lines, line = [], ""
    for word in words.split(" "):
        if len(line) + len(word) > 90:
            lines.append(line)
            line = ""
        line += word + " "
    return "(" + "\n".join(repr(line) for line in [*lines, line[:-1]]) + ")" if lines else repr(words)


def sections() -> Mapping[str, Callable[[], str]]:
    """The tables of columns of the page on records, by their names there."""
    of_study = [name for name in STUDY_TABLES if name != "flows"]
    return {
        **{f"columns of {name}": partial(_columns, "tables", name) for name in TABLES},
        **{f"columns of a study's {name}": partial(_columns, "studies", name) for name in of_study},
    }


def study_metrics() -> str:
    """The table of the page on the metrics of a study. A source that occurs again is named by its first metric."""
    better = {"higher": ", more", "lower": ", less", "neither": ""}
    rows = ["| metric | unit, better | scopes | formula | source |", "|---|---|---|---|---|"]
    first: dict[str, str] = {}
    for metric in METRICS.values():
        known = first.setdefault(metric.source, metric.name)
        again = known != metric.name and len(metric.source.split()) > 4
        scopes = f"{metric.scopes[0]}, ..." if {*metric.scopes} == {*OF_FLOWS} else ", ".join(metric.scopes)
        cells = (
            f"`{metric.name}`",
            f"{metric.unit}{better[metric.direction]}".removeprefix(", "),
            scopes,
            metric.formula,
        )
        whole = (*cells, f"as `{known}`" if again else metric.source)
        rows.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in whole)} |")
    return "\n".join(rows)


def _columns(section: str, name: str) -> str:
    declared: Declarations = json.loads(_core.declarations())
    return _markdown(next(table["columns"] for table in declared[section] if table["name"] == name))


def _markdown(columns: Sequence[Column]) -> str:
    return items(_rows(columns))


def _rows(columns: Sequence[Column]) -> Iterator[list[str]]:
    for column in columns:
        yield [f"`{column['name']}` ({column['type']}{'?' * column['nullable']})", column["meaning"]]
