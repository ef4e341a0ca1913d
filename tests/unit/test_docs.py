"""The documentation as a whole: every page is reachable, and every link leads somewhere."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INDEX = ROOT / "docs" / "index.md"
PAGES = sorted((ROOT / "docs").rglob("*.md"))
SPECIFICATION = ROOT / "crates" / "cc" / "src" / "bbr" / "SPECIFICATION.md"
OTHERS = [ROOT / name for name in ("bpf/README.md", "kernel/README.md", "tools/RELEASE.md", "validation/README.md")]
CHECKED = [*sorted(ROOT.glob("*.md")), *OTHERS, SPECIFICATION, *PAGES]

LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def links(page: Path) -> list[tuple[str, str]]:
    """Path and anchor of each relative link on `page`."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    found = (target.partition("#") for target in LINK.findall(text) if "://" not in target)
    return [(path, anchor) for path, _, anchor in found]


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of `page`."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    words = (re.sub(r"\[(.+?)\]\(.*?\)", r"\1", heading).strip().lower() for heading in headings)
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in words}


@pytest.mark.parametrize("page", CHECKED, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for path, anchor in links(page):
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{path} does not exist"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{path or page.name} has no heading #{anchor}"


def test_the_index_names_every_page() -> None:
    named = {(INDEX.parent / path).resolve() for path, _ in links(INDEX)}
    assert [page for page in PAGES if page != INDEX and page.resolve() not in named] == []


def test_every_promise_of_security_has_its_tests() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    promises = [line for line in text.splitlines() if line.startswith("| **")]
    assert len(promises) > 5
    for promise in promises:
        named = re.findall(r"`(tests/[^`]+)`", promise)
        assert named, promise
        assert [one for one in named if not (ROOT / one).is_file()] == []


def test_every_table_of_results_is_whole_and_linked() -> None:
    tables = sorted((ROOT / "docs" / "results" / "data").glob("*.csv"))
    linked = {(page.parent / path).resolve() for page in PAGES for path, _ in links(page) if path.endswith(".csv")}
    assert len(tables) > 20
    assert [table.name for table in tables if table.resolve() not in linked] == []
    for table in tables:
        with table.open(newline="", encoding="utf-8") as file:
            head, *rows = csv.reader(file)
        assert len(set(head)) == len(head), table.name
        assert {len(row) for row in rows} == {len(head)}, table.name
