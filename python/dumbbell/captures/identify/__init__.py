"""Guesses the congestion control of a sender from its packets, where the path is known, and abstains elsewhere."""

from dumbbell.captures.identify.decide import ALGORITHMS, Guess, Model, digest, guess, identify, model, reason_against
from dumbbell.captures.identify.features import Path

__all__ = ["ALGORITHMS", "Guess", "Model", "Path", "digest", "guess", "identify", "model", "reason_against"]
