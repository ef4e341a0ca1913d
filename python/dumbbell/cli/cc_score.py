"""The output of `dumbbell cc score`. This module is not a verb."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from json import dumps
from pathlib import Path

from dumbbell import inputs, outputs
from dumbbell.below import Below, confined
from dumbbell.cli.tables import print_table
from dumbbell.errors import InputError, unwritable
from dumbbell.scenario.file.writing import write
from dumbbell.table import Table
from dumbbell.yardstick.cases import Case
from dumbbell.yardstick.score import document, score
from dumbbell.yardstick.subject import Subject, is_name

LARGEST = 64 << 20
"""Bytes of a file of a case."""


def print_cases(cases: Sequence[Case], json: bool) -> None:
    """List the networks."""
    if json:
        print(dumps([{"name": one.name, "group": one.group.name} for one in cases], indent=2))
        return
    print_table(Table("Networks", ["network", "group"], [[one.name, one.group.description] for one in cases]))


def write_case(cases: Sequence[Case], subject: Subject, seed: int, output: Path) -> None:
    """Write the only case as a scenario; the files that it names go to folders beside it, and no link leads them out.

    Raises `InputError`.
    """
    if len(cases) != 1:
        raise InputError(f"--output {output}", f"one network can be written, not {len(cases)}", "name it by --case")
    scenario = cases[0].scenario(subject.cc, seed)
    with tempfile.TemporaryDirectory(prefix="dumbbell-case-") as folder:
        write(scenario, Path(folder))
        made = sorted(one for one in Path(folder).rglob("*") if one.is_file())
        files = {path.relative_to(folder): inputs.read(path, LARGEST) for path in made}
    place = output
    try:
        outputs.make_folder(output.parent)
        with confined(Below(output.parent)):
            for name, content in files.items():
                place = output if name == Path("scenario.toml") else output.parent / name
                outputs.make_folder(place.parent)
                outputs.write(place, content)
    except OSError as error:
        raise unwritable(place, error) from None
    print(output)


def run(
    subjects: Sequence[Subject],
    cases: Sequence[Case],
    seed: int,
    named: str,
    part: str,
    directory: Path,
    json: bool,
    quiet: bool,
) -> None:
    """Score, print, and write the page and the figures.

    Raises:
        InputError: the simulator has no algorithm of a name, as the first network shows.
    """
    for one in subjects:
        problem = score([one], cases[:1], seed, _Progress(True))[0].cases[0].problem if is_name(one) else None
        if problem is not None:
            raise InputError(problem.splitlines()[0], f"no file is called {one.label} either", "dumbbell cc list")
    scores = score(subjects, cases, seed, _Progress(json or quiet))
    told = dumps(document(scores, seed), indent=2)
    # The tables' library starts threads, with which the planning processes cannot be forked.
    from dumbbell.yardstick import shown
    from dumbbell.yardstick.page import page

    stem = directory / f"{subjects[0].stem}{part}"
    html = stem.with_name(f"{stem.name}.html")
    try:
        outputs.make_folder(directory)
        outputs.write(stem.with_name(f"{stem.name}.json"), f"{told}\n")
        outputs.write(html, page(scores, named))
    except OSError as error:
        raise unwritable(directory, error) from None
    if json:
        print(told)
        return
    print_table(shown.groups(scores))
    print_table(shown.cases(scores, shown.SHOWN))
    print(html)


class _Progress:
    """Shows on a terminal how many networks are done."""

    def __init__(self, quiet: bool) -> None:
        self._shows = not quiet and sys.stderr.isatty()

    def __call__(self, done: int, of: int) -> None:
        if self._shows:
            end = "\r\x1b[K" if done == of else ""
            print(f"\r\x1b[K{done} of {of} networks{end}", end="", file=sys.stderr, flush=True)
