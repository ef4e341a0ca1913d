"""Lets tests in all folders import the helpers in this one, says where the cases of property tests come from, and has
the fixtures of several files."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("fixed", derandomize=True)
settings.register_profile("fuzz", max_examples=1000)
settings.load_profile("fixed")


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C ends what goes on, even if whoever started the tests in the background had it ignored."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former)
