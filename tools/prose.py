"""Refuses doc comments that begin as fragments, and long subjects of commits: `python -m tools.prose`.

A doc comment is a comment `///` or `//!` of Rust, or a docstring of Python, attributes' ones included. A function's
begins with a verb, a field's with a noun: one that begins with "That" or "What" names nothing. Commits are those since
the last tag, or the last 20 if there is no tag.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
FOLDERS: Final = ("crates", "python", "tools", "benches", "validation", "tests", "docs")
SUBJECT: Final = 72
"""Most characters of a commit's subject."""
COMMITS: Final = 20

_FRAGMENT: Final = re.compile(r"(?:That|Those|It|Of|As|What|Who|So many|By what|With what)\b")
_RUST: Final = re.compile(r"\s*(//[/!])(?!/) ?(.*)")


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


def sources(root: Path) -> Iterator[Path]:
    """The files of Rust and Python whose doc comments are checked."""
    for folder in FOLDERS:
        yield from (path for path in sorted((root / folder).rglob("*")) if path.suffix in (".py", ".rs"))


def main() -> int:
    """Print what is refused. Returns 1 if anything is."""
    found = [f"{path.relative_to(ROOT)}:{line}: {text}" for path in sources(ROOT) for line, text in fragments(path)]
    if found:
        print("doc comments that begin as fragments; name the thing, or begin with a verb:", *found, sep="\n  ")
    long = long_subjects(subjects(ROOT))
    if long:
        print(f"subjects of commits with more than {SUBJECT} characters:", *long, sep="\n  ")
    return 1 if found or long else 0


if __name__ == "__main__":
    sys.exit(main())
