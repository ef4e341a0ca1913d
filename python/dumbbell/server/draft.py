"""Changes of a scenario's values, as operations on its text: comments and order stay.

A `Draft` carries each change out on the values, too. So what follows sees what came before, and at the end the text
must have these values: an edit that would write something else is never taken.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from dumbbell.core import core
from dumbbell.errors import InputError, RunFailed
from dumbbell.scenario.file.loading import copied
from dumbbell.scenario.file.overrides import SHORT
from dumbbell.scenario.file.toml import TOMLDecodeError
from dumbbell.scenario.source import dotted
from dumbbell.server.reading import values

Key = Sequence[str | int]

MOST_LEVELS: Final = 32
"""Tables and lists within each other that a command can write."""


class Draft:
    """The values of a text, and what has been done to them."""

    def __init__(self, text: str) -> None:
        """Raises `TOMLDecodeError` if it is no TOML."""
        self.text = text
        self.data: dict[str, Any] = copied(values(text))
        self._operations: list[dict[str, Any]] = []

    def get(self, key: Key) -> Any:
        """The value at a key; `None` if there is none."""
        here: Any = self.data
        for part in key:
            if isinstance(here, list) and isinstance(part, int) and 0 <= part < len(here):
                here = here[part]
            elif isinstance(here, dict) and isinstance(part, str):
                here = here.get(part)
            else:
                return None
        return here

    def set(self, key: Key, value: Any) -> None:
        """Write a value; tables on the way to it are made. Raises `InputError`."""
        _check(value, key)
        if not key:
            raise InputError("no key")
        for depth in range(1, len(key)):
            held = self.get(key[:depth])
            short = SHORT.get(str(key[depth - 1]))
            if isinstance(held, str) and short is not None:
                # `queue = "codel"` is short for a table.
                self._do({"do": "set", "key": list(key[:depth]), "value": {short: held}})
        if self.get(key) != value or type(self.get(key)) is not type(value):
            self._do({"do": "set", "key": list(key), "value": value})

    def unset(self, key: Key) -> None:
        """Remove a key or an item; tables that it leaves empty go with it, but no items of lists and no nodes."""
        if self.get(key) is None:
            return
        self._do({"do": "unset", "key": list(key)})
        above = list(key[:-1])
        while above and self.get(above) is None:  # A list went with its last item.
            above.pop()
        is_named = bool(above) and isinstance(above[-1], str)
        if is_named and self.get(above) == {} and above[:-1] != NODES:
            self.unset(above)

    def insert(self, key: Key, value: Any, at: int | None = None) -> int:
        """Add an item to a list, which is made if it is not there. Returns its index. Raises `InputError`."""
        _check(value, key)
        held = self.get(key)
        if held is not None and not isinstance(held, list):
            raise InputError(f"{dotted(tuple(key))} is not a list")
        if not held:
            if held is not None:
                self._do({"do": "unset", "key": list(key)})
            self._do({"do": "set", "key": list(key), "value": [value]})
            return 0
        index = len(held) if at is None else max(0, min(at, len(held)))
        self._do({"do": "insert", "key": list(key), "at": index, "value": value})
        return index

    def rename(self, key: Key, to: str) -> None:
        """Give a key another name, in its place. Raises `InputError`."""
        held = self.get(key[:-1])
        if not isinstance(held, dict) or key[-1] not in held:
            raise InputError(f"there is no {dotted(tuple(key))}")
        if to in held:
            raise InputError(f"{dotted((*key[:-1], to))} is there already", "", "choose another name")
        self._do({"do": "rename", "key": list(key), "to": to})

    def finished(self) -> str:
        """The text with all changes. Raises `InputError`, or `RunFailed` if it would not have these values."""
        if not self._operations:
            return self.text
        try:
            text: str = core.edit_toml(self.text, json.dumps(self._operations))
        except ValueError as error:
            raise InputError("cannot change the text", str(error), "change it in the text itself") from None
        try:
            same = values(text) == self.data
        except TOMLDecodeError:
            same = False
        if not same:
            why = f"of {', '.join(dotted(tuple(one['key'])) for one in self._operations[:5])}"
            raise RunFailed("the text would not say what was meant", why, "change it in the text itself")
        return text

    def _do(self, operation: dict[str, Any]) -> None:
        self._apply(**operation)
        self._operations.append(operation)

    def _apply(self, do: str, key: Key, value: Any = None, at: int = 0, to: str = "") -> None:
        value = json.loads(json.dumps(value))
        here: Any = self.data
        for depth, part in enumerate(key[:-1]):
            if do == "set" and isinstance(here, dict) and part not in here:
                here[part] = {}
            if self.get(key[: depth + 1]) is None:
                raise InputError(f"there is no {dotted(tuple(key[: depth + 1]))}")
            here = here[part]
        last: Any = key[-1]
        fits = isinstance(here, dict) if isinstance(last, str) else isinstance(here, list) and 0 <= last < len(here)
        if not fits:
            raise InputError(f"{dotted(tuple(key[:-1])) or 'the scenario'} has no {last}")
        match do:
            case "set":
                here[last] = value
            case "unset":
                del here[last]
                if here == [] and len(key) > 1 and isinstance(key[-2], str):
                    # A list without items is written as none: `[[flows]]` has no other way.
                    del self.get(key[:-2])[key[-2]]
            case "insert":
                here[last].insert(at, value)
            case "rename":
                items = [(to if name == last else name, held) for name, held in here.items()]
                here.clear()
                here.update(items)


NODES: Final = ["topology", "nodes"]


def _check(value: Any, key: Key) -> None:
    """Raise `InputError` for what TOML has no words for."""
    inner, levels = [value], 0
    while inner:
        levels += 1
        if any(one is None for one in inner) or levels > MOST_LEVELS:
            what = "null" if levels <= MOST_LEVELS else "nested too deeply"
            raise InputError(f"{dotted(tuple(key))}: {what}", "a scenario has no such values", "unset the key")
        if any(isinstance(one, int) and not -(2**63) <= one < 2**63 for one in inner):
            raise InputError(f"{dotted(tuple(key))}: too large a number")
        tables = [list(one.values()) if isinstance(one, dict) else one for one in inner if isinstance(one, dict | list)]
        inner = [part for table in tables for part in table]
