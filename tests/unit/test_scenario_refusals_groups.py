"""Refusals of connections, mixes, sizes, arrivals, shares of the bottleneck, and on and off."""

from __future__ import annotations

from pathlib import Path

import pytest
from refused import refused

BASE = """\
name = "base"
duration = "20 s"

[topology]
kind = "dumbbell"
pairs = 2
rtt = "30 ms"
bottleneck = { rate = "100 Mbit/s" }

[[flows]]
"""
ENDS = 'from = "s*"\nto = "r*"\n'
ONE = 'from = "s1"\nto = "r1"\n'
UDP = ONE + 'protocol = "udp"\n'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("flow", "said"),
    [
        (ENDS, ["my.toml:11: flows.0.from", "one flow is between two hosts", "add connections = 10"]),
        (ENDS + "connections = 0", ["flows.0.connections = 0", "at least 1"]),
        (ENDS + "connections = 1.5", ["flows.0.connections", "whole number"]),
        (ENDS + "connections = 50001", ["flows.0.connections", "at most 50000"]),
        ('from = "x*"\nto = "r*"\nconnections = 2', ['flows.0.from = "x*"', "unknown host", "s1, s2, r1, r2"]),
        ('from = "s*"\nto = "s*"\nconnections = 2', ["flows.0.to", "the same host"]),
        (ONE + 'gap = "1 s"', ["my.toml:13: flows.0.gap", "one connection only", "add connections = 10"]),
        (ONE + 'arrivals = "poisson"', ["flows.0.arrivals", "one connection only"]),
        (ONE + "mix = { cubic = 1 }", ["flows.0.mix", "one connection only", "add connections = 10"]),
        (ONE + 'sizes = [{ bytes = "1 MB", share = 1 }]', ["flows.0.sizes", "one connection only"]),
        (ENDS + 'connections = 9\narrivals = "poisson"', ["flows.0.arrivals", 'add gap = "0.1 s"']),
        (ENDS + 'connections = 9\narrivals = "random"', ["flows.0.arrivals", "'fixed' or 'poisson'"]),
        (
            ENDS + 'connections = 21\ngap = "1 s"',
            ["flows.0.gap", "the last of 21 connections would start at 20 s", "starts before 20 s", "lower gap"],
        ),
        (ENDS + 'connections = 9\ngap = "1 s"\nstop = "5 s"', ["would start at 8 s", "starts before 5 s"]),
        (ENDS + "connections = 9\nport = 65530", ["flows.0.port", "65538", "leave port out"]),
        (ENDS + "connections = 4\nmix = { cubic = 0.5, bbr = 0.4 }", ["flows.0.mix", "add up to 0.9", "bbr = 0.25"]),
        (ENDS + "connections = 4\nmix = { cubic = 1.5, bbr = -0.5 }", ["flows.0.mix.cubic", "out of range"]),
        (ENDS + 'connections = 4\nmix = { cubic = "1" }', ["flows.0.mix.cubic", "not a number"]),
        (ENDS + "connections = 4\nmix = {}", ["flows.0.mix", "add up to 0"]),
        (ENDS + 'connections = 4\nmix = { "a b" = 1 }', ["flows.0.mix", "not a name", "at most 15 letters"]),
        (ENDS + 'connections = 4\nmix = "cubic"', ["flows.0.mix", "not a table"]),
        (
            ENDS + 'connections = 4\ncc = "reno"\nmix = { cubic = 1 }',
            ["flows.0.cc", "mix is given, too", "leave cc out"],
        ),
        (ENDS + 'connections = 4\nsizes = [{ bytes = "1 MB", share = 0.7 }]', ["flows.0.sizes", "add up to 0.7"]),
        (ENDS + 'connections = 4\nsizes = [{ bytes = "1 MB" }]', ["flows.0.sizes.0.share", "missing"]),
        (ENDS + "connections = 4\nsizes = []", ["flows.0.sizes", "empty"]),
        (
            ENDS + 'connections = 4\nbytes = "1 MB"\nsizes = [{ bytes = "1 MB", share = 1 }]',
            ["flows.0.bytes", "sizes is given, too"],
        ),
        (UDP + 'rate = "0 %"', ["flows.0.rate", "zero", 'write "10 %"']),
        (UDP + 'rate = "120 %"', ["flows.0.rate", "more than 100 %"]),
        (UDP + 'rate = "10"', ["flows.0.rate", "no unit"]),
        ('from = "s1"\nto = "s2"\nprotocol = "udp"\nrate = "5 %"', ["no bottleneck lies between s1 and s2"]),
        (ONE + 'on = "1 s"', ["flows.0.on", "without off", 'add off = "2 s"']),
        (ONE + 'off = "1 s"', ["flows.0.off", "without on", 'add on = "1 s"']),
        (ONE + 'on = "0 s"\noff = "1 s"', ["flows.0.on", "zero"]),
        (ONE + 'on = "1"\noff = "1 s"', ["flows.0.on", "no unit", '"1 s" or "1 kB"']),
        (ONE + 'on = "1 Mbit"\noff = "1 s"', ["flows.0.on", "unknown unit Mbit", '1 Mbit is "125 kB"']),
        (ONE + 'on = "1 s"\noff = "1 s"\nbytes = "1 MB"', ["flows.0.bytes", "can't have on and off", "300 kB"]),
        (UDP + 'rate = "1 Mbit/s"\nmix = { cubic = 1 }', ["flows.0.mix", "unknown key", "mix belongs in a TCP flow"]),
        (ONE + 'command = "true"\non = "1 s"', ["flows.0.on", "unknown key"]),
    ],
)
def test_is_refused(flow: str, said: list[str]) -> None:
    text = refused(BASE + flow + "\n")
    assert all(part in text for part in said), text


def test_a_share_of_a_rate_that_changes_is_refused() -> None:
    changing = BASE.replace('rate = "100 Mbit/s"', 'rate = { steps = [["0 s", "9 Mbit/s"], ["5 s", "3 Mbit/s"]] }')
    event = '[[events]]\nat = "5 s"\nrate = "50 Mbit/s"\n'
    flow = UDP + 'rate = "10 %"\n'
    for text in (changing + flow, BASE + flow + event):
        assert "flows.0.rate" in (said := refused(text)), said
        assert "no constant rate" in said
        assert 'rate = "10 Mbit/s"' in said
    assert "no bottleneck lies between" in refused(BASE.replace('"100 Mbit/s"', '"unlimited"') + flow)


def test_names_of_connections_meet_no_others() -> None:
    flow = f'id = "a"\n{ENDS}connections = 2\n\n[[flows]]\nid = "a.2"\n{ONE}'
    assert "two flows are named a.2" in refused(BASE + flow)


def test_all_connections_together_are_limited() -> None:
    flow = f"{ENDS}connections = 30000\n\n[[flows]]\n{ENDS}connections = 30000\n"
    assert "60000 in all" in refused(BASE + flow)


def test_ecn_is_the_same_for_all_from_one_host() -> None:
    flow = f"{ENDS}connections = 4\necn = true\n\n[[flows]]\n{ONE}"
    assert "another flow from s1 asks for ECN" in refused(BASE + flow)
