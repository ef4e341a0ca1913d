"""The traffic of a scenario: flows and groups of flows, their workloads and algorithms."""
