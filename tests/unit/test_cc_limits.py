"""Parameters of the bundled congestion controls that mean nothing are refused."""

from __future__ import annotations

import pytest

from dumbbell.cc import core
from dumbbell.cc.bundled import BUNDLED
from dumbbell.cc.parameters import misfits


@pytest.mark.parametrize(
    ("label", "name", "value", "expected"),
    [
        ("bbr3", "beta_keep", 99999, "an integer from 0 to 256 (u32)"),
        ("bbr2", "startup_pacing_gain", 0, "an integer from 1 to 4096 (u32)"),
        ("bbr3", "full_bw_threshold", 255, "an integer from 256 to 4096 (u32)"),
        ("bpf_cubic", "beta", 1025, "an integer from 1 to 1024 (u32)"),
        ("bpf_dctcp", "shift_g", 11, "an integer from 0 to 10 (u32)"),
    ],
)
def test_nonsense_is_refused(label: str, name: str, value: int, expected: str) -> None:
    known = core.parameters_of(label)
    assert known is not None
    assert [one.expected for one in misfits(label, known, {name: value})] == [expected]


@pytest.mark.parametrize("label", BUNDLED)
def test_each_integer_has_limits_and_a_default_within(label: str) -> None:
    known = core.parameters_of(label)
    assert known is not None
    integers = [one for one in known.known if one.bits > 1]
    for one in integers:
        assert one.limits is not None
        assert one.default is not None
        assert one.misfit(one.default) == ""
