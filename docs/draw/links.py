"""Draw the pictures of `docs/reference/links.md`: run each example, plot what it recorded.

`python docs/draw/links.py [NAME ...]`, or `make pictures` for all. Takes about 12 s a picture. No picture is drawn of a
run whose verdict is `invalid` three times.
"""

from __future__ import annotations

import re
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
PICTURES = DOCS / "images" / "links"
EXAMPLE = re.compile(
    r"```toml\n(?P<toml>(?:(?!```).)*)```\n\n!\[.*?\]\(\.\./images/links/(?P<name>[a-z0-9-]+)\.png\)", re.DOTALL
)
BASE = re.compile(r"```toml\n(.*?)```", re.DOTALL)
ATTEMPTS = 3


def main(wanted: list[str]) -> None:
    """Draw the pictures named, or all."""
    base, found = examples()
    if unknown := set(wanted) - set(found):
        sys.exit(f"no such picture: {', '.join(sorted(unknown))}; there are {', '.join(found)}")
    PICTURES.mkdir(exist_ok=True)
    refused = 0
    for name in wanted or found:
        done = run(with_files(merged(base, found[name])))
        if done.summary["verdict"] == "invalid":
            refused += 1
            print(f"{name}: not drawn: {', '.join(reason['check'] for reason in done.summary['reasons'])}", flush=True)
            continue
        PANELS[name](done).savefig(PICTURES / f"{name}.png", dpi=100, metadata={"Software": ""})
        print(name, flush=True)
    if refused:
        sys.exit(f"{refused} runs were invalid {ATTEMPTS} times: draw them on an idle machine")


def examples() -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Read what all examples have in common, and each by the name of its picture.

    A block without a picture holds for all examples behind it in its section.
    """
    introduction, *sections = PAGE.read_text(encoding="utf-8").split("\n## ")
    first = BASE.search(introduction)
    assert first is not None
    found: dict[str, dict[str, Any]] = {}
    for section in sections:
        pictured = list(EXAMPLE.finditer(section))
        common = tomllib.loads("".join(BASE.findall(EXAMPLE.sub("", section))))
        found |= {example["name"]: merged(common, tomllib.loads(example["toml"])) for example in pictured}
    return tomllib.loads(first[1]), found


def merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Tables are merged, everything else is replaced."""
    both = {key: merged(base[key], over[key]) for key in base.keys() & over.keys() if isinstance(base[key], dict)}
    return {**base, **over, **both}


def with_files(scenario: dict[str, Any]) -> dict[str, Any]:
    """Where its files lie: beside this script, or with the package."""
    bottleneck = scenario["topology"]["bottleneck"]
    for table, key in ((bottleneck["rate"], "trace"), (bottleneck["rate"], "csv"), (bottleneck.get("jitter"), "file")):
        if isinstance(table, dict) and key in table:
            beside = DOCS / "draw" / table[key]
            table[key] = str(beside if beside.exists() else files("dumbbell.scenario.bundled") / table[key])
    return scenario


def run(scenario: dict[str, Any]) -> dumbbell.Run:
    """Run it, again if it is invalid."""
    for _ in range(ATTEMPTS):
        done = dumbbell.run(scenario, directory=tempfile.mkdtemp(prefix="links-"))
        if done.summary["verdict"] != "invalid":
            break
    return done


if __name__ == "__main__":
    main(sys.argv[1:])
