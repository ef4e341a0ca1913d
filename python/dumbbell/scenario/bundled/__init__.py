"""The scenarios that come with dumbbell: `dumbbell run NAME`."""

from __future__ import annotations

import tomllib
from importlib.resources import files


def names() -> list[str]:
    """All names, sorted."""
    return sorted(f.name.removesuffix(".toml") for f in files(__name__).iterdir() if f.name.endswith(".toml"))


def text(name: str) -> str:
    """A scenario's TOML."""
    return files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8")


def description(name: str) -> str:
    """What it shows, in a line."""
    return str(tomllib.loads(text(name)).get("description", ""))
