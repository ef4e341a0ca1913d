"""Compares two studies, or two runs: first the settings that differ, then the differences of their figures."""
