"""The names of engines, in options, manifests and identities of runs."""

from __future__ import annotations

from typing import Final

EMULATE: Final = "emulate"
"""Real Linux TCP between network namespaces."""
VIRTUAL: Final = "virtual"
"""The TCP of any Linux in virtual time."""
SIMULATE: Final = "simulate"
"""Linux's TCP as it is modelled, in virtual time."""
