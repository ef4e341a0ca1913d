"""The engines by name.

Each is imported when it is asked for: a machine may lack what another one needs.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Final

from dumbbell.engines.names import EMULATE, SIMULATE
from dumbbell.engines.protocol import Engine
from dumbbell.errors import InputError


def _emulate() -> Engine:
    from dumbbell.engines.emulate.engine import EmulateEngine

    return EmulateEngine()


def _simulate() -> Engine:
    from dumbbell.engines.simulate.engine import SimulateEngine

    return SimulateEngine()


_MAKE: Final[Mapping[str, Callable[[], Engine]]] = {EMULATE: _emulate, SIMULATE: _simulate}


def engine(wanted: str | Engine) -> Engine:
    """The engine that is called `wanted`; one that is an engine already, unchanged. Raises `InputError`."""
    if not isinstance(wanted, str):
        return wanted
    make = _MAKE.get(wanted)
    if make is None:
        close = difflib.get_close_matches(wanted, _MAKE, n=1)
        hint = f"did you mean {close[0]}?" if close else ""
        raise InputError(f"no engine {wanted!r}", f"expected one of {', '.join(_MAKE)}", hint)
    return make()
