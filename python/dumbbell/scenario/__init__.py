"""What a user asks for: the scenario file, its quantities, and the scenarios that come with dumbbell."""

from dumbbell.scenario.load import load
from dumbbell.scenario.model import Scenario

__all__ = ["Scenario", "load"]
