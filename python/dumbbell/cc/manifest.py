"""The manifest of a congestion control."""

from __future__ import annotations

from dumbbell.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The manifest of an algorithm: `bpf/algorithms/NAME/algorithm.toml`."""

    name: str
    """The algorithm's name in the simulator."""
    label: str | None
    """The name of its BPF program in scenario, plan and records; `None`: it has none."""
    sentence: str
    """A description for lists."""
    needs_ecn: bool
    """True if the algorithm asks the kernel to negotiate ECN, whatever the host's setting."""
    simulated: bool
    """True if the simulator has the algorithm."""

    @property
    def what(self) -> str:
        """A description of its BPF program for lists."""
        is_twin = self.label is not None and self.label != self.name
        return f"{self.sentence}, written for comparison with the kernel's" if is_twin else self.sentence
