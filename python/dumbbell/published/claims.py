"""The claims of a published study: which of our figures they are about, and the rules that judge them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from dumbbell.report import words
from dumbbell.scenario.table import Table

Within = Literal["every setting", "some setting", "all settings alike", "one side", "the largest"]
_IN_WORDS: Final[dict[Within, str]] = {
    "every setting": "in every setting",
    "some setting": "in some setting",
    "all settings alike": "the same answer in all settings, as none is given",
    "one side": "in every setting, or in none",
    "the largest": "where the first figure is largest",
}


class Value(Table):
    """Our figure: a metric in some cells of a part, or one for each member."""

    metric: str
    of: str | dict[str, str] | None = None
    """The algorithm, group, flow or link; or one for each member."""
    where: dict[str, Any] = Field(default_factory=dict)
    """Swept key -> value; `{ at = 0 }` is the first value that the study has."""
    by: str | None = None
    """Swept key with a member for each of its values."""
    only: list[str] = Field(default_factory=list)
    """The members among these; empty: all."""
    part: str = ""
    """Another part than the claim's; `{of}` stands for what the figure is of."""
    unit: str = ""
    """The unit in which it is told."""
    title: str = ""
    change: dict[str, Annotated[list[Any], Field(min_length=2, max_length=2)]] = Field(default_factory=dict)
    """Swept key -> two of its values: the figure is the relative change between them, of runs with the same seed."""
    over: dict[str, list[Any]] = Field(default_factory=dict)
    """Swept key -> values: the figure is the mean over those that were run, of runs with the same seed."""
    apart_from: float | None = None
    """The figure is the distance from this value."""
    beside: str = ""
    """The metric whose printed numbers are told beside ours."""


class Claim(Table):
    """A claim as `study.toml` has it."""

    text: str
    source: Annotated[str, Field(min_length=1)]
    """The table, figure or sentence that makes it."""
    ours: bool = False
    """True if the study does not make it: it counts apart from the study's own."""
    printed: str
    """The study's own words or numbers."""
    about: str = ""
    """Name of the subject that it shares with claims of other texts: each row of findings tells the outcomes of the
    others."""
    reading: str = ""
    """The reading of the text under which it is judged."""
    part: str = ""
    values: dict[str, Value] = Field(default_factory=dict)
    holds: list[str] = Field(default_factory=list)
    """Rules, all of which must hold."""
    settings: Annotated[list[dict[str, Any]], Field(min_length=1)] = [{}]  # noqa: RUF012  pydantic copies it
    """The meaning of `{name}` in the values, setting by setting."""
    along: dict[str, list[Any]] = Field(default_factory=dict)
    """Swept key -> its values, each of which is a setting; all that the study has, if the list is empty."""
    setting: str = ""
    """How a setting is called: `{part}, {case}`."""
    within: Within = "every setting"
    left_out: Literal["unknown", "ignored"] = "unknown"
    """The verdict of a setting that was not run."""
    title: str = ""
    tell: Literal["values", "ratios", "count", "nearest", "most", "summary", "least", "largest"] = "values"
    judge: str = ""
    """A function of the study's `code.py` that judges instead of rules."""
    arguments: dict[str, Any] = Field(default_factory=dict)
    others: list[str] = Field(default_factory=list)
    """Further parts, whose studies the function gets as `others`."""
    untested: str = ""
    """Why nothing judges it, in place of rules."""

    @property
    def rule(self) -> str:
        """`in every setting: bbr > cubic`, with names as code."""
        if self.untested:
            return ""
        if self.judge:
            return f"`{self.judge}` of the study's code"
        said = "; ".join(f"`{one}`" for one in self.holds)
        return f"{_IN_WORDS[self.within]}: {said}" if self.along or len(self.settings) > 1 else said


_PLACE: Final = re.compile(r"\{([^{}]+)\}")
_NAME: Final = re.compile(r"[A-Za-z_][\w.-]*")


def places(value: Any) -> list[str]:
    """The names of the places `{name}` in a value's texts."""
    if isinstance(value, str):
        return [name for name in _PLACE.findall(value) if _NAME.fullmatch(name)]
    inner = [*value, *value.values()] if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return [name for one in inner for name in places(one)]


def filled(value: Any, names: Mapping[str, Any]) -> Any:
    """A value in whose texts each `{name}` is replaced; a text that is a name alone becomes its value."""
    if isinstance(value, str):
        whole = _PLACE.fullmatch(value)
        if whole and whole[1] in names:
            return names[whole[1]]
        return _PLACE.sub(lambda place: words.value(names.get(place[1], place[0])), value)
    if isinstance(value, Mapping):
        return {filled(key, names): filled(one, names) for key, one in value.items()}
    return [filled(one, names) for one in value] if isinstance(value, list) else value
