"""How well the two engines agree: the same scenario under both, and the differences with their intervals."""
