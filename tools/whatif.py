"""Writes "What if" as one HTML file that needs no server: `make what-if`, or `python -m tools.whatif OUT.html`.

A page without a server has no planner. So plans are baked: the planner itself plans the scenario with several values of
each slider, and what differs between these plans is written down, as a rule where it follows the value (`a + b * x`),
or as it is for words. A value of the plan that follows no such rule, or follows two sliders, ends this program with an
error.
"""

from __future__ import annotations

import base64
import json
import math
import subprocess
import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import Any, Final

from dumbbell.scenario import load
from dumbbell.server.knobs import knobs
from dumbbell.server.whatif import of_scenario
from dumbbell.server.whatif_messages import Knob

WEB: Final = Path(__file__).resolve().parents[1] / "web"
SCENARIO: Final = "bbr-vs-cubic"
SETTINGS: Final = (
    "topology.bottleneck.buffer=375 kB",
    "hosts.sysctl.net.ipv4.tcp_rmem=4096 33554432 33554432",
)
"""A buffer in bytes, and a receive window that does not follow the BDP: either would follow two sliders."""
SPANS: Final = {
    "topology.bottleneck.rate": (5.0, 200.0),
    "topology.rtt": (5.0, 200.0),
    "topology.bottleneck.buffer": (20.0, 2000.0),
    "flows.0.start": (0.0, 10.0),
    "flows.1.start": (0.0, 10.0),
    "seed": (1.0, 50.0),
}
"""Sliders with their least and largest values."""
WORDS: Final = {
    "topology.bottleneck.loss": ("0 %", "0.01 %", "0.1 %", "0.5 %", "1 %", "2 %", "5 %"),
    "flows.0.cc": ("cubic", "reno", "bbr", "bbr3", "vegas", "dctcp"),
    "flows.1.cc": ("bbr", "bbr3", "cubic", "reno", "vegas", "dctcp"),
}
"""Values that one chooses; the scenario's own first."""
_SAMPLES: Final = 9
"""Values of a slider at which its rules are tried."""

Pointer = tuple[str | int, ...]
Document = dict[str, Any]


def document(settings: Sequence[str]) -> Document:
    """The plan with these settings, and what its plots need."""
    planned = of_scenario(load(SCENARIO, [*SETTINGS, *settings]))
    return {
        "plan": json.loads(planned.plan),
        "legend": planned.legend.model_dump(mode="json"),
        "packets": planned.packets,
    }


def baked() -> Document:
    """Everything that the page knows. Raises `ValueError` for a slider that does more than rules can say."""
    scenario = load(SCENARIO, SETTINGS)
    known = {one.path: one for one in knobs(scenario.source.data, float(scenario.duration) / 1e9)}
    base = document([])
    algorithms: dict[str, Any] = {}
    turned: dict[str, list[Any]] = {}
    shown: list[Knob] = []
    for path in (*SPANS, *WORDS):
        knob = known[path]
        if path in SPANS:
            low, high = SPANS[path]
            knob = knob.model_copy(update={"low": low, "high": high, "written": True})
            turned[path] = _rules(base, knob)
        else:
            words = list(WORDS[path])
            knob = knob.model_copy(update={"words": words, "value": 0.0, "unit": "", "written": True})
            turned[path] = _choices(base, path, words)
            for word in words:
                found = document([f"{path}={word}"])["plan"]["algorithms"]
                algorithms |= {one["label"]: one for one in found}
        shown.append(knob)
    touched: dict[Pointer, str] = {}
    for path, rules in turned.items():
        for rule in rules:
            other = touched.setdefault(tuple(rule["at"]), path)
            if other != path:
                raise ValueError(f"{path} and {other} both change {rule['at']}")
    base["plan"]["algorithms"] = list(algorithms.values())
    shown.sort(key=lambda one: list(known).index(one.path))
    return {
        "name": SCENARIO,
        "settings": list(SETTINGS),
        "base": base,
        "knobs": [knob.model_dump(mode="json") for knob in shown],
        "rules": turned,
    }


def _rules(base: Document, knob: Knob) -> list[Document]:
    """How numbers of the plan follow a slider."""
    steps = [knob.low + (knob.high - knob.low) * i / (_SAMPLES - 1) for i in range(_SAMPLES)]
    values = (
        [Fraction(str(round(step))) for step in steps] if knob.whole else [Fraction(f"{step:.3f}") for step in steps]
    )
    documents = [document([f"{knob.path}={float(value):g} {knob.unit}".strip()]) for value in values]
    at = sorted({way for one in documents for way in _differences(base, one)}, key=str)
    return [_rule(way, values, [_get(one, way) for one in documents]) for way in at]


def _rule(at: Pointer, values: Sequence[Fraction], values_there: Sequence[Any]) -> Document:
    if not all(isinstance(one, int | float) and not isinstance(one, bool) for one in values_there):
        raise ValueError(f"{at} is no number: {values_there[0]!r}")
    numbers = [Fraction(str(one)) for one in values_there]
    slope = (numbers[-1] - numbers[0]) / (values[-1] - values[0])
    start = numbers[0] - slope * values[0]
    for value, number in zip(values, numbers, strict=True):
        expected = start + slope * value
        fits = round(expected) == number if at[0] == "plan" else math.isclose(expected, number, abs_tol=1e-9)
        if not fits:
            raise ValueError(
                f"{at} does not follow the slider: {float(number)} in place of {float(expected)} at {value}"
            )
    return {"at": list(at), "start": float(start), "slope": float(slope), "whole": at[0] == "plan"}


def _choices(base: Document, path: str, words: Sequence[str]) -> list[Document]:
    documents = [document([f"{path}={word}"]) for word in words]
    at = sorted({way for one in documents for way in _differences(base, one)}, key=str)
    if documents[0] != base:
        raise ValueError(f"{path}: {words[0]} is not what the scenario has")
    return [{"at": list(way), "values": [_get(one, way) for one in documents]} for way in at]


def _differences(document: Any, other: Any, at: Pointer = ()) -> Iterator[Pointer]:
    """The places of what differs, without what only an emulation reads: a simulated sender's buffer has no limit.
    Algorithms are found by their labels, and the page has all of them."""
    if document == other or at in (("plan", "emulate"), ("plan", "algorithms")) or at[-1:] == ("net.ipv4.tcp_wmem",):
        return
    if isinstance(document, dict) and isinstance(other, dict) and document.keys() == other.keys():
        for key in document:
            yield from _differences(document[key], other[key], (*at, key))
    elif isinstance(document, list) and isinstance(other, list) and len(document) == len(other):
        for i, (left, right) in enumerate(zip(document, other, strict=True)):
            yield from _differences(left, right, (*at, i))
    else:
        yield at


def _get(document: Any, at: Pointer) -> Any:
    for part in at:
        document = document[part]
    return document


def page(out: Path) -> None:
    """Write the page to `out`."""
    folder = WEB / "node_modules" / ".what-if"
    subprocess.run([Path(sys.executable).with_name("node"), "what-if.mjs", str(folder)], cwd=WEB, check=True)
    known = json.dumps(baked(), separators=(",", ":")).replace("</", "<\\/")
    module = base64.b64encode((WEB / "simulator.wasm").read_bytes()).decode()
    script, worker, style = (
        (folder / name).read_text(encoding="utf-8") for name in ("page.js", "worker.js", "page.css")
    )
    texts = {
        "title": escape("What if? CUBIC and BBR in your browser"),
        "style": style,
        "known": known,
        "module": module,
        "worker": _in_script(worker),
        "script": _in_script(script),
    }
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(_PAGE.format(**texts), encoding="utf-8")
    print(f"{out}: {out.stat().st_size / 1e6:.2f} MB")


def _in_script(text: str) -> str:
    return text.replace("</script", "<\\/script")


_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<div id="app"></div>
<noscript>This page needs JavaScript.</noscript>
<script type="application/json" id="known">{known}</script>
<script type="text/plain" id="module">{module}</script>
<script type="text/plain" id="worker">{worker}</script>
<script>{script}</script>
</body>
</html>
"""


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m tools.whatif OUT.html")
    page(Path(sys.argv[1]))
