"""Congestion controls beyond the kernel's own: those that come with dumbbell, and the user's, as BPF programs.

What is said about them here needs neither privileges nor a compiler; loading them is the compiled core's (`cc.core`).
"""
