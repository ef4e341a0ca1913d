"""The rules of the verdict, by what they look at. Thresholds are in `dumbbell.analysis.thresholds`."""
