"""The congestion controls that come with dumbbell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Bundled:
    """One of them."""

    what: str
    """A line for lists."""
    needs_ecn: bool = False
    """It asks the kernel to negotiate ECN, whatever the host's setting."""


BUNDLED: Final = {
    "bbr2": Bundled("BBRv2, as Google's v2alpha kernel runs it"),
    "bbr3": Bundled("BBRv3, as Google's v3 kernel runs it"),
    "bpf_reno": Bundled("Reno (RFC 5681, RFC 6582), written for comparison with the kernel's"),
    "bpf_cubic": Bundled("CUBIC (RFC 9438), written for comparison with the kernel's"),
    "bpf_dctcp": Bundled("DCTCP (RFC 8257)", needs_ecn=True),
}
"""By label: what a scenario calls them. The core has the programs; a test compares."""

KERNEL: Final = frozenset(
    [
        *("bbr", "bic", "cdg", "cubic", "dctcp", "highspeed", "htcp", "hybla", "illinois", "lp", "nv", "reno"),
        *("scalable", "vegas", "veno", "westwood", "yeah"),
    ]
)
"""Names that mean the kernel's own in every record."""


SIMULATED: Final = frozenset(["bbr", "bbr2", "bbr3", "bbr3-draft", "cubic", "dctcp", "reno", "vegas"])
"""What the simulator has under these names, whatever a kernel has. A test compares with the core."""


def label_of_file(stem: str) -> str:
    """What a user's program is called: as its file, and never as one of these or of the kernel's own."""
    return f"{stem} (file)" if stem in BUNDLED or stem in KERNEL else stem
