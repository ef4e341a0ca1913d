"""The shell of a lab: Mininet's words, and more. Each word is a function here, marked with `word`."""
