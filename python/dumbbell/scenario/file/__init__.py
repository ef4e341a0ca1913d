"""The scenario as a file: read it, override keys, write it, and say what is wrong with it."""
