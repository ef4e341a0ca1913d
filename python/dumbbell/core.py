"""The compiled core's functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dumbbell.errors import RunFailed


def function(name: str) -> Callable[..., Any]:
    """The function `name` of `dumbbell._core`. Raises `RunFailed` if the core is not built, or older than this
    package."""
    try:
        from dumbbell import _core

        found: Callable[..., Any] = getattr(_core, name)
    except (ImportError, AttributeError):
        why = f"dumbbell._core has no {name}"
        raise RunFailed("the compiled core is missing, or older than this package", why, "make build") from None
    return found
