"""The tables of `dumbbell cc`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from dumbbell.cc import core
from dumbbell.cc.algorithm import Algorithm
from dumbbell.cc.answers import Checked, Contents, Registered
from dumbbell.cc.bundled import BUNDLED, SIMULATED
from dumbbell.cc.parameters import Parameters, Values, spelled, written
from dumbbell.cli.output import say
from dumbbell.cli.tables import print_table
from dumbbell.table import Table


def known(registered: Registered) -> Iterator[Table]:
    """The congestion controls that the core knows of, as tables."""
    loaded = {one["label"] for one in registered["stay"]}
    rows = [
        [label, BUNDLED[label].what if label in BUNDLED else "", "yes" if label in loaded else ""]
        for label in registered["bundled"]
    ]
    yield Table("With dumbbell", ["cc", "description", "loaded to stay"], rows)
    yield Table("In the simulator", ["cc", "description"], [[name, one.sentence] for name, one in SIMULATED.items()])
    if registered["stay"]:
        rows = [
            [one["label"], one["name"], spelled(one["parameters"]), _moment(one["loaded_at"])]
            for one in registered["stay"]
        ]
        yield Table("Loaded to stay", ["cc", "name in the kernel", "parameters", "since"], rows)
    if registered["runs"]:
        rows = [[one["label"], one["name"]] for one in registered["runs"]]
        yield Table("Loaded by current runs", ["cc", "name in the kernel"], rows)
    yield Table("The kernel's own", ["cc"], [[name] for name in registered["kernel"]])


def print_held(algorithm: Algorithm, held: Contents) -> None:
    """Print the contents of an object."""
    if algorithm.text:
        say(algorithm.text)
    rows = [["name if loaded to stay", held["name"]], ["licence", held["licence"]]]
    if algorithm.compiler:
        rows.insert(0, ["compiled by", algorithm.compiler])
    if held["variant"]:
        rows.append(["variant for this kernel", held["variant"]])
    rows.append(["operations", ", ".join(held["operations"])])
    print_table(Table(held["label"], ["property", "value"], rows))
    print_parameters(core.parameters(held), algorithm.parameters, dict(algorithm.entry["parameters"]))


def print_parameters(parameters: Parameters, declared: Parameters, values: Values) -> None:
    """Print the parameters of the object; `declared` are those of its source, which has the comments."""
    rows = []
    for parameter in parameters.known:
        source = declared.find(parameter.name)
        default = "" if parameter.default is None else written(parameter.default)
        given = [written(values[parameter.name]) if parameter.name in values else ""] if values else []
        doc = parameter.doc or (source.doc if source else "")
        rows.append([parameter.name, parameter.type, default, *given, doc])
    columns = ["parameter", "type", "default", *(["set to"] if values else []), "meaning"]
    if rows:
        print_table(Table("Parameters", columns, rows))


def print_seen(seen: Checked) -> None:
    """Print what the verifier has examined."""
    rows = [
        [
            program["operation"],
            program["name"],
            f"{program['instructions']:,}",
            f"{program['processed']:,}",
            f"{program['processed'] / 1e6:.2%}".replace("%", " %"),
            f"{program['verify_us'] / 1000:.1f}",
            f"{program['jited_bytes']:,}",
        ]
        for program in seen["programs"]
    ]
    columns = ["operation", "program", "instructions", "verified", "of the limit", "in ms", "machine code (B)"]
    print_table(Table("The verifier accepts it", columns, rows))


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).isoformat(sep=" ", timespec="seconds")
