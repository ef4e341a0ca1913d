"""Arguments and options that several verbs share."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from dumbbell.counts import listed
from dumbbell.engines.registry import described, names

DEFAULT_EXECUTOR: Final = "local"


def bundled_names(incomplete: str) -> list[str]:
    """The names of bundled scenarios that begin so, for a shell's completion. The shell completes files itself."""
    from dumbbell.scenario import bundled

    return [name for name in bundled.names() if name.startswith(incomplete)]


ScenarioArgument = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO",
        help="A TOML file, the name of a bundled scenario, or - for standard input.",
        show_default=False,
        autocompletion=bundled_names,
    ),
]

StudyArgument = Annotated[
    str,
    typer.Argument(
        metavar="STUDY",
        help="A study's directory, e.g. studies/buffer-sweep-*, or its name, for the latest below ./studies.",
        show_default=False,
    ),
]

Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help='Override a value: --set flows.1.cc=bbr, --set topology.bottleneck.rate="50 Mbit/s". Repeatable.',
        show_default=False,
    ),
]

Vary = Annotated[
    list[str] | None,
    typer.Option(
        "--vary",
        metavar="KEY=VALUE,...",
        help="Run with each of these values: --vary flows.0.cc=cubic,bbr. Repeatable; runs all combinations.",
        show_default=False,
    ),
]

Repeat = Annotated[
    int | None,
    typer.Option("--repeat", metavar="N", help="Runs of each combination.", show_default=False),
]

Engine = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="ENGINE",
        help=described(),
        autocompletion=lambda incomplete: [name for name in names() if name.startswith(incomplete)],
    ),
]

Kernel = Annotated[
    str | None,
    typer.Option(
        "--kernel",
        metavar="NAME",
        help="The kernel of the engine virtual, as `dumbbell kernel list` shows it. Default: 6.12.",
        show_default=False,
    ),
]

Json = Annotated[
    bool,
    typer.Option("--json", help="Print JSON in place of tables, also of problems with the input."),
]


def _confidence(text: str) -> int:
    from dumbbell.errors import InputError
    from dumbbell.statistics.intervals import CONFIDENCES

    known = {f"{100 * one:.0f}": round(100 * one) for one in CONFIDENCES}
    if (given := text.strip().removesuffix("%").strip()) not in known:
        raise InputError(f"--confidence must be {listed(known, 'or')}", f"given: {text}", "omit it for 95")
    return known[given]


Confidence = Annotated[
    int | None,
    typer.Option(
        "--confidence",
        metavar="PERCENT",
        parser=_confidence,
        help="Confidence of a study's intervals: 90, 95 or 99. Default: 95.",
        show_default=False,
    ),
]

Executor = Annotated[
    str,
    typer.Option(
        "--executor",
        metavar="EXECUTOR",
        # Rich would take [cluster] for a style.
        help="Where a study runs. local: this machine. ray: the nodes of a Ray cluster "
        r"(pip install 'dumbbell\[cluster]').",
    ),
]

Address = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="HOST:PORT",
        help="With --executor ray: the cluster's head. Default: the cluster that this machine belongs to.",
        show_default=False,
    ),
]

Store = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="DIR",
        help="With --executor ray: also keep results in this directory of all nodes, or at a URL (s3://...).",
        show_default=False,
    ),
]
