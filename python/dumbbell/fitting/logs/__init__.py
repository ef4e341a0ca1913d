"""Reads other files than captures: what programs log of a transfer, and the rates of links. A module reads a form."""
