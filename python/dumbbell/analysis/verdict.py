"""The verdict on a run: every rule judges the run's evidence, and the worst judgement is the verdict."""

from __future__ import annotations

from typing import Final

from dumbbell.analysis.evidence import Evidence
from dumbbell.analysis.rules import acks, hosts, packets, timing
from dumbbell.analysis.rules.rule import Check, Rule
from dumbbell.engines.registry import capabilities

RULES: Final[tuple[Rule, ...]] = (*timing.RULES, *packets.RULES, *hosts.RULES, *acks.RULES)
"""All rules, in the order in which they are reported."""


def check_all(evidence: Evidence) -> list[Check]:
    """Returns the judgements of all rules for which the engine of the run gives evidence."""
    there = capabilities(evidence.engine).evidence
    return [rule.check(evidence) for rule in RULES if rule.needs <= there]
