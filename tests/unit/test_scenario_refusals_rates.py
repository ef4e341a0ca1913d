"""Every refusal of a rate that changes names the file and line, the key, what is wrong and what to do."""

from pathlib import Path

import pytest
from refused import BASE, refused

from dumbbell.errors import ScenarioError
from dumbbell.scenario.file.loading import load

FILES = {
    "cell.trace": "1\n",
    "bad.trace": "1\n2.5\n",
    "falls.trace": "5\n2\n",
    "empty.trace": "# nothing\n",
    "zero.trace": "0\n",
    "unit.csv": "time_s,rate_MBps\n0,1\n",
    "zero.csv": "0,0\n1,0\n",
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)


RATES = {
    "no such trace": (
        'rate = { trace = "cel.trace" }',
        'my.toml:9: topology.bottleneck.rate.trace = "cel.trace": cannot read it: no such file or directory\n'
        "  expected the path of a text file, relative to the scenario file\n"
        "hint: there is bad.trace, cell.trace, empty.trace, falls.trace, unit.csv",
    ),
    "a trace with a fraction": (
        'rate = { trace = "bad.trace" }',
        "my.toml:9: topology.bottleneck.rate.trace = \"bad.trace\": bad.trace:2: '2.5' is not a time\n"
        "  expected one whole number of milliseconds per line, not falling\n"
        "hint: three lines with 2, 4 and 4, say",
    ),
    "a trace that falls": (
        'rate = { trace = "falls.trace" }',
        'my.toml:9: topology.bottleneck.rate.trace = "falls.trace": falls.trace:2: 2 after 5: the times fall\n'
        "  expected one whole number of milliseconds per line, not falling\n"
        "hint: three lines with 2, 4 and 4, say",
    ),
    "a trace without an opportunity": (
        'rate = { trace = "empty.trace" }',
        'my.toml:9: topology.bottleneck.rate.trace = "empty.trace": empty.trace: no opportunity to send\n'
        "  expected one whole number of milliseconds per line, not falling\n"
        "hint: three lines with 2, 4 and 4, say",
    ),
    "a trace that lasts no time": (
        'rate = { trace = "zero.trace" }',
        'my.toml:9: topology.bottleneck.rate.trace = "zero.trace": zero.trace: the trace lasts no time\n'
        "  expected a last line above 0\n"
        "hint: three lines with 2, 4 and 4, say",
    ),
    "a CSV file of one column": (
        'rate = { csv = "cell.trace" }',
        'my.toml:9: topology.bottleneck.rate.csv = "cell.trace": cell.trace:1: 1 column\n'
        "  expected 2: time, rate\n"
        "hint: a line of time_s,rate_Mbps and below it 0,10 and 2.5,20, say",
    ),
    "an unknown unit": (
        'rate = { csv = "unit.csv" }',
        'my.toml:9: topology.bottleneck.rate.csv = "unit.csv": unit.csv:1: unknown unit MBps\n'
        "  expected one of bit/s, kbit/s, Mbit/s, Gbit/s, bps, kbps, Mbps, Gbps, b/s, kb/s, Mb/s, Gb/s\n"
        "hint: a line of time_s,rate_Mbps and below it 0,10 and 2.5,20, say",
    ),
    "a rate that is always 0": (
        'rate = { csv = "zero.csv" }',
        'my.toml:9: topology.bottleneck.rate.csv = "zero.csv": zero.csv: the rate is always 0\n'
        "  expected a rate above 0 at some time\n"
        "hint: a line of time_s,rate_Mbps and below it 0,10 and 2.5,20, say",
    ),
    "steps that begin late": (
        'rate = { steps = [["1 s", "1 Mbit/s"]] }',
        "my.toml:9: topology.bottleneck.rate.steps: begins later than the run\n"
        "  expected a first moment of 0 s\n"
        'hint: begin with ["0 s", "100 Mbit/s"]',
    ),
    "steps that do not rise": (
        'rate = { steps = [["0 s", "1 Mbit/s"], ["0 s", "2 Mbit/s"]] }',
        "my.toml:9: topology.bottleneck.rate.steps: 0 s after 0 s: the moments do not rise\n"
        "  expected moments that rise\n"
        "hint: sort them",
    ),
    "a step of three": (
        'rate = { steps = [["0 s", "1 Mbit/s", 3]] }',
        "my.toml:9: topology.bottleneck.rate.steps.0: not a pair\n"
        '  expected a moment and the rate from then on, such as ["10 s", "20 Mbit/s"]\n'
        'hint: write [["0 s", "100 Mbit/s"], ["10 s", "20 Mbit/s"]]',
    ),
    "a step without a unit": (
        'rate = { steps = [["0 s", "1"]] }',
        'my.toml:9: topology.bottleneck.rate.steps.0.1 = "1": no unit\n'
        '  expected a rate with its unit (bit/s, kbit/s, Mbit/s, Gbit/s), such as "100 Mbit/s"\n'
        'hint: write "1 Mbit/s"',
    ),
    "a period that is too short": (
        'rate = { steps = [["0 s", "1 Mbit/s"], ["5 s", "2 Mbit/s"]], period = "5 s" }',
        "my.toml:9: topology.bottleneck.rate: a period of 5 s ends before the last step\n"
        "  expected more than the last moment, 5 s\n"
        "hint: raise the period",
    ),
    "a ramp of too many steps": (
        'rate = { ramp = [["0 s", "1 Mbit/s"], ["20 s", "2 Mbit/s"]], step = "10 us" }',
        "my.toml:9: topology.bottleneck.rate: too many steps\n  expected at most 100000 steps\nhint: raise ramp's step",
    ),
    "slots and a trace": (
        'rate = { trace = "cell.trace" }\nslots = { interval = "2 ms" }',
        "my.toml:10: topology.bottleneck.slots: a trace says itself when the link may send\n"
        "  expected either slots or a rate from a trace\n"
        'hint: write slots = "none"',
    ),
    "a table that is no rate": (
        'rate = { wave = "sine" }',
        "my.toml:9: topology.bottleneck.rate: not a rate\n"
        '  expected a rate, such as "100 Mbit/s", or a table with one of steps, ramp, trace, csv\n'
        'hint: write rate = { steps = [["0 s", "9 Mbit/s"], ["5 s", "3 Mbit/s"]] }',
    ),
}


@pytest.mark.parametrize("case", RATES)
def test_rates(case: str) -> None:
    given, expected = RATES[case]
    assert refused(BASE.replace('rate = "10 Mbit/s"', given)) == expected


TWICE = {
    "slots in the direction that takes the trace over": (
        'rate = { trace = "cell.trace" }\nreverse = { slots = { interval = "2 ms" } }',
        "",
        "my.toml:10: topology.bottleneck.reverse.slots: a trace says itself when the link may send\n"
        "  expected either slots or a rate from a trace\n"
        "hint: leave slots out",
    ),
    "an event that brings slots": (
        'rate = { trace = "cell.trace" }',
        'slots = { interval = "2 ms" }',
        "my.toml:18: events.0.slots: a trace says itself when the link may send\n"
        "  expected either slots or a rate from a trace\n"
        "hint: leave slots out",
    ),
    "an event that brings a trace": (
        'rate = "10 Mbit/s"\nslots = { interval = "2 ms" }',
        'rate = { trace = "cell.trace" }',
        "my.toml:19: events.0.rate: a trace says itself when the link may send\n"
        "  expected either slots or a rate from a trace\n"
        'hint: write slots = "none"',
    ),
}


@pytest.mark.parametrize("case", TWICE)
def test_slots_and_a_trace(case: str) -> None:
    given, event, expected = TWICE[case]
    events = f'\n[[events]]\nat = "1 s"\n{event}\n' if event else ""
    assert refused(BASE.replace('rate = "10 Mbit/s"', given) + events) == expected


def test_an_event_may_bring_a_trace_in_place_of_slots() -> None:
    event = '[[events]]\nat = "1 s"\nrate = { trace = "cell.trace" }\nslots = "none"\n'
    Path("my.toml").write_text(BASE.replace("buffer", 'slots = { interval = "2 ms" }\nbuffer') + event)
    assert load("my.toml").events


def test_a_trace_on_an_override() -> None:
    Path("my.toml").write_text(BASE)
    with pytest.raises(ScenarioError, match=r"^--set topology.bottleneck.rate.trace=no.trace: cannot read it"):
        load("my.toml", ["topology.bottleneck.rate={}", "topology.bottleneck.rate.trace=no.trace"])
    scenario = load("my.toml", ["topology.bottleneck.rate={ trace = 'cell.trace' }"])
    assert "cell.trace" in str(scenario.topology.bottleneck.rate)


@pytest.mark.parametrize("name", ["", ".", "a\0b", "/no/such", 3])
def test_names_that_are_no_files(name: object) -> None:
    topology = {"kind": "path", "rtt": "1 ms", "bottleneck": {"rate": {"trace": name}}}
    data = {"name": "x", "duration": "1 s", "topology": topology, "flows": [{"from": "h1", "to": "h2"}]}
    with pytest.raises(ScenarioError, match=r"topology\.bottleneck\.rate\.trace"):
        load(data)
