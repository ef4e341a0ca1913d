"""The table of quantities for the reference."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from dumbbell.units import BufferSize, Grammar, Packets, Percent, Rate, Size, Time
from tools.generate.keys import table

_KINDS: Final = (Time, Rate, Size, Percent, Packets, BufferSize)


def quantities() -> str:
    """A row for each kind: its name, its units, other spellings."""
    return table(["kind", "units", "also read"], map(_row, (kind.grammar for kind in _KINDS)))


def _row(grammar: Grammar) -> list[str]:
    also = " or the text `unlimited`" if grammar is BufferSize.grammar else ""
    return [re.sub(r"^an? ", "", grammar.what), _codes(grammar.units) + also, _codes(grammar.aliases)]


def _codes(names: Iterable[str]) -> str:
    return " ".join(f"`{name}`" for name in names)
