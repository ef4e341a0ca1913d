"""Bootstrap intervals, for values far from normal, and for medians, which Student's t does not cover.

The n values are drawn again, with replacement, many times; the interval is cut from the statistic's distribution over
these draws, corrected for bias and skew: BCa (B. Efron, J. American Statistical Association 82:171, 1987; B. Efron and
R. J. Tibshirani: An Introduction to the Bootstrap, chapter 14). The interval is too narrow for few values: below about
20, Student's t is more accurate where it applies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

from dumbbell.statistics.intervals import CONFIDENCE, Interval

DRAWS: Final = 9999
SEED: Final = 1
"""The same values give the same interval."""

Statistic = Literal["mean", "median"]


def bootstrap(
    values: Sequence[float],
    confidence: float = CONFIDENCE,
    of: Statistic = "mean",
    seed: int = SEED,
    draws: int = DRAWS,
) -> Interval:
    """BCa interval of the mean or the median. Takes at least one value; the order of values does not matter.

    If BCa does not exist, as for a median that nearly all draws agree on, the percentile interval replaces it.
    """
    import numpy as np

    data = np.sort(np.asarray(values, dtype=float))
    statistic: Callable[..., Any] = np.mean if of == "mean" else np.median
    centre, n = float(statistic(data)), len(data)
    if n < 2:
        return Interval(centre, None, None, n)
    if data[0] == data[-1]:
        return Interval(centre, centre, centre, n)
    # Its import takes a second; what asks for a bootstrap can wait for that.
    import warnings

    from scipy.stats import DegenerateDataWarning
    from scipy.stats import bootstrap as resample

    for method in ("BCa", "percentile"):
        with warnings.catch_warnings(), np.errstate(invalid="ignore", divide="ignore"):
            warnings.simplefilter("ignore", DegenerateDataWarning)
            low, high = resample(
                (data,), statistic, n_resamples=draws, vectorized=True, axis=-1,
                confidence_level=confidence, method=method, rng=np.random.default_rng(seed),
            ).confidence_interval  # fmt: skip
        if np.isfinite([low, high]).all():
            break
    return Interval(centre, float(low), float(high), n)
