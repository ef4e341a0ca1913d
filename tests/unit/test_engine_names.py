"""Code outside the engines asks for an engine's properties, never for its name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import dumbbell
from dumbbell.engines import names, registry

PACKAGE = Path(dumbbell.__file__).parent
CONSTANTS = {name for name in vars(names) if name.isupper()}
CONTENT = ("published",)
"""Packages that say under which engines studies of others run, by their names."""


def compared(tree: ast.AST) -> Iterator[ast.expr]:
    """All that is compared with something, in an expression or by `match`."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare():
                for side in (node.left, *node.comparators):
                    yield from side.elts if isinstance(side, ast.Tuple | ast.List | ast.Set) else (side,)
            case ast.MatchValue():
                yield node.value


def is_name(expression: ast.expr) -> bool:
    """True for the name of an engine: the text, or a constant that holds it."""
    match expression:
        case ast.Constant(value=str(text)):
            return text in registry.names()
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in CONSTANTS
    return False


def comparisons(source: str) -> list[int]:
    """Lines that compare something with the name of an engine."""
    return [one.lineno for one in compared(ast.parse(source)) if is_name(one)]


def test_nothing_outside_compares_names_of_engines() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{line}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parts[0] not in ("engines", *CONTENT)
        for line in comparisons(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_a_comparison_is_seen() -> None:
    for text in ('run.engine != "simulate"', "engine in (EMULATE, 'x')", "names.VIRTUAL == engine"):
        assert comparisons(text) == [1], text
    assert comparisons('match engine:\n  case "virtual":\n    pass') == [2]
    assert comparisons('engine = "simulate"; kind == "switch"') == []


def test_an_engine_is_found_by_its_properties() -> None:
    assert registry.first(lambda engine: engine.models_tcp) == names.SIMULATE
    assert registry.first(lambda engine: not (engine.real_time or engine.models_tcp)) == names.VIRTUAL
