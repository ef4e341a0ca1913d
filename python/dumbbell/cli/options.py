"""Arguments and options that several verbs share."""

from __future__ import annotations

from typing import Annotated

import typer

ScenarioArgument = Annotated[
    str, typer.Argument(metavar="SCENARIO", help="A TOML file, or the name of a bundled scenario.", show_default=False)
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

Engine = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="ENGINE",
        help="emulate: real Linux TCP over an emulated network. simulate: a model of it, faster, the same each time.",
    ),
]

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
