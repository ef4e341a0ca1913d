"""Times that options give."""

from __future__ import annotations


def time_of(option: str, text: str) -> int:
    """A time that an option gives, ns. Raises `InputError`."""
    from dumbbell.errors import InputError
    from dumbbell.units import Duration, QuantityError

    try:
        return int(Duration.parse(text))
    except QuantityError as error:
        raise InputError(f"{option} {text} is no time", str(error)) from None
