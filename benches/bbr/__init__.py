"""The behaviour of BBRv1, v2 and v3 beside CUBIC: the evidence in docs/results/bbr.md, one command each."""
