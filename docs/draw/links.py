"""Draw the pictures of `docs/reference/links.md`: run each example, plot what it recorded.

`python docs/draw/links.py [NAME ...]`, or `make pictures` for all. Takes about 15 s a picture. A run whose verdict is
`invalid` is repeated, three times at most, and then the script fails: no picture is drawn of it.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

from panels import PANELS

import dumbbell

DOCS = Path(__file__).parents[1]
PAGE = DOCS / "reference" / "links.md"
EXAMPLE = re.compile(
    r"```toml\n(?P<toml>(?:(?!```).)*)```\n\n!\[.*?\]\(\.\./images/links/(?P<name>[a-z0-9-]+)\.png\)", re.DOTALL
)
BASE = re.compile(r"```toml\n(.*?)```", re.DOTALL)
ATTEMPTS = 3


def main(wanted: list[str]) -> None:
    """Draw the pictures named, or all."""
    page = PAGE.read_text(encoding="utf-8")
    first = BASE.search(page)
    assert first is not None
    base = tomllib.loads(first[1])
    found = {example["name"]: tomllib.loads(example["toml"]) for example in EXAMPLE.finditer(page)}
    if unknown := set(wanted) - set(found):
        sys.exit(f"no such picture: {', '.join(sorted(unknown))}; there are {', '.join(found)}")
    target = DOCS / "images" / "links"
    target.mkdir(exist_ok=True)
    for name in wanted or found:
        figure = PANELS[name](run(merged(base, found[name])))
        figure.savefig(target / f"{name}.png", dpi=100, metadata={"Software": ""})
        print(name)


def merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Tables are merged, everything else is replaced."""
    both = {key: merged(base[key], over[key]) for key in base.keys() & over.keys() if isinstance(base[key], dict)}
    return {**base, **over, **both}


def run(scenario: dict[str, Any]) -> dumbbell.Run:
    """Run it; traces are those that come with the package."""
    traces = files("dumbbell.scenario.bundled")
    rate = scenario["topology"]["bottleneck"]["rate"]
    if isinstance(rate, dict) and "trace" in rate:
        rate["trace"] = str(traces / rate["trace"])
    for _ in range(ATTEMPTS):
        place = Path(tempfile.mkdtemp(prefix="links-"))
        done = dumbbell.run(scenario, directory=place)
        if done.summary["verdict"] != "invalid":
            return done
        shutil.rmtree(place)
    sys.exit(f"invalid {ATTEMPTS} times: {done.summary['reasons']}")


if __name__ == "__main__":
    main(sys.argv[1:])
