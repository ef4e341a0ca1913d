"""Fits a path to a captured transfer: what the network was, as far as one end could see it."""

from dumbbell.fitting.estimate import Estimate
from dumbbell.fitting.fitted import Fit
from dumbbell.fitting.reading import fit

__all__ = ["Estimate", "Fit", "fit"]
