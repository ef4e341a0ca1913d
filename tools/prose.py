"""Refuses doc comments that begin as fragments, empty names, and long subjects of commits: `python -m tools.prose`.

A doc comment is a comment `///` or `//!` of Rust, or a docstring of Python, attributes' ones included. A function's
begins with a verb, a field's with a noun: one that begins with "That" or "What" names nothing. An empty name is a word
of `EMPTY_NAMES` as the whole name of a function, a class or a parameter; lambdas and closures, which live for a line,
may have such parameters. Commits are those since the last tag, or the last 20 if there is no tag.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
FOLDERS: Final = ("crates", "python", "tools", "benches", "validation", "tests", "docs")
NAMED: Final = ("crates", "quic", "python", "tools", "benches", "validation")
"""Folders whose names are checked, folders of tests within them left out."""
EMPTY_NAMES: Final = frozenset(("found", "one", "said", "told", "untold", "carry_out", "nap"))
"""Words that name nothing: a name is the field's own noun or verb."""
SUBJECT: Final = 72
"""Most characters of a commit's subject."""
COMMITS: Final = 20

_FRAGMENT: Final = re.compile(r"(?:That|Those|It|Of|As|What|Who|So many|By what|With what)\b")
_RUST: Final = re.compile(r"\s*(//[/!])(?!/) ?(.*)")
_DEFINED: Final = re.compile(r"\b(?:fn|struct|enum|trait|type)\s+(\w+)|//[^\n]*")
_PARAMETER: Final = re.compile(r"[(,]\s*(?:mut\s+)?(\w+)\s*:(?!:)")


def fragments(path: Path) -> Iterator[tuple[int, str]]:
    """Line number and first line of each doc comment in `path` that begins as a fragment."""
    text = path.read_text(encoding="utf-8")
    for line, comment in _rust(text) if path.suffix == ".rs" else _python(text):
        if _FRAGMENT.match(comment):
            yield line, comment


def _rust(text: str) -> Iterator[tuple[int, str]]:
    before = None
    for number, line in enumerate(text.splitlines(), 1):
        found = _RUST.match(line)
        mark = found and found[1]
        if found and mark != before:
            yield number, found[2]
        before = mark


def _python(text: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value.strip().partition("\n")[0]


def empty_names(path: Path) -> Iterator[tuple[int, str]]:
    """Line number and name of each function, class, module and parameter in `path` whose name is an empty word."""
    text = path.read_text(encoding="utf-8")
    for line, name in _rust_names(text) if path.suffix == ".rs" else _python_names(text):
        if name.strip("_").lower() in EMPTY_NAMES:
            yield line, name


def _rust_names(text: str) -> Iterator[tuple[int, str]]:
    for match in _DEFINED.finditer(text):
        if match[1] is None:
            continue
        yield text.count("\n", 0, match.start(1)) + 1, match[1]
        if match[0].startswith("fn"):
            # The signature ends where the body begins, or at the semicolon of a declaration.
            end = re.compile(r"\{|;\s*$", re.MULTILINE).search(text, match.end())
            for parameter in _PARAMETER.finditer(text, match.end(), end.start() if end else len(text)):
                yield text.count("\n", 0, parameter.start(1)) + 1, parameter[1]


def _python_names(text: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for parameter in (argument for argument in ast.walk(node.args) if isinstance(argument, ast.arg)):
                yield parameter.lineno, parameter.arg


def long_subjects(subjects: list[str]) -> list[str]:
    """Subjects with more than `SUBJECT` characters."""
    return [subject for subject in subjects if len(subject) > SUBJECT]


def subjects(root: Path) -> list[str]:
    """Subjects of the commits since the last tag, or of the last 20; none without a repository."""
    tag = _git(root, "describe", "--tags", "--abbrev=0")
    chosen = [f"{tag[0]}..HEAD"] if tag else [f"--max-count={COMMITS}"]
    return _git(root, "log", "--no-merges", "--format=%s", *chosen)


def _git(root: Path, *arguments: str) -> list[str]:
    done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


def sources(root: Path, folders: Sequence[str] = FOLDERS) -> Iterator[Path]:
    """The files of Rust and Python below `folders`; by default those whose doc comments are checked."""
    for folder in folders:
        yield from (path for path in sorted((root / folder).rglob("*")) if path.suffix in (".py", ".rs"))


def main() -> int:
    """Print what is refused. Returns 1 if anything is."""
    comments = [f"{path.relative_to(ROOT)}:{line}: {text}" for path in sources(ROOT) for line, text in fragments(path)]
    if comments:
        print("doc comments that begin as fragments; name the thing, or begin with a verb:", *comments, sep="\n  ")
    products = (path for path in sources(ROOT, NAMED) if "tests" not in path.parts)
    names = [f"{path.relative_to(ROOT)}:{line}: {name}" for path in products for line, name in empty_names(path)]
    if names:
        print("names that say nothing; take the field's noun or verb:", *names, sep="\n  ")
    long = long_subjects(subjects(ROOT))
    if long:
        print(f"subjects of commits with more than {SUBJECT} characters:", *long, sep="\n  ")
    return 1 if comments or names or long else 0


if __name__ == "__main__":
    sys.exit(main())
