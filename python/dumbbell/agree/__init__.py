"""Compares two engines: the same scenario under both, and the differences with their intervals."""
