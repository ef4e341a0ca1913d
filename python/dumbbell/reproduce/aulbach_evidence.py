"""What our runs of aulbach-2020 show beyond their plots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dumbbell.reproduce.figures import Figures
from dumbbell.reproduce.recorded import probe_rtt, recorded, spells

if TYPE_CHECKING:
    from dumbbell.studies import Study

CC = "flows.0.cc"


def phases(study: Study) -> str:
    """How long each BBR's first run was in each phase."""
    said = []
    for cc in Figures(study).along(CC):
        run = recorded(study, {CC: cc})
        if run is None:
            continue
        found = spells(run, "flow")
        lasted: dict[str, float] = {}
        for one in found:
            state = "probe_bw" if one.state.startswith("probe_bw") else one.state
            lasted[state] = lasted.get(state, 0.0) + one.stop_s - one.start_s
        total = sum(lasted.values()) or 1.0
        shares = ", ".join(f"{state} {100 * time / total:.1f} %" for state, time in lasted.items())
        entered = " ".join(f"{at:.1f}" for at in probe_rtt(run, "flow").entered_s)
        said.append(f"{cc}: {shares}; PROBE_RTT entered after {entered or '-'} s")
    return "In the first run of each. " + ". ".join(said) + "."
