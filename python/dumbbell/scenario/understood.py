"""Tables that were understood before, which need not be checked again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

UNDERSTOOD: Final = "understood"
"""Key of pydantic's validation context: the tables that were understood before."""


class Understood:
    """Tables that were understood before: one that says the same again becomes the same object.

    As `UNDERSTOOD` of the validation context it lasts as long as its owner wants, who may check texts one after
    another that are nearly the same. What a table takes from a file is never kept: the file may change.
    """

    def __init__(self, most: int = 20_000) -> None:
        """`most`: tables that are kept."""
        self.files = 0
        """Files that were read until now."""
        self._most = most
        self._known: dict[tuple[type, str], Any] = {}

    def table(self, kind: type, written: dict[str, object], make: Callable[[Any], Any]) -> Any:
        """The table of this kind that `written` makes. Raises what `make` raises."""
        key = kind, repr(written)
        found = self._known.get(key)
        if found is None:
            files = self.files
            found = make(written)
            if self.files == files:
                if len(self._known) >= self._most:
                    self._known.clear()
                self._known[key] = found
        return found
