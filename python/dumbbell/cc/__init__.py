"""Congestion controls beyond the kernel's own: those that come with dumbbell, and the user's, as BPF programs.

These descriptions need neither privileges nor a compiler; the compiled core loads the programs (`cc.core`).
"""
