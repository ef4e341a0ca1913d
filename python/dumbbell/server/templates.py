"""Templates of new scenarios: small networks to draw on, and the scenarios that come with dumbbell."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Final

from dumbbell.errors import InputError
from dumbbell.names import is_name, shortened
from dumbbell.scenario import bundled
from dumbbell.server.check import check
from dumbbell.server.http_messages import Template
from dumbbell.server.layout import read
from dumbbell.server.messages import Layout

FOLDER: Final = Path(__file__).parent / "starts"
"""The small networks, each with its layout."""

BLANK: Final = "blank"


@cache
def all_of_them() -> list[Template]:
    """The templates: the small networks first."""
    starts = [_template(file.stem, "start") for file in sorted(FOLDER.glob("*.toml"))]
    starts.sort(key=lambda one: one.nodes)
    return [*starts, *(_template(name, "bundled") for name in bundled.names())]


def _template(name: str, group: str) -> Template:
    file = (FOLDER if group == "start" else bundled.FOLDER) / f"{name}.toml"
    content = file.read_text(encoding="utf-8")
    drawing = check(content, file).drawing
    return Template(
        name=name,
        title=str(tomllib.loads(content).get("description", "")),
        group="start" if group == "start" else "bundled",
        nodes=len(drawing.nodes) if drawing else 0,
        links=len(drawing.links) if drawing else 0,
    )


def text(template: str, name: str) -> str:
    """A template's text with the scenario's name. Raises `InputError` for an unknown one."""
    own = _start(template)
    found = own.read_text(encoding="utf-8") if own else bundled.text(template)
    if template == BLANK:  # What it says of itself is not true for long.
        found = re.sub(r"^description = .*\n", "", found, count=1, flags=re.MULTILINE)
    if is_name(name):
        found = found.replace(f'name = "{template}"', f'name = "{name}"', 1)
    return found


def layout(template: str) -> Layout | None:
    """Where the nodes of a template are drawn; `None`: wherever the page puts them."""
    own = _start(template)
    beside = own.with_name(f"{template}.layout.json") if own else None
    return read(beside.read_text(encoding="utf-8")) if beside and beside.is_file() else None


def beside(template: str | None) -> dict[str, bytes]:
    """Files that a template names, by name."""
    if template is None or _start(template):
        return {}
    own = bundled.text(template)
    return {file.name: file.read_bytes() for file in bundled.FOLDER.glob("*.trace") if f'"{file.name}"' in own}


def _start(template: str) -> Path | None:
    if not is_name(template):
        raise InputError(f"there is no template {shortened(template)}")
    file = FOLDER / f"{template}.toml"
    return file if file.is_file() else None
