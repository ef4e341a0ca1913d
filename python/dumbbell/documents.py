"""JSON documents whose content a model describes: each is checked once, when it is read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from dumbbell import inputs
from dumbbell.errors import Damaged

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

T = TypeVar("T")

LARGEST: Final = 256 << 20
"""Bytes of the plan of a run. That of 10,000 flows has a twentieth of that."""
MOST_VALUES_OF_PLAN: Final = 20_000_000
"""Commas and opening brackets of a plan: 5 million steps of rates have 15 million."""
LARGEST_DOCUMENT: Final = 32 << 20
"""Bytes of any other document. The summary of 25,000 flows has so many."""
MOST_VALUES: Final = 1_500_000
"""Commas and opening brackets of any other document: each object that they begin takes up to 300 bytes of memory."""


def read_as(path: str | Path, model: TypeAdapter[T], hint: str = "", given: bytes | None = None) -> T:
    """Read the JSON document in `path`, which `model` describes. Raises `DumbbellError` if it is anything else.

    Args:
        path: the file.
        model: its content.
        hint: what to do if the file is damaged.
        given: the file's bytes, if they are known.
    """
    from pydantic import ValidationError

    value = parsed(path, content(path, LARGEST_DOCUMENT) if given is None else given, hint)
    try:
        return model.validate_python(value)
    except ValidationError as error:
        raise damaged(path, error, hint) from error


def parsed(path: str | Path, text: bytes, hint: str = "", *, allow_inf_nan: bool = True) -> Any:
    """The value of the JSON document in `path`, of at most `MOST_VALUES`. Raises `Damaged`.

    A model checks this value, and not the text: of a text, each error has a copy of all that it is about, which of a
    stranger's document of 2 MB takes gigabytes.
    """
    from pydantic_core import from_json

    check_values(path, text, MOST_VALUES)
    try:
        return from_json(text, allow_inf_nan=allow_inf_nan)
    except ValueError as error:
        raise Damaged(f"{path} cannot be read", str(error), hint) from error


def check_values(path: str | Path, text: bytes, most: int) -> None:
    """Raise `Damaged` if a JSON document has more values than `most`, before it is read: empty ones take no bytes."""
    if sum(map(text.count, (b",", b"[", b"{"))) > most:
        raise Damaged(f"{path} cannot be read", f"it has more than {most:,} values")


def damaged(path: str | Path, error: ValidationError, hint: str) -> Damaged:
    """The error for a document whose content is not what its model says: the first value that is wrong."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where, what = ".".join(map(str, first["loc"])), first["msg"][:1].lower() + first["msg"][1:]
    if first["type"] == "missing":
        return Damaged(f"{path} cannot be read", f"it lacks {where}", hint)
    return Damaged(f"{path} cannot be read", f"{where}: {what}" if where else what, hint)


def content(path: str | Path, most: int = LARGEST) -> bytes:
    """The content of a document of at most `most` bytes. Raises `DumbbellError`."""
    try:
        return inputs.read(path, most)
    except FileNotFoundError:
        why = "the run ended before it was written, or the file was removed"
        raise Damaged(f"{path} is missing", why) from None
    except OSError as error:
        raise Damaged(f"{path} cannot be read", error.strerror or str(error)) from error
