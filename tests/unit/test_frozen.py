"""Frozen dataclasses of `dumbbell.frozen` behave as those of the standard library, and are compiled late."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from pydantic import TypeAdapter

from dumbbell import frozen


def declared(dataclass: Any) -> dict[str, Any]:
    @dataclass(frozen=True)
    class Base:
        """A class with each kind of field."""

        first: int
        second: str = "2"
        third: list[int] = dataclasses.field(default_factory=list)
        apart: int = dataclasses.field(default=4, compare=False, repr=False)
        always: int = dataclasses.field(default=5, init=False)
        made: list[int] = dataclasses.field(default_factory=lambda: [6], init=False, hash=False)
        common: ClassVar[int] = 7

    @dataclass(frozen=True, kw_only=True)
    class Derived(Base):
        """A class with a field of its own, of its base's and after them."""

        second: str = "3"
        fourth: float

    @dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
    class Slots:
        """A class with slots."""

        kind: str = "slots"
        inner: tuple[int, ...] = ()
        always: int = dataclasses.field(default=5, init=False)

    @dataclass(frozen=True)
    class Empty:
        """A class without fields."""

    @dataclass(frozen=True)
    class Own:
        """A class with methods of its own."""

        value: float
        half: float = dataclasses.field(init=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "half", self.value / 2)

        def __eq__(self, other: object) -> bool:
            return True

        def __repr__(self) -> str:
            return "own"

    @dataclass(frozen=True)
    class Hashed:
        """A class with a hash of its own."""

        value: int

        def __hash__(self) -> int:
            return 1

    @dataclass
    class Free:
        """A class that is not frozen."""

        value: int

    return {cls.__name__: cls for cls in (Base, Derived, Slots, Empty, Own, Hashed, Free)}


CLASSES = declared(frozen.dataclass)
STANDARD = declared(dataclasses.dataclass)

USES: dict[str, Callable[[dict[str, Any]], object]] = {
    "positions and defaults": lambda of: vars(of["Base"](1, "b")),
    "a list for each": lambda of: of["Base"](1).third is of["Base"](1).third,
    "keywords of a derived class": lambda of: vars(of["Derived"](1, [3], fourth=2.5)),
    "slots": lambda of: [getattr(of["Slots"](inner=(1,)), name) for name in ("kind", "inner", "always")],
    "no fields": lambda of: (repr(of["Empty"]()), of["Empty"]() == of["Empty"](), hash(of["Empty"]())),
    "after the constructor": lambda of: of["Own"](3.0).half,
    "shown": lambda of: (repr(of["Base"](1)), repr(of["Slots"]()), repr(of["Own"](1.0))),
    "equal but for what is not compared": lambda of: of["Base"](1, apart=8) == of["Base"](1),
    "not equal": lambda of: of["Base"](1) == of["Base"](2),
    "not equal to a derived class": lambda of: of["Derived"](1, fourth=1.0) == of["Base"](1, "3"),
    "a value that is not equal to itself": lambda of: of["Hashed"](float("nan")) == of["Hashed"](float("nan")),
    "the same such value": lambda of: (lambda nan: of["Hashed"](nan) == of["Hashed"](nan))(float("nan")),
    "equality of its own": lambda of: of["Own"](1.0) == of["Own"](2.0),
    "hashes": lambda of: (hash(of["Base"](1, third=())), hash(of["Slots"](inner=(1,))), hash(of["Hashed"](2))),
    "a hash beside equality of its own": lambda of: hash(of["Own"](4.0)),
    "replaced": lambda of: dataclasses.replace(of["Slots"](), inner=(9,)).inner,
    "as a dictionary": lambda of: dataclasses.asdict(of["Derived"](1, fourth=2.0)),
    "copied": lambda of: repr(copy.deepcopy(of["Slots"](inner=(1, 2)))),
    "matched": lambda of: of["Base"].__match_args__,
    "free": lambda of: (lambda free: [setattr(free, "value", 2), free])(of["Free"](1)) == [None, of["Free"](2)],
    "read by pydantic": lambda of: repr(TypeAdapter(of["Derived"]).validate_python({"first": "1", "fourth": 2})),
    "signature": lambda of: str(inspect.signature(of["Derived"])),
    "a change": lambda of: setattr(of["Base"](1), "first", 2),
    "a new attribute": lambda of: setattr(of["Base"](1), "other", 2),
    "a removal": lambda of: delattr(of["Base"](1), "first"),
    "too few": lambda of: of["Derived"](1),
    "too many": lambda of: of["Base"](1, "2", [], 4, 5),
    "by position in place of keyword": lambda of: of["Slots"]("slots"),
    "no such field": lambda of: of["Base"](1, other=1),
}


@pytest.mark.parametrize("use", USES)
def test_as_the_standard_library_has_it(use: str) -> None:
    def outcome(of: dict[str, Any]) -> object:
        try:
            return USES[use](of)
        except (AttributeError, TypeError) as error:
            return type(error), str(error)

    assert outcome(CLASSES) == outcome(STANDARD)


def test_a_constructor_is_compiled_when_it_is_first_used() -> None:
    @frozen.dataclass(frozen=True)
    class Late:
        value: int

    assert not inspect.isfunction(vars(Late)["__init__"])
    assert Late(1).value == 1
    assert inspect.isfunction(vars(Late)["__init__"])


@frozen.dataclass(frozen=True, slots=True)
class Pickled:
    """A class that can be found by its name."""

    value: int


def test_slots_are_pickled() -> None:
    assert pickle.loads(pickle.dumps(Pickled(3))) == Pickled(3)
