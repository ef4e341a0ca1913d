"""Diagnoses of simulated captures whose cause is known: each rule finds its cause, and not its opposite."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from made_capture import lossy

import dumbbell
from dumbbell.captures.diagnosis import Cause, Diagnosis, Evidence, cause_of, diagnose
from dumbbell.captures.points import PLACES, interfaces
from dumbbell.cli import invoke
from dumbbell.report.captured.diagnosed import sentences

_SCENARIO = """
name = "captured"
duration = "{duration}"
record = {{ capture = true }}
[topology]
kind = "path"
rtt = "{rtt} ms"
bottleneck = {{ {link}rate = "{rate} Mbit/s", buffer = "{buffer} bdp" }}
[hosts.h1]
sysctl = {{ {sender} }}
[hosts.h2]
sysctl = {{ {sysctl} }}
[[flows]]
from = "h1"
to = "h2"
cc = "{cc}"
{flow}
"""


def simulated(folder: Path, cc: str = "cubic", buffer: float = 1, **more: Any) -> list[tuple[Diagnosis, str]]:
    """The diagnosis and its sentences of a flow's data, captured at its sender and at its receiver."""
    file = folder / "captured.toml"
    given = {"rate": 50, "rtt": 40, "duration": "12 s", "link": "", "sender": "", "sysctl": "", "flow": ""} | more
    given["link"] += ", " if given["link"] else ""
    file.write_text(_SCENARIO.format(cc=cc, buffer=buffer, **given), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(dumbbell.Run, "report", lambda run: run.directory / "report.html")
        run = dumbbell.run(str(file), {}, folder, engine="simulate")
    assert isinstance(run, dumbbell.Run)
    found = []
    for at in PLACES:
        capture = dumbbell.pcap(
            run.directory / "capture.pcapng", output=folder / at, interfaces=interfaces(run.plan, at)
        )
        rows = capture.largest(20)
        found += [(one, " ".join(sentences(row, one))) for row, one in zip(rows, diagnose(capture, rows), strict=True)]
    return found


_WINDOW = '"net.ipv4.tcp_rmem" = "4096 65536 65536"'
_JITTER = 'jitter = { mean = "4 ms", sd = "2 ms", distribution = "normal" }, reordering = true'


@pytest.mark.parametrize(
    ("cause", "given"),
    [
        (Cause.WINDOW, {"sysctl": _WINDOW}),
        (Cause.APPLICATION, {"flow": 'on = "300 ms"\noff = "700 ms"'}),
        (Cause.REORDERING, {"link": _JITTER}),
        (Cause.OVERFLOW, {}),
        (Cause.OVERFLOW, {"buffer": 0.1}),
        (Cause.OVERFLOW, {"buffer": 0.3, "cc": "reno", "rate": 20}),
        (Cause.POLICER, {"link": 'policer = { rate = "10 Mbit/s", burst = "60 kB" }'}),
        (Cause.POLICER, {"link": 'policer = { rate = "10 Mbit/s", burst = "200 kB" }', "cc": "reno"}),
        (Cause.POLICER, {"link": 'policer = { rate = "10 Mbit/s", burst = "60 kB" }', "cc": "bbr"}),
        (Cause.SLOW_START, {"rate": 100, "flow": 'bytes = "200 kB"'}),
        (Cause.QUEUE, {"buffer": 4, "cc": "bbr3"}),
        (Cause.QUEUE, {"rate": 5, "buffer": 30, "flow": 'bytes = "3 MB"'}),
        (Cause.SHORT, {"flow": 'bytes = "3 kB"'}),
    ],
)  # fmt: skip
def test_the_cause_is_found_at_the_sender_and_at_the_receiver(
    tmp_path: Path, cause: Cause, given: dict[str, Any]
) -> None:
    for one, said in simulated(tmp_path, **given):
        assert one.cause is cause, said
        if cause in (Cause.OVERFLOW, Cause.QUEUE) and one.bottleneck_bps is not None:
            assert one.bottleneck_bps == pytest.approx(given.get("rate", 50) * 1e6, rel=0.03), said
        if given.get("buffer", 1) >= 1 and cause in (Cause.OVERFLOW, Cause.QUEUE):
            assert one.bottleneck_bps is not None
        if cause is Cause.POLICER:
            assert one.bottleneck_bps == pytest.approx(10e6, rel=0.05), said


_NOT_SEEN = "the cause can't be told here: the capture saw neither"
_AT_BASE = "Random loss, a policer, or a buffer shorter than"
_POLICER = 'policer = {{ rate = "10 Mbit/s", burst = "{} kB" }}'
_ON_OFF = {"buffer": 0.3, "rate": 20, "flow": 'on = "3 s"\noff = "2 s"'}
_FAST = {"rate": 1000, "duration": "4 s"}
_STEP = '[[events]]\nat = "4 s"\ndelay = "120 ms"'


@pytest.mark.parametrize(
    ("given", "at_sender", "at_receiver"),
    [
        # Random loss is told where RTTs of the lost packets' neighbours are seen.
        ({"buffer": 2, "link": 'loss = "0.34 %"'}, _AT_BASE, _NOT_SEEN),
        (_FAST | {"buffer": 2, "link": 'loss = "0.5 %"', "cc": "reno"}, _AT_BASE, _NOT_SEEN),
        (_FAST | {"link": 'loss = "0.01 %"', "rtt": 10}, "the cause can't be told (queue", _NOT_SEEN),
        ({"link": 'loss = "2 %"', "cc": "bbr", "rate": 20}, "the cause can't be told", _NOT_SEEN),
        ({"buffer": 0.02, "cc": "bbr"}, _AT_BASE, _NOT_SEEN),
        # Most packets were lost when slow start filled the queue, and on most occasions others at random.
        ({"cc": "vegas", "link": 'loss = "0.1 %"'}, "the cause can't be told (queue", _NOT_SEEN),
        # Queues and policers seen from the receiver look like losses by chance.
        ({"buffer": 0.03, "duration": "15 s"}, "the cause can't be told (queue", _NOT_SEEN),
        (_ON_OFF, "A queue overflows", _NOT_SEEN),
        ({"rtt": 30, "rate": 100, "link": _POLICER.format(60), "duration": "15 s"}, "A policer", _NOT_SEEN),
        ({"rate": 100, "link": _POLICER.format(500), "duration": "15 s"}, "A policer", _NOT_SEEN),
        # What is in flight is seen at the sender.
        ({"sysctl": _WINDOW}, "at most 40.5 kB", "what was in flight is not seen here"),
        # The path became longer: RTTs tell no queue.
        ({"cc": "vegas", "flow": _STEP}, "the cause can't be told", _NOT_SEEN),
        # Losses at the start only.
        ({"cc": "bbr", "buffer": 2}, "A queue overflowed during slow start", "A queue overflowed during slow start"),
        ({"cc": "vegas"}, "bottleneck was full without a loss", "bottleneck was full without a loss"),
        # A queue that never stands does not tell that the bottleneck limits.
        ({"rtt": 20, "flow": 'on = "20 kB"\noff = "10 ms"'}, "The limit can't be told", "The limit can't be told"),
        (
            {"rtt": 60, "rate": 100, "sender": '"net.ipv4.tcp_wmem" = "4096 65536 65536"'},
            "The limit can't be told",
            "The limit can't be told",
        ),
        ({"rtt": 1200, "rate": 20, "duration": "20 s"}, "The bottleneck limits", "The bottleneck limits"),
        # Marks, lost SYNs, and lost ACKs.
        ({"buffer": 2, "link": 'mark = "1 %"', "flow": "ecn = true"}, "by ECN: ECE on", "by ECN: CE on"),
        (
            {"rtt": 100, "link": 'loss = { model = "trace", lost = [0, 1] }', "flow": 'bytes = "40 kB"'},
            "2 SYNs came again: as many were lost",
            "",
        ),
        (
            {"duration": "15 s", "link": 'reverse = { rate = "300 kbit/s", buffer = "50 packets" }'},
            "A queue overflows",
            "A queue overflows",
        ),
    ],
)  # fmt: skip
def test_claims_do_not_exceed_the_figures(
    tmp_path: Path, given: dict[str, Any], at_sender: str, at_receiver: str
) -> None:
    (_, sender), (_, receiver) = simulated(tmp_path, **given)
    assert at_sender in sender
    assert at_receiver in receiver
    assert "no queue overflowed" not in sender + receiver
    if "loss" not in given.get("link", "") and at_sender != _AT_BASE:
        assert "Random loss" not in sender + receiver
    if "SYN" not in at_sender:
        assert "SYN" not in sender or given["rtt"] > 1000


def test_a_share_of_the_bottleneck_is_not_called_its_rate(tmp_path: Path) -> None:
    """Forty connections share 50 Mbit/s, and all losses are drops of the queue."""
    found = simulated(tmp_path, duration="6 s", flow="connections = 40")
    assert len(found) == 2 * 20
    for one, said in found:
        assert one.cause in (Cause.OVERFLOW, Cause.START, Cause.LOSSES), said
        assert one.bottleneck_bps is None or "of this connection while a queue stood, beside other traffic" in said
    assert sum(one.cause is Cause.OVERFLOW for one, _ in found[:20]) > 5


def test_a_lossy_download_says_that_no_queue_stood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The operator's case: 0.34 % of the packets are lost at random, and CUBIC takes them for congestion."""
    monkeypatch.chdir(tmp_path)
    simulated(tmp_path, buffer=2, link='loss = "0.34 %"')
    assert invoke(["pcap", "sender"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Random loss, a policer, or a buffer shorter than 2.01 ms: 0." in shown
    assert "the queue was no longer than that: the RTT was at its minimum of 40.2 ms." in shown
    assert "The bottleneck's rate can't be told" in shown
    page = Path("sender/report.html").read_text(encoding="utf-8")
    assert "the queue was no longer than that" in page
    assert "<td>random loss or short buffer</td>" in page
    assert invoke(["pcap", "sender", "--json", "--no-report"]) == 0
    told = json.loads(capsys.readouterr().out)["connections"][0]["to_server"]["diagnosis"]
    assert told["cause"] == "random loss or short buffer"
    assert told["lost_packets"] / told["sent_packets"] == pytest.approx(0.0034, rel=0.5)
    assert told["base_rtt_ns"] == pytest.approx(40e6, rel=0.02)
    assert told["bottleneck_bps"] is None


def test_copies_of_the_network_were_not_sent_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """copies-on-a-router.toml with a larger buffer: the network doubles 1 %, the sender repeats nothing."""
    simulated(tmp_path, "reno", 40, rate=20, link='duplicate = "1 %"', flow='bytes = "2 MB"')
    for at in PLACES:
        capture = dumbbell.pcap(tmp_path / at)
        row = capture.largest(1)[0]
        assert row["network_duplicates"] > 0
        assert invoke(["pcap", str(tmp_path / at), "--no-report"]) == 0
        lines = capsys.readouterr().out.splitlines()
        head = next(line for line in lines if line.startswith("connection "))
        first = lines[lines.index(head) + 1]
        assert first[head.index("sent again") :].split()[0] == "0"


def test_a_capture_of_two_places_says_that_its_causes_are_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run's own capture, copied out of its directory, holds each packet at sender and receiver."""
    simulated(tmp_path, duration="1 s")
    (run,) = tmp_path.glob("captured-*")
    (tmp_path / "slow.pcapng").write_bytes((run / "capture.pcapng").read_bytes())
    command = ["pcap", str(tmp_path / "slow.pcapng"), "--no-report", "--output", str(tmp_path / "out")]
    assert invoke(command) == 0
    assert "it was taken at several places of the path" in capsys.readouterr().out
    one = ["--interface", "bottleneck:in", "--interface", "bottleneck-reverse:out"]
    assert invoke([*command, *one]) == 0
    assert "several places" not in capsys.readouterr().out


def test_without_a_round_trip_no_queue_is_excluded() -> None:
    limits = {"window": 0, "application": 0, "network": 10}
    assert cause_of(Evidence(limits, 1000, base_rtt_ns=None, queue_ns=None)) is Cause.UNKNOWN
    assert cause_of(Evidence(limits, 1000, base_rtt_ns=1e7, queue_ns=0.0)) is Cause.SENDER


def test_too_little_is_not_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "trace.pcap").write_bytes(lossy())
    assert invoke(["pcap", str(tmp_path / "trace.pcap"), "--output", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr().out
    assert "Losses: 9.1 % of the packets were lost (1); the cause can't be told." in shown
