"""Times that options give."""

from __future__ import annotations


def time_of(option: str, text: str) -> int:
    """A time above zero that an option gives, ns. Raises `InputError`."""
    from dumbbell.errors import InputError
    from dumbbell.units import Duration, QuantityError

    try:
        return int(Duration.parse(text))
    except QuantityError as error:
        if error.wrong == "zero":
            raise InputError(f"{option} must be greater than zero", f"given: {text}", f'{option} "100 ms"') from None
        raise InputError(f"{option} {text} is not a time", str(error), f'{option} "100 ms"') from None
