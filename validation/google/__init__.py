"""Google's BBR in a kernel with its patch, beside ours in a kernel and simulated."""
