"""A testbed for TCP congestion control: real Linux TCP on an emulated network, and the same scenarios simulated.

    import dumbbell
    run = dumbbell.run("bbr-vs-cubic", overrides={"duration": "10 s"})  # engine="simulate": a model of it, and faster
    run.summary, run.samples, run.plot()

Importing this package imports nothing else; each name below is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # As in typing, which takes milliseconds to import.
if TYPE_CHECKING:
    from typing import Any

    from dumbbell.comparison.frames import compare
    from dumbbell.errors import DumbbellError, InputError, Interrupted, RunFailed, RunInvalid, ScenarioError
    from dumbbell.fitting import Fit, fit
    from dumbbell.labs.lab import Lab
    from dumbbell.pipeline.captured import Capture, pcap
    from dumbbell.pipeline.results import Run, open
    from dumbbell.plan.expand import expand
    from dumbbell.report.overlay import overlay
    from dumbbell.scenario import Scenario, load
    from dumbbell.studies import RunOptions, Study, run

__all__ = [
    "Capture",
    "DumbbellError",
    "Fit",
    "InputError",
    "Interrupted",
    "Lab",
    "Run",
    "RunFailed",
    "RunInvalid",
    "RunOptions",
    "Scenario",
    "ScenarioError",
    "Study",
    "compare",
    "expand",
    "fit",
    "load",
    "open",
    "overlay",
    "pcap",
    "run",
]

_HOME = {
    "Capture": "dumbbell.pipeline.captured",
    "DumbbellError": "dumbbell.errors",
    "Fit": "dumbbell.fitting",
    "InputError": "dumbbell.errors",
    "Interrupted": "dumbbell.errors",
    "Lab": "dumbbell.labs.lab",
    "Run": "dumbbell.pipeline.results",
    "RunFailed": "dumbbell.errors",
    "RunInvalid": "dumbbell.errors",
    "RunOptions": "dumbbell.studies",
    "Scenario": "dumbbell.scenario",
    "ScenarioError": "dumbbell.errors",
    "Study": "dumbbell.studies",
    "compare": "dumbbell.comparison.frames",
    "expand": "dumbbell.plan.expand",
    "fit": "dumbbell.fitting",
    "load": "dumbbell.scenario",
    "open": "dumbbell.pipeline.results",
    "overlay": "dumbbell.report.overlay",
    "pcap": "dumbbell.pipeline.captured",
    "run": "dumbbell.studies",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("dumbbell")
    if name not in _HOME:
        raise AttributeError(f"module 'dumbbell' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
