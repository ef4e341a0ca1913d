"""Counts, lists and numbers in sentences: `1 run`, `1,204 runs`, `a, b or c`. Every sentence takes them from here."""

from __future__ import annotations

from collections.abc import Iterable


def count(n: int, noun: str = "", plural: str = "") -> str:
    """`164,312 packets`, `1 packet`; without a noun the number alone. `plural`: one that is not made by -s."""
    return f"{n:,} {by_number(n, noun, plural or f'{noun}s')}" if noun else f"{n:,}"


def by_number(n: int, singular: str, many: str) -> str:
    """The word that fits `n`: `by_number(n, "is", "are")`."""
    return singular if n == 1 else many


def ordinal(n: int) -> str:
    """`1st`, `2nd`, `3rd`, `4th`, `11th`, `21st`."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n:,}{'th' if n % 100 // 10 == 1 else ending}"


def number(value: float, digits: int = 3) -> str:
    """`9.31`, `999`, `1,000`, `12,345`: significant digits, and all those before the point."""
    return f"{value:,.0f}" if abs(value) >= 10**digits - 0.5 else f"{value:.{digits}g}"


def listed(items: Iterable[str], word: str = "and") -> str:
    """`a, b and c`; `word` joins the last two. Empty without items."""
    words = list(items)
    return f" {word} ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
