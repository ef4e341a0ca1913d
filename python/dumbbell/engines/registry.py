"""The engines and their names.

Each is imported when it is asked for: a machine may lack what another one needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from dumbbell.engines.capabilities import Capabilities
from dumbbell.errors import InputError
from dumbbell.hints import nearest

if TYPE_CHECKING:
    from collections.abc import Callable

    from dumbbell.engines.protocol import Engine

_ENGINES: Final[dict[str, tuple[str, str]]] = {
    "emulate": ("real Linux TCP over an emulated network", "dumbbell.engines.emulate"),
    "virtual": ("the TCP of any kernel in virtual time: exact, the same each time", "dumbbell.engines.virtual"),
    "simulate": ("a model of it, faster, the same each time", "dumbbell.engines.simulate"),
}
"""Name -> a phrase for `--help`, and a package: `capabilities.CAPABILITIES`, and `engine.create` makes the engine."""
_OWN: Final[dict[str, Engine]] = {}
"""Engines that came as objects."""

DEFAULT: Final = next(iter(_ENGINES))


def names() -> list[str]:
    """The names of the engines."""
    return [*_ENGINES, *_OWN]


def described() -> str:
    """Each engine with its phrase, for `--help`."""
    return " ".join(f"{name}: {phrase}." for name, (phrase, _) in _ENGINES.items())


def phrase(name: str) -> str:
    """The phrase that describes an engine; empty for one that came as an object."""
    return _ENGINES[name][0] if name in _ENGINES else ""


def register(name: str, phrase: str, package: str) -> None:
    """Add an engine: the name, a phrase for `--help`, and the package in which it lies."""
    _ENGINES[name] = phrase, package


def engine(wanted: str | Engine) -> Engine:
    """The engine that is called `wanted`; one that is an engine already, unchanged. Raises `InputError`."""
    if not isinstance(wanted, str):
        if wanted.capabilities.name not in _ENGINES:
            _OWN[wanted.capabilities.name] = wanted
        return wanted
    if wanted in _OWN:
        return _OWN[wanted]
    found: Engine = import_module(f"{_package(wanted)}.engine").create()
    return found


def capabilities(name: str) -> Capabilities:
    """The capabilities of the engine that is called `name`. Raises `InputError`."""
    if name in _OWN:
        return _OWN[name].capabilities
    found: Capabilities = import_module(f"{_package(name)}.capabilities").CAPABILITIES
    return found


def first(accepts: Callable[[Capabilities], bool]) -> str:
    """Returns the name of the first engine whose capabilities are accepted. Raises `InputError` if there is none."""
    found = next((name for name in names() if accepts(capabilities(name))), None)
    if found is None:
        raise InputError("no engine can do that", f"there are {', '.join(names())}")
    return found


def option(name: str) -> list[str]:
    """The words that ask a command line for an engine: none for the one that it takes by itself."""
    return [] if name == DEFAULT else ["--engine", name]


def _package(name: str) -> str:
    if name not in _ENGINES:
        raise InputError(f"no engine {name!r}", f"expected one of {', '.join(names())}", nearest(name, names()))
    return _ENGINES[name][1]
