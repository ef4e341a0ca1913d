"""The path of packets to the kernel: one choice for a study."""

from typing import Any

import pytest
from planning import dumbbell, planned

from dumbbell.plan.offload import MERGE_NS, choose


def emulate(bottleneck: dict[str, Any], **more: Any) -> tuple[str, int, bool]:
    found = dumbbell({"buffer": "100 packets", **bottleneck}, **more)["emulate"]
    return found["path"], found["merge_ns"], found["whole_bursts"]


WIRE, GSO = ("wire", 0, False), ("gso", MERGE_NS, False)


@pytest.mark.parametrize(
    ("bottleneck", "more", "expected"),
    [
        ({"rate": "400 Mbit/s"}, {}, WIRE),
        ({"rate": "400000001 bit/s"}, {}, GSO),
        ({"rate": "unlimited"}, {}, GSO),
        ({"rate": "unlimited", "reverse": {"rate": "10 Mbit/s"}}, {}, WIRE),
        ({"rate": "10 Mbit/s", "reverse": {"rate": "1 Gbit/s"}}, {}, GSO),
        ({"rate": {"steps": [["0 s", "10 Mbit/s"], ["5 s", "1 Gbit/s"]]}}, {}, GSO),
        ({"rate": "10 Mbit/s"}, {"events": [{"at": "1 s", "rate": "1 Gbit/s"}]}, GSO),
        # The flow does not cross the bottleneck, and nothing else is limited.
        ({"rate": "10 Mbit/s"}, {"flows": [{"from": "s1", "to": "s2"}]}, GSO),
        ({"rate": "10 Mbit/s"}, {"emulate": {"path": "gso"}}, GSO),
        ({"rate": "10 Mbit/s"}, {"emulate": {"whole_bursts": True}}, ("gso", MERGE_NS, True)),
        ({"rate": "1 Gbit/s"}, {"emulate": {"path": "wire"}}, WIRE),
        ({"rate": "1 Gbit/s"}, {"emulate": {"merge": "0 s"}}, ("gso", 0, False)),
        ({"rate": "1 Gbit/s"}, {"emulate": {"merge": "1 ms"}}, ("gso", 1_000_000, False)),
    ],
)
def test_the_choice(bottleneck: dict[str, Any], more: dict[str, Any], expected: tuple[str, int, bool]) -> None:
    assert emulate(bottleneck, **more) == expected


def test_it_is_one_choice_for_all() -> None:
    slow, fast = planned({"rate": "10 Mbit/s"}), planned({"rate": "1 Gbit/s"})
    assert choose([slow, slow]) == "wire"
    assert choose([slow, fast]) == "gso"
