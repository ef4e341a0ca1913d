"""A profile: all that a fit found, without addresses, names and packets, in a JSON document that can be shared."""

from __future__ import annotations

from dataclasses import asdict, replace
from json import dumps
from math import isfinite
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from dumbbell import inputs
from dumbbell.documents import content, damaged, parsed
from dumbbell.errors import Damaged
from dumbbell.fitting.fitted import Fit
from dumbbell.fitting.logs.algorithms import known
from dumbbell.names import shortened

_NAME: Final = "profile"
_LARGEST: Final = 8 << 20
"""Bytes. A rate of each 200 ms of a day is a fourth of that."""
_HINT: Final = "write it again: dumbbell fit CAPTURE --anonymize -o FILE.json"


class _Document(BaseModel):
    """The document."""

    model_config = ConfigDict(extra="forbid")

    format: Literal["dumbbell-fit-1"] = "dumbbell-fit-1"
    fit: Fit


def anonymous(fit: Fit) -> Fit:
    """The fit without the name of its capture, the number of its connection, and its course over time."""
    return replace(fit, name=_NAME, transfer=replace(fit.transfer, connection=0), measured=None)


def text(fit: Fit) -> str:
    """The profile of a fit as JSON, anonymous."""
    document = _Document(fit=anonymous(fit)).model_dump(exclude={"fit": {"measured"}})
    return dumps(document, indent=1, allow_nan=False) + "\n"


def is_profile(path: Path) -> bool:
    """True if a file begins as a JSON document does, which no capture does."""
    try:
        with open(inputs.opened(path), "rb") as file:
            return file.read(1) == b"{"
    except OSError:
        return False


def read(path: Path) -> Fit:
    """Reads a profile. Raises `DumbbellError` if the file is none."""
    from pydantic import ValidationError

    try:
        found = _Document.model_validate(parsed(path, content(path, _LARGEST), _HINT)).fit
    except ValidationError as error:
        raise damaged(path, error, _HINT) from error
    if not _is_sound(asdict(found)):
        why = "it has a figure that is not finite, or a text of several lines"
        raise Damaged(f"{path} cannot be read", why, _HINT)
    if why := _contradiction(found):
        raise Damaged(f"{path} cannot be read", why, _HINT)
    return found


def _contradiction(fit: Fit) -> str:
    """Returns what no fit says of a path; empty if there is no such thing."""
    if (cc := fit.transfer.cc) is not None and known(cc) != cc:
        # In a scenario it would be the name of a file, which is compiled.
        return f"{shortened(cc)} is no congestion control that a log tells"
    policed, burst = fit.policer.rate, fit.policer.burst
    rates = (fit.rate.capacity.value, fit.rate.available.value, policed.value, burst.value)
    if any(one is not None and one <= 0 for one in rates):
        return "it has a rate or a bucket that is not above 0"
    if policed.is_identifiable != burst.is_identifiable:
        return "it has a policer's rate without its bucket, or a bucket without its rate"
    return ""


def _is_sound(value: object) -> bool:
    if isinstance(value, dict):
        return all(_is_sound(one) for one in value.values())
    if isinstance(value, (list, tuple)):
        return all(_is_sound(one) for one in value)
    if isinstance(value, str):
        return value.isprintable()
    return not isinstance(value, float) or isfinite(value)
