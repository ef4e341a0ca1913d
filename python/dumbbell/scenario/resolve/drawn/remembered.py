"""Results that are kept: an editor and a study resolve networks one after another that are nearly the same."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def remembered(count: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator: the function's last `count` results are kept, each for arguments that are equal to its own.

    `lru_cache` takes values that have a hash; tables of a scenario are equal or not, and have none. The function must
    depend on nothing else, and nobody may change what it returns. What it raises is not kept.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        kept: deque[tuple[object, R]] = deque(maxlen=count)

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            given = args, kwargs
            for known, result in tuple(kept):
                if known == given:
                    return result
            result = function(*args, **kwargs)
            kept.appendleft((given, result))
            return result

        return call

    return decorate
