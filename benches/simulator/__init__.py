"""The cost of the simulator: beside ns-3, with thousands of flows, table by table, and in studies.

Each is run as `python -m benches.simulator.NAME`. The results belong into `docs/results/simulator-speed.md`.
"""
