"""What the manifest of a congestion control says of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """An algorithm's: `bpf/algorithms/NAME/algorithm.toml`."""

    name: str
    """Of the algorithm: the simulator calls it so."""
    label: str | None
    """What scenario, plan and records call its BPF program; `None`: it has none."""
    sentence: str
    """What it is, for lists."""
    needs_ecn: bool
    """It asks the kernel to negotiate ECN, whatever the host's setting."""
    simulated: bool
    """The simulator has it."""

    @property
    def what(self) -> str:
        """What its BPF program is, for lists."""
        is_twin = self.label is not None and self.label != self.name
        return f"{self.sentence}, written for comparison with the kernel's" if is_twin else self.sentence
