"""Every refusal of what a link does names the file and line, the key, what is wrong, what was expected, what to do."""

import re
from pathlib import Path

import pytest
from refused import BASE, refused

from dumbbell.errors import ScenarioError
from dumbbell.scenario.file.loading import load

FILES = {"lost.txt": "5\n5\n", "cell.trace": "1\n"}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)


KEYS = {
    "RED's minimum above its maximum": (
        'queue = { kind = "red", min_th = "60 kB", max_th = "30 kB" }',
        "my.toml:10: topology.bottleneck.queue: min_th = 60000 B is not below max_th = 30000 B\n"
        "  expected min_th below max_th\n"
        'hint: write max_th = "151400 B"',
    ),
    "RED's minimum above its maximum and the buffer": (
        'queue = { kind = "red", min_th = "200 packets", max_th = "10 packets" }',
        "my.toml:10: topology.bottleneck.queue: min_th = 302800 B is not below max_th = 15140 B\n"
        "  expected min_th below max_th\n"
        "hint: leave min_th and max_th out: they follow from the buffer",
    ),
    "RED's minimum in the upper half of the buffer": (
        'queue = { kind = "red", min_th = "60 packets" }',
        "my.toml:10: topology.bottleneck.queue: max_th = 272520 B is above the buffer\n"
        "  expected max_th at most 151400 B, or the queue would overflow before\n"
        'hint: write max_th = "151400 B", or raise the buffer',
    ),
    "ARED that cannot adapt": (
        'queue = { kind = "ared", max_p = "0 %" }',
        "my.toml:10: topology.bottleneck.queue: max_p = 0 % could never adapt\n"
        "  expected max_p above 0 %\n"
        'hint: write max_p = "10 %"',
    ),
    "RED that cannot adapt": (
        'queue = { kind = "red", adaptive = true, max_p = "0 %" }',
        "my.toml:10: topology.bottleneck.queue: max_p = 0 % could never adapt\n"
        "  expected max_p above 0 %\n"
        'hint: write max_p = "10 %"',
    ),
    "RED above the buffer": (
        'queue = { kind = "red", max_th = "200 kB" }',
        "my.toml:10: topology.bottleneck.queue: max_th = 200000 B is above the buffer\n"
        "  expected max_th at most 151400 B, or the queue would overflow before\n"
        'hint: write max_th = "75700 B", or raise the buffer',
    ),
    "unknown discipline": (
        'queue = "blue"',
        'my.toml:10: topology.bottleneck.queue = "blue": unknown\n'
        "  expected one of drop-tail, drop-head, red, ared, codel, fq-codel, pie, fq, cake, dualpi2",
    ),
    "a misspelt discipline": (
        'queue = "fqcodel"',
        'my.toml:10: topology.bottleneck.queue = "fqcodel": unknown\n'
        "  expected one of drop-tail, drop-head, red, ared, codel, fq-codel, pie, fq, cake, dualpi2\n"
        'hint: did you mean "fq-codel"?',
    ),
    "a misspelt discipline in its table": (
        'queue = { kind = "CoDel2" }',
        'my.toml:10: topology.bottleneck.queue.kind = "CoDel2": unknown\n'
        "  expected one of drop-tail, drop-head, red, ared, codel, fq-codel, pie, fq, cake, dualpi2\n"
        'hint: did you mean "codel"?',
    ),
    "a discipline without its kind": (
        'queue = { target = "5 ms" }',
        "my.toml:10: topology.bottleneck.queue.kind: missing\n"
        "  expected one of drop-tail, drop-head, red, ared, codel, fq-codel, pie, fq, cake, dualpi2",
    ),
    "ECN where nothing marks": (
        'queue = { kind = "drop-tail", ecn = true }',
        "my.toml:10: topology.bottleneck.queue.ecn = true: unknown key\n"
        "  expected one of kind, ce_threshold\n"
        "hint: ecn belongs in a queue that marks: red, codel, fq-codel or pie",
    ),
    "DualPI2's threshold in packets": (
        'queue = { kind = "dualpi2", min_th = "30 packets" }',
        'my.toml:10: topology.bottleneck.queue.min_th = "30 packets": unknown unit packets\n'
        '  expected a time with its unit (ns, us, ms, s, min), such as "30 ms"\n'
        'hint: for example "30 ms"',
    ),
    "a threshold in BDP": (
        'queue = { kind = "drop-tail", ce_threshold = "1 bdp" }',
        'my.toml:10: topology.bottleneck.queue.ce_threshold = "1 bdp": 1 bdp is not a threshold for marking\n'
        "  expected bytes, packets, or the time that a packet has waited\n"
        'hint: write "30 packets", "60 kB" or "1 ms"',
    ),
    "a threshold that is never reached": (
        'queue = { kind = "drop-tail", ce_threshold = "100 packets" }',
        'my.toml:10: topology.bottleneck.queue.ce_threshold = "100 packets": not below the buffer\n'
        "  expected less than 151.4 kB, or nothing would be marked\n"
        "hint: lower ce_threshold or raise the buffer",
    ),
    "CoDel's threshold in packets": (
        'queue = { kind = "codel", ce_threshold = "30 packets" }',
        'my.toml:10: topology.bottleneck.queue.ce_threshold = "30 packets": unknown unit packets\n'
        '  expected a time with its unit (ns, us, ms, s, min), such as "30 ms"\n'
        'hint: for example "30 ms"',
    ),
    "a weight above 1": (
        'queue = { kind = "red", weight = 2 }',
        "my.toml:10: topology.bottleneck.queue.weight = 2: out of range\n  expected at most 1.0",
    ),
    "correlation above 100 %": (
        'loss = { model = "correlated", rate = "1 %", correlation = "125 %" }',
        'my.toml:10: topology.bottleneck.loss.correlation = "125 %": more than 100 %\n'
        '  expected a correlation with its unit (%), such as "25 %"\n'
        'hint: for example "25 %"',
    ),
    "all the same for ever": (
        'jitter = { max = "5 ms", correlation = "100 %" }',
        'my.toml:10: topology.bottleneck.jitter.correlation = "100 %": nothing would ever change\n'
        "  expected a correlation below 100 %\n"
        'hint: write "25 %"',
    ),
    "loss above 100 %": (
        'loss = "101 %"',
        'my.toml:10: topology.bottleneck.loss = "101 %": more than 100 %\n'
        '  expected a percentage with its unit (%), such as "0.5 %"\n'
        'hint: for example "0.5 %"',
    ),
    "the second of two losses": (
        'loss = ["1 %", { model = "burst", rate = "1 %" }]',
        "my.toml:10: topology.bottleneck.loss.1.packets: missing\n"
        "  expected packets: packets in a row that each burst loses\n"
        "hint: add packets = 4",
    ),
    "unknown model": (
        'loss = { model = "gilbert", p = "1 %" }',
        'my.toml:10: topology.bottleneck.loss.model = "gilbert": unknown\n'
        "  expected one of independent, correlated, netem, gilbert-elliott, four-state, burst, periodic, trace\n"
        'hint: did you mean "gilbert-elliott"?',
    ),
    "a misspelt model, the second of two": (
        'loss = ["1 %", { model = "busrt", rate = "1 %" }]',
        'my.toml:10: topology.bottleneck.loss.1.model = "busrt": unknown\n'
        "  expected one of independent, correlated, netem, gilbert-elliott, four-state, burst, periodic, trace\n"
        'hint: did you mean "burst"?',
    ),
    "a key of another model": (
        'loss = { rate = "1 %", p = "1 %" }',
        'my.toml:10: topology.bottleneck.loss.p = "1 %": unknown key\n'
        "  expected one of position, model, rate\n"
        'hint: p belongs in a loss with model = "gilbert-elliott"',
    ),
    "an offset beyond the period": (
        'loss = { model = "periodic", every = 10, offset = 10 }',
        "my.toml:10: topology.bottleneck.loss: offset = 10 is not below every = 10\n"
        "  expected 0 to 9\n"
        "hint: leave offset out to lose the nth packet first",
    ),
    "ways out of a state above 100 %": (
        'loss = { model = "four-state", p13 = "60 %", p14 = "50 %" }',
        "my.toml:10: topology.bottleneck.loss: p13 and p14 make more than 100 %\n"
        "  expected at most 100 % for all ways out of a state\n"
        "hint: lower p13 or p14",
    ),
    "a loss trace without losses": (
        'loss = { model = "trace" }',
        "my.toml:10: topology.bottleneck.loss: neither file nor lost\n"
        "  expected one of them\n"
        "hint: write lost = [3, 17]",
    ),
    "a loss trace that falls": (
        'loss = { model = "trace", lost = [5, 3] }',
        "my.toml:10: topology.bottleneck.loss: lost does not rise\n"
        "  expected indices that rise, each once\n"
        "hint: write lost = [3, 17]",
    ),
    "a loss after the record": (
        'loss = { model = "trace", lost = [5], repeat = 5 }',
        "my.toml:10: topology.bottleneck.loss: packet 5 lies beyond repeat = 5\n"
        "  expected at least 6, the packets of the whole record\n"
        "hint: raise repeat",
    ),
    "a Pareto distribution without mean": (
        'jitter = { distribution = "pareto", min = "1 ms", shape = 1 }',
        "my.toml:10: topology.bottleneck.jitter: shape = 1.0 has no mean\n"
        "  expected a shape above 1\n"
        "hint: write shape = 3",
    ),
    "a minimum above the maximum": (
        'jitter = { min = "5 ms", max = "1 ms" }',
        "my.toml:10: topology.bottleneck.jitter: min = 5 ms is above max = 1 ms\n"
        "  expected min at most max\n"
        'hint: write min = "1 ms", max = "5 ms"',
    ),
    "unknown distribution": (
        'jitter = { distribution = "gamma", mean = "1 ms" }',
        'my.toml:10: topology.bottleneck.jitter.distribution = "gamma": unknown\n'
        "  expected one of uniform, normal, pareto, table",
    ),
    "a misspelt distribution": (
        'jitter = { distribution = "parteo", min = "1 ms", shape = 2 }',
        'my.toml:10: topology.bottleneck.jitter.distribution = "parteo": unknown\n'
        "  expected one of uniform, normal, pareto, table\n"
        'hint: did you mean "pareto"?',
    ),
    "reordering that is none": (
        'reorder = { rate = "1 %", delay = "15 ms" }',
        "my.toml:10: topology.bottleneck.reorder: a delay of 15 ms is not shorter than the link's\n"
        "  expected less than 15 ms, or nothing would be reordered\n"
        "hint: raise the link's delay",
    ),
    "a bucket below a frame": (
        'policer = { rate = "1 Mbit/s", burst = "1 kB" }',
        'my.toml:10: topology.bottleneck.policer.burst = "1 kB": too small\n'
        "  expected at least 1514 B, a full frame, or none could ever pass\n"
        'hint: write burst = "30 kB"',
    ),
    "slots' minimum above their maximum": (
        'slots = { min_interval = "5 ms", max_interval = "1 ms" }',
        "my.toml:10: topology.bottleneck.slots: min_interval = 5 ms is above max_interval = 1 ms\n"
        "  expected min_interval at most max_interval\n"
        'hint: write { interval = "2 ms" } or { min_interval = "1 ms", max_interval = "5 ms" }',
    ),
    "slots without interval": (
        "slots = { packets = 3 }",
        "my.toml:10: topology.bottleneck.slots: no interval\n"
        "  expected either interval, or min_interval and max_interval\n"
        'hint: write { interval = "2 ms" } or { min_interval = "1 ms", max_interval = "5 ms" }',
    ),
    "a delay line in ms": (
        'delay_line = "15 ms"',
        'my.toml:10: topology.bottleneck.delay_line = "15 ms": unknown unit ms\n'
        '  expected a number of packets with its unit (packets), such as "1000 packets"\n'
        'hint: for example "1000 packets"',
    ),
    "a loss file that does not rise": (
        'loss = { model = "trace", file = "lost.txt" }',
        'my.toml:10: topology.bottleneck.loss.file = "lost.txt": lost.txt:2: 5 after 5: not rising\n'
        "  expected the index of a lost packet per line, from 0, rising\n"
        "hint: three lines with 3, 17 and 18, say",
    ),
}


@pytest.mark.parametrize("case", KEYS)
def test_keys(case: str) -> None:
    given, expected = KEYS[case]
    assert refused(BASE.replace("buffer", f"{given}\nbuffer")) == expected


EVENTS = {
    "after the end": (
        'at = "20 s"\nrate = "1 Mbit/s"',
        'my.toml:17: events.0.at = "20 s": after the end of the run\n  expected less than the duration, 20 s',
    ),
    "unknown link": (
        'at = "1 s"\nlink = "s1-left"\nrate = "1 Mbit/s"',
        'my.toml:18: events.0.link = "s1-left": unknown\n  expected one of bottleneck, bottleneck-reverse',
    ),
    "nothing": (
        'at = "1 s"',
        "my.toml:16: events.0: changes nothing\n"
        "  expected at least one of the link's keys, or down_for\n"
        'hint: write { at = "10 s", rate = "20 Mbit/s" }',
    ),
    "down and something else": (
        'at = "1 s"\ndown_for = "1 s"\nrate = "1 Mbit/s"',
        "my.toml:16: events.0: down_for and rate\n  expected one of them\nhint: write another [[events]] for rate",
    ),
    "every without down_for": (
        'at = "1 s"\nrate = "1 Mbit/s"\nevery = "2 s"',
        "my.toml:16: events.0: every without down_for\n  expected down_for, too\nhint: leave every out",
    ),
    "until without every": (
        'at = "1 s"\ndown_for = "1 s"\nuntil = "2 s"',
        "my.toml:16: events.0: until without every\n  expected every, too\nhint: leave until out",
    ),
    "down for ever": (
        'at = "1 s"\ndown_for = "1 s"\nevery = "1 s"',
        "my.toml:16: events.0: every = 1 s: the link would never be up\n"
        "  expected more than down_for, 1 s\n"
        "hint: raise every",
    ),
    "too many": (
        'at = "1 s"\ndown_for = "1 us"\nevery = "2 us"',
        "my.toml:16: events: 19000000 changes in all\n  expected at most 10000\nhint: raise every, or shorten the run",
    ),
    "a BDP without a rate": (
        'at = "1 s"\nrate = "unlimited"\nbuffer = "1 bdp"',
        'my.toml:19: events.0.buffer = "1 bdp": no rate to measure the buffer by\n'
        '  expected bytes, packets or "unlimited" on a link without a rate\n'
        'hint: write buffer = "unlimited"',
    ),
    "until before at": (
        'at = "5 s"\ndown_for = "1 s"\nevery = "2 s"\nuntil = "4 s"',
        'my.toml:20: events.0.until = "4 s": before the first time\n  expected at least at, 5 s',
    ),
    "RED above the new buffer": (
        'at = "5 s"\nbuffer = "10 packets"\nqueue = { kind = "red", max_th = "20 packets" }',
        "my.toml:19: events.0.queue: max_th = 30280 B is above the buffer\n"
        "  expected max_th at most 15140 B, or the queue would overflow before\n"
        'hint: write max_th = "7570 B", or raise the buffer',
    ),
    "RED that was there above the new buffer": (
        'at = "1 s"\nqueue = "red"\n\n[[events]]\nat = "5 s"\nbuffer = "10 packets"',
        "my.toml:20: events.1.queue: max_th = 75700 B is above the buffer\n"
        "  expected max_th at most 15140 B, or the queue would overflow before\n"
        "hint: raise the buffer, or write a queue with other thresholds here, too",
    ),
}


@pytest.mark.parametrize("case", EVENTS)
def test_events(case: str) -> None:
    given, expected = EVENTS[case]
    assert refused(f"{BASE}\n[[events]]\n{given}\n") == expected


def test_red_that_a_direction_without_a_buffer_inherits() -> None:
    text = refused(BASE.replace('buffer = "100 packets"', 'queue = "red"\nreverse = { rate = "unlimited" }'))
    assert "topology.bottleneck.reverse.queue: no buffer to take thresholds from" in text
    assert text.endswith("hint: raise the buffer, or write a queue with other thresholds here, too")


def test_an_event_does_not_change_the_overhead() -> None:
    text = refused(f'{BASE}\n[[events]]\nat = "1 s"\noverhead = "24 B"\n')
    assert text.startswith('my.toml:18: events.0.overhead = "24 B": unknown key\n  expected one of up, rate, buffer,')
    assert text.endswith("hint: overhead belongs in topology.bottleneck")


@pytest.mark.parametrize("buffer", ["2 packets", "20 packets", "100 packets", "1600 B", "unlimited"])
@pytest.mark.parametrize(
    "thresholds",
    [
        'min_th = "30 packets", max_th = "10 packets"',
        'min_th = "15 packets", max_th = "200 packets"',
        'min_th = "1 packet", max_th = "1 packet"',
        'min_th = "60 packets"',
        'max_th = "1 B"',
        'max_th = "1 ns"',
        'min_th = "1 ns", max_th = "1 ns"',
    ],
)
def test_what_is_hinted_for_red_is_accepted(thresholds: str, buffer: str) -> None:
    def scenario(thresholds: str) -> str:
        queue = f'queue = {{ kind = "red", {thresholds} }}'
        return BASE.replace('buffer = "100 packets"', f'buffer = "{buffer}"\n{queue}')

    Path("my.toml").write_text(scenario(thresholds))
    try:
        load("my.toml")
    except ScenarioError as error:
        hint = re.search(r'hint: (?:write (max_th = "\d+ (?:B|packets)")|leave min_th and max_th out)', str(error))
        assert hint is not None
        kept = re.findall(r'min_th = "[^"]*"', thresholds) if hint[1] else []
        Path("my.toml").write_text(scenario(", ".join([*kept, hint[1]] if hint[1] else ["gentle = true"])))
        assert load("my.toml")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ('queue = { kind = "pie", t_update = "1 us" }', "at least 100 us"),
        ('queue = { kind = "dualpi2", t_update = "1 us" }', "at least 100 us"),
        ('slots = { interval = "1 us" }', "at least 10 us"),
        ('queue = { kind = "fq", flows = 100000 }', "at most 65536"),
        ('overhead = "100 kB"', "at most 65535 B"),
    ],
)
def test_bounds_that_keep_a_run_from_standing_still(given: str, expected: str) -> None:
    text = refused(BASE.replace("buffer", f"{given}\nbuffer"))
    assert "out of range" in text
    assert expected in text


def test_merging_needs_bursts() -> None:
    assert refused(BASE + '\n[emulate]\nmerge = "1 ms"\npath = "wire"\n') == (
        'my.toml:17: emulate.merge = "1 ms": there are no bursts on a wire\n'
        '  expected path = "gso"\n'
        'hint: write path = "gso", or leave path out'
    )


def test_the_reverse_direction_is_blamed_where_it_stands() -> None:
    text = BASE.replace(
        "[[flows]]", '[topology.bottleneck.reverse]\nqueue = { kind = "red", min_th = "1 MB" }\n\n[[flows]]'
    )
    assert refused(text).startswith("my.toml:13: topology.bottleneck.reverse.queue: max_th = 3000000 B is above")


def test_what_the_reverse_direction_inherits_is_blamed_once() -> None:
    text = refused(BASE.replace("buffer", 'queue = { kind = "red", max_th = "1 MB" }\nbuffer'))
    assert text.count("my.toml") == 1
