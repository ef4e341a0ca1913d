"""Readers of the files of others: each takes bytes as such a file, to a plan or to an error of ours.

`guided.py` calls them with inputs that coverage chooses, `tests/unit/test_damaged_inputs.py` with equal ones each time.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from dumbbell.errors import DumbbellError, InputError
from dumbbell.fitting import fit
from dumbbell.fitting.logs import forms
from dumbbell.fitting.scenario import toml
from dumbbell.fitting.words import answer
from dumbbell.labs.build import LabScenario, of_draft
from dumbbell.plan.expand import expand
from dumbbell.plan.view import tables
from dumbbell.plan.wire import document
from dumbbell.scenario.file.foreign import containerlab, kathara, miniedit
from dumbbell.scenario.file.loading import Draft, checked, read
from dumbbell.scenario.file.toml import parse
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import resolve
from dumbbell.server.transfer import places
from dumbbell.studies.cells import KEYS, is_study, representative, values
from dumbbell.studies.rounds import prepared

MOST_CELLS: Final = 3
"""Cells of a study that are planned."""

TRACES: Final[tuple[Mapping[str, Any], ...]] = (
    {"rate": {"trace": "file"}},
    {"rate": {"csv": "file"}},
    {"rate": "1 Gbit/s", "jitter": {"distribution": "table", "file": "file"}},
    {"rate": "1 Gbit/s", "loss": {"model": "trace", "file": "file"}},
)
"""Things for which a link can name a file. The first byte of an input chooses."""

Reader = Callable[[bytes], None]


def scenario(data: bytes) -> None:
    """A scenario or a study: checks and plans it, as `dumbbell plan` does."""
    with _file("scenario.toml", data) as path, suppress(DumbbellError):
        draft = read(path)
        if is_study(draft):
            _, cells = prepared(draft)
            plain = draft.without(KEYS)
            for index in representative(cells)[:MOST_CELLS]:
                _plan(checked(plain.with_values(values(cells[index]), "sweep")))
        _plan(checked(draft))


def graphml(data: bytes) -> None:
    """The network of a lab in GraphML."""
    with _file("net.graphml", data) as path, suppress(DumbbellError):
        _plan(_lab({"topology": {"kind": "graph", "file": str(path)}}, path.parent))


def trace(data: bytes) -> None:
    """The rates, delays or losses of a link."""
    with _file("file", data[1:]) as path, suppress(DumbbellError):
        link = {"buffer": "1 MB", **TRACES[data[0] % len(TRACES) if data else 0]}
        topology = {"kind": "path", "rtt": "20 ms", "bottleneck": link}
        given = {"duration": "1 s", "topology": topology, "flows": [{"from": "h1", "to": "h2"}]}
        _plan(checked(Draft("mine", "", given, path.parent, {})))


def miniedit_file(data: bytes) -> None:
    """A network of MiniEdit, and where its nodes are drawn."""
    _import(data, lambda text: miniedit.scenario(text, "mine"))
    with suppress(UnicodeDecodeError):
        places(data.decode())


def containerlab_file(data: bytes) -> None:
    """A topology of containerlab."""
    _import(data, lambda text: containerlab.scenario(text, "mine"))


def kathara_file(data: bytes) -> None:
    """A lab.conf of Kathará; behind a zero byte stands the startup file of all its machines."""
    conf, _, startup = data.partition(b"\0")
    with suppress(UnicodeDecodeError):
        startup_text = startup.decode()
        _import(conf, lambda text: kathara.scenario(text, "mine", lambda machine: startup_text))


def fitted_log(data: bytes) -> None:
    """A log that `dumbbell fit` reads: its answer, its JSON and its scenario."""
    with _file("log", data) as path, suppress(DumbbellError):
        if forms.form_of(path) is not None:
            fitted = fit(path)
            answer(fitted)
            json.dumps(fitted.as_json(), allow_nan=False)
            parse(toml(fitted))


READERS: Final[Mapping[str, Reader]] = {
    "scenario": scenario,
    "graphml": graphml,
    "trace": trace,
    "miniedit": miniedit_file,
    "containerlab": containerlab_file,
    "kathara": kathara_file,
    "log": fitted_log,
}


def _import(data: bytes, read_text: Callable[[str], tuple[str, list[str]]]) -> None:
    """The imported text is a scenario: TOML without errors, and a lab's network or a refusal with reasons."""
    try:
        made, _ = read_text(data.decode())
    except (UnicodeDecodeError, InputError):
        return
    given = parse(made)
    with suppress(DumbbellError):
        _plan(of_draft(Draft("mine.toml", made, given, Path(), {})))


def _lab(given: dict[str, Any], folder: Path) -> LabScenario:
    return of_draft(Draft("mine", "", {"name": "mine", **given}, folder, {}))


def _plan(found: Scenario) -> None:
    plan = expand(found)
    tables(plan, resolve(found).network.rtts)
    document(plan)


class _file:
    """A file with some content, in a folder of its own."""

    def __init__(self, name: str, content: bytes) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._path = Path(self._folder.name, name)
        self._path.write_bytes(content)

    def __enter__(self) -> Path:
        return self._path

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()
