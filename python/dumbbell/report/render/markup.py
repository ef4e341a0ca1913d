"""HTML in which text cannot become markup: every string is escaped unless it is `Html` already."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterable
from html import escape


class Html(str):
    """Markup that needs no escaping."""

    __slots__ = ()


Child = str | Iterable[str]


def el(name: str, *children: Child, **attributes: str) -> Html:
    """An element. Children are text, `Html`, or iterables of those. `class_` is the attribute `class`, `a_b` `a-b`."""
    written = "".join(f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"' for key, value in attributes.items())
    return Html(f"<{name}{written}>{join(*children)}</{name}>")


def join(*children: Child) -> Html:
    """Children one after another."""
    return Html("".join(_text(child) for child in children))


def _text(child: Child) -> str:
    if isinstance(child, Html):
        return child
    if isinstance(child, str):
        return escape(child)
    return join(*child)


def digest(script: str) -> str:
    """The source of a content security policy that lets a page run this script alone (CSP Level 3, section 2.3.1)."""
    return f"sha256-{b64encode(hashlib.sha256(script.encode()).digest()).decode()}"
