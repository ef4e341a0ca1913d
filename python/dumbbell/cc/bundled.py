"""The congestion controls that have names: those that come with dumbbell, the kernel's, and those of the simulator."""

from __future__ import annotations

from typing import Final

from dumbbell.cc.manifests import KERNEL as _KERNEL
from dumbbell.cc.manifests import MANIFESTS

BUNDLED: Final = {one.label: one for one in MANIFESTS if one.label is not None}
"""The algorithms with a BPF program, by label, which is their name in a scenario."""

KERNEL: Final = frozenset(_KERNEL)
"""Names that mean the kernel's own in every record."""

SIMULATED: Final = {one.name: one for one in MANIFESTS if one.simulated}
"""The simulator's algorithms of these names, whatever a kernel has."""


def label_of_file(stem: str) -> str:
    """The label of a user's program: the name of its file, and never one of these or of the kernel's."""
    return f"{stem} (file)" if stem in BUNDLED or stem in KERNEL else stem
