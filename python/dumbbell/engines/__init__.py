"""Engines carry out a plan and write its records."""
