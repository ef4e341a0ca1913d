"""Collects tests without searches for garbage: a plugin of pytest.

Searches take a third of the time, as thousands of tests are collected. Whatever is imported by then stays until the
process ends, so later searches leave it out.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Iterator[None]:
    """Searches for garbage again when all tests are collected."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
