"""Every refusal names the file and line, the key, the value, what was expected, and what to do."""

from collections.abc import Callable
from pathlib import Path

import pytest
from refused import points_at_the_text

from dumbbell.errors import InputError, ScenarioError
from dumbbell.plan.algorithms import lacking
from dumbbell.plan.expand import expand
from dumbbell.scenario.file.loading import load

BASE = """\
name = "base"
duration = "20 s"
seed = 1

[topology]
kind = "dumbbell"
pairs = 2
rtt = "30 ms"
bottleneck = { rate = "100 Mbit/s", buffer = "1 bdp" }

[[flows]]
from = "s1"
to = "r1"
cc = "cubic"

[[flows]]
from = "s2"
to = "r2"
cc = "bbr"
start = "2 s"
"""


@pytest.fixture
def refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], str]:
    """Load the base with a text replaced (or put before it); return what is printed, and check the exit code."""
    monkeypatch.chdir(tmp_path)

    def refuse(old: str, new: str) -> str:
        assert old in BASE
        text = BASE.replace(old, new, 1) if old else new + BASE
        Path("my.toml").write_text(text)
        with pytest.raises(ScenarioError) as caught:
            load("my.toml")
        assert caught.value.exit_code == 2
        points_at_the_text(caught.value, text)
        return str(caught.value)

    return refuse


def test_the_base_is_fine(tmp_path: Path) -> None:
    path = tmp_path / "base.toml"
    path.write_text(BASE)
    assert len(expand(load(path)).flows) == 2


CASES = {
    "unknown key": (
        "seed = 1",
        "sed = 1",
        "my.toml:3: sed = 1: unknown key\n"
        "  expected one of name, description, duration, seed, starts, topology, events, flows, programs, hosts, "
        "record, emulate, simulate, sweep, repeat, expect, report, hunt\n"
        "hint: did you mean seed?",
    ),
    "key of another table": (
        'rtt = "30 ms"',
        'rtt = "30 ms"\nbuffer = "1 bdp"',
        'my.toml:9: topology.buffer = "1 bdp": unknown key\n'
        "  expected one of kind, mtu, pairs, bottleneck, rtt\n"
        "hint: buffer belongs in topology.bottleneck",
    ),
    "key of another kind of flow": (
        'start = "2 s"',
        'rate = "1 Mbit/s"',
        'my.toml:20: flows.1.rate = "1 Mbit/s": unknown key\n'
        "  expected one of id, from, to, connections, gap, arrivals, start, stop, port, ip, protocol, cc, mix, bytes, "
        "sizes, on, off, ecn\n"
        'hint: rate belongs in a flow with protocol = "udp"',
    ),
    "missing key": (
        'duration = "20 s"\n',
        "",
        'my.toml: duration: missing\n  expected duration: how long traffic flows\nhint: add duration = "20 s"',
    ),
    "missing key that may be a table": (
        'rate = "100 Mbit/s"',
        'loss = "1 %"',
        "my.toml:9: topology.bottleneck.rate: missing\n"
        "  expected rate: rate of whole frames; or a table, for a rate that changes by itself\n"
        'hint: add rate = "100 Mbit/s"',
    ),
    "missing key in a flow": (
        'to = "r2"\n',
        "",
        'my.toml:16: flows.1.to: missing\n  expected to: receiving host\nhint: add to = "r1"',
    ),
    "missing unit": (
        'rate = "100 Mbit/s"',
        'rate = "100"',
        'my.toml:9: topology.bottleneck.rate = "100": no unit\n'
        '  expected a rate with its unit (bit/s, kbit/s, Mbit/s, Gbit/s), such as "100 Mbit/s"\n'
        'hint: write "100 Mbit/s"',
    ),
    "a number for a quantity": (
        'duration = "20 s"',
        "duration = 20",
        "my.toml:2: duration = 20: no unit\n"
        '  expected a time with its unit (ns, us, ms, s, min), such as "20 s"\n'
        'hint: write "20 s" or "20 ms"',
    ),
    "zero duration": (
        'duration = "20 s"',
        'duration = "0 s"',
        'my.toml:2: duration = "0 s": zero\n  expected a time above zero\nhint: for example "20 s"',
    ),
    "negative rate": (
        'rate = "100 Mbit/s"',
        'rate = "-100 Mbit/s"',
        'my.toml:9: topology.bottleneck.rate = "-100 Mbit/s": negative\n'
        "  expected a rate that is not negative\n"
        'hint: for example "100 Mbit/s"',
    ),
    "unknown kind of topology": (
        'kind = "dumbbell"',
        'kind = "ring"',
        'my.toml:6: topology.kind = "ring": unknown\n  expected one of dumbbell, path, graph, '
        "parking-lot, star, linear, tree, torus, fat-tree",
    ),
    "unknown protocol": (
        'cc = "cubic"',
        'protocol = "sctp"',
        'my.toml:14: flows.0.protocol = "sctp": unknown\n'
        '  expected protocol = "tcp" (the default), "udp", "ping", "rpc", "quic", or a command',
    ),
    "unknown host": (
        'from = "s2"',
        'from = "s3"',
        'my.toml:17: flows.1.from = "s3": unknown host\n  expected one of s1, s2, r1, r2',
    ),
    "to itself": (
        'to = "r2"',
        'to = "s2"',
        'my.toml:18: flows.1.to = "s2": sender and receiver are the same host\n  expected two different hosts',
    ),
    "start after the end": (
        'start = "2 s"',
        'start = "20 s"',
        'my.toml:20: flows.1.start = "20 s": after the end of the run\n  expected less than the duration, 20 s',
    ),
    "stop before start": (
        'start = "2 s"',
        'start = "2 s"\nstop = "2 s"',
        'my.toml:21: flows.1.stop = "2 s": not after the start\n  expected more than start, 2 s',
    ),
    "stop after the end": (
        'start = "2 s"',
        'stop = "21 s"',
        'my.toml:20: flows.1.stop = "21 s": after the end of the run\n'
        "  expected at most the duration, 20 s\n"
        "hint: leave stop out for a flow that lasts until the end",
    ),
    "two flows on one port": (
        'cc = "cubic"\n\n[[flows]]\nfrom = "s2"\nto = "r2"',
        'port = 80\n\n[[flows]]\nfrom = "s2"\nto = "r1"\nport = 80',
        "my.toml:19: flows.1.port = 80: port 80 of r1 is taken by flow f1\n"
        "  expected a port of its own\n"
        "hint: leave port out: every flow then gets one of its own",
    ),
    "a text for a port": (
        'start = "2 s"',
        'port = "80"',
        'my.toml:20: flows.1.port = "80": not an integer\n  expected a whole number, without quotes',
    ),
    "a text for a switch": (
        'start = "2 s"',
        'ecn = "yes"',
        'my.toml:20: flows.1.ecn = "yes": neither true nor false\n  expected true or false, without quotes',
    ),
    "two flows of one name": (
        'start = "2 s"',
        'id = "f1"',
        'my.toml:20: flows.1.id = "f1": two flows are named f1\n'
        "  expected a name of its own (default: f1, f2, ... by position)",
    ),
    "name of the rest": (
        'start = "2 s"',
        'id = "other"',
        'my.toml:20: flows.1.id = "other": reserved for packets of no flow\n  expected another name',
    ),
    "too many RTTs": (
        'rtt = "30 ms"',
        'rtt = ["30 ms", "20 ms", "10 ms"]',
        "my.toml:8: topology.rtt: 3 values\n"
        "  expected one value, or one for each of the 2 pairs\n"
        'hint: write rtt = "30 ms" for all pairs',
    ),
    "no item in a list": (
        'rtt = "30 ms"',
        "rtt = []",
        "my.toml:8: topology.rtt: no values\n"
        "  expected one value, or one for each of the pairs\n"
        'hint: write rtt = "30 ms" for all pairs',
    ),
    "bad item of a list over several lines": (
        'rtt = "30 ms"',
        'rtt = [\n  "30 ms",\n  "20",\n]',
        'my.toml:10: topology.rtt.1 = "20": no unit\n'
        '  expected a time with its unit (ns, us, ms, s, min), such as "30 ms"\n'
        'hint: write "20 s" or "20 ms"',
    ),
    "BDP without a rate": (
        'rate = "100 Mbit/s"',
        'rate = "unlimited"',
        'my.toml:9: topology.bottleneck.buffer = "1 bdp": no rate to measure the buffer by\n'
        '  expected bytes, packets or "unlimited" on a link without a rate\n'
        'hint: write buffer = "unlimited"',
    ),
    "time without a rate": (
        'rate = "100 Mbit/s", buffer = "1 bdp"',
        'rate = "unlimited", buffer = "30 ms"',
        'my.toml:9: topology.bottleneck.buffer = "30 ms": no rate to measure the buffer by\n'
        '  expected bytes, packets or "unlimited" on a link without a rate\n'
        'hint: write buffer = "unlimited"',
    ),
    "a buffer beyond all memory": (
        'rate = "100 Mbit/s", buffer = "1 bdp"',
        'rate = "9000000000 Gbit/s", buffer = "9000000000 s"',
        'my.toml:9: topology.bottleneck.buffer = "9000000000 s": too large\n'
        "  expected at most 9223372036854775807 bytes\n"
        'hint: write buffer = "unlimited"',
    ),
    "a buffer below a frame": (
        'buffer = "1 bdp"',
        'buffer = "1513 B"',
        'my.toml:9: topology.bottleneck.buffer = "1513 B": too small\n'
        "  expected at least 1514 B, one full frame, or no full segment could ever wait\n"
        'hint: write buffer = "1 packet" for the smallest useful buffer',
    ),
    "a delay beyond the RTT": (
        'buffer = "1 bdp"',
        'delay = "20 ms", reverse = { delay = "20 ms" }',
        'my.toml:9: topology.bottleneck.delay = "20 ms": too long\n'
        "  expected at most the smallest base RTT, 30 ms, for both directions together (they take 40 ms)\n"
        "hint: lower the delay or raise topology.rtt",
    ),
    "a sysctl of the machine": (
        "",
        'hosts.sysctl."kernel.panic" = 1\n',
        'my.toml:1: hosts.sysctl."kernel.panic" = 1: not a namespaced sysctl\n'
        '  expected one such as "net.ipv4.tcp_sack"',
    ),
    "a sysctl that leaves its folder": (
        "",
        'hosts.sysctl."net./../kernel" = 1\n',
        'my.toml:1: hosts.sysctl."net./../kernel" = 1: not a namespaced sysctl\n'
        '  expected one such as "net.ipv4.tcp_sack"',
    ),
    "settings of an unknown host": (
        "",
        'hosts.s9.sysctl."net.ipv4.tcp_sack" = 1\n',
        "my.toml:1: hosts.s9: unknown host\n  expected one of s1, s2, r1, r2",
    ),
    "sampling faster than the clock allows": (
        "",
        'record.sample_interval = "1 us"\n',
        'my.toml:1: record.sample_interval = "1 us": out of range\n  expected at least 1 ms',
    ),
    "hosts that disagree on ECN": (
        'cc = "cubic"',
        'ecn = true\n[[flows]]\nfrom = "s1"\nto = "r2"\n',
        "my.toml:15: flows.1.ecn: another flow from s1 asks for ECN\n"
        "  expected the same for all TCP flows from one host (Linux negotiates ECN per host)\n"
        "hint: set ecn = true here, too, or use another host",
    ),
    "a misspelt placeholder": (
        'cc = "cubic"',
        'command = "iperf3 -c {sever}"',
        'my.toml:14: flows.0.command = "iperf3 -c {sever}": unknown placeholder {sever}\n'
        "  expected {server}, {client}, {port}, {duration}, {cc}\n"
        "hint: did you mean {server}?",
    ),
    "TOML without quotes": (
        'duration = "20 s"',
        "duration = 20 s",
        "my.toml:2:15: not TOML: Expected newline or end of document after a statement\n"
        "  duration = 20 s\n"
        "                ^\n"
        'hint: texts and quantities stand in quotes, such as duration = "20 s"',
    ),
    "TOML with semicolons": (
        'from = "s1"\nto = "r1"',
        'from = "s1"; to = "r1"',
        "my.toml:12:12: not TOML: Expected newline or end of document after a statement\n"
        '  from = "s1"; to = "r1"\n'
        "             ^\n"
        "hint: TOML takes one key per line (no semicolons), or an inline table: { a = 1, b = 2 }",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_refusal(case: str, refusal: Callable[[str, str], str]) -> None:
    old, new, expected = CASES[case]
    assert refusal(old, new) == expected


def test_all_problems_at_once(refusal: Callable[[str, str], str]) -> None:
    text = refusal('from = "s1"', 'from = "s7"\nport = 5002\nstop = "1 h"')
    assert text.startswith('my.toml:14: flows.0.stop = "1 h": unknown unit h')
    text = refusal('from = "s1"', 'from = "s7"\nstop = "1 min"')
    assert [line.split(":")[1] for line in text.splitlines() if line.startswith("my.toml")] == ["12", "13"]


def test_algorithms_of_the_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my.toml").write_text(BASE.replace('"bbr"', '"bbr1"'))
    scenario = load("my.toml")
    assert [problem.text() for problem in lacking(scenario, ["reno", "cubic", "bbr"])] == [
        'my.toml:19: flows.1.cc = "bbr1": this kernel has no such congestion control\n'
        "  expected one of bbr, cubic, reno, or dumbbell's bbr2, bbr3, bpf_cubic, bpf_dctcp, "
        "bpf_htcp, bpf_reno, bpf_westwood\n"
        "hint: did you mean bbr? If it is a module, load it: sudo modprobe tcp_bbr1"
    ]
    assert lacking(scenario, ["reno", "cubic", "bbr1"]) == []


def test_a_scenario_without_a_file_is_checked_too() -> None:
    data = {
        "name": "x",
        "duration": "1 s",
        "topology": {"kind": "path", "rtt": "1 ms", "bottleneck": {"rate": "1 Mbit/s"}},
        "flows": [{"from": "h1", "to": "h3"}],
    }
    with pytest.raises(ScenarioError, match=r'^scenario: flows.0.to = "h3": unknown host'):
        load(data)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("bbr-vs-cubik", "no bundled scenario is named bbr-vs-cubik\nhint: did you mean bbr-vs-cubic?"),
        ("./bse.toml", "bse.toml: no such file\nhint: did you mean base.toml?"),
        ("base", "no bundled scenario is named base\nhint: a path has a / or ends in .toml: ./base"),
        ("./", ".: cannot read the scenario\n  Is a directory"),
        (
            "latin.toml",
            "latin.toml: not TOML\n  byte 0xe9 at offset 8 is no UTF-8\nhint: a scenario is a text file in UTF-8",
        ),
    ],
)
def test_names_that_lead_nowhere(name: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("base.toml").write_text(BASE)
    Path("base").write_text(BASE)
    Path("latin.toml").write_bytes('name = "é"'.encode("latin-1"))
    with pytest.raises(InputError) as caught:
        load(name)
    assert str(caught.value) == expected
    assert caught.value.exit_code == 2
