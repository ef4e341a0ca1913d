"""Refusals of changes of a lab that is up, in the words that were typed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dumbbell.errors import InputError, Problem, ScenarioError
from dumbbell.labs import traffic
from dumbbell.labs.network import Network
from dumbbell.scenario.source import Key, dotted


@contextmanager
def refusing(what: str, typed: Key, only: bool = False) -> Iterator[None]:
    """Within, problems of the scenario say `what` cannot be done, in the words that were typed.

    Args:
        what: begins the error.
        typed: the table that was typed. Its keys are named without it.
        only: other tables' problems are none.
    """
    try:
        yield
    except ScenarioError as error:
        table = dotted(typed)
        found = [one for one in error.problems if not only or f"{one.key}.".startswith(f"{table}.")]
        if found:
            why = "; ".join(": ".join(filter(None, [_typed(one, table), one.why])) for one in found)
            raise InputError(what, why, found[0].hint) from None


def _typed(problem: Problem, table: str) -> str:
    """Returns the problem without the file, which is the lab's own copy, and without the key of what was typed."""
    said = problem.what.removeprefix(f"{problem.place}: ")
    if table:
        said = said.removeprefix(f"{table}: ").removeprefix(f"{table}.")
    # The ends of a link are named already.
    return said.removeprefix("between: ")


def check_left(network: Network, what: str, gone: Sequence[int], without: Sequence[str], hint: str) -> None:
    """Raise `InputError` if a node would be left without a link."""
    kept = {end for place, cable in enumerate(network.cables) if place not in gone for end in cable.ends}
    alone = [end for place in gone for end in network.cables[place].ends if end not in kept and end not in without]
    if alone:
        names = ", ".join(dict.fromkeys(alone))
        raise InputError(what, f"no link leads to {names} then", hint.format(names))


def check_uses(lab: Path, what: str, gone: Sequence[str]) -> None:
    """Raise `InputError` if a flow of the scenario uses a node that is to go."""
    for flow in traffic.planned(lab):
        for end in (flow["from"], flow["to"]):
            if end in gone:
                raise InputError(
                    what, f"flow {flow['id']} of the scenario uses it", "remove the flow from the scenario"
                )
