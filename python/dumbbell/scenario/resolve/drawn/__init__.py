"""A drawn network: its links' names, its broadcast domains, its addresses, and the ways of its flows."""
