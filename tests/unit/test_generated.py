"""The checked-in files that follow from declarations in Rust are those that `make generate` writes."""

import ast
import inspect

import pytest

from dumbbell import _core
from tools.generate.targets import ROOT, STUB, TARGETS, Target, declarations, is_current


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.path)
def test_a_generated_file_is_current(target: Target) -> None:
    assert is_current(target, declarations()), (
        f"{target.path} is not what {target.source} declares: run `make generate` and commit the change"
    )


def test_the_core_s_stub_names_what_the_core_has() -> None:
    """Names and parameters: the types themselves are only known where the core is built."""

    def parameters(arguments: ast.arguments) -> list[str]:
        return [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]

    stub = ast.parse((ROOT / STUB.path).read_text(encoding="utf-8")).body
    functions = {node.name: parameters(node.args) for node in stub if isinstance(node, ast.FunctionDef)}
    classes = {
        node.name: {one.name for one in node.body if isinstance(one, ast.FunctionDef) and not one.name.startswith("_")}
        for node in stub
        if isinstance(node, ast.ClassDef)
    }
    there = {name: getattr(_core, name) for name in dir(_core) if not name.startswith("_")}
    said = f"{STUB.path} is not what {STUB.source} has: run `make generate` and commit the change"
    assert functions == {
        name: [*inspect.signature(one).parameters]
        for name, one in there.items()
        if callable(one) and not inspect.isclass(one)
    }, said
    assert classes == {
        name: {key for key in dir(one) if not key.startswith("_")}
        for name, one in there.items()
        if inspect.isclass(one)
    }, said
