"""Reading a report's page as a browser would."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path


class References(HTMLParser):
    """The links of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.policy = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.found += [given[name] for name in ("src", "href", "srcset", "action", "data") if name in given]
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"]


def first_words(page: Path) -> list[str]:
    """The texts in the first block of a page's body that has any."""
    return _FirstWords(page.read_text(encoding="utf-8")).words


class _FirstWords(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self._open: list[str] = []
        self._done = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._open or tag == "body":
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._open:
            self._open.pop()
            self._done = self._done or (tag == "div" and bool(self.words))

    def handle_data(self, data: str) -> None:
        if self._open and not self._done and data.strip():
            self.words.append(data.strip())
