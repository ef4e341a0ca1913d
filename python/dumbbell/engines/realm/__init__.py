"""The ground of engines and labs: helper processes, and what this machine can do for a network."""
