"""The verdict on simulated runs of a study: the rules that judge single ones, on the same evidence.

The simulator asks about runs that don't look sound, which are few. `SCREEN` says what it need not ask about.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from dumbbell.analysis import thresholds as limit
from dumbbell.plan import wire

SCREEN: Final = (limit.LIMITED_SHARE[0], limit.WINDOW_PACKETS)
"""The share of its busy time in which windows may hold a flow back, and the largest congestion window in packets.

Beside these a run is sound if each flow had the algorithm that was asked for and delivered something, without an error;
if no RTT is less than its path allows; and if all packets are accounted for."""


class Judge:
    """Answers the simulator."""

    def __init__(self, plans: Sequence[str], engine: str) -> None:
        """A judge of an engine's runs of these plans, as JSON."""
        self._engine = engine
        self._plan = lru_cache(maxsize=64)(lambda index: wire.parsed(json.loads(plans[index])))

    def __call__(self, plan: int, evidence: str) -> tuple[str, str | None]:
        """The verdict, and what it is for, of a run of a plan."""
        from dumbbell.analysis.evidence import Evidence
        from dumbbell.analysis.rules.rule import worst
        from dumbbell.analysis.verdict import check_all

        told = json.loads(evidence)
        resent = {flow["id"] for flow in told["traffic"]["flows"] if flow["retransmitted_segments"]}
        # One of whole milliseconds may be by timestamps alone: see `Evidence.gather`.
        told["min_rtt_us"] = {id: us for id, us in told["min_rtt_us"].items() if us % 1000 or id not in resent}
        # Evidence with a row per packet or ACK is missing, as in single runs that don't record them.
        checks = check_all(
            Evidence(
                engine=self._engine,
                plan=self._plan(plan),
                lab={},
                paces={},
                logged_packets=None,
                corrupted_packets=None,
                **told,
            )
        )
        return str(worst(check.verdict for check in checks)), reasons(check.as_json() for check in checks)


def reasons(checks: Iterable[Mapping[str, str]]) -> str | None:
    """The names of the checks that are not valid; `None` if all are."""
    return ", ".join(check["check"] for check in checks if check["verdict"] != "valid") or None
