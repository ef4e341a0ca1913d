"""Directories of runs and studies with damaged files, and all that is asked of them. A seed gives the same damage."""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

import polars as pl

import dumbbell
from dumbbell import DumbbellError
from dumbbell.cli import invoke
from dumbbell.records import kept
from dumbbell.records.schema import TABLES
from tests.fuzz import mutate
from tests.unit.serving import Served, serving

SCENARIO: Final[dict[str, Any]] = {
    "name": "small",
    "duration": "300 ms",
    "topology": {"kind": "dumbbell", "pairs": 2, "rtt": "10 ms", "bottleneck": {"rate": "5 Mbit/s", "buffer": "1 bdp"}},
    "flows": [
        {"from": "s1", "to": "r1", "cc": "cubic"},
        {"from": "s2", "to": "r2", "cc": "bbr3", "bytes": "50 kB"},
        {"from": "s1", "to": "r2", "protocol": "udp", "rate": "1 Mbit/s"},
        {"from": "s2", "to": "r1", "protocol": "ping"},
    ],
    "events": [{"at": "100 ms", "link": "bottleneck", "rate": "4 Mbit/s"}],
}
OF_RUN: Final = ("manifest.json", "summary.json", "plan.json")
OF_STUDY: Final = ("study.json", "refused.json", "progress.json")
ABSURD: Final = (
    b"NaN",
    b"-Infinity",
    b"1e999",
    b"1" + b"0" * 400,
    b"9" * 5_000,
    b"[" * 100_000,
    b'{"a":' * 300 + b"1" + b"}" * 300,
    b'"\\ud800"',
    b'"\\udfff\\u0000\\u001b[31m"',
    b"true",
    b"[[[",
    b"7",
    b"-1e-400",
    b'{"kind": "none"}',
)
"""Values that stand in place of one."""

Damage = Callable[[bytes, Random], bytes]


class Seeds(NamedTuple):
    """A workspace with a whole run and a whole study, which others are copied from."""

    served: Served
    run: Path
    study: Path


@contextmanager
def seeds(root: Path) -> Iterator[Seeds]:
    """Make them in a folder, and serve it."""
    run, study = made_run(root / "runs"), made_study(root / "studies")
    with serving(root) as served:
        yield Seeds(served, run, study)


def _restructured(content: bytes, random: Random) -> bytes:
    return mutate.as_json(mutate.restructured(json.loads(content), random))


def _absurd(content: bytes, random: Random) -> bytes:
    """The document with an absurd value, also in place of the whole."""
    value = json.loads(content)
    places = list(mutate.places(value))
    if not places or random.random() < 0.05:
        return random.choice(ABSURD)
    holder, key = random.choice(places)
    holder[key] = "PLACE"
    return json.dumps(value).encode().replace(b'"PLACE"', random.choice(ABSURD), 1)


def _doubled(content: bytes, random: Random) -> bytes:
    """A key that stands there twice."""
    value = json.loads(content)
    key = random.choice(list(value) or [""])
    return content.rstrip().removesuffix(b"}") + b", " + json.dumps(key).encode() + b": " + random.choice(ABSURD) + b"}"


def _cut(content: bytes, random: Random) -> bytes:
    return content[: random.randrange(len(content) + 1)]


DAMAGES: Final[tuple[Damage, ...]] = (
    _restructured,
    _restructured,
    _restructured,
    _absurd,
    _absurd,
    _doubled,
    _cut,
    mutate.spliced,
)


def damage(path: Path, random: Random) -> None:
    """Damage a document, or put something else in its place."""
    content = path.read_bytes()
    path.unlink()
    match random.randrange(40):
        case 0:
            pass
        case 1:
            path.mkdir()
        case 2:
            path.symlink_to("/dev/zero")
        case _:
            path.write_bytes(random.choice(DAMAGES)(content, random))


def damage_one(path: Path, documents: Sequence[str], random: Random) -> None:
    """Damage one of the documents or tables of a directory."""
    if random.random() < 0.4:
        damage_table(random.choice(sorted(path.rglob("*.parquet"))), random)
    else:
        damage(path / random.choice(documents), random)


STRANGE: Final = (None, "", "nobody", "other", "f1", "bottleneck", "\u001b[31m", "x" * 300)
"""Words that stand in place of one in a table."""


def damage_table(path: Path, random: Random) -> None:
    """Put other values into some rows of a whole table: it can be read, and what it says is absurd."""
    frame = pl.read_parquet(path)
    for _ in range(random.randint(1, 2)):
        column = random.choice(frame.columns)
        kind, rows = frame.schema[column], random.choice((1, 2, frame.height))
        if kind in (pl.String, pl.Categorical):
            value = pl.lit(random.choice(STRANGE), pl.String)
        elif kind == pl.Boolean:
            value = pl.lit(random.choice((None, True, False)))
        else:
            value = random.choice((pl.lit(None), pl.lit(0), kind.min(), kind.max()))
        picked = random.choices(range(frame.height), k=rows) if frame.height else []
        changed = pl.when(pl.int_range(pl.len()).is_in(picked)).then(value.cast(kind)).otherwise(pl.col(column))
        frame = frame.with_columns(changed.alias(column))
    path.unlink()
    frame.write_parquet(path)


def made_run(root: Path) -> Path:
    """A run to damage, whose manifest also has what other engines tell."""
    found = dumbbell.run(SCENARIO, directory=root, engine="simulate", report=False)
    lab = {"rootless": False, "sysctls": {"s1": {"net.ipv4.tcp_rmem": "4096 131072 8388608"}}}
    lab |= {"acks": {"recorded": False, "why": "no probe"}}
    manifest = json.loads((found.directory / "manifest.json").read_text())
    manifest |= {"lab": lab, "kernel": {"version": "6.12.1"}, "path": "wire", "scheduling": {"awake": True}}
    (found.directory / "manifest.json").write_text(json.dumps(manifest, indent=2))
    kept.tag(found.directory, ["baseline"])
    return found.directory


def made_study(root: Path) -> Path:
    """A study to damage, which has all documents that a study can have."""
    sweep = {"flows.0.cc": ["cubic", "reno"], "topology.bottleneck.rate": ["5 Mbit/s", "6 Mbit/s"]}
    expect = [{"metric": "goodput", "min": "1 Mbit/s"}]
    repeat = {"until": "0.1 %", "of": "goodput", "least": 2, "most": 3}
    study = {key: value for key, value in SCENARIO.items() if key != "events"} | {"sweep": sweep, "repeat": repeat}
    found = dumbbell.run(study | {"expect": expect}, directory=root, engine="simulate", report=False)
    row = found.runs.row(0, named=True)
    own = {key: row[key] for key in ("run", "run_id", "cell", "repetition", "seed")}
    (found.directory / "refused.json").write_text(
        json.dumps({"runs": [{**own, "error": "it stalled", "verdict": None}]})
    )
    progress = {
        "event": "progress",
        "runs": 3,
        "of": 8,
        "failed": 1,
        "found": 0,
        "wall_s": 2.5,
        "at": "2026-11-28T12:00:00",
    }
    (found.directory / "progress.json").write_text(json.dumps(progress))
    return found.directory


def ask_run(path: Path, whole: Path, heavy: bool) -> int:
    """All that is asked of a run beside a whole one in its folder; `heavy`: also reports. Returns the number of calls.

    Errors of ours are answers, and anything else is raised.
    """
    listed = kept.kept(path.parent)
    by_name = {one.path.name: one for one in listed}
    assert by_name[whole.name].verdict == "valid", "a bad run breaks no other"
    if path.name in by_name:
        one = by_name[path.name]
        assert one.problem or one.verdict != "damaged"
    calls: list[Callable[[], Any]] = [
        lambda: _opened(path),
        lambda: dumbbell.compare(whole, path),
        lambda: dumbbell.compare(path, whole).settings,
        lambda: dumbbell.open(path)._repr_html_(),
        *(partial(_table, path, table) for table in TABLES),
    ]
    commands = [
        ["runs", "list", "--in", str(path.parent)],
        ["runs", "list", "--in", str(path.parent), "--json"],
        ["runs", "show", str(path), str(whole)],
        ["runs", "tag", "again", str(path)],
        ["compare", str(path), str(whole)],
        ["query", str(path), "select count(*) from flows"],
    ]
    if heavy:
        commands += [["report", str(path)], ["report", str(path), "--format", "csv"]]
    return _call(calls) + _invoke(commands)


def ask_capture(path: Path, whole: Path) -> int:
    """All that is asked of an analysed capture beside a whole one."""
    commands = [
        ["report", str(path), str(whole)],
        ["report", str(path), "--format", "csv"],
        ["query", str(path), "select count(*) from connections"],
        ["compare", str(path), str(whole)],
    ]
    return _invoke(commands)


def ask_study(path: Path, whole: Path, heavy: bool) -> int:
    """The same of a study."""
    calls: list[Callable[[], Any]] = [
        lambda: repr(dumbbell.Study(path)),
        lambda: dumbbell.Study(path).summary,
        lambda: dumbbell.compare(whole, path),
        lambda: dumbbell.Study(path)._repr_html_(),
    ]
    commands = [
        ["status", str(path)],
        ["status", str(path), "--json"],
        ["compare", str(whole), str(path)],
        ["query", str(path), "select * from cells"],
    ]
    if heavy:
        commands += [["report", str(path)]]
    return _call(calls) + _invoke(commands)


def _opened(path: Path) -> None:
    run = dumbbell.open(path, incomplete=True)
    assert all(isinstance(one, str) for one in (repr(run), run.verdict, run.run_id, run.name, run.engine))
    assert run.flows.height == len(run.plan.flows)


def _table(path: Path, table: str) -> None:
    getattr(dumbbell.open(path), table)


def _call(calls: list[Callable[[], Any]]) -> int:
    for call in calls:
        with warnings.catch_warnings(), suppress(DumbbellError):
            warnings.simplefilter("ignore")
            call()
    return len(calls)


def _invoke(commands: list[list[str]]) -> int:
    for words in commands:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert invoke(words) in (0, 1, 2, 3, 4, 5), words
    return len(commands)


ROUTES_OF_RUN: Final = ("", "/report.html", "/series?plot=goodput", "/files/summary.json")
ROUTES_OF_STUDY: Final = ("", "/report.html")


def ask_page(ask: Callable[..., Any], path: Path, whole: Path, heavy: bool) -> int:
    """The routes of the application for a run or a study. `ask` gives status, headers and content."""
    kind, routes = ("studies", ROUTES_OF_STUDY) if (path.parent.name == "studies") else ("runs", ROUTES_OF_RUN)
    asked: list[tuple[str, str, Any]] = [
        ("GET", f"/api/{kind}/{path.name}{route}", None) for route in routes if heavy or "report" not in route
    ]
    listed = ("POST", "/api/runs/table", {}) if kind == "runs" else ("GET", "/api/studies", None)
    asked += [
        listed,
        ("POST", "/api/compare", {kind: [path.name, whole.name]}),
        ("GET", "/api/files", None),
    ]
    for method, route, body in asked:
        status, _, content = ask(method, route, body)
        assert status < 500, (method, route, status, content[:300])
        if route == listed[1]:
            assert status == 200
            rows = json.loads(content)
            rows = rows["rows"] if kind == "runs" else rows
            assert whole.name in [row["id"] for row in rows]
    return len(asked)


def try_run(whole: Path, ask: Callable[..., Any], random: Random, heavy: bool) -> int:
    """Damage a copy of a run and ask everything of it. Returns the number of calls."""
    with copied(whole) as path:
        damage_one(path, OF_RUN, random)
        return ask_run(path, whole, heavy) + ask_page(ask, path, whole, heavy)


def try_study(whole: Path, ask: Callable[..., Any], random: Random, heavy: bool) -> int:
    """The same of a study."""
    with copied(whole) as path:
        damage_one(path, OF_STUDY, random)
        return ask_study(path, whole, heavy) + ask_page(ask, path, whole, heavy)


def try_capture(whole: Path, random: Random) -> int:
    """The same of an analysed capture."""
    with copied(whole) as path:
        damage_one(path, ("capture.json",), random)
        return ask_capture(path, whole)


@contextmanager
def copied(directory: Path) -> Iterator[Path]:
    """A copy beside the original, to damage; removed afterwards."""
    copy = directory.with_name(f"{directory.name}.1")
    shutil.copytree(directory, copy)
    try:
        yield copy
    finally:
        shutil.rmtree(copy)
