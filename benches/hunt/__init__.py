"""Compares ways to search, on four known faults, with the same budget: `python -m benches.hunt [--runs N] [--seeds N]`.

Each search ends with the first fault. The figure is the number of networks that it simulated until then.
"""
