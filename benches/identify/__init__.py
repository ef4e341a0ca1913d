"""`dumbbell pcap --identify`: makes its model, and measures how often it is right."""
