"""Comparisons with other tools and with ideals; each is one command, from the repository's root."""
