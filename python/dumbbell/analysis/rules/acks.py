"""Checks whether every acknowledgement is on record."""

from __future__ import annotations

from typing import Final

from dumbbell.analysis import thresholds as limit
from dumbbell.analysis.evidence import Evidence
from dumbbell.analysis.rules.rule import Judgement, Rule, Verdict, not_applicable, rule, several
from dumbbell.counts import count
from dumbbell.engines.capabilities import PROBE, TRAFFIC


@rule(
    "ack-rows",
    "the acks table lacks rows: reading was too slow for the kernel, so not every ACK is in it",
    PROBE,
)
def ack_rows(evidence: Evidence) -> Judgement:
    """Rows that found the ring between kernel and probe full, or that could not be read."""
    if evidence.probe is None:
        return not_applicable(_why_not(evidence))
    lost, unreadable = evidence.probe["lost_rows"], evidence.probe["unreadable_rows"]
    measured = f"{count(lost, 'row')} lost, {unreadable} unreadable; {evidence.probe['rows']} written"
    return Judgement(Verdict.SUSPECT if lost or unreadable else Verdict.VALID, measured, "none lost or unreadable")


@rule("ack-coverage", "the acks table disagrees with the samples of the same connections", TRAFFIC)
def ack_coverage(evidence: Evidence) -> Judgement:
    """Samples that no row agrees with, for the flow that has most; and connections without rows."""
    if evidence.ack_coverage is None:
        return not_applicable(_why_not(evidence))
    silent = [f"{flow}: {n} without a row" for flow, found in evidence.ack_coverage.items() if (n := found.silent)]
    shares = {flow: found.missed / found.samples for flow, found in evidence.ack_coverage.items() if found.samples}
    if not shares and not silent:
        return not_applicable("no connection was established at a sample")
    flow = max(shares, key=lambda flow: shares[flow], default="")
    told = [f"{flow}: {shares[flow]:.2%} of samples disagree"] if shares else []
    wrong = silent or shares[flow] > limit.ACK_MISMATCH_SHARE
    return Judgement(
        Verdict.SUSPECT if wrong else Verdict.VALID,
        several(told + silent),
        f"<= {limit.ACK_MISMATCH_SHARE:.0%}; every connection with acknowledged data has rows",
    )


def _why_not(evidence: Evidence) -> str:
    why = evidence.lab.get("acks", {}).get("why")
    return f"ACKs were not recorded{f': {why}' if why else ''}"


RULES: Final[tuple[Rule, ...]] = (ack_rows, ack_coverage)
