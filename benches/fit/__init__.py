"""Judges `dumbbell fit` by paths that it does not know."""
