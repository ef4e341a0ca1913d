"""Statistics of many runs: averages with intervals, differences with effect sizes, and the number of runs needed.

Built on the frames of a study (`frames.Frames`) and nothing else. `metrics` is the one list of metrics of these frames.
"""
