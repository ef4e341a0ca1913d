"""What engines and labs share: helper processes, and what this machine's kernel and programs can do for a network."""
