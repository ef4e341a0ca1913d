"""The lab: how fast hosts come and go."""
