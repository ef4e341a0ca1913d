"""Logs that `dumbbell fit` reads: real ones of known paths, and damaged, empty, huge and foreign ones."""

from __future__ import annotations

import gzip
import json
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from dumbbell.cli import invoke
from dumbbell.errors import DumbbellError, InputError
from dumbbell.fitting import fit
from dumbbell.fitting.logs import document, source, ss
from dumbbell.fitting.logs.forms import FORMS, form_of
from dumbbell.fitting.logs.times import time_of
from dumbbell.fitting.whatif import changes, what_if
from dumbbell.fitting.words import answer

DATA = Path(__file__).parent / "data/fit"
"""Logs of a transfer each, between two network namespaces over Linux 6.18, by iperf 3.12, iproute2 6.1 and aioquic 1.7:
20 Mbit/s (qlog: 4), 40 ms, a buffer of 150 kB (qlog: 40 kB)."""
JUNK = (b"9", b"-", b"\n", b"e30", b'"', b"\xff", b"[[")
REAL = {
    "iperf3.json": "iperf3 --json",
    "iperf3-reverse.json": "iperf3 --json",
    "ss.log.gz": "log of ss -ti",
    "aioquic.qlog.gz": "qlog",
}
TRACE = "".join(f"{at}\n" for at in range(1, 400))
TABLE = "time_s,rate_Mbps,rtt_ms\n" + "".join(f"{at / 10},{9 + at % 2},{40 + at % 30}\n" for at in range(1, 100))
QLOG = [
    {"file_schema": "urn:ietf:params:qlog:file:sequential", "trace": {"common_fields": {"time_format": "delta"}}},
    *(
        event
        for at in range(40)
        for event in (
            {
                "time": 5,
                "name": "quic:packet_sent",
                "data": {"header": {"packet_type": "1RTT", "packet_number": at}, "raw": {"length": 1200}},
            },
            {"time": 5, "name": "quic:packets_acked", "data": {"packet_numbers": [at]}},
        )
    ),
]
SEQUENCE = "".join(f"\x1e{json.dumps(one)}\n" for one in QLOG)


def content(name: str) -> bytes:
    data = (DATA / name).read_bytes()
    return gzip.decompress(data) if name.endswith(".gz") else data


def samples() -> dict[str, bytes]:
    """A sound file of each form."""
    made = {"up.trace": TRACE.encode(), "table.csv": TABLE.encode(), "seq.qlog": SEQUENCE.encode()}
    return {**{name: content(name) for name in REAL}, **made}


@pytest.mark.parametrize(("name", "title"), REAL.items())
def test_a_form_is_recognised_by_its_content(name: str, title: str, tmp_path: Path) -> None:
    file = tmp_path / "anything"
    file.write_bytes((DATA / name).read_bytes())
    form = form_of(file)
    assert form is not None
    assert form.title == title


def test_each_file_has_one_form_and_a_capture_none(tmp_path: Path) -> None:
    for data in samples().values():
        assert sum(form.is_form(data[: source.HEAD]) for form in FORMS) == 1
    captures = (b"\xd4\xc3\xb2\xa1" + bytes(200), b"\n\r\r\n" + bytes(200))
    for foreign in (*captures, b"", b"hello, world\n" * 9, b"{}", b"[1]"):
        assert not any(form.is_form(foreign) for form in FORMS)


def test_a_real_log_of_ss_tells_rate_base_and_buffer() -> None:
    one = fit(DATA / "ss.log.gz")
    available, base = one.rate.available, one.base_rtt
    assert available.low is not None
    assert available.high is not None
    assert available.low <= 20e6 <= available.high
    assert base.value == pytest.approx(40e6, abs=0.3e6)
    assert one.losses.buffer.low is not None
    assert 120e3 <= one.losses.buffer.low <= 150e3
    assert one.transfer.cc == "cubic"
    assert answer(one)[0] == "The bottleneck is full: it limits this transfer, and gives it 20 Mbit/s."


def test_a_socket_is_chosen_by_its_address_or_number() -> None:
    by_number, by_end = fit(DATA / "ss.log.gz", 2), fit(DATA / "ss.log.gz", "10.0.0.1:42956")
    assert by_number.as_json() == by_end.as_json() == fit(DATA / "ss.log.gz").as_json()
    with pytest.raises(InputError, match="has no connection 9"):
        fit(DATA / "ss.log.gz", 9)
    with pytest.raises(InputError, match="shows no transfer"):
        fit(DATA / "ss.log.gz", 1)  # iperf3's control connection


def test_a_real_iperf3_log_tells_the_rate_and_not_the_base() -> None:
    one = fit(DATA / "iperf3.json")
    available = one.rate.available
    assert available.low is not None
    assert available.high is not None
    assert available.low <= 20e6 <= available.high
    assert not one.base_rtt.is_identifiable
    assert one.base_rtt.high is not None
    assert one.base_rtt.high >= 40e6
    assert "nothing shows that the queue was empty" in one.base_rtt.why_not


def test_a_receivers_iperf3_log_has_no_delays() -> None:
    one = fit(DATA / "iperf3-reverse.json", 7)
    assert one.transfer.side == "receiver"
    assert "no delays" in one.rate.available.why_not
    why = "the iperf3 log has no delays, so it does not tell whether packets queued"
    assert answer(one)[0] == f"What limits this transfer cannot be told from this file, because {why}."
    with pytest.raises(InputError, match="no path to repeat"):
        what_if(one, changes(["cc=bbr"]))
    with pytest.raises(InputError, match="has no stream 6"):
        fit(DATA / "iperf3-reverse.json", 6)


def test_a_real_qlog_tells_the_rate() -> None:
    one = fit(DATA / "aioquic.qlog.gz")
    available = one.rate.available
    assert available.low is not None
    assert available.high is not None
    assert available.low <= 4e6 <= available.high
    assert one.base_rtt.value is None
    assert one.base_rtt.high is not None
    assert one.base_rtt.high >= 40e6


def test_times_of_qlog_count_from_the_event_before_if_it_says_so(tmp_path: Path) -> None:
    file = tmp_path / "delta.qlog"
    file.write_text(SEQUENCE)
    assert fit(file).transfer.seconds == pytest.approx(0.39, abs=0.001)
    whole = {"qlog_version": "0.3", "traces": [{**QLOG[0]["trace"], "events": QLOG[1:]}]}  # type: ignore[dict-item]
    file.write_text(json.dumps(whole))
    assert fit(file).transfer.seconds == pytest.approx(0.39, abs=0.001)


@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        ("1796034089.481061409", 1796034089.481061409),
        ("1796034089481 ESTAB 0 0", 1796034089.481),
        ("1796034089", 1796034089.0),
        ("2026-11-30T10:17:15,250000000+00:00", 37035.25),
        ("2026-11-30 10:17:15.250 ESTAB", 37035.25),
        ("Mon Nov 30 10:17:15 UTC 2026", 37035.0),
        ("Mon Nov 30 10:17:15 PM UTC 2026", 37035.0 + 43200),
        ("Mon 30 Nov 2026 10:17:15 AM UTC", 37035.0),
        ("Nov 30 10:17:15 ESTAB 0 0", 37035.0),
        ("00:00:07 ESTAB 0 0", 7.0),
        ("ESTAB 0 0 10.0.0.1:42950 10.0.1.1:5201 cubic", None),
        ("\t cubic wscale:7,7 rto:244", None),
    ],
)
def test_times_of_date_and_ts_are_read(line: str, seconds: float | None) -> None:
    stamp = time_of(line)
    assert (None if stamp is None else stamp[0]) == (None if seconds is None else pytest.approx(seconds))


def test_a_log_in_two_lines_a_socket_with_whole_seconds_says_less(tmp_path: Path) -> None:
    """`while sleep 0.1; do date; ss -ti; done`, as people type it."""
    lines = []
    for line in content("ss.log.gz").decode().splitlines():
        if line[:2] == "17":
            second = int(float(line)) - 1796034089
            lines.append(f"Mon Nov 30 10:21:{second % 60:02} UTC 2026")
            lines.append("State    Recv-Q Send-Q Local Address:Port  Peer Address:PortProcess")
        else:
            head, algorithm, tail = line.partition(" cubic ")
            lines += [head, f"\t {algorithm.strip()} {tail}"] if algorithm else [line]
    file = tmp_path / "ss.log"
    file.write_text("\n".join(lines) + "\n")
    one, exact = fit(file), fit(DATA / "ss.log.gz")
    assert one.base_rtt.value == pytest.approx(exact.base_rtt.value, rel=0.01)
    assert one.transfer.goodput_bps == pytest.approx(exact.transfer.goodput_bps, rel=0.1)
    low, high = one.rate.available.low, one.rate.available.high
    assert low is not None
    assert low <= 20e6
    assert high is None or high >= 20e6


def test_a_log_without_times_counts_while_the_sender_was_busy(tmp_path: Path) -> None:
    file = tmp_path / "ss.log"
    file.write_text("\n".join(line for line in content("ss.log.gz").decode().splitlines() if line[:2] != "17"))
    assert fit(file).rate.available.value == pytest.approx(20e6, rel=0.03)


def test_limits_that_the_kernel_counts_are_the_answer(tmp_path: Path) -> None:
    text = content("ss.log.gz").decode()
    lines, held = [], 0
    for line in text.splitlines():
        held += 100
        lines.append(line.replace(" rcv_space", f" sndbuf_limited:{held // 2}ms(90%) rcv_space"))
    file = tmp_path / "ss.log"
    file.write_text("\n".join(lines))
    assert answer(fit(file))[0].startswith("The sender's socket buffer limits this transfer")
    assert not fit(file).rate.available.is_identifiable


def test_the_command_answers_first_and_writes_a_scenario(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "path.toml"
    assert invoke(["fit", str(DATA / "ss.log.gz"), "-o", str(out)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("The bottleneck is full")
    assert "not identifiable" in printed
    assert 'cc = "cubic"' in out.read_text()
    assert invoke(["fit", str(DATA / "iperf3.json"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["source"] == "iperf3 log"
    assert told["estimates"]["available"]["identifiable"] is True
    assert told["estimates"]["capacity"]["why_not"]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("iperf.json", '{"start": {"version": "iperf 3.12"}, "intervals": [], "end": {}}', "has no intervals"),
        ("iperf.json", '{"start": {}, "intervals": [], "end": {}, "error": "refused"}', "iperf3 failed"),
        ("iperf.json", '{"start": {}, "intervals": [', "cannot be read as JSON"),
        ("iperf.json", '{"start": {"test_start": {"protocol": "UDP"}}, "intervals": []}', "no transfer of TCP"),
        ("iperf.json", '{"start": ' + "[" * 5000, "cannot be read as JSON"),
        ("old.qlog", '{"qlog_version": "draft-02", "traces": [{"events": [["0", "transport"]]}]}', "cannot be read"),
        ("empty.qlog", '{"qlog_version": "0.3", "traces": []}', "has no packets"),
        ("empty.qlog", '\x1e{"qlog_format": "JSON-SEQ", "trace": {}}\n\x1e{"tim', "has no packets"),
        ("idle.log", "1796034089\nESTAB 0 0 1.1.1.1:1 2.2.2.2:2 cubic rtt:1/1 cwnd:10 mss:1448\n", "has no sender"),
        ("once.log", "ESTAB 0 0 1.1.1.1:1 2.2.2.2:2 cubic cwnd:10 bytes_acked:9000 busy:9ms\n", "shows no transfer"),
        ("down.trace", "5\n7\n9\n3\n", "the times fall"),
        ("still.trace", "0\n0\n0\n", "lasts no time"),
        ("short.csv", "time_s,rate_Mbps\n1,2\n", "is too short"),
        ("back.csv", "time_s,rate_Mbps\n1,2\n2,2\n2,2\n3,2\n", "does not rise"),
        ("cells.csv", "time_s,rate_Mbps\n1,2\n2\n3,2\n", "row 3 has 1 cells"),
        ("word.csv", "time_s,rate_Mbps\n1,2\n2,fast\n3,2\n", "'fast' is not a rate"),
        ("unit.csv", "time_s,rate_parsecs\n1,2\n", "unknown unit"),
        ("other.csv", "time_s,colour\n1,2\n", "not a table of a transfer"),
        ("hello.txt", "hello, world\n", "captures can be read, and: iperf3 --json, qlog"),
        ("empty", "", "captures can be read"),
        ("zero.csv", "time_s,rate_Mbps,rtt_ms\n" + "".join(f"{at},0,1\n" for at in range(9)), "shows no transfer"),
    ],
)
def test_what_tells_nothing_is_refused_in_a_sentence(
    name: str, text: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / name
    file.write_text(text)
    assert invoke(["fit", str(file)]) == 2
    printed = capsys.readouterr()
    assert words in printed.err
    assert "Traceback" not in printed.err


@pytest.mark.parametrize("name", samples())
def test_damaged_files_end_in_a_fit_or_in_a_sentence(name: str, tmp_path: Path) -> None:
    random, whole = Random(name), samples()[name]
    file = tmp_path / name.removesuffix(".gz")
    for attempt in range(40):
        data = bytearray(whole[: random.randrange(len(whole))] if attempt % 2 else whole)
        for _ in range(random.randrange(1, 30)):
            if data:
                at = random.randrange(len(data))
                data[at : at + random.randrange(1, 4)] = random.choice(JUNK)
        file.write_bytes(data)
        with suppress(DumbbellError):
            assert answer(fit(file))


def test_a_file_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "LARGEST", 1 << 20)
    bomb = tmp_path / "bomb.csv.gz"
    bomb.write_bytes(gzip.compress(TABLE.encode() + b"#" * (4 << 20)))
    with pytest.raises(InputError, match="cannot read") as refused:
        fit(bomb)
    assert "more than 1 MiB" in refused.value.why
    monkeypatch.setattr(ss, "MOST_SAMPLES", 50)
    with pytest.raises(InputError, match="too long"):
        fit(DATA / "ss.log.gz")
    monkeypatch.setattr(document, "LARGEST", 1000)
    with pytest.raises(InputError, match="too large"):
        fit(DATA / "iperf3.json")


def test_options_of_captures_do_not_fit_a_log() -> None:
    with pytest.raises(InputError, match="is no capture"):
        fit(DATA / "iperf3.json", at="sender")
    with pytest.raises(InputError, match="is no capture"):
        fit(DATA / "iperf3.json", other=DATA / "ss.log.gz")
