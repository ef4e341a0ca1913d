"""The log of a hunt: a line of JSON per candidate, in the order in which they were proposed.

It is only ever appended to. A command that was killed may leave half a line, which the next one cuts off; the search
is a function of its seed and of these results, and so continues as if it had never stopped.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, Final

from dumbbell import inputs, outputs
from dumbbell.errors import Damaged
from dumbbell.hunt.evaluating import Result
from dumbbell.hunt.space import Candidate, Gene
from dumbbell.scenario.hunt import KINDS

FILE: Final = "log.jsonl"
LARGEST: Final = 128 << 20
"""Bytes of the log of some 300,000 candidates. As objects of Python, it takes up to 2 GB."""
LONGEST: Final = 64 << 10
"""Bytes of a line. As objects of Python, one takes up to thirty times as much memory."""


class Log:
    """The results so far, in memory and on disk."""

    def __init__(self, path: Path) -> None:
        """Read the log, and cut off what a killed command has left. Raises `Damaged` if it cannot be read."""
        self._path = path
        self.results: dict[Candidate, Result] = {}
        if not path.exists():
            return
        try:
            text = inputs.read(path, LARGEST)
        except OSError as error:
            hint = "move it elsewhere: the same command begins anew"
            raise Damaged(f"{path} cannot be read", error.strerror or str(error), hint) from error
        whole = text.rfind(b"\n") + 1
        if whole < len(text):
            os.truncate(path, whole)
        for number, line in enumerate(io.BytesIO(text[:whole]), 1):
            try:
                if len(line) > LONGEST:
                    raise ValueError(f"it has more than {LONGEST >> 10} KiB")
                candidate, result = _parsed(json.loads(line))
            except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
                hint = "remove this line and those after it: the same command finds them again"
                raise Damaged(f"{path} cannot be read", f"line {number}: {error}", hint) from error
            self.results[candidate] = result

    def add(self, results: Sequence[tuple[Candidate, Result]]) -> None:
        """Append results. Raises `OSError`: nothing was appended."""
        outputs.append(self._path, "".join(_line(*one) for one in results))
        self.results.update(results)


def _line(candidate: Candidate, result: Result) -> str:
    told: Mapping[str, Any] = {"events": [list(gene) for gene in candidate], **result.as_json()}
    return json.dumps(told, separators=(",", ":"), allow_nan=False) + "\n"


def _parsed(entry: dict[str, Any]) -> tuple[Candidate, Result]:
    """A candidate and its result. Raises `ValueError` or another error if a line is damaged, or a stranger's."""
    candidate = tuple(Gene(*gene) for gene in entry.pop("events"))
    result = Result(**entry)
    for gene in candidate:
        if gene.kind not in KINDS or not all(type(field) is int for field in gene[1:]):
            raise ValueError(f"{list(gene)} is no event")
    for number in (result.score, result.value, result.limit, *result.facts.values()):
        if number is not None and not (type(number) in (int, float) and isfinite(number)):
            raise ValueError(f"{number!r} is no figure")
    if not all(isinstance(text, str) for text in (result.subject, result.error or "", *result.facts)):
        raise ValueError("a name or an error is no text")
    return candidate, result
