"""Turn what an engine wrote into a finished run: `flows.parquet` and `summary.json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dumbbell.analysis import metrics
from dumbbell.analysis.evidence import Evidence
from dumbbell.analysis.rules.rule import Verdict, worst
from dumbbell.analysis.verdict import check_all
from dumbbell.engines.capabilities import PROBE
from dumbbell.engines.registry import capabilities
from dumbbell.plan.types import Plan
from dumbbell.records import manifest as manifests
from dumbbell.records.accounts import Accounts
from dumbbell.records.directory import RunDirectory, attempts
from dumbbell.records.files import write_json
from dumbbell.records.plan import read_plan
from dumbbell.records.schema import SCHEMA

if TYPE_CHECKING:
    from dumbbell.records.run import Run


def composed(
    target: RunDirectory,
    manifest: Mapping[str, object],
    wall_s: float,
    others: Mapping[str, int] | None,
    written: Plan,
) -> Plan:
    """Compute the figures and the verdict of the run in `target`, and complete its manifest.

    Args:
        target: the directory, with all that the engine has written.
        manifest: as it was at the start.
        wall_s: how long it took.
        others: how many other attempts of the plan there are; by default, those beside `target`.
        written: the plan that was written into it; an engine may have written another.

    Returns:
        The run's plan.

    Raises:
        DumbbellError: a file is missing, or cannot be read.
    """
    from dumbbell.pipeline.results import Run

    run = Run(target.path, incomplete=True, plan=read_plan(target.path / "plan.json", written))
    compose(run, others or attempts(target.root, target.stem))
    ended = manifests.at_end(manifest, wall_s, Accounts.of(run))
    write_json(target.path / "manifest.json", ended | {"status": "complete"})
    return run.plan


def compose(run: Run, others: Mapping[str, int]) -> None:
    """Write `flows.parquet` and `summary.json` of `run`; `others` counts the plan's other runs on disk.

    Raises:
        DumbbellError: a file of the run is missing, or cannot be read.
    """
    evidence = evidence_of(run)
    figures = metrics.compute(run.directory, capabilities(run.engine).network)
    checks = check_all(evidence)
    write_json(
        run.directory / "summary.json",
        {
            "schema": SCHEMA,
            "name": run.name,
            "run_id": run.run_id,
            "engine": run.engine,
            "verdict": str(worst(check.verdict for check in checks)),
            "reasons": [check.as_json() for check in checks if check.verdict is not Verdict.VALID],
            "checks": [check.as_json() for check in checks],
            "duration_s": run.plan.duration_ns / 1e9,
            **figures,
            "path": evidence.network.get("path"),
            "attempts": dict(others),
        },
    )


def evidence_of(run: Run) -> Evidence:
    """The evidence of `run`, from its files. Raises `DumbbellError` if one is missing."""
    packets = run.scan("packets") if run.has("packets") else None
    # Only of a probe it has to be asked whether it saw every ACK.
    acks = run.scan("acks") if run.has("acks") and PROBE in capabilities(run.engine).evidence else None
    return Evidence.gather(Accounts.of(run), run.scan("samples"), packets, acks)
