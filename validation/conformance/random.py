"""Random numbers that are indexed, not drawn from, as `crates/link/src/random.rs` defines them.

SplitMix64's finaliser (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014), applied to a
key of seed and element name and to the index.
"""

from __future__ import annotations

MASK = 2**64 - 1
GOLDEN_GAMMA = 0x9E3779B97F4A7C15


def mix(z: int) -> int:
    """SplitMix64's finaliser."""
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


class Stream:
    """The numbers of one element of a run, e.g. `bottleneck/loss-before/0`."""

    def __init__(self, seed: int, element: str) -> None:
        name = GOLDEN_GAMMA
        for byte in element.encode():
            name = mix(name ^ byte)
        self._key = mix(mix(seed) ^ name)

    def at(self, index: int) -> int:
        """Uniform over 64 bits."""
        return mix((self._key + GOLDEN_GAMMA * (index + 1)) & MASK)

    def below(self, probability: float, index: int) -> bool:
        """True with this probability."""
        return self.at(index) < int(probability * 2.0**64)
