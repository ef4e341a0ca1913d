"""Evaluates the records: metrics, and whether to trust them."""
