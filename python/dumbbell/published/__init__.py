"""Published studies, done again: their numbers, plots and findings beside ours."""
