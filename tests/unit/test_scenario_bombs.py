"""Scenarios of a stranger that ask for more memory or time than there is are refused before they take any."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from string import ascii_lowercase

import pytest
from refused import refused
from stages import thorough_after

from dumbbell.errors import ScenarioError
from dumbbell.scenario.file.loading import load
from dumbbell.scenario.spans import Span, spans

TOP = 'name = "base"\nduration = "1 s"\n'
NETWORK = '[topology]\nkind = "dumbbell"\nrtt = "30 ms"\nbottleneck = { rate = "100 Mbit/s" }\n'
FLOW = '[[flows]]\nfrom = "s1"\nto = "r1"\n'
RAMP = '{ ramp = [["0 s", "1 Mbit/s"], ["1 s", "9 Mbit/s"]], step = "10 us" }'
STAR = '[topology]\nkind = "star"\nsize = 2000\nlink = '
IN_STAR = '[[flows]]\nfrom = "h1"\nto = "h2"\n'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Processor time does not depend on what else this machine does."""
    monkeypatch.chdir(tmp_path)
    begun = time.process_time()
    yield
    assert time.process_time() - begun < 60


def test_cells_of_a_study_are_limited() -> None:
    ranges = "".join(f'"{key}" = {{ linear = ["1 ms", "10000 ms"], points = 10000 }}\n' for key in ("a", "b", "c"))
    assert "1,000,000,000,000 cells of 3 keys" in refused(f"{TOP}{NETWORK}{FLOW}[sweep]\n{ranges}")


@pytest.mark.parametrize("table", thorough_after(1, ["[sweep]\n", "[[sweep.zip]]\n"]))
def test_ranges_of_a_study_are_limited(table: str) -> None:
    ranges = "".join(f"k{i} = {{ linear = [1, 10000], points = 10000 }}\n" for i in range(20_000))
    assert "too many ranges" in refused(f"{TOP}{NETWORK}{FLOW}{table}{ranges}")


def test_connections_are_counted_before_they_are_made() -> None:
    assert "100000000 in all" in refused(TOP + NETWORK + f"{FLOW}connections = 50000\n" * 2_000)


def test_steps_of_all_links_are_limited() -> None:
    assert "too many in all" in refused(f"{TOP}{STAR}{{ rate = {RAMP} }}\n{IN_STAR}")


def test_steps_of_all_events_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit itself, which takes seconds to reach, is that of links."""
    monkeypatch.setattr("dumbbell.scenario.resolve.links.MOST_STEPS", 300_000)
    events = "".join(f'[[events]]\nat = "{i} us"\nrate = {RAMP}\n' for i in range(1_000))
    assert "too many in all" in refused(TOP + NETWORK + FLOW + events)


def test_delays_and_losses_of_all_links_are_limited() -> None:
    Path("delays.csv").write_text("".join(f"{i},1\n" for i in range(100_000)))
    Path("lost").write_text("".join(f"{i}\n" for i in range(100_000)))
    for key in ('delay = { trace = "delays.csv" }', 'loss = { model = "trace", file = "lost" }'):
        assert "too many in all" in refused(f"{TOP}{STAR}{{ {key} }}\n{IN_STAR}")


@pytest.mark.parametrize(
    "key",
    [
        'rate = { csv = "f" }',
        "rate = '1 Mbit/s', delay = { trace = \"f\" }",
        'rate = { trace = "g" }',
        'rate = \'1 Mbit/s\', loss = { model = "trace", file = "g" }',
    ],
)
def test_lines_of_a_trace_are_limited(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dumbbell.scenario.traces.MOST_LINES", 1_000)
    Path("f").write_text("".join(f"{i},1\n" for i in range(1_001)))
    Path("g").write_text("".join(f"{i}\n" for i in range(1_001)))
    network = f"{NETWORK.partition('bottleneck')[0]}bottleneck = {{ {key} }}\n"
    assert "too long\n  expected at most 1,000" in refused(TOP + network + FLOW)


def test_a_network_with_too_many_routes_is_refused() -> None:
    nodes = "".join(f'n{i} = {{ kind = "router" }}\n' for i in range(6_000))
    links = "".join(f'[[topology.links]]\nbetween = ["n{i}", "n{i + 1}"]\n' for i in range(5_999))
    network = f'[topology]\nkind = "graph"\n[topology.nodes]\n{nodes}{links}'
    assert "6,000 nodes with 5,999 links are too many" in refused(TOP + network + FLOW)


def test_places_of_many_keys_are_found_in_one_pass() -> None:
    text = "".join(f"k{i} = 1\n" for i in range(200_000))
    assert spans(text)[("k199999",)] == Span(200_000, 1, len("k199999 = 1"))


def test_hints_to_names_of_a_large_network_are_few() -> None:
    nodes = "[topology.nodes]\n" + "".join(f"n{i:05}x = {{}}\n" for i in range(2_000))
    ends = [f'["n{i:05}x", "n{i + 1:05}x"]' for i in range(1_999)]
    links = "".join(f'[[topology.links]]\nbetween = {end}\nrate = "1 Mbit/s"\n' for end in ends)
    flows = "".join(f'[[flows]]\nfrom = "n{i:05}y"\nto = "n{i:05}z"\n' for i in range(2_000))
    graph = f'{TOP}[topology]\nkind = "graph"\n{nodes}'
    assert problems(f"{graph}{links}{flows}") == ["unknown host"] * 200
    assert all(one.startswith("unknown node") for one in problems(graph + links.replace("x", "y") + FLOW))
    assert problems(TOP + NETWORK + f"{FLOW}protocl = 1\n" * 2_000) == ["unknown key"] * 200
    assert problems(f'{TOP}{NETWORK}[[flows]]\nfrom = "{"s" * 1_000_000}"\nto = "r1"\n') == ["unknown host"]


def test_names_of_many_cases_are_compared_once() -> None:
    cases = "".join(f'[[sweep.cases]]\nname = "c{i}"\nseed = {i}\n' for i in range(60_000))
    assert problems(f'{TOP}{NETWORK}{FLOW}{cases}[[sweep.cases]]\nname = "c7"\nseed = 1\n') == [
        "two cases are named 'c7'"
    ]


def test_parameters_that_a_large_program_lacks_are_refused_at_once() -> None:
    Path("my.bpf.c").write_text("".join(f"const volatile int parameter_{i} = 1;\n" for i in range(20_000)))
    given = ", ".join(f"parameter_x{i} = 1" for i in range(2_000))
    text = f'{TOP}{NETWORK}{FLOW}cc = {{ bpf = "my.bpf.c", parameters = {{ {given} }} }}\n'
    assert problems(text) == ["my.bpf.c has no such parameter"] * 200


def test_problems_repeat_no_long_value_or_name() -> None:
    program = (
        f'{TOP}{NETWORK}{FLOW}command = "x{"".join(f" {{serve{ascii_lowercase[i % 26]}}}" for i in range(100_000))}"\n'
    )
    known = {f"unknown placeholder {{serve{letter}}}" for letter in ascii_lowercase if letter != "r"}
    assert set(problems(program)) == known
    name = "n" * 1_000_000
    keys = "".join(f"k{i} = 1\n" for i in range(300))
    assert problems(f"{TOP}[topology]\nkind = 'graph'\n[topology.nodes.{name}]\n{keys}{FLOW}")


def problems(text: str) -> list[str]:
    Path("my.toml").write_text(text)
    with pytest.raises(ScenarioError) as caught:
        load("my.toml")
    assert len(caught.value.problems) <= 200
    assert len(str(caught.value)) < 4_000_000
    assert sum(len(one.key) for one in caught.value.problems) < 1_000_000
    return [one.wrong for one in caught.value.problems]
