"""Two studies, or two runs, side by side: what was set differently first, then by how much the figures differ."""
