"""Finds out what works on this machine, what is missing, and how to get it."""

from dumbbell.doctor.examine import examine
from dumbbell.doctor.finding import Finding, Level

__all__ = ["Finding", "Level", "examine"]
