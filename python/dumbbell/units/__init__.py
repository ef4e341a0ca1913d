"""Numbers with units: what a scenario writes, as exact integers."""
