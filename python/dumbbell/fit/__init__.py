"""Fits a path to a captured transfer: what the network was, as far as one end could see it."""

from dumbbell.fit.estimate import Estimate
from dumbbell.fit.fitted import Fit, fit

__all__ = ["Estimate", "Fit", "fit"]
