"""JSON documents whose content a model describes: each is checked once, when it is read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from dumbbell import inputs
from dumbbell.errors import Damaged

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

T = TypeVar("T")

LARGEST: Final = 256 << 20
"""Bytes of the plan of a run. That of 10,000 flows has a twentieth of that."""
LARGEST_DOCUMENT: Final = 32 << 20
"""Bytes of any other document: as objects of Python it takes up to forty times as much memory."""


def read_as(path: str | Path, model: TypeAdapter[T], hint: str = "", given: bytes | None = None) -> T:
    """Read the JSON document in `path`, which `model` describes. Raises `DumbbellError` if it is anything else.

    Args:
        path: the file.
        model: its content.
        hint: what to do if the file is damaged.
        given: the file's bytes, if they are known.
    """
    from pydantic import ValidationError

    try:
        return model.validate_json(content(path, LARGEST_DOCUMENT) if given is None else given)
    except ValidationError as error:
        raise damaged(path, error, hint) from error


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
