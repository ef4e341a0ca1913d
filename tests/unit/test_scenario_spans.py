"""The places of keys and values in a TOML text."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dumbbell.scenario import bundled
from dumbbell.scenario.spans import Key, spans

HARD = """\
a."x.y".c = \"\"\"q\"\"\"\" # c
[[b]]
k = [1, # one ]
 "two]", { z = 1979-05-27 07:32:00, w.v = 'x' },
]
[b.d]
e = true
t = '''
# [no] = table
'''
[[b]]
[[b.f]]
g=-1.5e3
 [ "h i" . j ]
k = {}
"""

PIECES = {
    ("a", "x.y", "c"): 'a."x.y".c = """q""""',
    ("b",): "[[b]]",
    ("b", 0, "k"): "k = [1, # one ]",
    ("b", 0, "k", 0): "1",
    ("b", 0, "k", 1): '"two]"',
    ("b", 0, "k", 2): "{ z = 1979-05-27 07:32:00, w.v = 'x' }",
    ("b", 0, "k", 2, "z"): "z = 1979-05-27 07:32:00",
    ("b", 0, "k", 2, "w", "v"): "w.v = 'x'",
    ("b", 0, "d"): "[b.d]",
    ("b", 0, "d", "t"): "t = '''",
    ("b", 1, "f", 0, "g"): "g=-1.5e3",
    ("h i", "j"): '[ "h i" . j ]',
    ("h i", "j", "k"): "k = {}",
}

STUDIES = sorted(Path(__file__).parents[2].glob("python/dumbbell/published/**/*.toml"))


@pytest.mark.parametrize("key", PIECES)
def test_a_span_holds_the_key_and_its_value(key: Key) -> None:
    span = spans(HARD)[key]
    line = HARD.splitlines()[span.line - 1]
    assert line[span.column - 1 : span.column - 1 + span.length] == PIECES[key]


@pytest.mark.parametrize("text", [HARD, *map(bundled.text, bundled.names()), *(path.read_text() for path in STUDIES)])
def test_what_tomllib_reads_has_a_place(text: str) -> None:
    assert set(spans(text)) == set(keys(tomllib.loads(text)))


def keys(value: Any, at: Key = ()) -> Iterator[Key]:
    if at:
        yield at
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for part, inner in parts:
        yield from keys(inner, (*at, part))
