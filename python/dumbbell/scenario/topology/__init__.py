"""The networks that a scenario can have, and the settings of their hosts."""
