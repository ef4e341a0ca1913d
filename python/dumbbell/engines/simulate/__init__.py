"""Linux's TCP as we model it, over the links of emulation, in virtual time."""
