"""Texts of a stranger at which a regular expression would try more ways than their length allows: time is bounded.

Each text took minutes, or longer than anybody waits, before.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from refused import BASE, refused

from dumbbell.cc.declared import declared
from dumbbell.errors import InputError
from dumbbell.fitting import fit
from dumbbell.fitting.logs import forms, qlog, ss, table
from dumbbell.pipeline import traced
from dumbbell.scenario.file import toml
from dumbbell.scenario.file.foreign import commands, frr, kathara, network
from dumbbell.server import knobs

MANY = 100_000


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Processor time does not depend on what else this machine does."""
    monkeypatch.chdir(tmp_path)
    begun = time.process_time()
    yield
    assert time.process_time() - begun < 20


@pytest.mark.parametrize("value", [" " * MANY, f"1{' ' * MANY}s{' ' * MANY}s"], ids=["blank", "two units"])
@pytest.mark.parametrize("key", ["duration", "topology.rtt"])
def test_quantities_of_many_spaces_are_refused(key: str, value: str) -> None:
    _, _, name = key.rpartition(".")
    line = next(line for line in BASE.splitlines() if line.startswith(f"{name} ="))
    assert key in refused(BASE.replace(line, f'{name} = "{value}"'))


@pytest.mark.parametrize("value", [f"10.0.0.0/8 via 10.0.0.1{' ' * MANY}\\n\\nx", f"default via a{' ' * MANY}b"])
def test_routes_of_many_spaces_are_refused(value: str) -> None:
    nodes = f'[topology]\nkind = "graph"\n[topology.nodes]\nh1 = {{ routes = ["{value}"] }}\nh2 = {{}}\n'
    links = '[[topology.links]]\nbetween = ["h1", "h2"]\nrate = "1 Mbit/s"\n'
    flows = '[[flows]]\nfrom = "h1"\nto = "h2"\n'
    assert "routes" in refused(f'name = "base"\nduration = "1 s"\n{nodes}{links}{flows}')


@pytest.mark.parametrize(
    "source",
    [
        "const volatile int a;/*\n" * MANY,
        "const volatile int a=\n" * MANY,
        "const volatile a\n" * MANY,
        f"const volatile int a={' ' * MANY}x,",
    ],
    ids=["comments", "values", "types", "spaces"],
)
def test_declarations_of_a_source_without_an_end_are_left_out(source: str) -> None:
    # The list of a source with one that is not understood is not complete.
    found = declared(f"const volatile __u32 beta = 7 + \n 2 ; /* what * it is */\n{source}")
    assert [(one.name, one.doc) for one in found.known][:1] == [("beta", "what * it is")]


def test_the_state_of_a_source_is_not_looked_for_without_an_end() -> None:
    assert traced._STATE.search(b"struct a*b()" * MANY) is None


def test_numbers_of_many_digits_are_refused() -> None:
    text = f"a = {'1' * 5000}\nb = '{('1' * 4298 + 'x') * 4_000}'\n"
    with pytest.raises(toml.TOMLDecodeError, match="5,000 digits"):
        toml.parse(text)
    assert toml._too_long("x" + text.partition("\n")[2]) == "a number has too many digits"


def test_escaped_quotes_of_a_text_begin_no_key() -> None:
    text = '\\"' * MANY * 5
    assert toml.parse(f"a = '{text}'\n") == {"a": text}
    key = ".".join(['"\\""'] * 65)
    with pytest.raises(toml.TOMLDecodeError, match="nested"):
        toml.parse(f"a = '{text}'\n{key} = 1\n")


def test_configurations_and_commands_of_routers_are_read() -> None:
    node = network.Node("router")
    node.settings = commands.Settings(rest=["service frr " * 20_000, "service zebra\nservice frr start"])
    assert frr.configure(node, "frr.conf", lambda _: ("frr.conf", "\n" * 1_000_000))
    assert len(node.settings.rest) == 1


def test_knobs_of_many_flows_are_found() -> None:
    flows = [{"from": "s1", "to": "r1", "cc": {"name": "bbr3"}} for _ in range(20_000)]
    assert len(knobs.knobs({"name": "x", "duration": "1 s", "flows": flows}, 1.0)) == knobs.MOST


def test_second_addresses_of_an_interface_are_left_out() -> None:
    lines = "".join(f"ip addr add 10.{i >> 8}.{i & 255}.1/24 dev eth0\n" for i in range(20_000))
    text, notes = kathara.scenario('a[0]="d"\nb[0]="d"\n', "lab", lambda machine: lines if machine == "a" else None)
    assert '"10.0.0.1/24"' in text
    assert any("second addresses" in note for note in notes)


@pytest.mark.parametrize(
    "content",
    [b"\n" * 200 + b"x", b" \n#\n" * 10_000 + b"x", b"ESTAB " * 10_000 + b"\n" + b"x" * 60_000, b"time" * 15_000],
    ids=["lines", "comments", "sockets", "columns"],
)
def test_files_without_a_form_are_refused(content: bytes) -> None:
    Path("log").write_bytes(content)
    assert forms.form_of(Path("log")) is None
    with pytest.raises(InputError):
        fit("log")


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (ss.fit, "A-" * 1_000_000),
        (ss.fit, "AB 1 1 " + "1:" * 1_000_000),
        (table.fit, "time,rate" + ",x" * 5_000_000 + "\n1\n"),
        (table.fit, "time,rate\n" + "1," * 20_000_000),
        (qlog.fit, '{"qlog_version": 1}\n{"a": [' + "[]," * 2_000_000 + "0]}\n"),
    ],
    ids=["sockets", "addresses", "columns", "cells", "records"],
)
def test_long_lines_of_logs_are_refused(read: Callable[[str, str, str | None], object], text: str) -> None:
    with pytest.raises(InputError):
        read(text, "log", None)
