"""An estimate: a value with its interval and evidence, or the reason why the capture does not tell it."""

from __future__ import annotations

from dumbbell.frozen import dataclass


@dataclass(frozen=True)
class Estimate:
    """A property of a path."""

    value: float | None
    """None: not identifiable from this capture."""
    low: float | None = None
    """Lower end of the interval; without a value, a lower bound."""
    high: float | None = None
    """Upper end of the interval; without a value, an upper bound."""
    evidence: str = ""
    """Packets and time that the estimate rests on."""
    why_not: str = ""
    """Why the value is not identifiable."""

    @property
    def is_identifiable(self) -> bool:
        """True if the capture tells the value."""
        return self.value is not None

    def as_json(self) -> dict[str, float | str | bool | None]:
        """The fields, for machines."""
        return {
            "identifiable": self.is_identifiable,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "evidence": self.evidence,
            "why_not": self.why_not,
        }


def unknown(why: str, low: float | None = None, high: float | None = None, evidence: str = "") -> Estimate:
    """An estimate without a value, with the bounds that are known."""
    return Estimate(None, low, high, evidence, why)
