"""The check of doc comments and of commits' subjects that `make lint` runs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tools import prose

PYTHON = '''"""What a module is."""


class Link:
    """A link."""

    rate: int
    """It has a rate."""
    delay: int
    """Delay in ns."""

    def send(self) -> str:
        """
        Those packets that wait.
        """
        return "That is no comment"
'''
RUST = """//! Of links.

/// A link.
/// That is its second line.
pub struct Link {
    /// Rate in bit/s.
    pub rate: u64,
    /// By what it was dropped.
    #[serde(default)]
    pub fate: u8,
    // What is no doc comment.
    //// So many slashes are none either.
}
"""


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("a.py", PYTHON, {1: "What a module is.", 8: "It has a rate.", 13: "Those packets that wait."}),
        ("a.rs", RUST, {1: "Of links.", 8: "By what it was dropped."}),
    ],
)
def test_fragments_are_found_with_their_lines(name: str, text: str, lines: dict[int, str], tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text(text)
    assert dict(prose.fragments(file)) == lines


@pytest.mark.parametrize("sentence", ["Items of a list.", "Asks for a link.", "Whole links.", "Ofcom.", "Probability."])
def test_whole_words_count(sentence: str, tmp_path: Path) -> None:
    file = tmp_path / "a.rs"
    file.write_text(f"/// {sentence}\n")
    assert list(prose.fragments(file)) == []


@pytest.mark.parametrize(
    ("name", "text", "names"),
    [
        ("a.py", "def found(delay_ms): ...\n\n\nclass _Told: ...\n", {1: "found", 4: "_Told"}),
        ("a.py", "def add(\n    delay_ms, *,\n    said=0): ...\n", {3: "said"}),
        ("a.py", "ordered = sorted(links, key=lambda one: one.name)\nfound = ordered[0].found\n", {}),
        ("a.rs", "fn carry_out(&self) {\n    let found: u8 = 1;\n}\n\nenum Told<'a> {}\n", {1: "carry_out", 5: "Told"}),
        ("a.rs", "fn add(\n    &mut self,\n    rows: [u8; 8],\n    mut one: Row,\n) -> Vec<u8> {}\n", {4: "one"}),
        ("a.rs", "// fn found(one: u8)\nlet links = all.map(|one: &Link| one.found());\n", {}),
    ],
)
def test_names_that_say_nothing_are_found(name: str, text: str, names: dict[int, str], tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text(text)
    assert dict(prose.empty_names(file)) == names


def test_subjects_since_the_last_tag_are_checked(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        identity = ("-c", "user.name=a", "-c", "user.email=a@b.c")
        subprocess.run(["git", "-C", tmp_path, *identity, *words], check=True, capture_output=True)

    assert prose.subjects(tmp_path) == [], "no repository"
    git("init")
    long = "Add " + "x" * 69
    for subject in ("x" * 90, "Short", long):
        git("commit", "--allow-empty", "-m", subject)
    assert prose.long_subjects(prose.subjects(tmp_path)) == [long, "x" * 90]
    git("tag", "v1", "HEAD~2")
    assert prose.subjects(tmp_path) == [long, "Short"]
    assert prose.long_subjects(["Add " + "x" * 68]) == [], "72 characters are allowed"
