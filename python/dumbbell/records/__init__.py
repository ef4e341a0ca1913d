"""The records of a run: where they lie, what is in them, how to read them."""

from dumbbell.records.run import Run

__all__ = ["Run"]
