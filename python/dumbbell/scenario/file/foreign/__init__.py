"""Networks in the formats of other programs: read as scenarios, and written."""
