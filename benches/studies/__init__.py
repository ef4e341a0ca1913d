"""Benches of studies as a whole."""
