"""Stages of tests: leaves further values of a parameter that one value proves already to `make test-thorough`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def thorough_after(count: int, values: Iterable[Any]) -> list[Any]:
    """Returns the values for `pytest.mark.parametrize`; those after the first `count` are marked `thorough`."""
    return [value if at < count else _thorough(value) for at, value in enumerate(values)]


def thorough_but(kept: Iterable[Any], values: Iterable[Any]) -> list[Any]:
    """Returns the values for `pytest.mark.parametrize`; all but those of `kept` are marked `thorough`.

    Raises:
        ValueError: A kept value is none of the values.
    """
    wanted, values = list(kept), list(values)
    if unknown := [value for value in wanted if value not in values]:
        raise ValueError(f"no such values: {unknown}")
    return [value if value in wanted else _thorough(value) for value in values]


def _thorough(value: Any) -> Any:
    return pytest.param(*value if isinstance(value, tuple) else (value,), marks=pytest.mark.thorough)
