"""Repeats published studies, and shows their numbers, plots and findings beside ours."""
