"""Tables of a study's file that stand for several: `each` says what `{name}` is in each of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, Final

from dumbbell.errors import InputError
from dumbbell.frozen import dataclass
from dumbbell.hints import nearest
from dumbbell.published.claims import filled, places
from dumbbell.scenario.source import show

EACH: Final = "each"
MOST: Final = 10_000
"""Tables that a study's file may stand for."""
MOST_CHARACTERS: Final = 16 << 20
"""Characters of their texts together."""

BY_SETTING: Final = ("part", "values", "holds", "setting", "settings", "along", "arguments", "others")
"""Keys of a claim whose texts its settings fill, too."""

Path = tuple[str | int, ...]
"""Keys and places in lists that lead to a value."""

Names = Mapping[str, Any]
"""Name -> what stands in its place."""


@dataclass(frozen=True)
class Origin:
    """The table of the file that an expanded table comes from."""

    index: int
    """Its place in the file's list."""
    names: Names | None
    """The value of `each`; `None` without it."""


def expanded(data: Mapping[str, Any]) -> tuple[dict[str, object], dict[Path, Origin]]:
    """The file's values with each table written out, and the origin of each table of a list.

    A table in a list may have `each`: a list of tables with the names' values, a table of lists, which are combined, or
    the name of such a value in `[lists]`. Raises `InputError`.
    """
    lists = data.get("lists", {})
    if not isinstance(lists, Mapping):
        raise InputError("lists is not a table", hint='[lists] has lists of tables, such as ccs = [{ cc = "bbr" }]')
    expanding = _Expanding(lists)
    found = expanding.value({key: value for key, value in data.items() if key != "lists"}, ())
    assert isinstance(found, dict)
    return found, expanding.origins


class _Expanding:
    def __init__(self, lists: Mapping[str, Any]) -> None:
        self._lists, self._left, self._characters = lists, MOST, MOST_CHARACTERS
        self.origins = dict[Path, Origin]()

    def value(self, value: Any, path: Path, given: Names | None = None) -> Any:
        """The value written out. `given`: what `each` of the tables around it gives."""
        if isinstance(value, Mapping):
            return {key: self.value(one, (*path, key), given) for key, one in value.items()}
        if isinstance(value, str) and given and not (path[0] == "claims" and path[2] in BY_SETTING):
            _check_filled(value, self._place(path), given)
        if not isinstance(value, list):
            return value
        found = list[Any]()
        for index, one in enumerate(value):
            for names, made in self._items(one, given, f"{self._place(path)}.{index}"):
                here = (*path, len(found))
                if isinstance(made, Mapping):
                    self.origins[here] = Origin(index, names)
                found.append(self.value(made, here, given if names is None else {**(given or {}), **names}))
        return found

    def _place(self, path: Path) -> str:
        """Keys, and places in the file's own lists, that lead to a value."""
        steps = ((self.origins.get(path[: end + 1]), part) for end, part in enumerate(path))
        return ".".join(str(part if origin is None else origin.index) for origin, part in steps)

    def _items(self, value: Any, given: Names | None, at: str) -> Iterator[tuple[Names | None, Any]]:
        """Each table that a value of a list stands for, and what `each` gives it."""
        if not isinstance(value, Mapping) or EACH not in value:
            yield None, value
            return
        rest = {key: one for key, one in value.items() if key != EACH}
        every = self._names(value[EACH], at)
        # A name that an outer `each` fills may be that of an empty list.
        if not every and not (given and isinstance(value[EACH], str)):
            raise InputError(f"{at}: each = {show(value[EACH])} is empty, and leaves this table out", hint="remove it")
        for names in every:
            self._left -= 1
            if self._left < 0:
                raise InputError(f"`each` stands for more than {MOST:,} tables")
            made = filled(rest, names)
            self._characters -= _characters(made)
            if self._characters < 0:
                raise InputError(f"`each` stands for more than {MOST_CHARACTERS >> 20} MiB of text")
            yield names, made

    def _names(self, each: Any, at: str) -> list[Mapping[str, Any]]:
        known = self._lists.get(each) if isinstance(each, str) else each
        if isinstance(known, Mapping) and known and all(isinstance(one, list) for one in known.values()):
            return [dict(zip(known, one, strict=True)) for one in itertools.product(*known.values())]
        if isinstance(known, list) and all(isinstance(one, Mapping) for one in known):
            return known
        hint = "a list of tables, or the name of one in [lists]"
        if isinstance(each, str):
            hint = nearest(each, self._lists, hint)
        raise InputError(f"{at}: each = {show(each)} is not a list of tables", hint=hint)


def _check_filled(text: str, place: str, given: Mapping[str, Any]) -> None:
    """Raise `InputError` if a text has a place that no `each` fills."""
    for name in places(text):
        raise InputError(
            f"{place} = {text!r}: nothing fills {{{name}}}",
            f"each has {', '.join(given)}", nearest(name, given),
        )  # fmt: skip


def _characters(value: Any) -> int:
    if isinstance(value, Mapping):
        return sum(len(key) + _characters(one) for key, one in value.items())
    if isinstance(value, list):
        return sum(map(_characters, value))
    return len(value) if isinstance(value, str) else 8
