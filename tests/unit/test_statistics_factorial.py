"""Effects of a factorial experiment, by hand and of a textbook."""

from __future__ import annotations

import random
from itertools import product
from math import log
from pathlib import Path

import pytest
from synthetic_study import Synthetic

from dumbbell import Study
from dumbbell.errors import InputError
from dumbbell.statistics.factorial import effects

MONTGOMERY = {
    ("-", "-"): [28.0, 25.0, 27.0], ("+", "-"): [36.0, 32.0, 32.0],
    ("-", "+"): [18.0, 19.0, 23.0], ("+", "+"): [31.0, 30.0, 29.0],
}  # fmt: skip
"""Yield by concentration and catalyst, section 6.2: effects 8.33, -5.00, 1.67; sums of squares 208.33, 75.00, 8.33."""


def test_a_textbooks_effects_and_sums_of_squares() -> None:
    found = {term.factors: term for term in effects(("A", "B"), MONTGOMERY)}
    sizes = {factors: one.value for factors, term in found.items() for one in term.effects.values()}
    assert sizes == pytest.approx({("A",): 8.3333, ("B",): -5.0, ("A", "B"): 1.6667}, abs=1e-4)
    shares = {factors: term.share.value for factors, term in found.items()}
    whole = 208.3333 + 75 + 8.3333
    assert shares == pytest.approx({("A",): 208.3333 / whole, ("B",): 75 / whole, ("A", "B"): 8.3333 / whole}, abs=1e-4)
    assert list(found) == [("A",), ("B",), ("A", "B")], "the largest first"
    size = found["A",].effects["+",]
    assert size.low is not None
    assert size.low > 0
    assert (interaction := found["A", "B"].effects["+", "+"]).low is not None
    assert interaction.low < 0 < (interaction.high or 0), "an interaction that may be chance"


def test_three_levels_have_deviations_that_sum_to_nothing() -> None:
    """Means 1, 2 and 6 with either level of the other factor, which adds 10 to the last alone."""
    means = {"reno": (1, 1), "cubic": (2, 2), "bbr": (6, 16)}
    runs = {(cc, loss): [float(means[cc][i])] * 3 for cc in means for i, loss in enumerate(("0 %", "5 %"))}
    found = {term.factors: term for term in effects(("cc", "loss"), runs)}
    assert {key[0]: one.value for key, one in found["cc",].effects.items()} == pytest.approx(
        {"reno": 1 - 28 / 6, "cubic": 2 - 28 / 6, "bbr": 11 - 28 / 6}
    )
    assert found["loss",].effects["5 %",].value == pytest.approx(10 / 3)
    both = found["cc", "loss"].effects
    assert both["bbr", "5 %"].value == pytest.approx(16 - 11 - 10 / 6)
    assert sum(one.value for one in both.values()) == pytest.approx(0)
    assert sum(term.share.value for term in found.values()) == pytest.approx(1)


def test_an_interval_holds_the_true_effect_as_often_as_it_says() -> None:
    """Two levels, and cells that spread by 1 and by 5: 300 experiments, one sigma of their share is 1.3 %."""
    draw, held = random.Random(1), 0
    for _ in range(300):
        runs = {
            (a, b): [3 * (a == "+") + draw.gauss(0, 5 if b == "+" else 1) for _ in range(6)]
            for a, b in product("-+", "-+")
        }
        (size,) = next(term for term in effects(("A", "B"), runs, most=1) if term.factors == ("A",)).effects.values()
        held += size.low <= 3 <= size.high  # type: ignore[operator]
    assert 0.91 <= held / 300 <= 0.99


def test_the_same_runs_have_the_same_shares_and_one_run_has_no_interval() -> None:
    assert effects(("A", "B"), MONTGOMERY) == effects(("A", "B"), MONTGOMERY)
    single = effects(("A", "B"), {cell: own[:1] for cell, own in MONTGOMERY.items()})
    assert all(term.share.low is None for term in single)
    with pytest.raises(ValueError, match=r"no run has \+, \+"):
        effects(("A", "B"), {cell: own for cell, own in MONTGOMERY.items() if cell != ("+", "+")})


def test_the_keys_of_a_study_are_factors(tmp_path: Path) -> None:
    """The buffer doubles goodput, and the algorithm does nothing."""
    rtt, buffer = "topology.rtt", "topology.bottleneck.buffer"
    cells = [{buffer: size, rtt: value} for size in ("1 bdp", "2 bdp") for value in ("10 ms", "20 ms")]

    def goodput(cell: object, _: str) -> float:
        return 20.0 if "2 bdp" in str(cell) else 10.0

    found = Study(Synthetic(cells=cells, ccs=("cubic",), goodput_mbit=goodput, spread=0.01).write(tmp_path / "whole"))
    first, *rest = found.effects("goodput", logarithm=True)
    assert (first.factors, first.share.value) == ((buffer,), pytest.approx(1, abs=0.01))
    assert first.effects["2 bdp",].value == pytest.approx(log(2), abs=0.02)
    assert all(term.share.value < 0.01 for term in rest)
    holed = Study(Synthetic(cells=cells[:3], ccs=("cubic",), goodput_mbit=goodput).write(tmp_path / "holed"))
    with pytest.raises(InputError, match="can't be told apart"):
        holed.effects("goodput")
