"""Parameters of a congestion control: constants that are set when it is loaded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final

from dumbbell.frozen import dataclass
from dumbbell.hints import closest

Value = int | bool
"""The value of a parameter."""
Values = Mapping[str, Value]
"""Values by parameter name."""


@dataclass(frozen=True)
class Parameter:
    """One parameter."""

    name: str
    bits: int
    """Bits of its type; 1 for a flag."""
    signed: bool
    default: Value | None = None
    """`None` if only a compiler can find it."""
    doc: str = ""
    """The comment in its source."""
    limits: tuple[int, int] | None = None
    """The least and the most that mean anything, where they are known."""

    @property
    def type(self) -> str:
        """`bool`, `u32`, `s64`, ..."""
        return "bool" if self.bits == 1 else f"{'s' if self.signed else 'u'}{self.bits}"

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the most."""
        if self.limits is not None:
            return self.limits
        return (-(1 << self.bits - 1), (1 << self.bits - 1) - 1) if self.signed else (0, (1 << self.bits) - 1)

    def misfit(self, value: Value) -> str:
        """The expected values, if `value` does not fit; otherwise empty."""
        if self.bits == 1:
            return "" if isinstance(value, bool) else "true or false"
        least, most = self.bounds
        if isinstance(value, bool):
            return f"an integer ({self.type})"
        return "" if least <= value <= most else f"an integer from {least} to {most} ({self.type})"


@dataclass(frozen=True)
class Parameters:
    """The parameters of a congestion control."""

    known: tuple[Parameter, ...]
    complete: bool = True
    """True if there are no others. False for a source with parameters that only a compiler understands."""

    def find(self, name: str) -> Parameter | None:
        """The parameter called `name`."""
        return self._by_name.get(name)

    def closest(self, name: str) -> Parameter | None:
        """The one that was meant, probably."""
        close = closest(name, self._by_name)
        return None if close is None else self.find(close)

    @cached_property
    def _by_name(self) -> Mapping[str, Parameter]:
        return {parameter.name: parameter for parameter in reversed(self.known)}


@dataclass(frozen=True)
class Misfit:
    """A value that a parameter cannot have."""

    name: str
    wrong: str
    expected: str
    hint: str


def misfits(of: str, known: Parameters, values: Values) -> Iterator[Misfit]:
    """The errors in `values` for the algorithm that is called `of`."""
    for name, value in values.items():
        parameter = known.find(name)
        if name.startswith("db_"):
            yield Misfit(name, "is dumbbell's own", "a parameter that does not begin with db_", "")
        elif parameter is None:
            if known.complete:
                yield _unknown(name, of, known)
        elif expected := parameter.misfit(value):
            example = parameter.bounds[1] if parameter.default is None else parameter.default
            hint = f"{_doc(parameter)}; {_default(parameter)}" if parameter.doc else f"write {written(example)}"
            yield Misfit(name, "does not fit", expected, hint)


_TOLD: Final = 12
"""Up to this many parameters are listed with their meanings; more are listed as names alone."""
_NAMED: Final = 100
"""Names that are listed: a stranger's source may have a million."""


def _unknown(name: str, of: str, known: Parameters) -> Misfit:
    if not known.known:
        return Misfit(name, f"{of} has no parameters", "none", "")
    close = known.closest(name)
    if len(known.known) <= _TOLD:
        expected = "one of\n" + "\n".join(f"  {describe(parameter)}" for parameter in known.known)
        hint = f"did you mean {close.name}?" if close else ""
    else:
        told = [parameter.name for parameter in known.known[:_NAMED]]
        expected = f"one of {', '.join([*told, '...'] if len(known.known) > _NAMED else told)}"
        hint = f"did you mean {describe(close)}?" if close else f"for their meaning: dumbbell cc list {of}"
    return Misfit(name, f"{of} has no such parameter", expected, hint)


def describe(parameter: Parameter) -> str:
    """`beta_keep (u32, 180 by default): what it is`."""
    text = f"{parameter.name} ({parameter.type}, {_default(parameter)})"
    return f"{text}: {_doc(parameter)}" if parameter.doc else text


def _doc(parameter: Parameter) -> str:
    """The parameter's description as a part of a sentence."""
    return parameter.doc.removesuffix(".")


def _default(parameter: Parameter) -> str:
    return "see its source" if parameter.default is None else f"{written(parameter.default)} by default"


def written(value: Value) -> str:
    """A value as TOML writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def spelled(values: Values) -> str:
    """Values in one line; `defaults` if there are none."""
    return ", ".join(f"{name}={written(value)}" for name, value in values.items()) or "defaults"
