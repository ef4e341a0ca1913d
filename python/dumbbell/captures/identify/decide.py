"""From features to a guess, or to a reason against one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from json import loads
from pathlib import Path as File
from tempfile import TemporaryDirectory
from typing import Any, Final

from dumbbell.captures.capture import Capture
from dumbbell.captures.files import unchanged
from dumbbell.captures.identify import forest
from dumbbell.captures.identify.features import Path, features, series
from dumbbell.errors import DumbbellError

ALGORITHMS: Final = ("reno", "cubic", "bbr", "bbr2", "bbr3", "dctcp", "vegas", "htcp", "westwood")
"""Algorithms that the model tells apart."""
LEAST_S: Final = 20.0
LEAST_RTTS: Final = 100
_MOST_STEPS: Final = 5_000_000
"""Steps of half an RTT, each of which takes memory also without traffic."""
"""A direction that sent for a shorter time tells too little."""
_MOST_OTHER: Final = 0.2
"""Share of the time for which the application or the receiver's window may have limited the sender."""
LEAST_SHARE: Final = 0.5
"""Share of the votes without which there is no guess."""
_SOURCES: Final = ("features.py", "marks.py", "forest.py")


@dataclass(frozen=True)
class Guess:
    """Guess of a direction's congestion control."""

    algorithm: str | None
    """`None`: no guess."""
    share: float | None
    """Share of the model's votes, of the algorithm with the most."""
    why_not: str = ""
    """Why there is no guess."""


@dataclass(frozen=True)
class Model:
    """Trees, and the names of the features that they ask for."""

    features: tuple[str, ...]
    algorithms: tuple[str, ...]
    trees: list[forest.Tree]
    digest: str


@cache
def model() -> Model:
    """The model that comes with dumbbell: `python -m benches.identify --train` makes it."""
    try:
        text = files(__package__).joinpath("model.json").read_text(encoding="utf-8")
    except OSError as error:
        raise DumbbellError(
            "the model for --identify is missing", str(error), "python -m benches.identify --train"
        ) from None
    read = loads(text)
    return Model(tuple(read["features"]), tuple(read["algorithms"]), read["trees"], read["digest"])


def digest() -> str:
    """Digest of the model's features (their code) and its trees. A model of other code is stale."""
    code = (files(__package__).joinpath(name).read_bytes() for name in _SOURCES)
    return sha256(b"\n".join(code)).hexdigest()[:16]


def reason_against(row: dict[str, Any], path: Path | None) -> str:
    """Why no guess is made of a direction, `row` of `directions`; empty if one is."""
    if path is None:
        return "its path is not known: name the directory of a run"
    length_s = (row["end_ns"] - row["start_ns"]) / 1e9
    if length_s < max(LEAST_S, LEAST_RTTS * path.base_rtt_s):
        return f"it sent for {length_s:.3g} s, and {max(LEAST_S, LEAST_RTTS * path.base_rtt_s):.3g} s are needed"
    if length_s * 1e9 > _MOST_STEPS * path.interval_ns:
        return f"it sent for {length_s:,.0f} s: {_MOST_STEPS * path.interval_ns / 1e9:,.0f} s can be looked at"
    limits = {name: row[f"limited_{name}_ns"] or 0 for name in ("window", "application", "recovery", "network")}
    whole = max(1, sum(limits.values()))
    for name, word in (("window", "the receiver's window"), ("application", "the application")):
        if limits[name] > _MOST_OTHER * whole:
            return f"{word} limited it for {100 * limits[name] / whole:.0f} % of its time"
    if row["unseen_bytes"]:
        return "the capture lost packets of it"
    return ""


def guess(features: dict[str, float], by: Model | None = None) -> Guess:
    """The guess of the model for features."""
    use = by or model()
    votes = forest.shares(use.trees, [features[name] for name in use.features], len(use.algorithms))
    best = int(votes.argmax())
    share = float(votes[best])
    if share < LEAST_SHARE:
        second = int(votes.argsort()[-2])
        names = f"{use.algorithms[best]} and {use.algorithms[second]}"
        return Guess(
            None, share, f"it looks like {names}: {100 * share:.0f} and {100 * votes[second]:.0f} % of the votes"
        )
    return Guess(use.algorithms[best], share)


def looks(
    sources: Sequence[str], interfaces: Sequence[str], paths: dict[int, Path]
) -> dict[int, tuple[dict[str, Any], dict[str, float] | str]]:
    """For each connection of `paths` the row of its data to the server, and its features or why there are none.

    The files are analysed once for each base RTT, in intervals that fit it.
    """
    from dumbbell.captures.analysis import analyse

    told: dict[int, tuple[dict[str, Any], dict[str, float] | str]] = {}
    for width in sorted({path.interval_ns for path in paths.values()}):
        with TemporaryDirectory(prefix="dumbbell-identify-") as scratch:
            capture = analyse(*sources, output=File(scratch) / "out", interfaces=interfaces, interval_ns=width)
            rows = {(row["connection"], str(row["direction"])): row for row in capture.directions.to_dicts()}
            for number, path in paths.items():
                row = rows.get((number, "to-server"))
                if path.interval_ns != width or row is None or not row["data_packets"]:
                    continue
                against = reason_against(row, path)
                back = rows.get((number, "to-client"))
                told[number] = row, against or features(series(capture, row, path), row, back, path)
    return told


def identify(capture: Capture, paths: dict[int, Path]) -> dict[int, Guess]:
    """A guess for each connection with data to the server. `paths`: what is known of their paths, by number.

    Raises:
        InputError: a path is known, and the capture's files are gone, have changed, or were standard input.
    """
    sources, only = unchanged(capture) if paths else [], list(capture.summary["only"])
    found: dict[int, Guess] = {}
    for row in capture.directions.to_dicts():
        if str(row["direction"]) == "to-server" and row["data_packets"] and row["connection"] not in paths:
            found[row["connection"]] = Guess(None, None, reason_against(row, None))
    for number, (_, seen) in looks(sources, only, paths).items():
        found[number] = Guess(None, None, seen) if isinstance(seen, str) else guess(seen)
    return dict(sorted(found.items()))
