"""Damaged files of others end in a plan or in an error of ours. `make fuzz` looks for inputs that do not."""

from __future__ import annotations

import json
from random import Random
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dumbbell.errors import InputError
from dumbbell.scenario.file.foreign import containerlab, kathara
from dumbbell.scenario.file.toml import parse
from tests.fuzz import mutate
from tests.fuzz.readers import READERS
from tests.fuzz.seeds import ZOO, texts

SEEDS: Final[dict[str, list[bytes]]] = {}
for _target, _, _content in texts():
    SEEDS.setdefault(_target, []).append(_content)

CLAB: Final = """
topology:
  nodes: { a: {}, b: {} }
  links: [{ endpoints: ["a:eth1", "b:eth1"] }]
"""
LISTS: Final = "x0: &x0 [word]\n" + "".join(f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 10)}]\n" for n in range(1, 12))
"""A list of 10^11 words."""
MERGED: Final = LISTS.replace("[word]", "{ key: word }").replace(" [", " { <<: [").replace("]\n", "] }\n")
"""A table that 10^11 tables are merged to."""


@pytest.mark.parametrize("target", READERS)
@settings(deadline=None, max_examples=60)  # The machine may be busy.
@given(seed=st.integers(0, 2**32))
def test_any_damage_is_read_or_refused(target: str, seed: int) -> None:
    random = Random(seed)
    data = random.choice(SEEDS[target])
    if target == "miniedit" and seed % 4:
        data = mutate.as_json(mutate.restructured(json.loads(data), random))
    else:
        data = mutate.spliced(data, random)
    READERS[target](data)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a: {}", "a: { group: 2020-13-45 }"),
        ("a: {}", "a: { group: !!timestamp x }"),
        ("a: {}", "a: { cpu: !!int '' }"),
        ("a: {}", "a: { cpu: 0x_ }"),
        ("topology:", "topology:\n  kinds: { linux: [1] }"),
        ("topology:", "topology:\n  groups: { x: [1] }\n  defaults: { group: x }"),
        ('"b:eth1"] }', '"b:eth1"], ipv4: ["10.0.0.1/24"] }'),
        ('"b:eth1"] }', '"b:eth1"], ipv4: 7 }'),
        ('"b:eth1"] }', '"b:eth1"], ipv4: ["ä", "b"] }'),
        ('"b:eth1"] }', '"b:eth1"], ipv6: ["fd00::1%x/64", "fd00::2/64"] }'),
        ("topology:", f"{LISTS}topology:"),
        ("topology:", f"{MERGED}topology:"),
        ("topology:", "x: &x [*x]\ntopology:"),
    ],
)  # fmt: skip
def test_a_topology_of_containerlab_is_refused_in_words(before: str, after: str) -> None:
    assert before in CLAB
    with pytest.raises(InputError):
        containerlab.scenario(CLAB.replace(before, after, 1), "mine")


def test_what_toml_cannot_hold_is_no_part_of_a_comment() -> None:
    text = CLAB.replace("a: {}", 'a: { exec: ["x \\u0080 \\u2028 y"], "k\\u0081": 1 }', 1)
    text = text.replace("b:eth1", "b:\u00b2", 1)
    made, notes = containerlab.scenario(text, "mine")
    parse(made)
    assert "# containerlab runs: x y\n" in made
    assert any("the key k" in note for note in notes)
    made, _ = kathara.scenario('a[0]="N"\nb[0]="N"\na[\u00b2]="\u0081"\n', "mine", {"a": "run \0 it"}.get)
    parse(made)
    assert "# Kathará runs: run it\n" in made


def test_interfaces_are_in_the_order_of_their_numbers_however_long() -> None:
    names = ["eth2", "eth10", "eth" + "9" * 5_000]
    links = "".join(f'    - endpoints: ["a:{name}", "b:{name}"]\n' for name in reversed(names))
    made, _ = containerlab.scenario(f"topology:\n  nodes: {{ a: {{}}, b: {{}} }}\n  links:\n{links}", "mine")
    assert made.count("[[topology.links]]") == 3


def test_lines_of_kathara_take_time_that_grows_with_their_length() -> None:
    spaces = " " * 200_000
    text = f'# "x"\na[0]="N"{spaces}# of a\nb[0]={spaces}N # of b\n{spaces}\n{"c # " * 100_000}"'
    with pytest.raises(InputError, match="line 5 cannot be read"):
        kathara.scenario(text, "mine", lambda machine: None)
    made, _ = kathara.scenario(text[: text.rindex("\n")], "mine", lambda machine: None)
    assert 'between = ["a", "b"]' in made


@pytest.mark.parametrize(("key", "value"), [("10000000.0", "inf"), ("10000000.0", "1e300"), ("48.20849", "nan")])
def test_a_graph_with_odd_numbers_is_read_without_them(key: str, value: str) -> None:
    assert key in ZOO
    READERS["graphml"](ZOO.replace(key, value).encode())
