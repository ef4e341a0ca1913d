"""Times at which lines of a log were written."""

from __future__ import annotations

import re
from typing import Final

_EPOCH: Final = re.compile(r"\s*\[?(1\d{9})(?:[.,](\d{1,9})|(\d{3}|\d{6}|\d{9}))?(?!\d)")
_OF_DAY: Final = re.compile(
    r"\s*\[?(?:\d{4}-\d\d-\d\d[T ]|(?:[A-Z][a-z]{2},? )?(?:[A-Z][a-z]{2} [ \d]\d|\d{1,2} [A-Z][a-z]{2}(?: \d{4})?) )?"
    r"(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(?: ([AP])M)?"
)
DAY_S: Final = 86_400.0


def time_of(line: str) -> tuple[float, bool] | None:
    """Returns the time with which a line begins, s, and whether it has parts of a second; None if it has no time.

    The time counts from 1970, or from midnight where only a clock shows it. Formats are those of `date`, `date +%s.%N`,
    `date -Ins`, `ts`, `ts %.s` and `ts -s`.
    """
    if (found := _EPOCH.match(line)) is not None:
        digits = found[2] or found[3] or ""
        return float(f"{found[1]}.{digits or 0}"), bool(digits)
    if (found := _OF_DAY.match(line)) is not None:
        hour = int(found[1]) % 12 + 12 * (found[5] == "P") if found[5] else int(found[1])
        return 3600.0 * hour + 60 * int(found[2]) + float(f"{found[3]}.{found[4] or 0}"), found[4] is not None
    return None
