"""What many runs say: averages with their intervals, differences with their size, and how many runs are enough.

Built on the frames of a study (`frames.Frames`) and nothing else. `metrics` is the one list of what can be asked of
them.
"""
