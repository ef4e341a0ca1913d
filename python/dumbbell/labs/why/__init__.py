"""The reasons for which packets between two nodes of a lab are lost: those that can be seen, and what mends each."""
