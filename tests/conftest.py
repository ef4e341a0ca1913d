"""Lets tests in all folders import the helpers in this one, and says where the cases of property tests come from."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

pytest_plugins = ["proof", "groups", "garbage"]

settings.register_profile("fixed", derandomize=True)
settings.register_profile("fuzz", max_examples=1000)
settings.load_profile("fixed")


@pytest.fixture(scope="session", autouse=True)
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A folder for what dumbbell keeps for its user: tests agree to programs that nobody has seen."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


# Whoever starts the tests in the background may have these ignored, and every command in a test would inherit it.
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
