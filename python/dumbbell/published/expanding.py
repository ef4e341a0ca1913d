"""Tables of a study's file that stand for several: `each` says what `{name}` is in each of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, Final

from dumbbell.errors import InputError
from dumbbell.published.claims import filled

EACH: Final = "each"
MOST: Final = 10_000
"""Tables that a study's file may stand for."""
MOST_CHARACTERS: Final = 16 << 20
"""Characters of their texts together."""


def expanded(data: Mapping[str, Any]) -> dict[str, object]:
    """The file's values with each table written out.

    A table in a list may have `each`: a list of tables with the names' values, a table of lists, which are combined, or
    the name of such a value in `[lists]`. Raises `InputError`.
    """
    lists = data.get("lists", {})
    if not isinstance(lists, Mapping):
        raise InputError("lists is not a table", hint='[lists] has lists of tables, such as ccs = [{ cc = "bbr" }]')
    found = _Expanding(lists).value({key: value for key, value in data.items() if key != "lists"})
    assert isinstance(found, dict)
    return found


class _Expanding:
    def __init__(self, lists: Mapping[str, Any]) -> None:
        self._lists, self._left, self._characters = lists, MOST, MOST_CHARACTERS

    def value(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: self.value(one) for key, one in value.items()}
        return [found for one in value for found in self._items(one)] if isinstance(value, list) else value

    def _items(self, value: Any) -> Iterator[Any]:
        if not isinstance(value, Mapping) or EACH not in value:
            yield self.value(value)
            return
        rest = {key: one for key, one in value.items() if key != EACH}
        for names in self._names(value[EACH]):
            self._left -= 1
            if self._left < 0:
                raise InputError(f"`each` stands for more than {MOST:,} tables")
            made = filled(rest, names)
            self._characters -= _characters(made)
            if self._characters < 0:
                raise InputError(f"`each` stands for more than {MOST_CHARACTERS >> 20} MiB of text")
            yield self.value(made)

    def _names(self, each: Any) -> list[Mapping[str, Any]]:
        known = self._lists.get(each) if isinstance(each, str) else each
        if isinstance(known, Mapping) and all(isinstance(one, list) for one in known.values()):
            return [dict(zip(known, one, strict=True)) for one in itertools.product(*known.values())]
        if isinstance(known, list) and all(isinstance(one, Mapping) for one in known):
            return known
        raise InputError(
            f"each = {each!r} is not a list of tables", hint="a list of tables, or the name of one in [lists]"
        )


def _characters(value: Any) -> int:
    if isinstance(value, Mapping):
        return sum(len(key) + _characters(one) for key, one in value.items())
    if isinstance(value, list):
        return sum(map(_characters, value))
    return len(value) if isinstance(value, str) else 8
