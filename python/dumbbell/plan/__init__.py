"""The expanded run: nodes, links and flows with every default filled in, for any engine.

Importing this package imports nothing else: `expand` needs the scenario's model, and readers of plans do without it.
"""
